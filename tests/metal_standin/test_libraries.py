"""Libraries from source and from files, functions with constants, what reflection says."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

from .control import MetalStandIn, environment
from .fixtures import metal_standin
from .libraries import make_metallib
from .setting import Setting

__all__ = ["metal_standin"]


@pytest.fixture
def setting(metal_standin: MetalStandIn) -> Setting:
    return Setting(metal_standin)


def test_compile_options_reach_the_compiler(setting: Setting) -> None:
    """Macros become texts; fast math is Metal's default and is switched off by the mode."""
    metal = setting.metal
    with setting.objc.autorelease_pool():
        _, error = setting.device.newLibraryWithSource_options_error_("an error", None, None)
        assert error.localizedDescription().endswith("macros {}, fast_math True")
        options = metal.MTLCompileOptions.alloc().init()
        options.setPreprocessorMacros_({"N": 4, "NAME": "x"})
        options.setMathMode_(metal.MTLMathModeSafe)
        options.setLanguageVersion_(metal.MTLLanguageVersion3_1)
        _, error = setting.device.newLibraryWithSource_options_error_("an error", options, None)
        assert error.localizedDescription().endswith("macros {'N': '4', 'NAME': 'x'}, fast_math False")


def test_a_metallib_is_loaded_from_its_file(setting: Setting, tmp_path: Path) -> None:
    """The stand-in's container loads; another file is refused as Metal refuses it, a missing one by name."""
    from Foundation import NSURL

    good, bad = tmp_path / "good.metallib", tmp_path / "bad.metallib"
    good.write_bytes(make_metallib("kernels", {"N": "4"}))
    bad.write_bytes(b"MTLC")
    with setting.objc.autorelease_pool():
        library, error = setting.device.newLibraryWithURL_error_(NSURL.fileURLWithPath_(str(good)), None)
        assert error is None
        assert "add" in library.functionNames()
        for path, code in (
            (bad, setting.metal.MTLLibraryErrorUnsupported),
            (tmp_path / "none", setting.metal.MTLLibraryErrorFileNotFound),
        ):
            library, error = setting.device.newLibraryWithURL_error_(NSURL.fileURLWithPath_(str(path)), None)
            assert library is None
            assert error.code() == code
    assert good.read_bytes().startswith(b"MTLB")


def test_a_function_that_is_not_there_is_nil(setting: Setting) -> None:
    """By name alone without an error, with constants with one."""
    assert setting.library.newFunctionWithName_("ad") is None
    with setting.objc.autorelease_pool():
        values = setting.metal.MTLFunctionConstantValues.alloc().init()
        function, error = setting.library.newFunctionWithName_constantValues_error_("ad", values, None)
        assert function is None
        assert error.code() == setting.metal.MTLLibraryErrorFunctionNotFound


def test_constants_specialise_a_function(setting: Setting) -> None:
    """Given by index, the value is in the kernel; missing or of another type, there is an error that names it."""
    metal = setting.metal
    number, flag = ctypes.c_int(-17), ctypes.c_float(1.0)
    buffer = setting.buffer(4)
    with setting.objc.autorelease_pool():
        values = metal.MTLFunctionConstantValues.alloc().init()
        function, error = setting.library.newFunctionWithName_constantValues_error_("scaled", values, None)
        assert function is None
        assert "SCALE" in error.localizedDescription()
        values.setConstantValue_type_atIndex_(ctypes.addressof(number), metal.MTLDataTypeInt, 4)
        function, error = setting.library.newFunctionWithName_constantValues_error_("scaled", values, None)
        assert error is None
        state, _ = setting.device.newComputePipelineStateWithFunction_error_(function, None)
        commands = setting.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(state)
        encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        values.setConstantValue_type_withName_(ctypes.addressof(flag), metal.MTLDataTypeFloat, "FAST")
        function, error = setting.library.newFunctionWithName_constantValues_error_("scaled", values, None)
        assert "FAST" in error.localizedDescription()
    assert int.from_bytes(buffer.contents().as_buffer(4), "little", signed=True) == -17


def test_reflection_tells_each_binding(setting: Setting) -> None:
    """Kind, index, name, access, sizes and element type, buffers and threadgroup memory; and the pipeline's limits."""
    metal = setting.metal
    options = metal.MTLPipelineOptionBindingInfo | metal.MTLPipelineOptionBufferTypeInfo
    with setting.objc.autorelease_pool():
        state, reflection, error = setting.device.newComputePipelineStateWithFunction_options_reflection_error_(
            setting.function("shared"), options, None, None
        )
        assert error is None
        x, room = reflection.bindings()
        assert (x.type(), x.index(), x.name(), x.access(), x.isUsed()) == (metal.MTLBindingTypeBuffer, 0, "x", 1, True)
        assert (x.bufferDataSize(), x.bufferAlignment(), x.bufferDataType()) == (4, 4, metal.MTLDataTypeFloat)
        assert x.bufferPointerType().elementType() == metal.MTLDataTypeFloat
        assert (room.type(), room.index(), room.name()) == (metal.MTLBindingTypeThreadgroupMemory, 1, "room")
        assert (room.threadgroupMemoryAlignment(), room.threadgroupMemoryDataSize()) == (16, 4)
        state, reflection, _ = setting.device.newComputePipelineStateWithFunction_options_reflection_error_(
            setting.function("add"), 0, None, None
        )
        assert reflection is None
    assert (state.maxTotalThreadsPerThreadgroup(), state.threadExecutionWidth()) == (256, 32)
    assert setting.pipeline("shared").staticThreadgroupMemoryLength() == 1024


def test_a_child_process_finds_the_stand_in() -> None:
    """With `environment()` a child that imports Metal has the devices that the facts say."""
    code = (
        "import json, Metal, objc\n"
        "with objc.autorelease_pool():\n"
        "    print(json.dumps([device.name() for device in Metal.MTLCopyAllDevices()]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment(devices=3, name="M7"), capture_output=True, text=True, check=True
    )
    assert json.loads(result.stdout) == ["M7"] * 3
