"""The instructions of SPIR-V that say what a module declares: their numbers and what their words mean.

Source: "SPIR-V Specification", sections "Instructions", "Execution Model", "Storage Class", "Decoration" and "Source
Language". All others are passed over by their length.
"""

from __future__ import annotations

from typing import Final

# What the words of an instruction are: "result" and "id" are ids, "word" a number, "text" a string; with a star, all
# that are left, with a question mark, one that may be missing.
INSTRUCTIONS: Final[dict[int, tuple[str, tuple[str, ...]]]] = {
    3: ("OpSource", ("word", "word", "id?", "text?")),
    5: ("OpName", ("id", "text")),
    7: ("OpString", ("result", "text")),
    14: ("OpMemoryModel", ("word", "word")),
    15: ("OpEntryPoint", ("word", "id", "text", "id*")),
    16: ("OpExecutionMode", ("id", "word", "word*")),
    17: ("OpCapability", ("word",)),
    19: ("OpTypeVoid", ("result",)),
    20: ("OpTypeBool", ("result",)),
    21: ("OpTypeInt", ("result", "word", "word")),
    22: ("OpTypeFloat", ("result", "word", "word?")),
    23: ("OpTypeVector", ("result", "id", "word")),
    24: ("OpTypeMatrix", ("result", "id", "word")),
    25: ("OpTypeImage", ("result", "id", "word*")),
    26: ("OpTypeSampler", ("result",)),
    27: ("OpTypeSampledImage", ("result", "id")),
    28: ("OpTypeArray", ("result", "id", "id")),
    29: ("OpTypeRuntimeArray", ("result", "id")),
    30: ("OpTypeStruct", ("result", "id*")),
    31: ("OpTypeOpaque", ("result", "text")),
    32: ("OpTypePointer", ("result", "word", "id")),
    33: ("OpTypeFunction", ("result", "id", "id*")),
    34: ("OpTypeEvent", ("result",)),
    35: ("OpTypeDeviceEvent", ("result",)),
    36: ("OpTypeReserveId", ("result",)),
    37: ("OpTypeQueue", ("result",)),
    38: ("OpTypePipe", ("result", "word")),
    39: ("OpTypeForwardPointer", ("id", "word")),
    43: ("OpConstant", ("id", "result", "word*")),
    54: ("OpFunction", ("id", "result", "word", "id")),
    55: ("OpFunctionParameter", ("id", "result")),
    56: ("OpFunctionEnd", ()),
    71: ("OpDecorate", ("id", "word", "word*")),
    72: ("OpMemberDecorate", ("id", "word", "word", "word*")),
    73: ("OpDecorationGroup", ("result",)),
    74: ("OpGroupDecorate", ("id", "id*")),
    331: ("OpExecutionModeId", ("id", "word", "id*")),
    4417: ("OpTypeUntypedPointerKHR", ("result", "word")),
}

OBJECT_TYPES: Final = {
    "OpTypeImage": "an image",
    "OpTypeSampler": "a sampler",
    "OpTypeSampledImage": "an image with its sampler",
    "OpTypeOpaque": "an opaque type",
    "OpTypeEvent": "an event",
    "OpTypeDeviceEvent": "an event of the device's",
    "OpTypeReserveId": "a reservation in a pipe",
    "OpTypeQueue": "a queue",
    "OpTypePipe": "a pipe",
}

EXECUTION_MODELS: Final = {
    0: "Vertex",
    1: "TessellationControl",
    2: "TessellationEvaluation",
    3: "Geometry",
    4: "Fragment",
    5: "GLCompute",
    6: "Kernel",
}
KERNEL: Final = 6

LOCAL_SIZE, LOCAL_SIZE_HINT, LOCAL_SIZE_ID, LOCAL_SIZE_HINT_ID = 17, 18, 38, 39

# Storage classes, under the words that OpenCL C has for them.
SPACES: Final = {0: "constant", 4: "local", 5: "global", 7: "private", 8: "generic", 5936: "global", 5937: "global"}

CPACKED, CONSTANT, OFFSET, FUNCTION_PARAMETER_ATTRIBUTE, LINKAGE, ALIGNMENT = 10, 22, 35, 38, 41, 44
BY_VALUE, NO_WRITE = 2, 6

PHYSICAL32, PHYSICAL64 = 1, 2
ADDRESSING_MODELS: Final = {0: "Logical", PHYSICAL32: "Physical32", PHYSICAL64: "Physical64"}

LANGUAGES: Final = {
    0: "",
    1: "ESSL",
    2: "GLSL",
    3: "OpenCL C",
    4: "OpenCL C++",
    5: "HLSL",
    6: "C++ for OpenCL",
    7: "SYCL",
    8: "HERO C",
    9: "NZSL",
    10: "WGSL",
    11: "Slang",
    12: "Zig",
}

# OpTypeFloat's third word, where it has one, names another format than IEEE's of that width.
BFLOAT16: Final = 0
