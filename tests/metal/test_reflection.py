"""What a pipeline's reflection becomes: the parameters in the kernel's order, their types, limits of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin

from metrale_gpu_runtime.driver import CodeImage, KernelBinding
from metrale_gpu_runtime.drivers.metal.bindings import load_bindings
from metrale_gpu_runtime.drivers.metal.libraries import Libraries
from metrale_gpu_runtime.drivers.metal.pipelines import Pipeline
from metrale_gpu_runtime.drivers.metal.reflection import kernel_bindings, type_names
from metrale_gpu_runtime.errors import NotSupported

__all__ = ["metal_standin"]

SOURCE = """
#include <metal_stdlib>
using namespace metal;

struct Shape {
    ulong pitch;
    float4 tint;
    ushort rows;
};

kernel void mixed(threadgroup half4* second [[threadgroup(2)]],
                  device float4* out [[buffer(9)]],
                  constant Shape& shape [[buffer(4)]],
                  threadgroup uint* first [[threadgroup(1)]],
                  const device uchar* codes [[buffer(0)]],
                  constant ushort& count [[buffer(30)]],
                  device atomic_uint* total [[buffer(11)]],
                  device half* halves [[buffer(3)]],
                  constant bool& flag [[buffer(5)]],
                  constant int3& offset [[buffer(6)]],
                  uint at [[thread_position_in_grid]]) {
    threadgroup float own[40];
    own[at % 40] = codes[at] + shape.rows + offset.x;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[at] = flag ? shape.tint * own[39 - at % 40] : float4(count);
    first[at] = uint(shape.pitch);
    second[at] = half4(halves[at]);
    halves[at] = second[at].x;
}

[[max_total_threads_per_threadgroup(96)]]
kernel void unused(device long* x [[buffer(1)]], device const uint2* never [[buffer(0)]]) {
    x[0] = 1;
}
"""


@pytest.fixture
def libraries(metal_standin: MetalStandIn) -> Iterator[Libraries]:
    bindings = load_bindings()
    with bindings.pool():
        device = bindings.metal.MTLCreateSystemDefaultDevice()
    made = Libraries(bindings, device)
    yield made
    made.close()


def pipeline(libraries: Libraries, name: str) -> Pipeline:
    module = libraries.load(CodeImage("m", "msl", SOURCE.encode()))
    return libraries.pipeline(libraries.function(module, name))


def test_each_parameter_is_told_in_the_kernels_order(libraries: Libraries) -> None:
    """Kind, index, name, access, size and alignment of an element, and its type in Metal's words."""
    found = pipeline(libraries, "mixed").bindings
    assert [each for each in found if each.kind == "buffer"] == [
        KernelBinding("buffer", 9, "out", "read-write", 16, 16, "float4"),
        KernelBinding("buffer", 4, "shape", "read", 48, 16, None),
        KernelBinding("buffer", 0, "codes", "read", 1, 1, "uchar"),
        KernelBinding("buffer", 30, "count", "read", 2, 2, "ushort"),
        KernelBinding("buffer", 11, "total", "read-write", 4, 4, "uint"),
        KernelBinding("buffer", 3, "halves", "read-write", 2, 2, "half"),
        KernelBinding("buffer", 5, "flag", "read", 1, 1, "bool"),
        KernelBinding("buffer", 6, "offset", "read", 16, 16, "int3"),
    ]
    assert [each for each in found if each.kind == "local"] == [
        KernelBinding("local", 2, "second", "read-write", 8, 8, None),
        KernelBinding("local", 1, "first", "read-write", 4, 4, None),
    ]


def test_parameters_of_a_kind_are_sorted_by_index(libraries: Libraries) -> None:
    """Arguments go to the bindings of their kind by rising index, whatever the kernel's order."""
    made = pipeline(libraries, "mixed")
    assert [(each.index, each.name) for each in made.buffers] == [
        (0, "codes"),
        (3, "halves"),
        (4, "shape"),
        (5, "flag"),
        (6, "offset"),
        (9, "out"),
        (11, "total"),
        (30, "count"),
    ]
    assert [(each.index, each.name) for each in made.locals] == [(1, "first"), (2, "second")]


def test_a_parameter_that_is_not_used_stays_a_parameter(libraries: Libraries) -> None:
    """The caller's arguments are counted by the kernel's declaration, not by what the compiler kept of it."""
    made = pipeline(libraries, "unused")
    assert [(each.index, each.name, each.type_name) for each in made.buffers] == [
        (0, "never", "uint2"),
        (1, "x", "long"),
    ]


def test_a_kernels_limits_are_its_own(metal_standin: MetalStandIn) -> None:
    """Threads as the pipeline says, not the device; its own threadgroup memory; the width of a SIMD-group."""
    metal_standin.reset(1, max_total_threads=512, thread_execution_width=16)
    bindings = load_bindings()
    with bindings.pool():
        libraries = Libraries(bindings, bindings.metal.MTLCreateSystemDefaultDevice())
    mixed, unused = pipeline(libraries, "mixed"), pipeline(libraries, "unused")
    assert (mixed.max_threads, mixed.static_threadgroup_nbytes, mixed.thread_execution_width) == (512, 160, 16)
    assert (unused.max_threads, unused.static_threadgroup_nbytes) == (96, 0)
    attributes = unused.attributes()
    assert (attributes.max_threads_per_block, attributes.static_shared_mem) == (96, 0)
    assert attributes.bindings == unused.bindings
    assert attributes.extra == {"thread_execution_width": 16}
    libraries.close()


def test_scalars_vectors_and_matrices_have_metals_names(metal_standin: MetalStandIn) -> None:
    """Each MTLDataType of plain numbers has the name that the language has for it, and no two share one."""
    metal = load_bindings().metal
    names = type_names(metal)
    assert len(set(names.values())) == len(names) == 12 * 4 + 2 * 9
    for data_type, name in (
        (metal.MTLDataTypeFloat, "float"),
        (metal.MTLDataTypeULong2, "ulong2"),
        (metal.MTLDataTypeUChar4, "uchar4"),
        (metal.MTLDataTypeBFloat3, "bfloat3"),
        (metal.MTLDataTypeHalf2x4, "half2x4"),
        (metal.MTLDataTypeBool, "bool"),
    ):
        assert names[data_type] == name
    assert metal.MTLDataTypeStruct not in names
    assert metal.MTLDataTypeTexture not in names


def binding(kind: int, index: int, name: str, *, is_argument: bool = True, **more: int) -> SimpleNamespace:
    """An MTLBinding of a kind that no kernel of the stand-in has."""
    said = {"type": kind, "index": index, "name": name, "isArgument": is_argument, "access": 0, **more}
    return SimpleNamespace(**{word: lambda value=value: value for word, value in said.items()})


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("Texture", "a texture"),
        ("Sampler", "a sampler"),
        ("VisibleFunctionTable", "a table of visible functions"),
        ("PrimitiveAccelerationStructure", "an acceleration structure"),
        ("Tensor", "a tensor"),
    ],
)
def test_what_is_no_memory_is_refused_by_name(metal_standin: MetalStandIn, kind: str, what: str) -> None:
    """A kernel with a texture or the like cannot be launched: module, kernel, parameter and index are named."""
    bindings = load_bindings()
    number = getattr(bindings.metal, f"MTLBindingType{kind}")
    reflection = SimpleNamespace(bindings=lambda: [binding(number, 3, "picture")])
    with pytest.raises(NotSupported, match=rf"'m': kernel blur takes {what} \('picture', index 3\)") as refused:
        kernel_bindings(bindings, reflection, module="m", kernel="blur")
    assert refused.value.backend == "metal"


def test_threadgroup_memory_of_the_kernels_own_is_no_parameter(metal_standin: MetalStandIn) -> None:
    """An array in the kernel's body may be listed too; it takes no argument and no index."""
    bindings = load_bindings()
    local = bindings.metal.MTLBindingTypeThreadgroupMemory
    sizes = {"threadgroupMemoryDataSize": 4, "threadgroupMemoryAlignment": 16}
    listed = [binding(local, 1, "own", is_argument=False, **sizes), binding(local, 0, "room", **sizes)]
    found = kernel_bindings(bindings, SimpleNamespace(bindings=lambda: listed), module="m", kernel="k")
    assert [(each.index, each.name, each.nbytes, each.align) for each in found] == [(0, "room", 4, 16)]
