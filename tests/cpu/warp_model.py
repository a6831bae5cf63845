"""What the PTX ISA says of warp operations, written down lane by lane: the scheduler's results are compared with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metrale_gpu_runtime.drivers.cpu.abi import WarpOp


@dataclass(frozen=True)
class Operands:
    a: int = 0
    b: int = 0
    c: int = 0
    wide: int = 0


def _shuffle(op: WarpOp, lane: int, lanes: Mapping[int, Operands]) -> tuple[int, int]:
    """PTX ISA, shfl.sync, pseudo code; a source that takes no part counts as the lane itself."""
    own = lanes[lane]
    bval, cval, segmask = own.b & 31, own.c & 31, (own.c >> 8) & 31
    max_lane = (lane & segmask) | (cval & ~segmask & 31)
    min_lane = lane & segmask
    if op is WarpOp.SHFL_UP:
        j = lane - bval
        inside = j >= max_lane
    elif op is WarpOp.SHFL_DOWN:
        j = lane + bval
        inside = j <= max_lane
    elif op is WarpOp.SHFL_BFLY:
        j = lane ^ bval
        inside = j <= max_lane
    else:
        j = min_lane | (bval & ~segmask & 31)
        inside = j <= max_lane
    source = lanes.get(j, own) if inside else own
    return source.a, int(inside)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _reduce(op: WarpOp, values: list[int]) -> int:
    match op:
        case WarpOp.REDUX_ADD:
            return sum(values) & 0xFFFFFFFF
        case WarpOp.REDUX_MIN_U32:
            return min(values)
        case WarpOp.REDUX_MAX_U32:
            return max(values)
        case WarpOp.REDUX_MIN_S32:
            return min(values, key=_signed)
        case WarpOp.REDUX_MAX_S32:
            return max(values, key=_signed)
        case _:
            total = values[0]
            for value in values[1:]:
                total = (
                    total & value
                    if op is WarpOp.REDUX_AND
                    else total | value
                    if op is WarpOp.REDUX_OR
                    else total ^ value
                )
            return total


def _mask(lanes: Mapping[int, Operands], holds: object) -> int:
    return sum(1 << lane for lane, operands in lanes.items() if holds(operands))  # type: ignore[operator]


def expected(op: WarpOp, lane: int, lanes: Mapping[int, Operands]) -> tuple[int, int | None]:
    """(result, predicate) for `lane`; `lanes` are those that take part. None: PTX gives no predicate."""
    own = lanes[lane]
    if WarpOp.SHFL_UP <= op <= WarpOp.SHFL_IDX:
        return _shuffle(op, lane, lanes)
    true_lanes = _mask(lanes, lambda o: o.a != 0)
    everybody = _mask(lanes, lambda o: True)
    if op is WarpOp.VOTE_ALL:
        return int(true_lanes == everybody), int(true_lanes == everybody)
    if op is WarpOp.VOTE_ANY:
        return int(true_lanes != 0), int(true_lanes != 0)
    if op is WarpOp.VOTE_UNI:
        return int(true_lanes in (0, everybody)), int(true_lanes in (0, everybody))
    if op is WarpOp.VOTE_BALLOT:
        return true_lanes, None
    if op is WarpOp.MATCH_ANY:
        return _mask(lanes, lambda o: o.wide == own.wide), None
    if op is WarpOp.MATCH_ALL:
        same = len({o.wide for o in lanes.values()}) == 1
        return (everybody if same else 0), int(same)
    if op is WarpOp.ELECT:
        leader = min(lanes)
        return leader, int(lane == leader)
    if op is WarpOp.ACTIVEMASK:
        return everybody, None
    return _reduce(op, [o.a for o in lanes.values()]), None
