"""Objects of other libraries that show something wrong: refused by argument and field, never by a bare Python error."""

from __future__ import annotations

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import ArgumentKindError, GpuError, NotSupported, ScalarKindError
from metrale_gpu_runtime.exchange import read_foreign

GONE = object()


class Shows:
    """What it is given, by the CUDA array interface."""

    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


class ShowsOnHost:
    """What it is given, by NumPy's array interface."""

    def __init__(self, interface):
        self.__array_interface__ = interface


def changed(right, field, value):
    interface = {**right, field: value}
    return {name: each for name, each in interface.items() if each is not GONE}


ON_BOTH = [
    ("typestr", GONE, "no 'typestr'; it should be text such as '<f4'"),
    ("typestr", 4, "'typestr' in .* is 4; it should be text"),
    ("typestr", "zz", "'typestr' in .* is 'zz'; it should be text"),
    ("shape", GONE, "no 'shape'"),
    ("shape", "a", "'shape' in .* is 'a'; it should be a tuple of whole numbers"),
    ("shape", 3, "'shape' in .* is 3"),
    ("shape", (-1,), r"'shape' in .* is \(-1,\); .* none of them negative"),
    ("shape", (1.5,), r"'shape' in .* is \(1.5,\)"),
    ("strides", 4, "'strides' in .* is 4; it should be None or a tuple"),
    ("strides", ("4",), r"'strides' in .* is \('4',\)"),
    ("strides", (4, 4), r"'strides' in .* one for each of the 1 axes"),
    ("data", 0x7000, r"'data' in .* is 28672; it should be a tuple \(address, is read-only\)"),
    ("data", (0x7000,), r"'data' in .* is \(28672,\)"),
    ("data", ("x", False), r"'data' in .* is \('x', False\)"),
    ("data", (-16, False), "an address has 64 bits and is not negative"),
    ("data", (1 << 64, False), "an address has 64 bits and is not negative"),
    ("data", (0, False), "shows 12 bytes at address 0"),
    ("version", GONE, "no 'version'; it should be a whole number up to 3"),
    ("version", 4, "'version' in .* is 4; it should be a whole number up to 3"),
    ("version", "3", "'version' in .* is '3'"),
    ("version", True, "'version' in .* is True"),
    ("mask", np.zeros(3, bool), r"masked array.*a\.filled\(value\)"),
]
ON_CUDA = [
    ("data", GONE, r"no 'data'; it should be a tuple \(address, is read-only\)"),
    ("data", None, "'data' in .* is None"),
    ("stream", "x", "'stream' in .* is 'x'; it should be None or a stream's handle"),
    ("stream", -5, "'stream' in .* is -5; .* not negative"),
    ("stream", 1 << 64, "'stream' in .* 64 bits"),
]
ON_HOST = [
    ("data", GONE, r"no 'data'; it should be a tuple .* or an object with the buffer protocol"),
    ("data", None, "'data' in .* is None; .* or an object with the buffer protocol"),
]


@pytest.mark.parametrize(("field", "value", "reason"), [*ON_BOTH, *ON_CUDA])
def test_a_wrong_field_of_a_device_array_is_named(machine, gpu, field, value, reason):
    """Kernel, argument and field, and what the field should be; a copy names its end, and nothing is queued."""
    right = {"version": 3, "shape": (3,), "typestr": "<u4", "data": (machine.alloc(12), False), "strides": None}
    kernel = gpu.kernel("m", "k", signature="const unsigned int* values")
    assert gpu.resolve_pointer(Shows(right)).nbytes == 12
    wrong, out = Shows(changed(right, field, value)), gpu.buffer(12)
    gpu.log.clear()
    with pytest.raises(ArgumentKindError, match=rf"^k: argument 0.*values.*{reason}") as refused:
        kernel[1, 1](wrong)
    assert (refused.value.kernel, refused.value.index) == ("k", 0)
    with pytest.raises(ArgumentKindError, match=rf"src.*{reason}"):
        gpu.copy_d2d(wrong, out)
    with pytest.raises(ScalarKindError, match=reason):
        gpu.array(wrong)
    assert gpu.log.transcript() == []


@pytest.mark.parametrize(("field", "value", "reason"), [*ON_BOTH, *ON_HOST])
def test_a_wrong_field_of_a_host_array_is_named(gpu, field, value, reason):
    """The same for NumPy's array interface, lent to a launch or copied."""
    host = np.arange(3, dtype=np.uint32)
    right = {**host.__array_interface__}
    kernel = gpu.kernel("m", "k", signature="const unsigned int* values")
    assert read_foreign(ShowsOnHost(right)).nbytes == 12
    wrong = ShowsOnHost(changed(right, field, value))
    with pytest.raises(ArgumentKindError, match=rf"^k: argument 0.*{reason}"):
        kernel[1, 1](mg.In(wrong))
    with pytest.raises(ScalarKindError, match=reason):
        gpu.array(wrong)


def test_data_below_a_host_array_may_be_another_object():
    """The buffer of the object itself, or of the one it names, from an offset on that is none of the negative ones."""
    right = {"version": 3, "shape": (3,), "typestr": "|u1"}
    array = ShowsOnHost({**right, "data": bytearray(b"abcdef"), "offset": 2})
    assert (
        read_foreign(array).address == read_foreign(ShowsOnHost({**array.__array_interface__, "offset": 0})).address + 2
    )
    for offset in (-1, "2", 1.0):
        array.__array_interface__["offset"] = offset
        with pytest.raises(ScalarKindError, match="'offset' in"):
            read_foreign(array)


@pytest.mark.parametrize("name", ["__cuda_array_interface__", "__array_interface__"])
@pytest.mark.parametrize("shown", [5, "x", [("shape", (3,))], ()])
def test_an_interface_that_is_no_dictionary_is_refused(gpu, name, shown):
    """It is named with what it is; a class that shows what its objects will have is no array."""
    value = type("Odd", (), {name: shown})
    with pytest.raises(ArgumentKindError, match=rf"the {name} of Odd is .*; it should be a dictionary"):
        gpu.resolve_pointer(value())
    with pytest.raises(ArgumentKindError, match="where a device address is wanted"):
        gpu.resolve_pointer(value)


@pytest.mark.parametrize("name", ["__cuda_array_interface__", "__array_interface__"])
def test_an_interface_that_raises_is_told(gpu, name):
    """What the library says of its refusal is in the message."""

    def refuse(self):
        raise RuntimeError("needs a gradient")

    with pytest.raises(ArgumentKindError, match=rf"Odd\.{name} refuses: needs a gradient"):
        gpu.resolve_pointer(type("Odd", (), {name: property(refuse)})())


def test_an_interface_that_breaks_between_two_launches_is_refused(machine, gpu):
    """A prepared launch reads the interface anew, with the same care."""
    right = {"version": 3, "shape": (3,), "typestr": "<u4", "data": (machine.alloc(12), False), "stream": 1}
    array = Shows(dict(right))
    prepared = gpu.kernel("m", "k")[1, 1].prepare(array)
    prepared()
    for field, value in (("data", 5), ("stream", "x"), ("stream", -5)):
        array.__cuda_array_interface__ = {**right, field: value}
        with pytest.raises(ArgumentKindError, match=rf"Shows: '{field}' in the __cuda_array_interface__"):
            prepared()
    assert gpu.launch_count == 1


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        ((0,), r"gives \(0,\); it should be a tuple \(version, handle\)"),
        ((0, 1, 2), r"gives \(0, 1, 2\)"),
        (5, "gives 5; it should be a tuple"),
        ("", "gives ''"),
        ((0, "x"), r"whose handle is 'x'; it should be a whole number"),
        ((0, None), "whose handle is None"),
        (("0", 7), "whose version is '0'"),
        ((0, True), "whose handle is True"),
    ],
)
@pytest.mark.parametrize("is_called", [True, False])
def test_a_stream_protocol_that_gives_something_else_is_refused(gpu, shown, reason, is_called):
    """Whatever `__cuda_stream__` gives instead of (0, handle) is a TypeError that says what it should be."""
    stream = type("Odd", (), {"__cuda_stream__": (lambda self: shown) if is_called else shown})()
    with pytest.raises(TypeError, match=rf"__cuda_stream__ of the Odd given as stream .*{reason}") as refused:
        gpu.kernel("m", "k")[1, 1, 0, stream]()
    assert "unpack" not in str(refused.value)


def test_a_stream_protocol_of_another_version_is_refused(gpu):
    """Version 1 may mean anything; a method that gives None gives nothing to go by."""
    with pytest.raises(TypeError, match="gives None; it should be a tuple"):
        gpu.resolve_stream(type("Odd", (), {"__cuda_stream__": lambda self: None})())
    stream = type("Odd", (), {"__cuda_stream__": lambda self: (1, 7)})()
    with pytest.raises(NotSupported, match="has version 1; 0 is understood"):
        gpu.resolve_stream(stream)


def test_a_masked_array_is_refused_wherever_it_is_given(gpu):
    """NumPy hands its memory out without the mask: every call refuses it, and says how to fill it."""
    masked, out = np.ma.array([1.0, 2.0], mask=[0, 1]), gpu.empty(2, "f64")
    calls = (
        lambda: gpu.array(masked),
        lambda: gpu.array(masked, dtype="f32"),
        lambda: gpu.copy_h2d(masked, out),
        lambda: gpu.copy_h2d_async_retained(masked, out),
        lambda: gpu.copy_d2h(out, masked),
        lambda: out.copy_from(masked),
        lambda: out.copy_to(masked),
        lambda: gpu.kernel("m", "k")[1, 1](mg.InOut(masked)),
        lambda: gpu.kernel("m", "k")[1, 1](masked),
    )
    for call in calls:
        with pytest.raises((ScalarKindError, ArgumentKindError), match=r"a masked array.*a\.filled\(value\)"):
            call()
    with mg.open_backend("cpu") as cpu, pytest.raises(GpuError, match="masked array"):
        cpu.resolve_pointer(masked)
    assert gpu.array(masked.filled(7.0)).numpy().tolist() == [1, 7]
