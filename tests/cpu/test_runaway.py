"""A kernel that never ends can be ended: by a time limit, by Ctrl-C; the backend goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import metrale_gpu_runtime as mg

LOOP = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry turns(.param .u64 out, .param .u32 count)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [count];
    mov.u32 %r2, 0;
again:
    add.u32 %r2, %r2, 1;
    setp.ne.u32 %p1, %r2, %r1;
    @%p1 bra again;
    mov.u32 %r3, %tid.x; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}
.visible .entry for_ever(.param .u64 out)
{
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    .shared .align 4 .b8 room[512];
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], 1;
    mov.u32 %r1, 0;
again:
    add.u32 %r1, %r1, 3;
    st.shared.u32 [room], %r1;
    bra again;
}
.visible .entry until_told(.param .u64 flags)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [flags];
    st.volatile.global.u32 [%rd1], 1;
again:
    ld.volatile.global.u32 %r1, [%rd1+4];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra again;
    ret;
}
.visible .entry barriers_for_ever(.param .u64 out)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], 1;
again:
    bar.sync 0;
    bra again;
}
.visible .entry sleeping_for_ever(.param .u64 out)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], 1;
again:
    nanosleep.u32 100;
    bra again;
}
"""
ENDLESS = ("for_ever", "barriers_for_ever", "sleeping_for_ever")


@pytest.mark.parametrize("kernel", ENDLESS)
@pytest.mark.parametrize(("grid", "block"), [(1, 1), (5, 33)])
def test_a_launch_over_its_time_limit_is_a_fault(kernel: str, grid: int, block: int) -> None:
    """The fault names kernel, geometry, limit and remedy, and the next launch is right."""
    with mg.open_backend("cpu", launch_timeout_s=0.2) as gpu:
        module = gpu.load_module("m", binary=LOOP.encode())
        out = gpu.array(np.zeros(33, np.uint32))
        module[kernel][grid, block](out)
        with pytest.raises(mg.KernelFault, match=rf"{kernel}: still running after 0\.2 s") as fault:
            gpu.synchronize()
        (finding,) = fault.value.findings
        assert finding.kind == "timeout"
        assert fault.value.launch is not None
        assert (fault.value.launch.grid, fault.value.launch.block) == ((grid, 1, 1), (block, 1, 1))
        assert "launch_timeout_s" in str(fault.value)
        module["turns"][1, 33](out, mg.u32(70001))
        assert (out.numpy() == 70001).all()


def test_a_launch_within_its_limit_is_left_alone() -> None:
    """Launches from the main thread and from others end by themselves, with and without a limit."""
    for limit in (None, 60.0):
        with mg.open_backend("cpu", launch_timeout_s=limit) as gpu:
            kernel = gpu.load_module("m", binary=LOOP.encode())["turns"]
            results: list[int] = []

            def work(gpu: mg.GpuBackend, kernel: mg.Kernel, count: int, results: list[int]) -> None:
                out = gpu.empty(7, np.uint32)
                kernel[3, 7](out, mg.u32(count))
                results.extend(out.numpy().tolist())

            workers = [threading.Thread(target=work, args=(gpu, kernel, n, results)) for n in (11, 12, 13, 14)]
            for each in workers:
                each.start()
            work(gpu, kernel, 15, results)
            for each in workers:
                each.join()
            assert sorted(results) == [n for n in (11, 12, 13, 14, 15) for _ in range(7)]


def test_a_launch_does_not_wait_for_another_thread_s_launch() -> None:
    """Each launch has threads of its own to run on, so that its time is not spent behind a longer one."""
    with mg.open_backend("cpu", workers=1, launch_timeout_s=60.0) as gpu:
        module = gpu.load_module("m", binary=LOOP.encode())
        flags = np.zeros(2, np.uint32)  # used in place
        results: list[int] = []

        def wait() -> None:
            with gpu.create_stream() as stream:
                module["until_told"][1, 1, 0, stream](flags)
                stream.synchronize()
            results.append(int(flags[1]))

        waits = threading.Thread(target=wait)
        waits.start()
        try:
            while not flags[0]:
                pass
            out = gpu.empty(3, np.uint32)
            module["turns"][1, 3](out, mg.u32(21))
            assert (out.numpy().tolist(), results) == ([21, 21, 21], [])
        finally:
            flags[1] = 7
            waits.join()
        assert results == [7]


def test_an_unreadable_limit_is_refused() -> None:
    """A limit is a positive number of seconds, and needs checked accesses."""
    for wrong in (0, -1, "soon", True, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="launch_timeout_s"):
            mg.open_backend("cpu", launch_timeout_s=wrong)
    with pytest.raises(ValueError, match='check="memory"'):
        mg.open_backend("cpu", check=None, launch_timeout_s=1.0)


@pytest.mark.parametrize("kernel", ENDLESS)
def test_ctrl_c_stops_a_runaway_kernel(kernel: str) -> None:
    """KeyboardInterrupt comes out of the launch, and the backend computes rightly afterwards."""
    program = textwrap.dedent(
        f"""
        import threading, numpy as np, metrale_gpu_runtime as mg
        def tell(flag):
            while not flag[0]:
                pass
            print("runs", flush=True)
        with mg.open_backend("cpu") as gpu:
            module = gpu.load_module("m", binary={LOOP!r}.encode())
            out = np.zeros(33, np.uint32)   # used in place: the kernel's first write is seen here while it runs
            watcher = threading.Thread(target=tell, args=(out,))
            try:
                watcher.start()
                module[{kernel!r}][5, 33](out)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            try:
                gpu.synchronize()
            except mg.KernelFault:
                pass
            module["turns"][1, 33](out, mg.u32(9))
            watcher.join()
            print(int(out.sum()), flush=True)
        """
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "runs\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (out, err, child.returncode) == (f"interrupted\n{9 * 33}\n", "", 0)
