"""The CPU as a driver: memory, modules, launches, faults and streams, asked through the contract alone."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import pairwise

import pytest

from metrale_gpu_runtime.driver import DEFAULT_STREAM, ArgumentKind, ArgumentLayout, CodeImage, DriverOptions
from metrale_gpu_runtime.drivers.cpu import CpuFactory, memory
from metrale_gpu_runtime.drivers.cpu.driver import CpuDriver
from metrale_gpu_runtime.drivers.cpu.memory import QUARANTINE_COUNT
from metrale_gpu_runtime.drivers.cpu.ranges import LiveRanges
from metrale_gpu_runtime.errors import (
    BackendUnavailable,
    DriverFault,
    Finding,
    KernelNotFound,
    ModuleLoadError,
    NotSupported,
    OutOfDeviceMemory,
    PtxSyntaxError,
    UnsupportedInstruction,
)
from metrale_gpu_runtime.geometry import Dim3, Geometry

HEADER = ".version 9.9\n.target sm_80\n.address_size 64\n"

# add: out[i] = in[i] + value, i over the whole grid. sum: each block adds up its threads' words in shared memory.
KERNELS = (
    HEADER
    + """
.global .align 4 .u32 table[3] = {11, 22, 33};
.global .align 8 .u64 where[2] = {table, generic(limit)+4};
.const .align 4 .u32 limit[2] = {5, 6};
.file 1 "add.cu"
.visible .entry add(.param .u64 in, .param .u64 out, .param .u32 value) .maxntid 192, 2, 1
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [value];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
  .loc 1 17 3
  ld.global.u32 %r6, [%rd4];
  add.s32 %r7, %r6, %r1;
  .loc 1 18 3
  st.global.u32 [%rd5], %r7;
  ret;
}
.visible .entry sum(.param .u64 in, .param .u64 out) .reqntid 64, 1, 1
{
  .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .pred %p<3>;
  .shared .align 4 .b8 part[256];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
  shl.b32 %r3, %r1, 6; add.s32 %r4, %r3, %r2;
  mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r5, [%rd4];
  mov.u32 %r6, part; shl.b32 %r7, %r2, 2; add.s32 %r8, %r6, %r7;
  st.shared.u32 [%r8], %r5;
  mov.u32 %r9, 32;
again:
  bar.sync 0;
  setp.ge.u32 %p1, %r2, %r9;
  @%p1 bra skip;
  shl.b32 %r10, %r9, 2; add.s32 %r10, %r10, %r8;
  ld.shared.u32 %r11, [%r10]; ld.shared.u32 %r5, [%r8]; add.s32 %r5, %r5, %r11; st.shared.u32 [%r8], %r5;
skip:
  shr.u32 %r9, %r9, 1;
  setp.ne.u32 %p2, %r9, 0;
  @%p2 bra again;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra done;
  mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd2, %rd5;
  st.global.u32 [%rd6], %r5;
done:
  ret;
}
.visible .entry shared_past(.param .u32 at)
{
  .reg .b32 %r<3>;
  .shared .align 4 .b8 small[12];
  ld.param.u32 %r1, [at];
  mov.u32 %r2, small; add.s32 %r1, %r1, %r2;
  st.shared.u32 [%r1], %r1;
  ret;
}
.visible .entry traps() { .reg .b32 %r<2>; .reg .pred %p; mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 5; @%p trap; ret; }
.visible .entry stuck()
{
  .reg .b32 %r<2>; .reg .pred %p;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 33;
  @%p bra other;
  bar.sync 1;
  ret;
other:
  bar.sync 2;
  ret;
}
.visible .entry untranslated(.param .u64 p) { .reg .b32 %r<2>; wgmma.fence.sync.aligned; ret; }
.visible .entry count(.param .u64 p)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  atom.global.add.u32 %r1, [%rd1], 1;
  ret;
}
"""
)

POINTER, VALUE = ArgumentKind.POINTER, ArgumentKind.VALUE


def layout(codes: str) -> ArgumentLayout:
    """The layout of arguments written as struct codes: Q is a pointer, I a 32-bit value."""
    sizes = tuple(8 if code == "Q" else 4 for code in codes)
    offsets = tuple(struct.calcsize(codes[: i + 1]) - sizes[i] for i in range(len(codes)))
    kinds = tuple(POINTER if code == "Q" else VALUE for code in codes)
    return ArgumentLayout(kinds, offsets, sizes, sizes, struct.calcsize(codes))


class Device:
    """A driver with the test's module, and launches written short."""

    def __init__(self, check: str | None = "memory", workers: int = 2) -> None:
        self.driver = CpuFactory().open(0, DriverOptions(check, {"workers": workers}))
        self.module = self.driver.load_module(CodeImage("kernels", "ptx", KERNELS.encode()))
        self.ordinal = 100

    def upload(self, words: list[int]) -> int:
        address = self.driver.alloc(4 * len(words))
        self.driver.copy_h2d(address, memoryview(struct.pack(f"{len(words)}I", *words)), DEFAULT_STREAM)
        return address

    def download(self, address: int, count: int) -> list[int]:
        data = bytearray(4 * count)
        self.driver.copy_d2h(memoryview(data), address, DEFAULT_STREAM)
        return list(struct.unpack(f"{count}I", data))

    def launch(self, kernel: str, codes: str, *values: int, grid: int = 1, block: int = 64, stream: int = 0) -> int:
        target = self.driver.prepare_launch(self.driver.function(self.module, kernel), layout(codes))
        self.ordinal += 1
        geometry = Geometry(Dim3(grid), Dim3(block))
        target.submit(struct.pack(codes, *values), geometry, stream, self.ordinal)  # type: ignore[arg-type]
        return self.ordinal

    def finding(self, kernel: str, codes: str, *values: int, **geometry: int) -> Finding:
        """Of a launch that must fail: its one finding."""
        ordinal = self.launch(kernel, codes, *values, **geometry)
        with pytest.raises(DriverFault) as caught:
            self.driver.synchronize(DEFAULT_STREAM)
        fault = caught.value
        assert fault.launch == ordinal
        assert not fault.context_lost
        (finding,) = fault.findings
        assert (finding.kernel, finding.launch) == (kernel, ordinal)
        return finding


@pytest.fixture
def device() -> Iterator[Device]:
    device = Device()
    yield device
    device.driver.close()


# ---------------------------------------------------------------- launches


@pytest.mark.parametrize("check", ["memory", None])
@pytest.mark.parametrize("workers", [1, 3])
def test_launches_compute(check: str | None, workers: int) -> None:
    """A plain kernel and one with barriers give their results, checked or not, on one worker or several."""
    device = Device(check, workers)
    words = [random.Random(1).getrandbits(31) for _ in range(64 * 37)]
    source, target, sums = device.upload(words), device.driver.alloc(4 * len(words)), device.driver.alloc(4 * 37)
    for _ in range(2):
        device.launch("add", "QQI", source, target, 7, grid=37)
        device.launch("sum", "QQ", source, sums, grid=37)
    device.driver.synchronize(DEFAULT_STREAM)
    assert device.download(target, len(words)) == [word + 7 for word in words]
    assert device.download(sums, 37) == [sum(words[64 * b : 64 * b + 64]) & 0xFFFFFFFF for b in range(37)]
    device.driver.close()


def test_the_image_is_read_before_submit_returns(device: Device) -> None:
    """The caller may change its image at once; a bytearray serves as well as bytes."""
    source, target = device.upload([1, 2, 3, 4]), device.driver.alloc(16)
    kernel = device.driver.function(device.module, "add")
    ready = device.driver.prepare_launch(kernel, layout("QQI"))
    image = bytearray(struct.pack("QQI", source, target, 10))
    ready.submit(image, Geometry(Dim3(1), Dim3(4)), DEFAULT_STREAM, 1)
    image[:] = bytes(len(image))
    assert device.download(target, 4) == [11, 12, 13, 14]


def test_many_threads_launch_at_once(device: Device) -> None:
    """Launches from several Python threads, each on its stream, count every one of their threads."""
    counters = [device.upload([0]) for _ in range(4)]
    streams = [device.driver.create_stream() for _ in counters]

    def work(counter: int, stream: int) -> None:
        for _ in range(5):
            device.launch("count", "Q", counter, grid=701, block=32, stream=stream)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(counters, streams, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [device.download(counter, 1)[0] for counter in counters] == [5 * 701 * 32] * 4


# ---------------------------------------------------------------- modules


def test_attributes_say_what_the_kernel_declares(device: Device) -> None:
    """Bounds, shared memory and parameters come from the PTX."""
    driver = device.driver
    add = driver.function_attributes(driver.function(device.module, "add"))
    assert (add.max_threads_per_block, add.max_block, add.required_block) == (384, (192, 2, 1), None)
    assert (add.static_shared_mem, add.parameters) == (0, ((0, 8), (8, 8), (16, 4)))
    total = driver.function_attributes(driver.function(device.module, "sum"))
    assert (total.max_threads_per_block, total.required_block, total.static_shared_mem) == (64, (64, 1, 1), 256)


def test_handles_are_the_same_for_the_same_name(device: Device) -> None:
    """Asking twice gives one handle; another module's kernel of that name is another."""
    driver = device.driver
    again = driver.load_module(CodeImage("again", "ptx", KERNELS.encode()))
    first = driver.function(device.module, "add")
    assert driver.function(device.module, "add") == first
    assert driver.function(again, "add") != first
    assert driver.function_names(again) == ("add", "sum", "shared_past", "traps", "stuck", "untranslated", "count")


def test_what_cannot_run_is_refused_by_kernel(device: Device) -> None:
    """A module with an instruction that is not translated loads; only the kernel that needs it is refused."""
    with pytest.raises(UnsupportedInstruction) as caught:
        device.driver.function(device.module, "untranslated")
    assert caught.value.kernel == "untranslated"
    assert "wgmma.fence" in caught.value.instruction
    assert KERNELS.splitlines()[caught.value.line - 1].startswith(".visible .entry untranslated")
    device.driver.function(device.module, "count")


def test_names_that_are_not_there(device: Device) -> None:
    """A missing kernel or variable raises KernelNotFound with what there is."""
    with pytest.raises(KernelNotFound) as caught:
        device.driver.function(device.module, "adds")
    assert "add" in caught.value.available
    with pytest.raises(KernelNotFound) as caught:
        device.driver.global_symbol(device.module, "add")
    assert set(caught.value.available) == {"table", "where", "limit"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("not ptx at all", PtxSyntaxError),
        (HEADER.replace("64", "32"), ModuleLoadError),
    ],
)
def test_bad_modules_are_refused_and_leave_nothing(device: Device, text: str, error: type[Exception]) -> None:
    """Text that is no PTX, and PTX with 32-bit addresses, raise ModuleLoadErrors."""
    with pytest.raises(error):
        device.driver.load_module(CodeImage("bad", "ptx", text.encode()))


def test_other_formats_and_options_are_refused(device: Device) -> None:
    """Only PTX is loaded here, and options for code that is compiled already are not swallowed."""
    with pytest.raises(NotSupported):
        device.driver.load_module(CodeImage("bad", "cubin", b"\x7fELF"))
    with pytest.raises(NotSupported):
        device.driver.load_module(CodeImage("bad", "ptx", KERNELS.encode(), ("-O0",)))


def test_variables_hold_their_initial_values(device: Device) -> None:
    """`.global` and `.const` data, and addresses of other variables with offsets, are there after loading."""
    driver = device.driver
    table, nbytes = driver.global_symbol(device.module, "table")
    limit, _ = driver.global_symbol(device.module, "limit")
    where, _ = driver.global_symbol(device.module, "where")
    assert nbytes == 12
    assert device.download(table, 3) == [11, 22, 33]
    assert device.download(limit, 2) == [5, 6]
    assert struct.unpack("QQ", struct.pack("4I", *device.download(where, 4))) == (table, limit + 4)


def test_kernels_may_use_variables_and_not_write_constants(device: Device) -> None:
    """A module's variables are live memory until it is unloaded; `.const` is read-only for kernels."""
    driver = device.driver
    table, _ = driver.global_symbol(device.module, "table")
    limit, _ = driver.global_symbol(device.module, "limit")
    device.launch("add", "QQI", table, table, 100, block=3)
    assert device.download(table, 3) == [111, 122, 133]
    finding = device.finding("add", "QQI", limit, limit, 1, block=2)
    assert "read-only" in finding.message
    other = driver.load_module(CodeImage("other", "ptx", KERNELS.encode()))
    gone, _ = driver.global_symbol(other, "table")
    driver.unload_module(other)
    assert device.finding("add", "QQI", gone, table, 1, block=1).kind == "use-after-free"


# ---------------------------------------------------------------- faults


def test_an_overrun_by_one_is_found(device: Device) -> None:
    """The first thread past the end is named with address, size, PTX and source line; the others' work is done."""
    source, target = device.upload(list(range(70))), device.driver.alloc(4 * 69)
    finding = device.finding("add", "QQI", source, target, 1, grid=2, block=35)
    assert (finding.kind, finding.access, finding.nbytes) == ("out-of-bounds", "write", 4)
    assert (finding.block, finding.thread) == ((1, 0, 0), (34, 0, 0))
    assert finding.address == target + 4 * 69
    assert finding.instruction == "st.global.u32"
    assert (finding.source_file, finding.source_line) == ("add.cu", 18)
    assert finding.ptx_line is not None
    assert "st.global.u32 [%rd5]" in KERNELS.splitlines()[finding.ptx_line - 1]
    assert finding.allocation == f"0 bytes past the end of 276 bytes at {target:#x}"
    assert device.download(target, 69) == list(range(1, 70))


def test_freed_memory_is_recognised(device: Device) -> None:
    """An access to memory that was freed a while ago says so, even when other frees followed."""
    target = device.driver.alloc(4000)
    freed = device.upload([1] * 50)
    device.driver.free(freed)
    for _ in range(QUARANTINE_COUNT // 2):
        device.driver.free(device.driver.alloc(64))
    finding = device.finding("add", "QQI", freed, target, 1, block=50)
    assert (finding.kind, finding.access) == ("use-after-free", "read")
    assert "200 bytes" in (finding.allocation or "")


def test_null_shared_trap_and_deadlock(device: Device) -> None:
    """Each kind of fault comes with its own name and numbers."""
    target = device.driver.alloc(16)
    assert device.finding("add", "QQI", 0, target, 1, block=1).kind == "null-pointer"
    finding = device.finding("shared_past", "I", 12, block=1)
    assert finding.kind == "shared-bounds"
    assert "12 bytes" in finding.message
    finding = device.finding("traps", "", grid=2, block=40)
    assert (finding.kind, finding.thread, finding.access) == ("trap", (5, 0, 0), None)
    finding = device.finding("stuck", "", block=64)
    assert finding.kind == "deadlock"
    assert "33 threads wait at barrier 2 for 64" in finding.message
    assert finding.instruction == "bar.sync"


def test_without_checks_nothing_is_looked_up() -> None:
    """With check=None an access between allocations is not noticed."""
    device = Device(None)
    target = device.driver.alloc(4 * 3)
    source = device.upload([1, 2, 3, 4])
    device.launch("add", "QQI", source, target, 1, block=4)
    device.driver.synchronize(DEFAULT_STREAM)
    device.driver.close()


def test_a_fault_is_told_once_and_stops_what_follows(device: Device) -> None:
    """The next call on the stream raises; a launch among them does not run; the stream is good afterwards."""
    driver, counter = device.driver, device.upload([0])
    ordinal = device.launch("traps", "", block=32)
    with pytest.raises(DriverFault) as caught:
        device.launch("count", "Q", counter)
    assert caught.value.launch == ordinal
    assert device.download(counter, 1) == [0]
    device.launch("count", "Q", counter)
    driver.synchronize(DEFAULT_STREAM)
    assert device.download(counter, 1) == [64]


@pytest.mark.parametrize("call", ["synchronize", "query", "h2d", "d2h", "d2d", "memset"])
def test_every_call_on_the_stream_finds_the_fault(device: Device, call: str) -> None:
    """Synchronising, polling, copying and filling all report older work that failed."""
    driver, address = device.driver, device.driver.alloc(64)
    device.launch("traps", "", block=32)
    calls = {
        "synchronize": lambda: driver.synchronize(DEFAULT_STREAM),
        "query": lambda: driver.query_stream(DEFAULT_STREAM),
        "h2d": lambda: driver.copy_h2d(address, memoryview(b"12"), DEFAULT_STREAM),
        "d2h": lambda: driver.copy_d2h(memoryview(bytearray(2)), address, DEFAULT_STREAM),
        "d2d": lambda: driver.copy_d2d(address, address + 32, 8, DEFAULT_STREAM),
        "memset": lambda: driver.memset(address, 1, 4, 2, DEFAULT_STREAM),
    }
    with pytest.raises(DriverFault):
        calls[call]()
    calls[call]()


def test_faults_belong_to_their_stream(device: Device) -> None:
    """Another stream does not see the fault, unless it waits for an event recorded behind it."""
    driver, counter = device.driver, device.upload([0])
    bad, good, waiting = (driver.create_stream() for _ in range(3))
    before, behind = driver.create_event(), driver.create_event()
    driver.record_event(before, bad)
    device.launch("traps", "", block=32, stream=bad)
    driver.record_event(behind, bad)
    driver.synchronize(good)
    driver.wait_event(good, before)
    assert driver.query_event(before)
    driver.wait_event(waiting, behind)
    with pytest.raises(DriverFault):
        device.launch("count", "Q", counter, stream=waiting)
    driver.synchronize(bad)
    driver.synchronize_event(behind)
    device.launch("count", "Q", counter, stream=good)
    assert device.download(counter, 1) == [64]


@pytest.mark.parametrize("ask", ["synchronize_event", "query_event"])
def test_an_event_behind_a_fault_raises_it(device: Device, ask: str) -> None:
    """Waiting for an event, or polling it, tells the fault of the work before it, once."""
    driver = device.driver
    event = driver.create_event()
    device.launch("traps", "", block=32)
    driver.record_event(event, DEFAULT_STREAM)
    with pytest.raises(DriverFault):
        getattr(driver, ask)(event)
    getattr(driver, ask)(event)
    driver.synchronize(DEFAULT_STREAM)


def test_events_measure_time(device: Device) -> None:
    """Time between two events is positive, antisymmetric, and not to be had without timing."""
    driver = device.driver
    first, second, plain = driver.create_event(), driver.create_event(), driver.create_event(timing=False)
    for event in (first, second, plain):
        driver.record_event(event, DEFAULT_STREAM)
    assert driver.elapsed_ms(first, second) > 0
    assert driver.elapsed_ms(second, first) == -driver.elapsed_ms(first, second)
    with pytest.raises(NotSupported):
        driver.elapsed_ms(first, plain)


# ---------------------------------------------------------------- memory


def test_allocations_are_aligned_and_apart(device: Device) -> None:
    """Addresses are multiples of 256 and at least 256 bytes lie between the end of one and the next."""
    sizes = [1, 255, 256, 257, 1000] * 20
    spans = sorted((device.driver.alloc(nbytes), nbytes) for nbytes in sizes)
    assert all(address % 256 == 0 for address, _ in spans)
    assert all(a + n + 256 <= b for (a, n), (b, _) in pairwise(spans))


def test_more_than_there_is_cannot_be_had(device: Device) -> None:
    """An allocation beyond the machine's memory raises with the figures; nothing is left behind."""
    free, total = device.driver.memory_figures()
    assert 0 < free <= total
    with pytest.raises(OutOfDeviceMemory) as caught:
        device.driver.alloc(total + 1)
    assert (caught.value.nbytes, caught.value.total) == (total + 1, total)


@pytest.mark.parametrize(("width", "value"), [(1, 0xAB), (2, 0xBEEF), (4, 0xDEADBEEF)])
@pytest.mark.parametrize("count", [0, 1, 7, 50_001])
def test_fills_have_their_width(device: Device, width: int, value: int, count: int) -> None:
    """Exactly `count` elements hold the value; the byte before and behind stay."""
    driver = device.driver
    address = driver.alloc(width * count + 2)
    driver.memset(address, 0x55, 1, width * count + 2, DEFAULT_STREAM)
    driver.memset(address + 1, value, width, count, DEFAULT_STREAM)
    data = ctypes.string_at(address, width * count + 2)
    assert data == b"\x55" + value.to_bytes(width, "little") * count + b"\x55"


@pytest.mark.parametrize("nbytes", [13, (1 << 20) + 3])
def test_copies_move_every_byte(device: Device, nbytes: int) -> None:
    """Host to device, device to device, device to host, from read-only and writable memory, small and large."""
    driver = device.driver
    data = random.Random(nbytes).randbytes(nbytes)
    for source in (memoryview(data), memoryview(bytearray(data))):
        first, second, back = driver.alloc(nbytes), driver.alloc(nbytes), bytearray(nbytes)
        driver.copy_h2d(first, source, DEFAULT_STREAM)
        driver.copy_d2d(second, first, nbytes, DEFAULT_STREAM)
        driver.copy_d2h(memoryview(back), second, DEFAULT_STREAM)
        assert bytes(back) == data


def test_lent_host_memory_may_be_used_until_it_is_returned(device: Device) -> None:
    """Lending counts; read-only memory can be read; after the last return the memory is not live."""
    driver = device.driver
    host, target = (ctypes.c_uint32 * 5)(1, 2, 3, 4, 5), driver.alloc(20)
    address = ctypes.addressof(host)
    driver.lend_host(address, 20, writable=False)
    driver.lend_host(address, 20, writable=False)
    driver.return_host(address, 20)
    device.launch("add", "QQI", address, target, 1, block=5)
    assert device.download(target, 5) == [2, 3, 4, 5, 6]
    assert "read-only" in device.finding("add", "QQI", target, address, 1, block=5).message
    driver.return_host(address, 20)
    assert device.finding("add", "QQI", address, target, 1, block=5).kind == "out-of-bounds"
    driver.lend_host(address, 20, writable=True)
    device.launch("add", "QQI", address, address, 9, block=5)
    driver.return_host(address, 20)
    assert list(host) == [10, 11, 12, 13, 14]


def test_live_ranges_agree_with_a_naive_table() -> None:
    """After any sequence of adding, removing, lending and returning, overlapping or not, the same bytes are live."""
    for seed in range(30):
        rng = random.Random(seed)
        ranges, own, lent = LiveRanges(), {}, []
        for _ in range(60):
            choice = rng.random()
            if choice < 0.3:
                base = 100 * rng.randrange(1, 30)
                if base not in own:
                    own[base] = (rng.randrange(1, 80), rng.random() < 0.8)
                    ranges.add(base, own[base][0], writable=own[base][1])
            elif choice < 0.45 and own:
                base = rng.choice(list(own))
                assert ranges.remove(base) == own.pop(base)[0]
            elif choice < 0.8:
                entry = (rng.randrange(1, 3000), rng.randrange(0, 150), rng.random() < 0.5)
                entry = rng.choice([*lent, entry])
                lent.append(entry)
                ranges.lend(entry[0], entry[1], writable=entry[2])
            elif lent:
                entry = lent.pop(rng.randrange(len(lent)))
                if (entry[0], entry[1], not entry[2]) in lent:
                    lent.append(entry)
                    continue
                ranges.take_back(entry[0], entry[1])
            snapshot = ranges.snapshot()
            words = (ctypes.c_uint64 * (3 * snapshot.count)).from_address(snapshot.address) if snapshot.count else ()
            table = [tuple(words[i : i + 3]) for i in range(0, 3 * snapshot.count, 3)]
            assert all(a[1] <= b[0] for a, b in pairwise(table))
            live = {a for b, (n, _) in own.items() for a in range(b, b + n)}
            live |= {a for b, n, _ in lent for a in range(b, b + n)}
            assert {a for b, e, _ in table for a in range(b, e)} == live
            writable = {a for b, (n, w) in own.items() if w for a in range(b, b + n)}
            writable |= {a for b, n, w in lent if w for a in range(b, b + n)}
            assert writable <= {a for b, e, f in table if f & 1 for a in range(b, e)}


def test_a_snapshot_stays_as_it_was() -> None:
    """A running launch keeps its table while memory comes and goes."""
    ranges = LiveRanges()
    ranges.add(1000, 10)
    before = ranges.snapshot()
    ranges.add(500, 10)
    ranges.remove(1000)
    words = (ctypes.c_uint64 * 3).from_address(before.address)
    assert (before.count, list(words)) == (1, [1000, 1010, 1])
    assert ranges.snapshot().count == 1


# ---------------------------------------------------------------- opening and ending


def test_the_factory_says_what_it_cannot_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another device, a wrong option or a wrong number of workers is refused in words."""
    with pytest.raises(BackendUnavailable):
        CpuFactory().open(1, DriverOptions())
    with pytest.raises(ValueError, match="check"):
        CpuFactory().open(0, DriverOptions("shared"))
    with pytest.raises(TypeError, match="wokers"):
        CpuFactory().open(0, DriverOptions(extra={"wokers": 2}))
    for wrong in (0, "many", True, -1):
        with pytest.raises(ValueError, match="workers"):
            CpuFactory().open(0, DriverOptions(extra={"workers": wrong}))
    monkeypatch.setenv("METRALE_CPU_WORKERS", "3")
    driver = CpuFactory().open(0, DriverOptions())
    assert driver.capabilities.multiprocessor_count == 3
    driver.close()


def test_without_llvmlite_the_cpu_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason and the remedy are told when the compiler is missing."""
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendUnavailable, match="pip install llvmlite"):
        CpuFactory().devices()


def test_listing_devices_imports_no_compiler() -> None:
    """Asking what there is loads neither llvmlite nor NumPy."""
    script = (
        "import sys; from metrale_gpu_runtime.drivers.cpu import CpuFactory; CpuFactory().devices();"
        "print(sorted({'llvmlite', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


_SCRIPT = """
import os, sys, threading, _thread
sys.path.insert(0, {tests!r})
from cpu.test_driver import Device
from metrale_gpu_runtime.drivers.cpu.driver import CpuDriver

device = Device("memory", workers=3)
counter = device.upload([0])
"""


def _run_script(body: str) -> str:
    from pathlib import Path

    script = _SCRIPT.format(tests=str(Path(__file__).parent.parent)) + body
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_forked_child_can_launch() -> None:
    """After a fork the child has workers of its own."""
    output = _run_script(
        """
device.launch("count", "Q", counter, grid=5000, block=32)
child = os.fork()
if child == 0:
    device.launch("count", "Q", counter, grid=5000, block=32)
    device.launch("sum", "QQ", device.upload([3] * 64 * 500), device.driver.alloc(2000), grid=500)
    os._exit(device.download(counter, 1)[0] == 2 * 5000 * 32)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), device.download(counter, 1)[0])
"""
    )
    assert output.split() == ["1", str(5000 * 32)]


def test_ctrl_c_stops_a_long_launch() -> None:
    """A KeyboardInterrupt gets through between blocks, goes to the caller, and the device is usable after it."""
    output = _run_script(
        """
import ctypes
cell = ctypes.c_uint32.from_address(counter)
done = threading.Event()
def interrupt():
    while cell.value < 1_000_000 and not done.is_set():
        pass
    _thread.interrupt_main()
threading.Thread(target=interrupt, daemon=True).start()
try:
    device.launch("count", "Q", counter, grid=2**31 - 1, block=32)
except KeyboardInterrupt:
    device.driver.synchronize(0)
    cell.value = 0
    device.launch("count", "Q", counter, grid=3, block=7)
    print("interrupted", cell.value)
done.set()
device.driver.close()
"""
    )
    assert output.split() == ["interrupted", "21"]


def test_closing_twice_the_pool_and_an_idle_driver() -> None:
    """Close gives back what is there, with modules loaded, memory allocated and a fault that nobody asked for."""
    device = Device()
    device.upload([1, 2, 3])
    device.launch("traps", "", block=32)
    device.driver.close()
    assert isinstance(device.driver, CpuDriver)


def test_module_variables_lie_far_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for a module's variables is not the heap's, which may lie below 4 GiB, and goes back to where it came from."""
    ranges = LiveRanges()
    held = memory.DeviceMemory(ranges)
    near = held.alloc(100)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "_calloc", lambda *_: pytest.fail("taken from the heap"))
        far = [held.alloc(3, is_far=True) for _ in range(memory.QUARANTINE_COUNT + 5)]
    assert min(far) > 1 << 32
    assert all(address % memory.ALIGN == 0 for address in far)
    assert ctypes.string_at(far[7], 3) == bytes(3)
    given_back: list[int] = []
    monkeypatch.setattr(memory, "_free", given_back.append)
    raw = held._raw[near]
    for address in far:
        held.free(address)
    assert len(held._mapped) == memory.QUARANTINE_COUNT
    held.close()
    assert held._mapped == {}
    assert given_back == [raw]
    monkeypatch.undo()
    memory._free(raw)
