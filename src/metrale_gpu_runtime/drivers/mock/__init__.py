"""The mock: a device in memory that records every call, orders work in queues and fails on request."""

from __future__ import annotations

from .driver import MockDriver
from .factory import MockFactory
from .faults import (
    ANY_CALL,
    CALLS,
    CLEAN_UP_CALLS,
    CompileRefusal,
    Failure,
    FaultFound,
    FaultPlan,
    LaunchFault,
    MissingKernel,
    OutOfMemory,
    Refusal,
    natural_failure,
)
from .kernels import KernelBody, KernelContext
from .log import Call, Launch, Log, RecordedArgument
from .memory import ContractViolation
from .profiles import PROFILE_NAMES, profile

__all__ = [
    "ANY_CALL",
    "CALLS",
    "CLEAN_UP_CALLS",
    "PROFILE_NAMES",
    "Call",
    "CompileRefusal",
    "ContractViolation",
    "Failure",
    "FaultFound",
    "FaultPlan",
    "KernelBody",
    "KernelContext",
    "Launch",
    "LaunchFault",
    "Log",
    "MissingKernel",
    "MockDriver",
    "MockFactory",
    "OutOfMemory",
    "RecordedArgument",
    "Refusal",
    "natural_failure",
    "profile",
]
