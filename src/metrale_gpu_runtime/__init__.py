"""One typed, checked kernel launch for Python: GPUs, a CPU that runs CUDA kernels, and a mock.

    import metrale_gpu_runtime as mg

    with mg.open_backend() as gpu:
        kernel = gpu.load_module("norm", path="norm.cu")["rms_norm_f32"]
        x, y = gpu.array(host), gpu.empty(host.shape, host.dtype)
        kernel[rows, 256](x, y, hidden, 1e-6)

This is the only door: what is not named here is not public. Names are imported when they are first used, so that
importing the package costs little and loads no GPU library, NumPy or llvmlite.
"""

from __future__ import annotations

__version__ = "0.1.0"

# Type checkers know the name; importing `typing` for it would be most of the cost of importing this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .args import KernelArg as KernelArg
    from .args import pack_kernel_args as pack_kernel_args
    from .backend import GpuBackend as GpuBackend
    from .buffers import DeviceBuffer as DeviceBuffer
    from .buffers import In as In
    from .buffers import InOut as InOut
    from .buffers import Out as Out
    from .capabilities import Capabilities as Capabilities
    from .checkup import doctor as doctor
    from .discovery import BackendState as BackendState
    from .discovery import available_backends as available_backends
    from .discovery import open_backend as open_backend
    from .errors import AllocationInUse as AllocationInUse
    from .errors import ArgumentCountError as ArgumentCountError
    from .errors import ArgumentError as ArgumentError
    from .errors import ArgumentKindError as ArgumentKindError
    from .errors import ArgumentRangeError as ArgumentRangeError
    from .errors import ArgumentSizeError as ArgumentSizeError
    from .errors import BackendUnavailable as BackendUnavailable
    from .errors import CaptureError as CaptureError
    from .errors import CodeNotFound as CodeNotFound
    from .errors import CompileError as CompileError
    from .errors import ContextLost as ContextLost
    from .errors import DriverError as DriverError
    from .errors import ElementTypeError as ElementTypeError
    from .errors import EventError as EventError
    from .errors import Finding as Finding
    from .errors import ForeignHandle as ForeignHandle
    from .errors import FreeMemoryFloor as FreeMemoryFloor
    from .errors import FunctionConstantError as FunctionConstantError
    from .errors import GeometryError as GeometryError
    from .errors import GpuError as GpuError
    from .errors import GpuResourceWarning as GpuResourceWarning
    from .errors import GpuWarning as GpuWarning
    from .errors import HandleClosed as HandleClosed
    from .errors import IncompatibleCode as IncompatibleCode
    from .errors import InvalidPointer as InvalidPointer
    from .errors import KernelFault as KernelFault
    from .errors import KernelNotFound as KernelNotFound
    from .errors import LaunchError as LaunchError
    from .errors import LaunchSummary as LaunchSummary
    from .errors import LimitExceeded as LimitExceeded
    from .errors import MappingBudgetExceeded as MappingBudgetExceeded
    from .errors import ModuleLoadError as ModuleLoadError
    from .errors import NotSupported as NotSupported
    from .errors import OutOfDeviceMemory as OutOfDeviceMemory
    from .errors import PtxSyntaxError as PtxSyntaxError
    from .errors import ScalarKindError as ScalarKindError
    from .errors import ScalarRangeError as ScalarRangeError
    from .errors import ScalarRefused as ScalarRefused
    from .errors import SignatureError as SignatureError
    from .errors import TensorMapError as TensorMapError
    from .errors import UnsupportedInstruction as UnsupportedInstruction
    from .geometry import Dim3 as Dim3
    from .geometry import Geometry as Geometry
    from .geometry import LaunchAttributes as LaunchAttributes
    from .geometry import div_ceil as div_ceil
    from .geometry import threads as threads
    from .handles import DevicePtr as DevicePtr
    from .handles import KernelHandle as KernelHandle
    from .kernel import Kernel as Kernel
    from .kernel import Module as Module
    from .launch import KernelLaunch as KernelLaunch
    from .memory.lazy import LazyBuffer as LazyBuffer
    from .memory.lazy import MappingBudget as MappingBudget
    from .memory.pinned import PinnedMemory as PinnedMemory
    from .memory.redzones import RedzoneDamage as RedzoneDamage
    from .native import launch_core as launch_core
    from .prepared import LaunchSequence as LaunchSequence
    from .prepared import PreparedLaunch as PreparedLaunch
    from .scalars import Scalar as Scalar
    from .scalars import ScalarType as ScalarType
    from .scalars import bf16 as bf16
    from .scalars import boolean as boolean
    from .scalars import c64 as c64
    from .scalars import c128 as c128
    from .scalars import f16 as f16
    from .scalars import f32 as f32
    from .scalars import f64 as f64
    from .scalars import i8 as i8
    from .scalars import i16 as i16
    from .scalars import i32 as i32
    from .scalars import i64 as i64
    from .scalars import u8 as u8
    from .scalars import u16 as u16
    from .scalars import u32 as u32
    from .scalars import u64 as u64
    from .signature import KernelSignature as KernelSignature
    from .slots import slot as slot
    from .stream import Event as Event
    from .stream import Graph as Graph
    from .stream import Stream as Stream
    from .tensor_map import TensorMap as TensorMap
    from .testing.mock_backend import MockGpuBackend as MockGpuBackend
    from .trace.difference import difference as difference
    from .trace.recording import Trace as Trace

# Where each public name lives. The imports above say the same to type checkers; a test compares both.
_HOMES = {
    "args": ("KernelArg", "pack_kernel_args"),
    "backend": ("GpuBackend",),
    "buffers": ("DeviceBuffer", "In", "InOut", "Out"),
    "capabilities": ("Capabilities",),
    "checkup": ("doctor",),
    "discovery": ("BackendState", "available_backends", "open_backend"),
    "errors": (
        "AllocationInUse",
        "ArgumentCountError",
        "ArgumentError",
        "ArgumentKindError",
        "ArgumentRangeError",
        "ArgumentSizeError",
        "BackendUnavailable",
        "CaptureError",
        "CodeNotFound",
        "CompileError",
        "ContextLost",
        "DriverError",
        "ElementTypeError",
        "EventError",
        "Finding",
        "ForeignHandle",
        "FreeMemoryFloor",
        "FunctionConstantError",
        "GeometryError",
        "GpuError",
        "GpuResourceWarning",
        "GpuWarning",
        "HandleClosed",
        "IncompatibleCode",
        "InvalidPointer",
        "KernelFault",
        "KernelNotFound",
        "LaunchError",
        "LaunchSummary",
        "LimitExceeded",
        "MappingBudgetExceeded",
        "ModuleLoadError",
        "NotSupported",
        "OutOfDeviceMemory",
        "PtxSyntaxError",
        "ScalarKindError",
        "ScalarRangeError",
        "ScalarRefused",
        "SignatureError",
        "TensorMapError",
        "UnsupportedInstruction",
    ),
    "geometry": ("Dim3", "Geometry", "LaunchAttributes", "div_ceil", "threads"),
    "handles": ("DevicePtr", "KernelHandle"),
    "kernel": ("Kernel", "Module"),
    "launch": ("KernelLaunch",),
    "memory.lazy": ("LazyBuffer", "MappingBudget"),
    "memory.pinned": ("PinnedMemory",),
    "memory.redzones": ("RedzoneDamage",),
    "native": ("launch_core",),
    "prepared": ("LaunchSequence", "PreparedLaunch"),
    "scalars": (
        "Scalar",
        "ScalarType",
        "bf16",
        "boolean",
        "c64",
        "c128",
        "f16",
        "f32",
        "f64",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
    ),
    "signature": ("KernelSignature",),
    "slots": ("slot",),
    "stream": ("Event", "Graph", "Stream"),
    "tensor_map": ("TensorMap",),
    "testing.mock_backend": ("MockGpuBackend",),
    "trace.difference": ("difference",),
    "trace.recording": ("Trace",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]


def __getattr__(name: str) -> object:
    import importlib

    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # The builder is looked up at every launch, and CPython finds a name four times as fast in a module that has no
    # __getattr__: with it come all the others.
    for wanted in _HOME_OF if name == "KernelLaunch" else (name,):
        globals()[wanted] = getattr(importlib.import_module(f".{_HOME_OF[wanted]}", __name__), wanted)
    if name == "KernelLaunch":
        globals().pop("__getattr__", None)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
