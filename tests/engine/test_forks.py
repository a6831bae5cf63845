"""Children forked off a process with an open backend that survives it: what they may do, and that they end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

OPEN = """
import os, signal, sys, threading, time
import metrale_gpu_runtime as mg

gpu = mg.open_backend("BACKEND")
if "BACKEND" == "mock":
    kernel = gpu.kernel("m", "k", signature="float* x")
else:
    ptx = '''
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) { ret; }
'''
    kernel = gpu.load_module("m", source={".ptx": ptx}, signatures={"k": "float* x"})["k"]
x = gpu.empty(16, mg.f32)
kernel[1, 32](x)

def child(act):
    if pid := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    signal.alarm(20)  # one that waits for ever ends as well
    sys.exit(act())
"""

ENDS = """
stop = threading.Event()

def work():
    while not stop.is_set():
        kernel[1, 32](x)

threads = [threading.Thread(target=work) for _ in range(2)]
for each in threads:
    each.start()

def act():
    stop.set()
    try:
        kernel[1, 32](x)
        gpu.synchronize()
    except mg.HandleClosed as error:
        return 0 if "forked off" in str(error) and "open it anew" in str(error) else 7
    return 0

statuses = [child(act) for _ in range(8)]
stop.set()
for each in threads:
    each.join()
print(statuses)
"""

CALLS = """
release = threading.Event()
of_parent = gpu.default_stream().call(release.wait)
time.sleep(0.1)
status = child(lambda: 0 if gpu.default_stream().call(lambda: "called").result(10) == "called" else 7)
release.set()
print([status], of_parent.result(10))
"""

WAITS = """
sys.setswitchinterval(5)
prepared = kernel[1, 32].prepare(x)
lock = gpu._default_lane.lock
lock.acquire()
waiting = threading.Thread(target=prepared)
waiting.start()
time.sleep(0.2)
lock.release()
end = time.perf_counter() + 0.05
while time.perf_counter() < end:
    pass  # the other thread is given the lock, and waits for its turn to take it

def act():
    sys.setswitchinterval(0.005)
    try:
        prepared()
    except mg.HandleClosed:
        return 0
    lock.acquire()
    other = threading.Thread(target=prepared, daemon=True)
    other.start()
    time.sleep(0.2)
    lock.release()
    other.join(10)
    return 7 if other.is_alive() else 0

print([child(act)])
waiting.join()
"""


@pytest.fixture(params=["mock", "cpu"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _printed(backend: str, program: str) -> str:
    source = (OPEN + program).replace("BACKEND", backend)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_child_forked_amid_launches_works_or_is_told_and_ends(backend: str) -> None:
    """Its calls work, or say that another thread was amid one; the end of the child waits for nobody's lock."""
    assert _printed(backend, ENDS) == str([0] * 8)


def test_a_child_has_calls_of_streams_of_its_own(backend: str) -> None:
    """What the parent asked for is the parent's; what the child asks for is called in the child."""
    assert _printed(backend, CALLS) == "[0] True"


def test_a_child_is_told_of_a_thread_that_was_just_given_a_lock(backend: str) -> None:
    """Nobody holds the lock at the fork, and the thread that was given it is not in the child to take it."""
    assert _printed(backend, WAITS) == "[0]"
