"""A kernel: an entry point with its bindings, and a pipeline for each block that it was launched with.

The block's extents are constants of a pipeline in WebGPU. Where an override stands in @workgroup_size, a launch sets
it, and an override named `shared_mem` to the bytes that the launch asks for; so a new block is compiled when it is
launched for the first time. What the bindings are is the same for all pipelines of a kernel: they share one layout.

Source: GPUComputePipeline, GPUBindGroupLayout (WebGPU); WGPUConstantEntry, WGPUPipelineLayoutDescriptor (webgpu.h).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ...driver import FunctionAttributes, KernelBinding
from ...errors import CompileError, GeometryError, LimitExceeded, NotSupported
from ...geometry import Geometry
from ...scalars import SCALARS
from ...signature.wgsl import WgslBinding, WgslEntryPoint, WgslModule
from ...signature.wgsl_types import WgslType, round_up
from .bind_groups import BindGroups
from .device import Device

SHARED_MEM = "shared_mem"
"""The override that `.shared_mem(nbytes)` sets."""

UNIFORM_GRANULE = 16
"""Uniforms are bound in multiples of this: a structure's size in uniform memory is one (WGSL, "Address Space Layout
Constraints")."""

_STORAGE_GRANULE = 16

_Shape = tuple[tuple[int, int, int], int]


class WebgpuKernel:
    """One entry point with values for its overrides. Raises CompileError, NotSupported, LimitExceeded.

    `storage`, `uniforms` and `immediates` are its parameters by kind: (number of the argument, binding or offset,
    type).
    """

    def __init__(
        self,
        device: Device,
        groups: BindGroups,
        shader: Any,
        module: WgslModule,
        entry: WgslEntryPoint,
        module_name: str,
        constants: Mapping[str, bytes],
    ) -> None:
        self._device, self._shader, self._module, self._entry = device, shader, module, entry
        self._groups, self._module_name = groups, module_name
        self._constants = _as_numbers(module, constants)
        self._whole_constants = _whole_numbers(module, constants)
        self._lock = threading.Lock()
        self._pipelines: dict[_Shape, Any] = {}
        self.name = entry.name
        self._check_entry()
        numbered = list(enumerate(entry.bindings))
        self.storage = [(at, each.binding, each.type) for at, each in numbered if each.space == "storage"]
        self.uniforms = [(at, each.binding, each.type) for at, each in numbered if each.space == "uniform"]
        self.immediates = [
            (len(numbered) + at, offset, type) for at, (_, offset, type) in enumerate(_immediates(entry.immediates))
        ]
        self.immediate_nbytes = -(-(entry.immediates.type.nbytes or 0) // 4) * 4 if entry.immediates is not None else 0
        self.names = [each.name for each in entry.bindings] + [name for name, _, _ in _immediates(entry.immediates)]
        self._check_limits()
        self.group_layout: Any = None
        self._layout: Any = None
        self.groups = groups.table()
        self._is_fixed = not self._by_launch()
        try:
            self._make_layouts()
            if self._is_fixed:
                block = tuple(extent for extent in entry.workgroup_size if isinstance(extent, int))
                assert len(block) == 3
                self._pipelines[(block, 0)] = self._compile({})
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Give up its pipelines, groups and layouts."""
        lib = self._device.bindings.lib
        with self._lock:
            pipelines = list(self._pipelines.values())
            self._pipelines.clear()
        for pipeline in pipelines:
            lib.wgpuComputePipelineRelease(pipeline)
        self._groups.drop_table(self.groups)
        if self._layout is not None:
            lib.wgpuPipelineLayoutRelease(self._layout)
        if self.group_layout is not None:
            lib.wgpuBindGroupLayoutRelease(self.group_layout)
        self._layout = self.group_layout = None

    # ------------------------------------------------ what it is

    def attributes(self) -> FunctionAttributes:
        """What the text tells: WebGPU tells nothing of a kernel."""
        size = self._entry.workgroup_size
        fixed = tuple(extent for extent in size if isinstance(extent, int))
        return FunctionAttributes(
            static_shared_mem=self._static_nbytes(),
            required_block=fixed if len(fixed) == 3 else None,
            bindings=self._bindings(),
            extra={"workgroup_size": size},
        )

    def _static_nbytes(self) -> int | None:
        """What its own workgroup memory takes; None where each launch says how long some of it is."""
        if self._entry.workgroup_nbytes is not None or not self._is_fixed:
            return self._entry.workgroup_nbytes
        sizes = self._module.workgroup_sizes(self.name, self._whole_constants)
        return sum(sizes) if sizes is not None else None

    def _bindings(self) -> tuple[KernelBinding, ...]:
        found = []
        for index, each in enumerate(self._entry.bindings):
            is_memory = each.space == "storage"
            item = (
                each.type.item if is_memory and each.type.kind == "array" and each.type.item is not None else each.type
            )
            found.append(
                KernelBinding(
                    kind="pointer" if is_memory else "value",
                    index=index,
                    name=each.name,
                    access=each.access,
                    nbytes=item.nbytes if item.nbytes is not None else item.least_nbytes,
                    align=item.align,
                    type_name=item.spelling,
                )
            )
        for name, _, type in _immediates(self._entry.immediates):
            found.append(
                KernelBinding(
                    "value", len(found), name, "read", nbytes=type.nbytes, align=type.align, type_name=type.spelling
                )
            )
        return tuple(found)

    # ------------------------------------------------ what it can be launched with

    def pipeline(self, geometry: Geometry) -> Any:
        """The pipeline for a block and so much shared memory, compiled if there is none yet.

        Raises GeometryError, NotSupported, CompileError.
        """
        block = geometry.block.as_tuple()
        shape = (block, geometry.shared_mem)
        known = self._pipelines.get(shape)
        if known is not None:
            return known
        values = self._constants_of(block, geometry.shared_mem)
        with self._lock:
            known = self._pipelines.get(shape)
            if known is None:
                known = self._pipelines[shape] = self._compile(values)
            return known

    def _by_launch(self) -> bool:
        size = self._entry.workgroup_size
        return SHARED_MEM in self._entry.overrides or any(isinstance(extent, str) for extent in size)

    def _constants_of(self, block: tuple[int, int, int], shared_mem: int) -> dict[str, int]:
        values: dict[str, int] = {}
        for axis, extent, asked in zip("xyz", self._entry.workgroup_size, block, strict=True):
            wanted = values.get(extent, asked) if isinstance(extent, str) else extent
            if wanted != asked:
                raise GeometryError(
                    f"{self.name}: block is {block}; the kernel says @workgroup_size("
                    f"{', '.join(map(str, self._entry.workgroup_size))}), so block.{axis} has to be {wanted}",
                    kernel=self.name,
                    axis=axis,
                    asked=asked,
                )
            if isinstance(extent, str):
                values[extent] = asked
        if SHARED_MEM in self._entry.overrides:
            values[SHARED_MEM] = shared_mem
        elif shared_mem:
            raise NotSupported(
                f"{self.name}: {shared_mem} bytes of shared memory were asked for; in WGSL the text says how large "
                f"workgroup memory is. Declare `override {SHARED_MEM}: u32;`, which the launch sets to its bytes, and "
                f"use it: `var<workgroup> tile: array<f32, {SHARED_MEM} / 4>`",
                backend="webgpu",
                feature="shared_mem",
            )
        return values

    # ------------------------------------------------ making

    def _check_entry(self) -> None:
        for each in self._entry.unfillable:
            what = "a texture or a sampler" if each.group == 0 else f"bound in @group({each.group})"
            raise NotSupported(
                f"module {self._module_name!r}: kernel {self.name} uses {each.name} (line {each.line}), which is "
                f"{what}; the WebGPU backend launches kernels whose arguments are buffers and uniforms of "
                "@group(0), and immediates",
                backend="webgpu",
                feature="textures" if each.group == 0 else "bind groups",
            )
        if self._entry.immediates is not None and "immediates" not in self._device.features:
            raise NotSupported(
                f"module {self._module_name!r}: kernel {self.name} takes {self._entry.immediates.name} as immediates "
                f"(line {self._entry.immediates.line}); {self._device.name} has none. Declare it var<uniform>",
                backend="webgpu",
                feature="immediates",
            )

    def _check_limits(self) -> None:
        limits = self._device.limits
        together, uniforms = "Put several values together into one structure", len(self.uniforms)
        rows = [
            (
                "buffer arguments (storage buffers)",
                len(self.storage),
                limits.maxStorageBuffersPerShaderStage,
                "Put several arrays into one buffer, one behind the other",
            ),
            ("values (uniform buffers)", uniforms, limits.maxUniformBuffersPerShaderStage, together),
            ("values (uniform buffers)", uniforms, limits.maxDynamicUniformBuffersPerPipelineLayout, together),
            ("bindings", len(self._entry.bindings), limits.maxBindingsPerBindGroup, together),
            ("bytes of immediates", self.immediate_nbytes, limits.maxImmediateSize, "Declare some of it var<uniform>"),
        ]
        rows += [
            (
                f"bytes of uniform {self.names[at]}",
                type.nbytes or 0,
                limits.maxUniformBufferBindingSize,
                "Declare it var<storage, read> and give it a buffer",
            )
            for at, _, type in self.uniforms
        ]
        block = self._entry.fixed_workgroup_size
        if block is not None:
            x, y, z = block
            smaller = "Make @workgroup_size smaller and the grid larger"
            rows += [
                ("block.x, by @workgroup_size,", x, limits.maxComputeWorkgroupSizeX, smaller),
                ("block.y, by @workgroup_size,", y, limits.maxComputeWorkgroupSizeY, smaller),
                ("block.z, by @workgroup_size,", z, limits.maxComputeWorkgroupSizeZ, smaller),
                ("threads of @workgroup_size", x * y * z, limits.maxComputeInvocationsPerWorkgroup, smaller),
            ]
        for what, asked, limit, advice in rows:
            self._hold(what, asked, int(limit), advice)

    def _check_workgroup_memory(self, values: Mapping[str, int]) -> None:
        """Raise LimitExceeded for more than a workgroup has: wgpu makes such a pipeline, and what it does is open.

        Each variable counts in whole 16 bytes ("validating GPUProgrammableStage", WebGPU).
        """
        sizes = self._module.workgroup_sizes(self.name, {**self._whole_constants, **values})
        if sizes is None:
            return
        said = ", ".join(f"{name}={value}" for name, value in {**self._whole_constants, **values}.items())
        self._hold(
            "shared memory per block in bytes",
            sum(round_up(_STORAGE_GRANULE, each) for each in sizes),
            int(self._device.limits.maxComputeWorkgroupStorageSize),
            f"It is that of var<workgroup>{f' with {said}' if said else ''}",
        )

    def _hold(self, what: str, asked: int, limit: int, advice: str) -> None:
        if asked > limit:
            raise LimitExceeded(
                kernel=self.name, what=what, asked=asked, limit=limit, device=self._device.name, advice=advice
            )

    def _make_layouts(self) -> None:
        bindings = self._device.bindings
        ffi, lib = bindings.ffi, bindings.lib
        entries = ffi.new("WGPUBindGroupLayoutEntry[]", max(len(self._entry.bindings), 1))
        for native, each in zip(entries, self._entry.bindings, strict=False):
            native.binding, native.visibility = each.binding, lib.WGPUShaderStage_Compute
            native.buffer.type = _layout_type(lib, each)
            # The values of a launch lie anywhere in its stream's memory for them.
            native.buffer.hasDynamicOffset = each.space == "uniform"
            native.buffer.minBindingSize = each.type.nbytes or each.type.least_nbytes or 0
        descriptor = ffi.new("WGPUBindGroupLayoutDescriptor *")
        descriptor.entryCount, descriptor.entries = len(self._entry.bindings), entries
        self.group_layout = lib.wgpuDeviceCreateBindGroupLayout(self._device.native, descriptor)
        self._device.check("wgpuDeviceCreateBindGroupLayout")
        layouts = ffi.new("WGPUBindGroupLayout[]", [self.group_layout])
        layout = ffi.new("WGPUPipelineLayoutDescriptor *")
        layout.bindGroupLayoutCount, layout.bindGroupLayouts = 1, layouts
        layout.immediateSize = self.immediate_nbytes
        self._layout = lib.wgpuDeviceCreatePipelineLayout(self._device.native, layout)
        self._device.check("wgpuDeviceCreatePipelineLayout")

    def _compile(self, values: Mapping[str, int]) -> Any:
        self._check_workgroup_memory(values)
        bindings, device = self._device.bindings, self._device
        ffi, lib = bindings.ffi, bindings.lib
        given = {**self._constants, **{self._key(name): value for name, value in values.items()}}
        kept: list[Any] = []
        constants = ffi.new("WGPUConstantEntry[]", max(len(given), 1))
        for native, (name, value) in zip(constants, given.items(), strict=False):
            native.key, keep = bindings.text(name)
            native.value = value
            kept.append(keep)
        descriptor = ffi.new("WGPUComputePipelineDescriptor *")
        descriptor.layout, descriptor.compute.module = self._layout, self._shader
        descriptor.compute.entryPoint, keep = bindings.text(self.name)
        kept.append(keep)
        descriptor.compute.constantCount, descriptor.compute.constants = len(given), constants
        device.check_alive()
        pipeline = lib.wgpuDeviceCreateComputePipeline(device.native, descriptor)
        kept.clear()
        error = device.take_error()
        if error is None:
            return pipeline
        if pipeline != ffi.NULL:
            lib.wgpuComputePipelineRelease(pipeline)
        if error.kind != "Validation" or device.lost is not None:
            device.refuse(error, "wgpuDeviceCreateComputePipeline")
        said = f" with {', '.join(f'{name}={value:g}' for name, value in given.items())}" if given else ""
        if values.get(SHARED_MEM) == 0:
            said += f" ({SHARED_MEM} is what the launch's .shared_mem(nbytes) asks for)"
        raise CompileError(
            f"module {self._module_name!r}: {device.name} cannot run kernel {self.name}{said}: {error.text}",
            module=self._module_name,
            log=error.message,
            diagnostics=[(self._module_name, self._entry.line, error.text)],
        )

    def _key(self, name: str) -> str:
        override = self._module.override(name)
        return name if override is None else override.key


def check_block(entry: WgslEntryPoint, module: WgslModule, module_name: str) -> None:
    """Raise NotSupported for a @workgroup_size that a launch cannot set."""
    for extent in entry.workgroup_size:
        if isinstance(extent, str) and module.override(extent) is None:
            raise NotSupported(
                f"module {module_name!r}: kernel {entry.name} says @workgroup_size({extent}); a launch can set an "
                "override that stands there by itself, but not an expression",
                backend="webgpu",
                feature="workgroup size expressions",
            )


def _layout_type(lib: Any, binding: WgslBinding) -> int:
    if binding.space == "uniform":
        return int(lib.WGPUBufferBindingType_Uniform)
    if binding.access == "read":
        return int(lib.WGPUBufferBindingType_ReadOnlyStorage)
    return int(lib.WGPUBufferBindingType_Storage)


def _immediates(binding: WgslBinding | None) -> list[tuple[str, int, WgslType]]:
    """What immediates hold: (name, offset, type) of the members of a structure, or of the one value that they are."""
    if binding is None:
        return []
    if binding.type.kind == "struct":
        return [(each.name, each.offset, each.type) for each in binding.type.fields]
    return [(binding.name, 0, binding.type)]


def _as_numbers(module: WgslModule, constants: Mapping[str, bytes]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, data in constants.items():
        override = module.override(name)
        assert override is not None
        assert override.type_name is not None
        numbers[override.key] = _real(SCALARS[override.type_name].decode(data))
    return numbers


def _whole_numbers(module: WgslModule, constants: Mapping[str, bytes]) -> dict[str, int]:
    """Those of them that are whole, by name."""
    numbers: dict[str, int] = {}
    for name, data in constants.items():
        override = module.override(name)
        if override is not None and override.type_name in ("i32", "u32"):
            numbers[name] = int.from_bytes(data, "little", signed=override.type_name == "i32")
    return numbers


def _real(value: int | float | complex) -> float:
    assert not isinstance(value, complex)
    return float(value)
