"""The Python mirror of native/abi.h: the structures that translated kernels, the scheduler and the driver share."""

from __future__ import annotations

import ctypes
from enum import IntEnum

_u32, _u64, _ptr = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p


class ThreadCode(IntEnum):
    """What kernel_thread returns."""

    EXITED = 0
    AT_BARRIER = 1
    AT_WARP_OP = 2
    YIELDED = 3
    FAULTED = 4


class BarrierOp(IntEnum):
    SYNC = 0
    RED_AND = 1
    RED_OR = 2
    RED_POPC = 3


class WarpOp(IntEnum):
    SYNC = 0
    SHFL_UP = 1
    SHFL_DOWN = 2
    SHFL_BFLY = 3
    SHFL_IDX = 4
    VOTE_ALL = 5
    VOTE_ANY = 6
    VOTE_UNI = 7
    VOTE_BALLOT = 8
    MATCH_ANY = 9
    MATCH_ALL = 10
    REDUX_ADD = 11
    REDUX_MIN_U32 = 12
    REDUX_MAX_U32 = 13
    REDUX_MIN_S32 = 14
    REDUX_MAX_S32 = 15
    REDUX_AND = 16
    REDUX_OR = 17
    REDUX_XOR = 18
    ACTIVEMASK = 19
    ELECT = 20


MASK_CONVERGED = 0


class RunCode(IntEnum):
    """What run_worker returns."""

    DONE = 0
    PAUSED = 1
    SPINNING = 2
    NEEDS_CONTEXTS = 3


class FaultKind(IntEnum):
    NONE = 0
    OUT_OF_BOUNDS = 1
    MISALIGNED = 2
    SHARED_BOUNDS = 3
    LOCAL_BOUNDS = 4
    NULL = 5
    TRAP = 6
    ASSERT = 7
    DEADLOCK = 8
    DIVERGENT_WARP_OP = 9
    READ_ONLY = 10
    PARAM_BOUNDS = 11


class Access(IntEnum):
    NONE = 0
    READ = 1
    WRITE = 2
    ATOMIC = 3


class Range(ctypes.Structure):
    _fields_ = [("base", _u64), ("end", _u64), ("flags", _u64)]


class Fault(ctypes.Structure):
    _fields_ = [
        ("claimed", _u32),
        ("kind", _u32),
        ("access", _u32),
        ("site", _u32),
        ("block", _u32 * 3),
        ("thread", _u32 * 3),
        ("address", _u64),
        ("nbytes", _u64),
        ("detail", _u32 * 4),
    ]


class Launch(ctypes.Structure):
    _fields_ = [
        ("params", _ptr),
        ("grid", _u32 * 3),
        ("block", _u32 * 3),
        ("threads_per_block", _u32),
        ("dynamic_shared_nbytes", _u32),
        ("shared_nbytes", _u32),
        ("frame_nbytes", _u32),
        ("block_count", _u64),
        ("next_block", _u64),
        ("stop", _u32),
        ("chunk", _u32),
        ("ranges", _ptr),
        ("range_count", _u64),
        ("ordinal", _u64),
        ("fault", Fault),
    ]


class Thread(ctypes.Structure):
    _fields_ = [
        ("resume", _u32),
        ("state", _u32),
        ("tid", _u32 * 3),
        ("linear", _u32),
        ("op", _u32),
        ("barrier_id", _u32),
        ("barrier_count", _u32),
        ("mask", _u32),
        ("site", _u32),
        ("a", _u32),
        ("b", _u32),
        ("c", _u32),
        ("wide", _u64),
        ("result", _u32),
        ("result_predicate", _u32),
        ("frame", _ptr),
    ]


KNOWN_RANGES = 16


class Block(ctypes.Structure):
    _fields_ = [
        ("launch", _ptr),
        ("ctaid", _u32 * 3),
        ("live", _u32),
        ("linear", _u64),
        ("shared", _ptr),
        ("threads", _ptr),
        ("arrived", _u32 * 16),
        ("known", _u64 * (2 * KNOWN_RANGES)),
    ]


class Context(ctypes.Structure):
    """The memory in which one block of a launch runs."""

    _fields_ = [
        ("block", Block),
        ("threads", _ptr),
        ("frames", _ptr),
        ("shared", _ptr),
        ("active", _u32),
        ("prepared", _u32),
    ]


SUSPENDS_SYMBOL = "KERNEL_SUSPENDS"
USES_FRAME_SYMBOL = "KERNEL_USES_FRAME"
PARAM_NBYTES_SYMBOL = "KERNEL_PARAM_NBYTES"
PRIVATE_MEMORY_SYMBOL = "KERNEL_HAS_PRIVATE_MEMORY"
THREAD_FUNCTION = "kernel_thread"
WORKER_FUNCTION = "run_worker"
