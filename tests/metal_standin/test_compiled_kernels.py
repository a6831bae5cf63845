"""The stand-in with the room that compiles MSL: a kernel's text to numbers, reflection, and faults of its memory."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from rungs import require_rung

from .control import MetalStandIn
from .fixtures import metal_standin
from .setting import Setting

__all__ = ["metal_standin"]

SOURCE = """
#include <metal_stdlib>
using namespace metal;

constant int SCALE [[function_constant(4)]];

struct Step { float by; uint count; };

kernel void total(device float* x [[buffer(0)]], constant Step& step [[buffer(3)]], threadgroup float* room [[threadgroup(1)]],
                  uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    room[t] = i < step.count ? x[i] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0.0f;
    for (uint k = 0; k < n; k++) sum += room[k];
    if (i < step.count) x[i] = sum + step.by;
}

kernel void follow(device const ulong* addresses [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    *reinterpret_cast<device int*>(addresses[i]) = SCALE;
}
"""


@pytest.fixture
def setting(metal_standin: MetalStandIn) -> Setting:
    require_rung("clang-19")
    made = Setting(metal_standin)
    metal_standin.world.compile_library = None
    with made.objc.autorelease_pool():
        made.library, error = made.device.newLibraryWithSource_options_error_(SOURCE, None, None)
        assert error is None, error.localizedDescription()
    return made


def _run(setting: Setting, fill: Any) -> Any:
    """The error, as (code, text), of a command buffer with one encoder that `fill` filled; None where there is none."""
    with setting.objc.autorelease_pool():
        commands = setting.queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        fill(encoder)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        error = commands.error()
        return None if error is None else (error.code(), error.localizedDescription())


def test_a_kernel_with_a_barrier_gives_numbers(setting: Setting) -> None:
    """Each threadgroup of 4 adds up its own part of 6 floats; the seventh is not touched."""
    x = setting.buffer(28, 1, 2, 3, 4, 50, 60, 700)
    state = setting.pipeline("total")

    def fill(encoder: Any) -> None:
        encoder.setComputePipelineState_(state)
        encoder.setBuffer_offset_atIndex_(x, 0, 0)
        encoder.setBytes_length_atIndex_(struct.pack("fI", 0.5, 6), 8, 3)
        encoder.setThreadgroupMemoryLength_atIndex_(16, 1)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((2, 1, 1), (4, 1, 1))

    assert _run(setting, fill) is None
    assert setting.floats(x, 7) == (10.5, 10.5, 10.5, 10.5, 110.5, 110.5, 700.0)


def test_reflection_is_that_of_the_text(setting: Setting) -> None:
    """Indices, names, kinds, access and sizes as the kernel's parameters have them."""
    metal = setting.metal
    with setting.objc.autorelease_pool():
        _, reflection, error = setting.device.newComputePipelineStateWithFunction_options_reflection_error_(
            setting.function("total"),
            metal.MTLPipelineOptionBindingInfo | metal.MTLPipelineOptionBufferTypeInfo,
            None,
            None,
        )
        assert error is None
        found = {binding.name(): binding for binding in reflection.bindings()}
        assert {name: (b.type(), b.index(), b.access()) for name, b in found.items()} == {
            "x": (metal.MTLBindingTypeBuffer, 0, metal.MTLBindingAccessReadWrite),
            "step": (metal.MTLBindingTypeBuffer, 3, metal.MTLBindingAccessReadOnly),
            "room": (metal.MTLBindingTypeThreadgroupMemory, 1, metal.MTLBindingAccessReadWrite),
        }
        assert (found["step"].bufferDataSize(), found["step"].bufferDataType()) == (8, metal.MTLDataTypeStruct)
        assert (found["x"].bufferDataSize(), found["x"].bufferDataType()) == (4, metal.MTLDataTypeFloat)


@pytest.mark.parametrize("usage", ["none", "read", "write"])
def test_what_is_not_resident_faults(setting: Setting, usage: str) -> None:
    """A kernel that writes where an address in memory says needs that buffer named for writing."""
    metal = setting.metal
    import ctypes

    target, addresses = setting.buffer(12), setting.buffer(8)
    addresses.contents().as_buffer(8)[:] = struct.pack("Q", target.gpuAddress() + 4)
    number = ctypes.c_int(-23)
    with setting.objc.autorelease_pool():
        values = metal.MTLFunctionConstantValues.alloc().init()
        values.setConstantValue_type_atIndex_(ctypes.addressof(number), metal.MTLDataTypeInt, 4)
        function, error = setting.library.newFunctionWithName_constantValues_error_("follow", values, None)
        assert error is None
        state, error = setting.device.newComputePipelineStateWithFunction_error_(function, None)
        assert error is None

    def fill(encoder: Any) -> None:
        encoder.setComputePipelineState_(state)
        encoder.setBuffer_offset_atIndex_(addresses, 0, 0)
        if usage != "none":
            encoder.useResource_usage_(target, {"read": 1, "write": 3}[usage])
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))

    error = _run(setting, fill)
    written = struct.unpack("3i", target.contents().as_buffer(12))
    if usage == "write":
        assert error is None
        assert written == (0, -23, 0)
    else:
        assert error[0] == metal.MTLCommandBufferErrorPageFault
        assert f"{target.gpuAddress() + 4:#x}" in error[1]
        assert written == (0, 0, 0)


def test_a_compile_error_has_metals_form(setting: Setting) -> None:
    """The log names program_source, line and column."""
    with setting.objc.autorelease_pool():
        library, error = setting.device.newLibraryWithSource_options_error_(
            "kernel void k() {\n    nothing();\n}\n", None, None
        )
        assert library is None
        assert "program_source:2:5: error:" in error.localizedDescription()
