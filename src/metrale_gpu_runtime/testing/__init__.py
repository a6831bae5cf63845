"""For tests: the recording mock, fault plans, device profiles, the conformance suite, and cases in a child process."""

from __future__ import annotations

from ..drivers.mock import (
    ANY_CALL,
    CLEAN_UP_CALLS,
    PROFILE_NAMES,
    Call,
    CompileRefusal,
    ContractViolation,
    Failure,
    FaultFound,
    FaultPlan,
    KernelContext,
    Launch,
    LaunchFault,
    Log,
    MissingKernel,
    MockDriver,
    OutOfMemory,
    Refusal,
    natural_failure,
    profile,
)
from .isolation import IsolatedResult, run_isolated
from .mock_backend import MockGpuBackend

__all__ = [
    "ANY_CALL",
    "CLEAN_UP_CALLS",
    "PROFILE_NAMES",
    "Call",
    "CompileRefusal",
    "ContractViolation",
    "Failure",
    "FaultFound",
    "FaultPlan",
    "IsolatedResult",
    "KernelContext",
    "Launch",
    "LaunchFault",
    "Log",
    "MissingKernel",
    "MockDriver",
    "MockGpuBackend",
    "OutOfMemory",
    "Refusal",
    "natural_failure",
    "profile",
    "run_isolated",
]
