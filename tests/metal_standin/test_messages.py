"""What PyObjC takes and gives: selectors, counts and types of arguments, out parameters, structs, pointers."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from .control import MetalStandIn
from .fixtures import metal_standin
from .journal import ValidationAbort
from .setting import Setting

__all__ = ["metal_standin"]


@pytest.fixture
def setting(metal_standin: MetalStandIn) -> Setting:
    return Setting(metal_standin)


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "text"),
    [
        ("setByte_length_atIndex_", (b"1234", 4, 0), AttributeError, "no such selector"),
        ("setBuffer_offset_atIndex", (None, 0, 0), AttributeError, "no such selector"),
        ("setBytes_length_atIndex_", (b"1234", 4), TypeError, "Need 3 arguments, got 2"),
        ("setBytes_length_atIndex_", ("text", 4, 0), TypeError, "a bytes-like object is required"),
        ("setBytes_length_atIndex_", (b"123", 4, 0), ValueError, "has 3 items"),
        ("setBytes_length_atIndex_", (b"1234", 4, -1), ValueError, "wrong magnitude"),
        ("setBytes_length_atIndex_", (b"1234", 4.0, 0), ValueError, "got 'float'"),
        ("setBuffer_offset_atIndex_", (None, 2**64, 0), ValueError, "wrong magnitude"),
        ("setBuffer_offset_atIndex_", (None, "0", 0), ValueError, "got 'str'"),
        (
            "dispatchThreadgroups_threadsPerThreadgroup_",
            ((1, 1), (1, 1, 1)),
            ValueError,
            "struct of 3 members, got tuple of 2",
        ),
        ("dispatchThreadgroups_threadsPerThreadgroup_", (1, (1, 1, 1)), ValueError, "got no sequence"),
        ("dispatchThreadgroups_threadsPerThreadgroup_", ((1, 1, -1), (1, 1, 1)), ValueError, "wrong magnitude"),
    ],
)
def test_a_message_that_the_bindings_do_not_take_is_refused_and_entered(
    setting: Setting, name: str, arguments: tuple[Any, ...], kind: type[Exception], text: str
) -> None:
    """Wrong selectors, counts and types raise as PyObjC does, and stand in the record."""
    with setting.objc.autorelease_pool():
        encoder = setting.queue.commandBuffer().computeCommandEncoder()
        with pytest.raises(kind):
            getattr(encoder, name)(*arguments)
        encoder.endEncoding()
    (entered,) = setting.standin.take_violations()
    assert text in entered
    assert entered.startswith("MTLComputeCommandEncoder ")


def test_an_object_of_another_protocol_is_refused(setting: Setting) -> None:
    """A queue is no buffer, whatever `@` says."""
    with setting.objc.autorelease_pool():
        encoder = setting.queue.commandBuffer().computeCommandEncoder()
        with pytest.raises(ValidationAbort, match="a MTLBuffer is wanted, a MTLCommandQueue was given"):
            encoder.setBuffer_offset_atIndex_(setting.queue, 0, 0)
        encoder.endEncoding()
    assert len(setting.standin.take_violations()) == 1


def test_out_parameters_take_none_and_come_back(setting: Setting) -> None:
    """`error:` gives (result, error); what is no None is refused."""
    with setting.objc.autorelease_pool():
        library, error = setting.device.newLibraryWithSource_options_error_("an error", None, None)
        assert library is None
        assert (error.domain(), error.code()) == ("MTLLibraryErrorDomain", setting.metal.MTLLibraryErrorCompileFailure)
        assert error.localizedDescription().startswith("program_source:3:10: error:")
        library, error = setting.device.newLibraryWithSource_options_error_("an error", None, setting.objc.NULL)
        assert library is None
        assert error is setting.objc.NULL
        with pytest.raises(ValueError, match=r"must be None or objc\.NULL"):
            setting.device.newLibraryWithSource_options_error_("text", None, [])
    assert len(setting.standin.take_violations()) == 1


def test_the_reflection_is_no_out_parameter_as_shipped(setting: Setting) -> None:
    """Its pointer has no modifier in the wheel: None is a null pointer, and only the error comes back."""
    name = "newComputePipelineStateWithFunction_options_reflection_error_"
    function = setting.function("add")
    with setting.standin.shipped_metadata(), setting.objc.autorelease_pool():
        shipped = getattr(setting.device, name)(function, 1, None, None)
    with setting.objc.autorelease_pool():
        state, reflection, error = getattr(setting.device, name)(function, 1, None, None)
    assert len(shipped) == 2
    assert (reflection.owner, error) == ("MTLComputePipelineReflection", None)
    assert state.owner == "MTLComputePipelineState"


def test_a_void_pointer_without_metadata_is_a_number(setting: Setting) -> None:
    """setConstantValue:type:atIndex: has no metadata: bytes are refused, an address is read, and metadata changes that."""
    import ctypes

    with setting.objc.autorelease_pool():
        values = setting.metal.MTLFunctionConstantValues.alloc().init()
        with pytest.raises(ValueError, match="depythonifying 'unsigned long', got 'bytes'"):
            values.setConstantValue_type_atIndex_(struct.pack("i", 5), setting.metal.MTLDataTypeInt, 4)
        number = ctypes.c_int(5)
        values.setConstantValue_type_atIndex_(ctypes.addressof(number), setting.metal.MTLDataTypeInt, 4)
        assert len(setting.standin.take_violations()) == 1
        with setting.standin.shipped_metadata():
            setting.objc.registerMetaDataForSelector(
                b"MTLFunctionConstantValues",
                b"setConstantValue:type:atIndex:",
                {"arguments": {2: {"type": b"^v", "type_modifier": b"n", "c_array_of_variable_length": True}}},
            )
            values.setConstantValue_type_atIndex_(struct.pack("i", 6), setting.metal.MTLDataTypeInt, 4)


def test_a_fill_takes_a_signed_char_as_shipped(setting: Setting) -> None:
    """The metadata calls fillBuffer's value `z`: 255 is refused, -1 fills with 0xFF."""
    buffer = setting.buffer(64)
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        encoder = commands.blitCommandEncoder()
        with pytest.raises(ValueError, match="depythonifying 'char'"):
            encoder.fillBuffer_range_value_(buffer, (0, 64), 255)
        encoder.fillBuffer_range_value_(buffer, (8, 4), -1)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
    assert bytes(buffer.contents().as_buffer(16)) == bytes(8) + b"\xff" * 4 + bytes(4)
    assert len(setting.standin.take_violations()) == 1


def test_structs_and_memory_come_back_as_pyobjc_gives_them(setting: Setting) -> None:
    """MTLSize has fields and is equal to a tuple; contents() has no length of its own and is writable."""
    size = setting.device.maxThreadsPerThreadgroup()
    assert (size.width, size[1], tuple(size)) == (1024, 1024, (1024, 1024, 1024))
    assert setting.metal.MTLSizeMake(3, 4, 5) == (3, 4, 5)
    buffer = setting.buffer(20)
    view = buffer.contents().as_buffer(20)
    view[3:5] = b"ab"
    assert buffer.contents()[4] == b"b"
    assert buffer.gpuAddress() != 0
    with pytest.raises(ValueError, match="negative"):
        buffer.contents()[-1]


def test_enumerations_constants_and_classes_are_the_wheels(setting: Setting) -> None:
    """Names resolve, aliases too; what the bindings do not have is no attribute."""
    metal = setting.metal
    assert (metal.MTLCommandBufferStatusError, metal.MTLArgumentAccessReadWrite) == (5, 1)
    assert metal.MTLCommandBufferErrorDomain == "MTLCommandBufferErrorDomain"
    with pytest.raises(AttributeError):
        metal.MTLNothing  # noqa: B018
    with setting.objc.autorelease_pool():
        options = metal.MTLCompileOptions.alloc().init()
        options.setMathMode_(metal.MTLMathModeSafe)
        assert options.fastMathEnabled() is False
        options.setFastMathEnabled_(True)
        assert options.mathMode() == metal.MTLMathModeFast


def test_properties_are_set_by_messages_only(setting: Setting) -> None:
    """An attribute that is assigned would change nothing on the device."""
    with pytest.raises(AttributeError):
        setting.queue.label = "copies"
    assert "set by a message" in setting.standin.take_violations()[0]


def test_every_message_is_on_record(setting: Setting) -> None:
    """The receiver's protocol and the selector, in order, class messages and functions included."""
    setting.standin.clear_calls()
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        commands.blitCommandEncoder().endEncoding()
        setting.metal.MTLCompileOptions.alloc().init()
    assert setting.standin.calls() == [
        ("MTLCommandQueue", "commandBuffer"),
        ("MTLCommandBuffer", "blitCommandEncoder"),
        ("MTLBlitCommandEncoder", "endEncoding"),
        ("MTLCompileOptions", "alloc"),
        ("MTLCompileOptions", "init"),
    ]
    assert setting.standin.sent()["MTLCommandQueue", "commandBuffer"] == 1
