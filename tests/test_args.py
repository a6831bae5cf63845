"""KernelArg and pack_kernel_args: the seed's own tests, and its law for every type, size and order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_gpu_runtime.args import KernelArg, pack_kernel_args
from metrale_gpu_runtime.geometry import div_ceil
from metrale_gpu_runtime.handles import DevicePtr
from metrale_gpu_runtime.scalars import SCALARS, boolean


def test_a_128_byte_argument_is_not_truncated() -> None:
    """A tensor map fills 16 consecutive slots as one argument, and the argument after it is intact."""
    tensor_map = bytes(i * 7 % 251 for i in range(128))
    args = [
        KernelArg.Buffer(DevicePtr(0xDEAD_BEEF)),
        KernelArg.Bytes(tensor_map),
        KernelArg.Bytes((42).to_bytes(4, "little")),
    ]
    storage, starts = pack_kernel_args(args)
    assert starts == [0, 1, 17]
    assert len(storage) == 18
    assert storage[0] == 0xDEAD_BEEF
    assert b"".join(slot.to_bytes(8, "little") for slot in storage[1:17]) == tensor_map
    assert storage[17] == 42


def test_an_empty_byte_argument_still_gets_one_slot() -> None:
    """No bytes still are one argument with a slot to point at."""
    assert pack_kernel_args([KernelArg.Bytes(b""), KernelArg.Bytes(b"\x09")]) == ([0, 9], [0, 1])


def test_local_memory_has_one_empty_slot() -> None:
    """Local memory carries no bytes, and keeps its place in the list."""
    assert pack_kernel_args([KernelArg.Bytes(b"\x05"), KernelArg.Local(256), KernelArg.Bytes(b"\x06")]) == (
        [5, 0, 6],
        [0, 1, 2],
    )


def test_div_ceil() -> None:
    """The seed's five cases of rounding up."""
    assert [div_ceil(a, b) for a, b in ((10, 3), (9, 3), (1, 256), (256, 256), (257, 256))] == [4, 3, 1, 1, 2]


_SCALAR_BYTES = st.sampled_from(list(SCALARS.values())).flatmap(
    lambda type: st.integers(0, 100).map(lambda n: KernelArg.Bytes(type.encode(n % 2 == 1 if type is boolean else n)))
)
_ARGS = st.lists(
    st.one_of(
        st.integers(0, 2**64 - 1).map(lambda address: KernelArg.Buffer(DevicePtr(address))),
        _SCALAR_BYTES,
        st.binary(max_size=40).map(KernelArg.Bytes),
        st.integers(0, 4096).map(lambda n: KernelArg.Bytes(bytes((i * 31 + n) % 256 for i in range(n)))),
        st.integers(1, 65536).map(KernelArg.Local),
    ),
    max_size=12,
)


@given(_ARGS)
def test_packing_keeps_every_argument_whole_and_in_order(args: list[object]) -> None:
    """One start per argument, in order; each argument's bytes follow from its start, padded with zeros to a slot."""
    storage, starts = pack_kernel_args(args)  # type: ignore[arg-type]
    image = b"".join(slot.to_bytes(8, "little") for slot in storage)
    assert len(starts) == len(args)
    expected_start = 0
    for arg, start in zip(args, starts, strict=True):
        if isinstance(arg, KernelArg.Buffer):
            data = arg.ptr.address.to_bytes(8, "little")
        else:
            data = arg.data if isinstance(arg, KernelArg.Bytes) else b""
        slots = max(1, -(-len(data) // 8))
        assert start == expected_start
        assert image[8 * start : 8 * (start + slots)] == data.ljust(8 * slots, b"\0")
        expected_start += slots
    assert len(storage) == expected_start


def test_bytes_are_a_copy() -> None:
    """A launch does not see a buffer that is changed after it was given."""
    source = bytearray(b"\x01\x02")
    argument = KernelArg.Bytes(source)
    source[0] = 99
    assert argument.data == b"\x01\x02"


@pytest.mark.parametrize("align", [None, 1, 2, 8, 128])
def test_every_power_of_two_is_an_alignment(align: int | None) -> None:
    """Powers of two from 1 on are kept, and so is none."""
    assert KernelArg.Bytes(b"123", align).align == align


@pytest.mark.parametrize("align", [0, 3, 12, -8, True, 8.0])
def test_an_alignment_is_a_power_of_two(align: int) -> None:
    """Other alignments are refused where they are given."""
    with pytest.raises(ValueError, match="power of two"):
        KernelArg.Bytes(b"12345678", align)


@pytest.mark.parametrize("nbytes", [0, -1])
def test_local_memory_has_at_least_one_byte(nbytes: int) -> None:
    """Empty local memory is refused."""
    with pytest.raises(ValueError, match="at least 1"):
        KernelArg.Local(nbytes)


def test_one_byte_of_local_memory_is_enough() -> None:
    """The smallest local memory is one byte, and it is a whole number."""
    assert KernelArg.Local(1).nbytes == 1
    for nbytes in (True, 16.0, "16"):
        with pytest.raises(TypeError, match="whole number"):
            KernelArg.Local(nbytes)  # type: ignore[arg-type]


def test_kernel_arg_names_the_three_kinds() -> None:
    """isinstance sees all three kinds; KernelArg itself cannot be made; strangers are refused by position."""
    for each in (KernelArg.Buffer(DevicePtr(1)), KernelArg.Bytes(b"1"), KernelArg.Local(3)):
        assert isinstance(each, KernelArg)
    assert not isinstance(5, KernelArg)
    with pytest.raises(TypeError, match=r"KernelArg\.Buffer"):
        KernelArg()
    with pytest.raises(TypeError, match="argument 1 is a int"):
        pack_kernel_args([KernelArg.Bytes(b""), 5])  # type: ignore[list-item]
