"""The exception family: one root, chosen by whose fault it is, every fact an attribute as well as a word.

A stranger's bases are kept, so `except ValueError`, `except MemoryError` and the like work on the errors that are
of that kind. Each message names who asked, what was asked, what is allowed and the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


class GpuError(Exception):
    """The root of everything this package raises on purpose."""


class GpuWarning(UserWarning):
    """Something the caller should know that stopped nothing: no GPU was taken, a cache cannot be written."""


class GpuResourceWarning(ResourceWarning):
    """Something could not be given back, `sweep_unreleased` found what nobody had freed, or `close` met a fault."""


# ---------------------------------------------------------------- the caller's: what was asked cannot be


class LaunchError(GpuError):
    """A launch was refused before the driver was called. `kernel` is its function's name."""

    def __init__(self, message: str, *, kernel: str) -> None:
        self.kernel = kernel
        super().__init__(message)


class ArgumentError(LaunchError):
    """One argument of a launch is wrong.

    `index` is its position from 0 (None when the list as a whole is wrong), `name` the parameter's name where
    known, `expected` and `given` what the kernel declares and what it was handed.
    """

    def __init__(
        self,
        message: str,
        *,
        kernel: str,
        index: int | None = None,
        name: str | None = None,
        expected: object = None,
        given: object = None,
    ) -> None:
        self.index, self.name, self.expected, self.given = index, name, expected, given
        super().__init__(message, kernel=kernel)


class ArgumentCountError(ArgumentError, TypeError):
    """Too few or too many arguments, an unknown name, or one given twice."""


class ArgumentSizeError(ArgumentError, ValueError):
    """The bytes of an argument are not as many as the parameter has, or their alignment is too small."""


class ArgumentKindError(ArgumentError, TypeError):
    """A pointer where a value is declared or the reverse; a float for an integer; the wrong signedness."""


class ElementTypeError(ArgumentError, TypeError):
    """A buffer's element type is not the one that the pointer parameter declares."""


class ArgumentRangeError(ArgumentError, ValueError, OverflowError):
    """A number does not fit its type. `expected` is (lowest, highest)."""


class LimitExceeded(LaunchError, ValueError):
    """More than the device or the kernel allows was asked for: `what` (with its axis), `asked`, `limit`, `device`."""

    def __init__(
        self,
        *,
        kernel: str,
        what: str,
        asked: int,
        limit: int,
        device: str,
        advice: str = "",
        axis: str | None = None,
    ) -> None:
        self.what, self.asked, self.limit, self.device, self.axis = what, asked, limit, device, axis
        message = f"{kernel}: {what} is {asked}; {device} allows {limit}"
        super().__init__(f"{message}. {advice}" if advice else message, kernel=kernel)


class GeometryError(LaunchError, ValueError):
    """A grid, block or cluster that no device could run: negative, an empty block, not three extents."""

    def __init__(self, message: str, *, kernel: str = "", axis: str | None = None, asked: object = None) -> None:
        self.axis, self.asked = axis, asked
        super().__init__(message, kernel=kernel)


class TensorMapError(GpuError, ValueError):
    """A tensor map that no device could use, refused before the driver is asked.

    `what` is the property ("box", "strides", "address", …), `dimension` its axis from 0, the innermost (None: all of
    it), `asked` the value and `limit` the bound, multiple or choice that it breaks.
    """

    def __init__(
        self, message: str, *, what: str, dimension: int | None = None, asked: object = None, limit: object = None
    ) -> None:
        self.what, self.dimension, self.asked, self.limit = what, dimension, asked, limit
        super().__init__(message)


class FunctionConstantError(GpuError, ValueError):
    """A value that a kernel is specialised by is unknown, missing, given twice, or does not fit its type.

    `kernel`, the constant's `name` (None where only an index was given), `expected`, `given`.
    """

    def __init__(
        self, message: str, *, kernel: str, name: str | None = None, expected: object = None, given: object = None
    ) -> None:
        self.kernel, self.name, self.expected, self.given = kernel, name, expected, given
        super().__init__(message)


class InvalidPointer(GpuError, ValueError):
    """An address that lies in no live allocation, was freed, or with its length runs past the end of one."""

    def __init__(self, message: str, *, address: int, nbytes: int | None = None) -> None:
        self.address, self.nbytes = address, nbytes
        super().__init__(message)


class ForeignHandle(GpuError, ValueError):
    """A pointer, kernel, stream or event of one backend was given to another."""


class HandleClosed(GpuError, RuntimeError):
    """A backend, module, stream, event, graph or buffer was used after it was closed."""


class AllocationInUse(GpuError, RuntimeError):
    """An explicit free of memory that queued work still uses; the message names the launch that does."""


class EventError(GpuError, ValueError):
    """An event that cannot answer: never recorded, not reached yet, made without timing. `event` is its name."""

    def __init__(self, message: str, *, event: str) -> None:
        self.event = event
        super().__init__(message)


class CaptureError(GpuError, RuntimeError):
    """A call that a stream capture forbids, or a capture that cannot be ended or begun."""


class NotSupported(GpuError, NotImplementedError):
    """This backend cannot do it and says so: `backend`, `feature`."""

    def __init__(self, message: str, *, backend: str = "", feature: str = "") -> None:
        self.backend, self.feature = backend, feature
        super().__init__(message)


class ModuleLoadError(GpuError, ValueError):
    """Code was refused by the reader, the compiler or the driver. `module` is the name it was to be loaded under."""

    def __init__(self, message: str, *, module: str) -> None:
        self.module = module
        super().__init__(message)


class CodeNotFound(ModuleLoadError, FileNotFoundError):
    """No file with code that this backend takes; `looked_for` are the paths that were tried."""

    def __init__(self, message: str, *, module: str, looked_for: Sequence[str] = ()) -> None:
        self.looked_for = tuple(looked_for)
        super().__init__(message, module=module)


class PtxSyntaxError(ModuleLoadError):
    """PTX text that is not PTX. `line` and `column` start at 1; `excerpt` is the line's text."""

    def __init__(self, message: str, *, module: str, line: int, column: int, excerpt: str = "") -> None:
        self.line, self.column, self.excerpt = line, column, excerpt
        # Some producers put whole kernels on one line; what is shown is the part around the column.
        begin = max(0, column - 80) if len(excerpt) > 160 else 0
        part = "".join(c if c.isprintable() else " " for c in excerpt[begin : begin + 160])
        shown = f"\n  {part}\n  {' ' * (column - 1 - begin)}^" if excerpt else ""
        super().__init__(f"{module}:{line}:{column}: {message}{shown}", module=module)


class CompileError(ModuleLoadError):
    """A compiler refused the source. `log` is its whole output, `diagnostics` its lines as (file, line, text)."""

    def __init__(
        self, message: str, *, module: str, log: str, diagnostics: Sequence[tuple[str, int, str]] = ()
    ) -> None:
        self.log, self.diagnostics = log, tuple(diagnostics)
        super().__init__(message, module=module)


class IncompatibleCode(ModuleLoadError):
    """Code that this device or its driver cannot run, found before the driver was asked or explained after it refused.

    `needs` says what the code was made for, `device_architecture` what the device is ("sm_90"), `driver_version` the
    driver's number (12020 for CUDA 12.2), `ptx_version` that of PTX as (8, 7). `log` is the driver's whole compile log
    and `code_name` its error where it was asked.
    """

    def __init__(
        self,
        message: str,
        *,
        module: str,
        needs: str,
        device_architecture: str,
        driver_version: int | None = None,
        ptx_version: tuple[int, int] | None = None,
        code_name: str = "",
        log: str = "",
    ) -> None:
        self.needs, self.device_architecture = needs, device_architecture
        self.driver_version, self.ptx_version = driver_version, ptx_version
        self.code_name, self.log = code_name, log
        super().__init__(message, module=module)


class UnsupportedInstruction(NotSupported, ModuleLoadError):
    """This kernel needs what the backend does not translate: `kernel`, `instruction`, `line` of the PTX."""

    def __init__(
        self, message: str, *, module: str, kernel: str, instruction: str, line: int, backend: str = "cpu"
    ) -> None:
        self.kernel, self.instruction, self.line = kernel, instruction, line
        self.backend, self.feature, self.module = backend, instruction, module
        Exception.__init__(self, message)


class KernelNotFound(GpuError, LookupError):
    """No such module, kernel or symbol. `available` is what there is, `close` the names that come near."""

    def __init__(
        self,
        message: str,
        *,
        module: str,
        function: str,
        available: Sequence[str] = (),
        close: Sequence[str] = (),
    ) -> None:
        self.module, self.function = module, function
        self.available, self.close = tuple(available), tuple(close)
        super().__init__(message)


# ---------------------------------------------------------------- between the values and the engine


class ScalarRefused(GpuError):
    """A value cannot become a typed scalar. The engine raises it again with kernel and argument index.

    `reason` is "range" or "kind", `message` one sentence without kernel or index, `expected` what would be taken
    ((lowest, highest) for a range), `given` what was handed in.
    """

    reason: str = "kind"

    def __init__(self, message: str, *, expected: object = None, given: object = None) -> None:
        self.message, self.expected, self.given = message, expected, given
        super().__init__(message)


class ScalarRangeError(ScalarRefused, ValueError, OverflowError):
    """A number of the right kind that the type cannot hold."""

    reason = "range"


class ScalarKindError(ScalarRefused, TypeError):
    """A value of another kind than the type: a float for an integer, a bool for a number, an array for a scalar."""


class SignatureError(GpuError, ValueError):
    """A declaration that cannot be read, or two sources that disagree about one kernel.

    `kernel` is its name; `text` and `position` (from 0) are the declaration and the place in it, where there is one,
    `line` (from 1) that of the text; `index` the parameter on which two sources disagree.
    """

    def __init__(
        self,
        message: str,
        *,
        kernel: str,
        text: str | None = None,
        position: int | None = None,
        index: int | None = None,
    ) -> None:
        self.kernel, self.text, self.position, self.index = kernel, text, position, index
        self.line = text.count("\n", 0, position) + 1 if text is not None and position is not None else None
        if text is not None and position is not None:
            start = text.rfind("\n", 0, position) + 1
            end = text.find("\n", position)
            line = text[start:] if end < 0 else text[start:end]
            message = f"{message}\n  {line}\n  {' ' * (position - start)}^"
        super().__init__(message)


# ---------------------------------------------------------------- the machine's and the driver's


class BackendUnavailable(GpuError, OSError):
    """The backend cannot be opened here; the message says what was looked for and what would help."""

    def __init__(self, message: str, *, backend: str) -> None:
        self.backend = backend
        super().__init__(message)


class OutOfDeviceMemory(GpuError, MemoryError):
    """The device has no `nbytes` left; `free` and `total` are its figures where it tells them."""

    def __init__(self, message: str, *, nbytes: int, free: int | None = None, total: int | None = None) -> None:
        self.nbytes, self.free, self.total = nbytes, free, total
        super().__init__(message)


class MappingBudgetExceeded(OutOfDeviceMemory):
    """A lazy buffer may not grow: its budget has no `nbytes` left. `budget` is all of it, `charged` what is taken."""

    def __init__(self, message: str, *, nbytes: int, budget: int, charged: int) -> None:
        self.budget, self.charged = budget, charged
        super().__init__(message, nbytes=nbytes)


class FreeMemoryFloor(OutOfDeviceMemory):
    """A lazy buffer may not grow: the device would be left with fewer free bytes than `floor`."""

    def __init__(
        self, message: str, *, nbytes: int, floor: int, free: int | None = None, total: int | None = None
    ) -> None:
        self.floor = floor
        super().__init__(message, nbytes=nbytes, free=free, total=total)


class DriverError(GpuError, RuntimeError):
    """The driver refused a call. `call` is the entry point, `code` its number, `code_name` the vendor's name for it."""

    def __init__(self, message: str, *, call: str, code: int, code_name: str) -> None:
        self.call, self.code, self.code_name = call, code, code_name
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that went wrong on the device, as exactly as the backend can tell; None where it cannot.

    `kind` is one of "out-of-bounds", "misaligned", "use-after-free", "trap", "assert", "deadlock", "timeout",
    "shared-bounds", "local-bounds", "null-pointer", "driver". `access` is "read", "write" or "atomic". `block` and
    `thread` are (x, y, z); `address` and `nbytes` are those of the access; `source_file` and `source_line` come from
    the PTX's `.loc` lines; `allocation` describes the nearest live allocation.
    """

    kind: str
    message: str
    kernel: str | None = None
    launch: int | None = None
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    access: str | None = None
    address: int | None = None
    nbytes: int | None = None
    ptx_line: int | None = None
    instruction: str | None = None
    source_file: str | None = None
    source_line: int | None = None
    allocation: str | None = None


@dataclass(frozen=True, slots=True)
class LaunchSummary:
    """What the ring of recent launches keeps of one: enough to name it in an error.

    `nodes` describe the operations of a graph that the driver replays; grid and block are zeros then. `extras` is what
    a launch asked for beyond grid, block and shared memory: "cluster (2, 1, 1), cooperative, priority -3".
    """

    ordinal: int
    kernel: str
    module: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_mem: int
    stream: int
    arguments: str = ""
    site: str = ""
    nodes: tuple[str, ...] = ()
    extras: str = ""

    def __str__(self) -> str:
        if self.nodes:
            text = f"replay {self.ordinal} of {self.kernel} ({'; '.join(self.nodes)}), stream {self.stream}"
            return f"{text}, made at {self.site}" if self.site else text
        text = f"launch {self.ordinal} of {self.kernel} (module {self.module}), grid {self.grid}, block {self.block}"
        if self.shared_mem:
            text += f", {self.shared_mem} bytes of shared memory"
        if self.extras:
            text += f", {self.extras}"
        text += f", stream {self.stream}"
        if self.arguments:
            text += f", arguments ({self.arguments})"
        return f"{text}, made at {self.site}" if self.site else text


class KernelFault(GpuError, RuntimeError):
    """A fault on the device.

    `launch` is the launch it belongs to when that is known (else None and `suspects` lists the launches of that
    stream since the last good synchronisation); `findings` are the details; `earlier` is True when the fault was
    already there before the launch at which it was noticed; `dropped` are later launches that did not run.
    """

    def __init__(
        self,
        message: str,
        *,
        findings: Sequence[Finding] = (),
        launch: LaunchSummary | None = None,
        suspects: Sequence[LaunchSummary] = (),
        dropped: Sequence[LaunchSummary] = (),
        earlier: bool = False,
        code_name: str = "",
    ) -> None:
        self.findings, self.launch, self.suspects = tuple(findings), launch, tuple(suspects)
        self.dropped, self.earlier, self.code_name = tuple(dropped), earlier, code_name
        super().__init__(message)


class ContextLost(KernelFault):
    """The device's context is gone since an earlier fault; `cause` is that first error.

    Where `Capabilities.usable_after_loss` is False, only a new process can use the device again.
    """

    def __init__(self, message: str, *, cause: BaseException, launch: LaunchSummary | None = None) -> None:
        self.cause = cause
        super().__init__(message, launch=launch)
        self.__cause__ = cause


# ---------------------------------------------------------------- between a driver and the engine


@dataclass(slots=True)
class DriverFault(Exception):
    """What a driver raises when it meets a fault of earlier asynchronous work; the engine turns it into KernelFault.

    `launch` is the ordinal the engine gave the faulting launch, where the driver knows it. `context_lost` tells
    whether the context can still be used.
    """

    code_name: str
    message: str
    findings: tuple[Finding, ...] = ()
    launch: int | None = None
    context_lost: bool = False
    dropped: tuple[int, ...] = field(default=())

    def __str__(self) -> str:
        return f"{self.code_name}: {self.message}"
