"""Metal: when command buffers are committed, and what many live buffers cost.

Both are ratios of medians of interleaved runs. The policies differ in the constants of the driver's streams, nothing
else; when the GPU started, and how long it stood still, is what Metal says of each command buffer (GPUStartTime,
GPUEndTime), in runs of their own, so that asking does not count as cost. A stand-in's GPU is a thread of this
interpreter: it gets its turn some 5 ms after the first commit (`sys.getswitchinterval`), which no GPU does.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.metal import command_buffers, streams

from .interleave import Timing, interleave, ratio

LAUNCHES = 1000
BATCH = 64
FEW, MANY = 10, 100_000

SOURCE = """
#include <metal_stdlib>
using namespace metal;

kernel void spin(device uint *out [[buffer(0)]], constant uint &rounds [[buffer(1)]],
                 uint i [[thread_position_in_grid]])
{
    uint state = out[i] | 1u;
    for (uint at = 0; at < rounds; ++at)
        state = state * 1664525u + 1013904223u;
    out[i] = state;
}
"""

OURS, EACH, AT_THE_END = "the backend's", "each launch by itself", "only at the end"


@contextmanager
def _policy(name: str) -> Iterator[None]:
    """New work is committed by this policy inside."""
    with ExitStack() as stack:
        if name == EACH:
            stack.enter_context(patch.multiple(streams, MAX_OPERATIONS=1))
        elif name == AT_THE_END:
            # Never idle enough to commit, never long enough, and nobody looks after what is collected.
            stack.enter_context(patch.multiple(streams, BUSY_COUNT=0, MAX_OPERATIONS=1 << 40))
            stack.enter_context(patch.object(streams.MetalStream, "_watch", lambda self: None))
        yield


@dataclass(slots=True)
class PolicyRow:
    """One kernel under one policy, an entry for each round.

    `host_s`: the calling thread's own work per launch, the last commit included; `done_s`: from the first call until
    everything is done, per launch; `command_buffers` of a run of `LAUNCHES`. Of the watched runs: seconds from the
    first call to the first commit and to the GPU's start, and how much of its time from there on the GPU stood still.
    """

    kernel: str
    policy: str
    host_s: list[float] = field(default_factory=list)
    done_s: list[float] = field(default_factory=list)
    command_buffers: list[int] = field(default_factory=list)
    commit_s: list[float] = field(default_factory=list)
    start_s: list[float] = field(default_factory=list)
    idle_share: list[float] = field(default_factory=list)

    @property
    def host(self) -> Timing:
        return Timing(tuple(self.host_s))

    @property
    def done(self) -> Timing:
        return Timing(tuple(self.done_s))


@dataclass(slots=True)
class Watch:
    """When command buffers were committed, and when the GPU began and ended them, on the clock of GPUStartTime."""

    commits: list[float] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)

    @contextmanager
    def looking(self) -> Iterator[Watch]:
        """Notes what happens inside, of every command buffer whose outcome is read there."""
        settle, commit = command_buffers.CommandBuffer.settle, streams.MetalStream._commit

        def settle_and_note(buffer: command_buffers.CommandBuffer) -> None:
            native = None if buffer.is_over else buffer.native
            if native is not None:
                self.spans.append((float(native.GPUStartTime()), float(native.GPUEndTime())))
            settle(buffer)

        def commit_and_note(stream: streams.MetalStream) -> None:
            commit(stream)
            self.commits.append(command_buffers.host_time_s())

        with (
            patch.object(command_buffers.CommandBuffer, "settle", settle_and_note),
            patch.object(streams.MetalStream, "_commit", commit_and_note),
        ):
            yield self

    @property
    def start(self) -> float:
        return min(start for start, _ in self.spans)

    def idle_share(self) -> float:
        busy, reached = 0.0, self.start
        for start, end in sorted(self.spans):
            busy += max(0.0, end - max(start, reached))
            reached = max(reached, end)
        return 1 - busy / (reached - self.start) if reached > self.start else 0.0


def _run(gpu: mg.GpuBackend, launch: Callable[[], object], row: PolicyRow) -> None:
    """One timed run, then one that is watched."""
    # Every command buffer takes the next value of its stream's event.
    stream = gpu.driver._streams[gpu.default_stream().handle]  # type: ignore[attr-defined]
    with _policy(row.policy):
        before, began, worked = stream._value, time.perf_counter(), time.thread_time()
        for _ in range(LAUNCHES):
            launch()
        gpu.stream_query()  # commits what is left, and waits for nothing
        row.host_s.append((time.thread_time() - worked) / LAUNCHES)
        gpu.synchronize()
        row.done_s.append((time.perf_counter() - began) / LAUNCHES)
        row.command_buffers.append(stream._value - before)
        with Watch().looking() as watch:
            began = command_buffers.host_time_s()
            for _ in range(LAUNCHES):
                launch()
            gpu.synchronize()
        row.commit_s.append(watch.commits[0] - began)
        row.start_s.append(watch.start - began)
        row.idle_share.append(watch.idle_share())


def _rounds_for(gpu: mg.GpuBackend, kernel: mg.Kernel, out: mg.DeviceBuffer, seconds: float) -> int:
    """How many rounds of the kernel's loop take the GPU so long."""
    count = 1 << 12
    while True:
        with Watch().looking() as watch:
            for _ in range(5):
                kernel[1, 32](out, count)
                gpu.synchronize()
        took = statistics.median(end - start for start, end in watch.spans)
        if took > max(seconds, 2e-3):
            return max(1, int(count * seconds / took))
        count *= 2


def commit_policies(backend: str, rounds: int) -> list[PolicyRow]:
    """Every policy with kernels that take the GPU no time, about as long as encoding one takes, and four times that."""
    with mg.open_backend(backend, check=None) as gpu:
        kernel = gpu.load_module("spin", source={".metal": SOURCE})["spin"]
        out = gpu.empty(32, mg.u32)
        empty = kernel[1, 32].prepare(out, 0)
        encode_s = interleave({"": _drained(gpu, empty)}, rounds=5, clock=time.thread_time)[""].median / BATCH
        launches = {"empty": empty}
        for times in (1, 4):
            count = _rounds_for(gpu, kernel, out, times * encode_s)
            launches[f"{times} x encoding"] = kernel[1, 32].prepare(out, count)
        rows = [PolicyRow(name, policy) for name in launches for policy in (OURS, EACH, AT_THE_END)]
        for round_number in range(rounds):
            at = round_number % len(rows)
            for row in rows[at:] + rows[:at]:
                _run(gpu, launches[row.kernel], row)
    return rows


def _drained(gpu: mg.GpuBackend, launch: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(BATCH):
            launch()
        gpu.synchronize()

    return run


def live_buffers(backend: str, rounds: int) -> dict[str, Timing]:
    """Seconds of the calling thread per launch with few and with many live buffers of 256 bytes, two of them bound."""
    with mg.open_backend(backend, check=None) as small, mg.open_backend(backend, check=None) as large:
        jobs: dict[str, Callable[[], None]] = {}
        kept: list[Any] = []
        for gpu, count in ((small, FEW), (large, MANY)):
            buffers = [gpu.buffer(256) for _ in range(count)]
            kernel = gpu.load_module("spin", source={".metal": SOURCE})["spin"]
            middle = buffers[count // 2]
            kept.append(buffers)
            jobs[f"{count:,} live, its first address"] = _drained(gpu, kernel[1, 32].prepare(middle, 0))
            # Not the first address of a buffer: the search among all of them.
            jobs[f"{count:,} live, an address within"] = _drained(gpu, kernel[1, 32].prepare(middle.ptr + 128, 0))
        return interleave(jobs, rounds=rounds, clock=time.thread_time)


def run(backend: str, rounds: int) -> dict[str, Any]:
    """Both benchmarks as one document. Raises BackendUnavailable."""
    policies = {(row.kernel, row.policy): row for row in commit_policies(backend, rounds)}
    live = live_buffers(backend, rounds)
    return {
        "policies": [
            {
                "kernel": row.kernel,
                "policy": row.policy,
                "host_us": round(row.host.median * 1e6, 2),
                "host_ratio": round(ratio(row.host, policies[row.kernel, OURS].host), 2),
                "done_us": round(row.done.median * 1e6, 2),
                "done_ratio": round(ratio(row.done, policies[row.kernel, OURS].done), 2),
                "command_buffers": round(statistics.median(row.command_buffers) * 1000 / LAUNCHES),
                "first_commit_ms": round(statistics.median(row.commit_s) * 1e3, 2),
                "gpu_starts_ms": round(statistics.median(row.start_s) * 1e3, 2),
                "gpu_idle": round(statistics.median(row.idle_share), 2),
            }
            for row in policies.values()
        ],
        "live_buffers": {
            where: round(ratio(live[f"{MANY:,} live, {where}"], live[f"{FEW:,} live, {where}"]), 2)
            for where in ("its first address", "an address within")
        },
    }
