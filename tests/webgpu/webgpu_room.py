"""The WebGPU backend over software Vulkan, with a few kernels, and what wgpu says is alive, for tests of its rooms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.webgpu.bindings import load_bindings

SOURCE = """
override block_x: u32;
override shared_mem: u32 = 256;

struct By { count: u32, factor: u32, plus: u32 }

@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@group(0) @binding(3) var<uniform> by: By;
@group(0) @binding(3) var<uniform> count: u32;
@group(0) @binding(5) var<uniform> factor: u32;
@group(0) @binding(9) var<uniform> plus: u32;

@compute @workgroup_size(block_x)
fn affine_by(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < by.count) { x[id.x] = x[id.x] * by.factor + by.plus; }
}

@compute @workgroup_size(block_x)
fn affine(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) { x[id.x] = x[id.x] * factor + plus; }
}

@compute @workgroup_size(32)
fn affine_32(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < count) { x[id.x] = x[id.x] * factor + plus; }
}

// The steps make it as slow as a test wants it.
@compute @workgroup_size(64)
fn mix(@builtin(global_invocation_id) id: vec3u) {
    var value = x[id.x];
    for (var step = 0u; step < count; step++) { value = value * 1664525u + 1013904223u; }
    x[id.x] = value;
}

@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;

@compute @workgroup_size(block_x)
fn twice(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < arrayLength(&b)) { b[id.x] = 2 * a[id.x]; }
}

var<workgroup> tile: array<u32, shared_mem / 4>;

@compute @workgroup_size(block_x)
fn turned(@builtin(local_invocation_index) at: u32, @builtin(workgroup_id) group: vec3u) {
    let words = shared_mem / 4;
    tile[at] = x[group.x * words + at];
    workgroupBarrier();
    x[group.x * words + at] = tile[words - 1 - at];
}
"""


@contextmanager
def opened(**options: object) -> Iterator[GpuBackend]:
    """A backend with SOURCE loaded as module "m"."""
    require_rung("software vulkan")
    with mg.open_backend("webgpu", **options) as gpu:  # type: ignore[arg-type]
        gpu.load_module("m", source={".wgsl": SOURCE})
        yield gpu


@pytest.fixture
def gpu() -> Iterator[GpuBackend]:
    with opened() as there:
        yield there


_COUNTED = ("devices", "queues", "pipelineLayouts", "shaderModules", "bindGroupLayouts", "bindGroups")
_MORE = ("commandBuffers", "computePipelines", "querySets", "buffers")


def alive() -> dict[str, int]:
    """How many objects of each kind wgpu keeps for this process."""
    bindings = load_bindings()
    report = bindings.ffi.new("WGPUGlobalReport *")
    bindings.lib.wgpuGenerateReport(bindings.instance, report)
    return {kind: int(getattr(report.hub, kind).numKeptFromUser) for kind in (*_COUNTED, *_MORE)}
