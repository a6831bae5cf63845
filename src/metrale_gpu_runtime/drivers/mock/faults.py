"""Fault injection: the n-th call of a kind, or of any kind, fails once or for good."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...errors import (
    CompileError,
    DriverError,
    DriverFault,
    Finding,
    KernelNotFound,
    OutOfDeviceMemory,
)
from .log import (
    Alloc,
    AllocAsync,
    AskConstants,
    Call,
    Close,
    Launch,
    LoadModule,
    Lookup,
    MapMemory,
    ReserveAddresses,
    SpecialisedLookup,
    TemporaryAlloc,
    TemporaryFree,
)

ANY_CALL = "any"

CALLS = frozenset(kind.call for kind in Call.__subclasses__()) - {Close.call, TemporaryFree.call}
"""The names under which calls can be made to fail; those of `Driver`, but `launch` for a target's submit, and
`temporary_alloc` for what a driver allocates in it."""


CLEAN_UP_CALLS = frozenset(
    {"free", "free_async", "unmap_memory", "release_addresses", "destroy_stream", "destroy_event", "unload_module"}
)
"""The calls that give something back."""


class Failure(ABC):
    """What a failing call raises."""

    @abstractmethod
    def error(self, call: Call) -> Exception:
        """A new exception for this call."""


@dataclass(frozen=True, slots=True)
class OutOfMemory(Failure):
    """An allocation finds no room; any other call is refused with the driver's code for it."""

    def error(self, call: Call) -> Exception:
        if isinstance(call, Alloc | AllocAsync | MapMemory | ReserveAddresses | TemporaryAlloc):
            return OutOfDeviceMemory(
                f"mock: no {call.nbytes} bytes left (injected)", nbytes=call.nbytes, free=0, total=None
            )
        return Refusal(2, "CUDA_ERROR_OUT_OF_MEMORY").error(call)


@dataclass(frozen=True, slots=True)
class Refusal(Failure):
    """The call itself is refused with a code that does not stick: the next synchronisation finds nothing.

    1 is what CUDA answers to a bad launch configuration, 209 (CUDA_ERROR_NO_BINARY_FOR_GPU) to an image for
    another architecture.
    """

    code: int = 1
    code_name: str = "CUDA_ERROR_INVALID_VALUE"

    def error(self, call: Call) -> Exception:
        return DriverError(
            f"mock: {call.call} returned {self.code} {self.code_name} (injected)",
            call=call.call,
            code=self.code,
            code_name=self.code_name,
        )


@dataclass(frozen=True, slots=True)
class CompileRefusal(Failure):
    """Loading a module fails as a compiler fails, with its log."""

    log: str = "kernel.cu(3): error: expected a ';'"
    line: int = 3

    def error(self, call: Call) -> Exception:
        if not isinstance(call, LoadModule):
            return Refusal().error(call)
        return CompileError(
            f"{call.name}: the compiler refused it (injected):\n{self.log}",
            module=call.name,
            log=self.log,
            diagnostics=((call.name, self.line, self.log),),
        )


@dataclass(frozen=True, slots=True)
class MissingKernel(Failure):
    """A lookup finds no such kernel."""

    def error(self, call: Call) -> Exception:
        if not isinstance(call, Lookup | SpecialisedLookup | AskConstants):
            return Refusal(500, "CUDA_ERROR_NOT_FOUND").error(call)
        return KernelNotFound(
            f"mock: {call.module} has no kernel {call.function} (injected)", module=call.module, function=call.function
        )


@dataclass(frozen=True, slots=True)
class FaultFound(Failure):
    """The call finds that earlier asynchronous work failed, without saying which."""

    code_name: str = "MOCK_ERROR_UNATTRIBUTED"
    context_lost: bool = False

    def error(self, call: Call) -> DriverFault:
        return DriverFault(self.code_name, f"found by {call.call} (injected)", context_lost=self.context_lost)


@dataclass(frozen=True, slots=True)
class LaunchFault(Failure):
    """A launch is accepted and fails while it runs.

    `attributed`: the driver can say which launch it was. `context_lost`: nothing works afterwards, as with CUDA's
    700. `drops_later`: work queued on the stream behind it is not run and its launches are named, as Metal does
    it. `found_at_once`: the next call of any kind finds it, be it on another stream; else waiting or polling does.
    """

    code_name: str = "CUDA_ERROR_ILLEGAL_ADDRESS"
    message: str = "an illegal memory access was encountered (injected)"
    attributed: bool = True
    context_lost: bool = True
    drops_later: bool = False
    found_at_once: bool = False
    findings: tuple[Finding, ...] = ()

    def error(self, call: Call) -> DriverFault:
        if not isinstance(call, Launch):
            raise TypeError(f"a LaunchFault happens to launches, not to {call.call}")
        return DriverFault(
            self.code_name,
            self.message,
            findings=self.findings,
            launch=call.ordinal if self.attributed else None,
            context_lost=self.context_lost,
        )


def natural_failure(call: str) -> Failure:
    """What this call fails with on a device that works but is pressed: memory out, source refused, launch refused."""
    if call in ("alloc", "alloc_async", "map_memory", "reserve_addresses", "temporary_alloc"):
        return OutOfMemory()
    if call == "load_module":
        return CompileRefusal()
    if call in ("function", "function_constants", "specialised_function"):
        return MissingKernel()
    if call in ("synchronize", "synchronize_event", "query_stream", "query_event"):
        return FaultFound()
    return Refusal()


@dataclass(slots=True)
class _Rule:
    call: str
    nth: int
    forever: bool
    failure: Failure | None
    spared: frozenset[str] = frozenset()
    seen: int = 0


@dataclass(slots=True)
class FaultPlan:
    """Which driver calls fail. Calls are counted from the moment the plan is given to the mock.

    `free` counts as a call; closing the device does not. `fired` lists what was made to fail, as (call, failure).
    """

    rules: list[_Rule] = field(default_factory=list)
    fired: list[tuple[str, Failure]] = field(default_factory=list)
    count: int = 0

    def fail(
        self,
        call: str = ANY_CALL,
        *,
        nth: int = 1,
        forever: bool = False,
        failure: Failure | None = None,
        spared: Iterable[str] = (),
    ) -> FaultPlan:
        """Let the `nth` call of this kind fail (from it on, with `forever`); returns the plan.

        `failure` defaults to what the kind of call fails with naturally; calls in `spared` do not count. Raises
        ValueError for an unknown call or an `nth` below 1.
        """
        if call != ANY_CALL and call not in CALLS:
            raise ValueError(f"no driver call {call!r}; there are {', '.join(sorted(CALLS))} and {ANY_CALL!r}")
        if nth < 1:
            raise ValueError(f"calls are counted from 1, so there is no call {nth}")
        self.rules.append(_Rule(call, nth, forever, failure, frozenset(spared)))
        return self

    @property
    def is_exhausted(self) -> bool:
        """True when no rule can fire any more; a walk ends when its scenario leaves the plan unexhausted."""
        return all(rule.seen >= rule.nth and not rule.forever for rule in self.rules)

    def take(self, call: Call) -> Failure | None:
        """Count the call; the failure it meets, or None."""
        self.count += 1
        met: Failure | None = None
        for rule in self.rules:
            if rule.call not in (ANY_CALL, call.call) or call.call in rule.spared:
                continue
            rule.seen += 1
            if met is None and (rule.seen == rule.nth or (rule.forever and rule.seen > rule.nth)):
                met = rule.failure or natural_failure(call.call)
        if met is not None:
            self.fired.append((call.call, met))
        return met
