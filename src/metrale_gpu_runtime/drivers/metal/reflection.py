"""What Metal's reflection tells of a kernel's parameters, as the contract has them.

Source: MTLComputePipelineReflection.bindings, MTLBinding, MTLBufferBinding, MTLThreadgroupBinding (MTLArgument.h).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ...driver import KernelBinding
from ...errors import NotSupported
from .bindings import Bindings

# MTLDataType's words without a number, and Metal's own for the same type.
_SCALARS = {
    "Bool": "bool",
    "Char": "char",
    "UChar": "uchar",
    "Short": "short",
    "UShort": "ushort",
    "Int": "int",
    "UInt": "uint",
    "Long": "long",
    "ULong": "ulong",
    "Half": "half",
    "BFloat": "bfloat",
    "Float": "float",
}

# What else a kernel can take, in the words of the Metal Shading Language Specification.
_OTHER_KINDS = {
    "Texture": "a texture",
    "Sampler": "a sampler",
    "ImageblockData": "imageblock data",
    "Imageblock": "an imageblock",
    "VisibleFunctionTable": "a table of visible functions",
    "PrimitiveAccelerationStructure": "an acceleration structure",
    "InstanceAccelerationStructure": "an acceleration structure",
    "IntersectionFunctionTable": "a table of intersection functions",
    "ObjectPayload": "an object payload",
    "Tensor": "a tensor",
}


@cache
def type_names(metal: Any) -> dict[int, str]:
    """Metal's names of its scalars, vectors and matrices ("uint", "float4", "half2x3") by MTLDataType."""
    names: dict[int, str] = {}
    for word, name in _SCALARS.items():
        for suffix in ("", "2", "3", "4"):
            names[getattr(metal, f"MTLDataType{word}{suffix}")] = name + suffix
    for word in ("Float", "Half"):
        for columns in (2, 3, 4):
            for rows in (2, 3, 4):
                shape = f"{columns}x{rows}"
                names[getattr(metal, f"MTLDataType{word}{shape}")] = _SCALARS[word] + shape
    return names


def kernel_bindings(bindings: Bindings, reflection: Any, *, module: str, kernel: str) -> tuple[KernelBinding, ...]:
    """The kernel's parameters in the order in which Metal lists them, those that it does not use included.

    Raises NotSupported for a kernel that takes anything but buffers and threadgroup memory.
    """
    metal = bindings.metal
    found: list[KernelBinding] = []
    for each in reflection.bindings():
        kind = each.type()
        if kind == metal.MTLBindingTypeBuffer:
            found.append(_buffer(metal, each))
        elif kind == metal.MTLBindingTypeThreadgroupMemory:
            # An array that the kernel declares in its body is listed as well, and is no parameter.
            if each.isArgument():
                found.append(_threadgroup(each))
        else:
            raise NotSupported(
                f"module {module!r}: kernel {kernel} takes {_what(metal, kind)} ({str(each.name())!r}, index "
                f"{each.index()}); the Metal backend launches kernels whose parameters are buffers, values and "
                "threadgroup memory. Pass the data as a buffer",
                backend="metal",
                feature="textures",
            )
    return tuple(found)


def _buffer(metal: Any, binding: Any) -> KernelBinding:
    access = {
        metal.MTLBindingAccessReadOnly: "read",
        metal.MTLBindingAccessWriteOnly: "write",
        metal.MTLBindingAccessReadWrite: "read-write",
    }
    return KernelBinding(
        kind="buffer",
        index=binding.index(),
        name=str(binding.name()),
        access=access[binding.access()],
        nbytes=binding.bufferDataSize(),
        align=binding.bufferAlignment(),
        type_name=type_names(metal).get(binding.bufferDataType()),
    )


def _threadgroup(binding: Any) -> KernelBinding:
    return KernelBinding(
        kind="local",
        index=binding.index(),
        name=str(binding.name()),
        nbytes=binding.threadgroupMemoryDataSize(),
        align=binding.threadgroupMemoryAlignment(),
    )


def _what(metal: Any, kind: int) -> str:
    for word, name in _OTHER_KINDS.items():
        if kind == getattr(metal, f"MTLBindingType{word}"):
            return name
    return f"a parameter of kind {kind}"
