"""A device with the fake room's kernels, for the tests of the stand-in itself."""

from __future__ import annotations

import struct
from typing import Any

from . import fake_msl
from .control import MetalStandIn


def remedy(objc: Any, *selectors: str) -> None:
    """Register what PyObjC lacks for `new...` messages, as the backend does."""
    shapes: dict[str, dict[int, dict[str, Any]]] = {
        "newLibraryWithSource:options:error:": {4: {"type_modifier": b"o"}},
        "newLibraryWithURL:error:": {3: {"type_modifier": b"o"}},
        "newFunctionWithName:constantValues:error:": {4: {"type_modifier": b"o"}},
        "newComputePipelineStateWithFunction:error:": {3: {"type_modifier": b"o"}},
        "newComputePipelineStateWithFunction:options:reflection:error:": {
            4: {"type_modifier": b"o"},
            5: {"type_modifier": b"o"},
        },
    }
    plain = ("newCommandQueue", "newBufferWithLength:options:", "newFunctionWithName:", "newSharedEvent")
    objc._updatingMetadata(True)
    for selector in selectors or (*shapes, *plain):
        objc.registerMetaDataForSelector(
            b"NSObject",
            selector.encode(),
            {"retval": {"already_retained": True}, "arguments": shapes.get(selector, {})},
        )
    objc._updatingMetadata(False)


class Setting:
    """One device, one queue, the kernels by name, two buffers; PyObjC's reference counts put right."""

    def __init__(self, standin: MetalStandIn, **facts: Any) -> None:
        standin.reset(**facts)
        standin.world.compile_library = fake_msl.compile_library
        import Metal
        import objc

        self.metal, self.objc, self.standin = Metal, objc, standin
        remedy(objc)
        self.device = Metal.MTLCreateSystemDefaultDevice()
        self.queue = self.device.newCommandQueue()
        with objc.autorelease_pool():
            library, error = self.device.newLibraryWithSource_options_error_("kernels", None, None)
            assert error is None
            self.library = library

    def function(self, name: str) -> Any:
        return self.library.newFunctionWithName_(name)

    def pipeline(self, name: str) -> Any:
        with self.objc.autorelease_pool():
            state, error = self.device.newComputePipelineStateWithFunction_error_(self.function(name), None)
            assert error is None, error
            return state

    def buffer(self, nbytes: int, *values: float, options: int = 0) -> Any:
        made = self.device.newBufferWithLength_options_(nbytes, options)
        if values:
            made.contents().as_buffer(nbytes)[: 4 * len(values)] = struct.pack(f"{len(values)}f", *values)
        return made

    def floats(self, buffer: Any, count: int) -> tuple[float, ...]:
        return struct.unpack(f"{count}f", buffer.contents().as_buffer(4 * count))

    def encode_add(self, commands: Any, state: Any, buffer: Any, step: float, label: str = "", groups: int = 1) -> None:
        """One encoder that adds `step` to the first 5 floats of each of `groups` threadgroups."""
        encoder = commands.computeCommandEncoder()
        encoder.setLabel_(label)
        encoder.setComputePipelineState_(state)
        encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
        encoder.setBytes_length_atIndex_(struct.pack("f", step), 4, 2)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((groups, 1, 1), (5, 1, 1))
        encoder.endEncoding()
