"""Whole processes with OpenCL: how they start a second time, how they end, and that nothing grows in between."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from opencl_room import gpu, ints, kernel, open_pocl
from pocl import pocl_spec
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import GpuWarning

__all__ = ["gpu"]

SOURCE = "kernel void triple(global int *x) { x[get_global_id(0)] *= 3; }"

_LEAVES = f"""
import sys, threading
import numpy as np
import metrale_gpu_runtime as mg
gpu = mg.open_backend(sys.argv[1])
module = gpu.load_module("m", source={SOURCE!r})
kernel, stream, x = gpu.kernel("m", "triple"), gpu.create_stream(), gpu.array(np.arange(3, dtype=np.int32))
event = stream.record_event()
prepared = mg.KernelLaunch(gpu, kernel).grid([1, 1, 1]).block([3, 1, 1]).arg_ptr(x).prepare()
with gpu.sequence() as step:
    kernel[1, 3](x)
cycle = [gpu, module, kernel, stream, x, event, prepared, step]
cycle.append(cycle)
threading.Thread(target=lambda: [prepared() for _ in range(200)]).start()
kernel[1, 3, 0, stream](x)
"""


def test_29_a_process_with_everything_open_ends_quietly() -> None:
    """Globals with everything open, in a cycle, and a running thread: no word and status 0; an error alone is told."""
    require_rung("pocl")
    for ending, code in (("", 0), ("raise KeyError('mine')", 1)):
        program = [sys.executable, "-W", "error", "-c", _LEAVES + ending, str(pocl_spec())]
        ended = subprocess.run(program, capture_output=True, text=True, check=False)
        assert ended.returncode == code, ended.stderr
        assert ended.stderr == "" if code == 0 else ended.stderr.strip().endswith("KeyError: 'mine'")


_STARTS = """
import sys
import numpy as np
import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.opencl import kept_programs
built = []
original = kept_programs.build_source
def count(*arguments, **options):
    built.append(arguments)
    return original(*arguments, **options)
kept_programs.build_source = count
with mg.open_backend(sys.argv[1]) as gpu:
    gpu.load_module("m", path=sys.argv[2])
    for block in (1, 3, 6):
        x = gpu.array(np.arange(block, dtype=np.int32))
        gpu.kernel("m", "triple")[1, block](x)
        assert x.numpy().tolist() == [3 * at for at in range(block)]
print(len(built))
"""


def test_41_a_second_process_builds_no_source(tmp_path: Path) -> None:
    """With the compile cache the first process builds its source once for several block sizes, the second one never."""
    require_rung("pocl")
    source = tmp_path / "m.cl"
    source.write_text(SOURCE)
    environment = {
        **os.environ,
        "METRALE_CACHE": "on",
        "METRALE_CACHE_DIR": str(tmp_path / "cache"),
        "POCL_CACHE_DIR": str(tmp_path / "pocl"),
    }
    built = []
    for _ in range(2):
        program = [sys.executable, "-c", _STARTS, str(pocl_spec()), str(source)]
        ended = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        built.append(int(ended.stdout))
    assert built == [1, 0]


def test_47_rounds_end_as_they_began(gpu: GpuBackend) -> None:
    """Rounds of allocating, copying, launching, events and waiting leave the books as they were, and no object of ours."""
    triple = kernel(gpu, SOURCE, "triple")
    host = np.arange(7, dtype=np.int32)

    def rounds(count: int) -> None:
        for _ in range(count):
            x = gpu.array(host)
            with gpu.create_stream() as stream, stream.record_event() as event:
                triple[1, 7, 0, stream](x)
                stream.record_event(event)
                event.synchronize()
            assert x.numpy()[6] == 18

    def objects() -> int:
        gc.collect()
        return len(gc.get_objects())

    # Until the ring of recent launches is full.
    rounds(300)
    before = objects()
    rounds(300)
    assert objects() - before < 30
    assert gpu.live_alloc_count() == 0
    driver = gpu._driver
    assert len(driver._streams) == 1  # type: ignore[attr-defined]
    assert driver._events._recordings == {}  # type: ignore[attr-defined]


def test_47_many_devices_are_opened_and_closed() -> None:
    """A device can be opened and closed again and again, with work in between that nobody waited for."""
    for number in range(25):
        with open_pocl(("svm", "buffers")[number % 2]) as gpu:
            x = ints(gpu, 5)
            kernel(gpu, SOURCE, "triple")[1, 5](x)
        assert not gpu.is_open


def test_pocl_is_given_a_folder_where_it_has_none(tmp_path: Path) -> None:
    """Where PoCL could write to no folder it has no device: it gets a temporary one, with a warning, which is gone in the
    end."""
    require_rung("pocl")
    program = (
        "import os, sys, warnings, metrale_gpu_runtime as mg\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    mg.open_backend(sys.argv[1]).close()\n"
        "print([str(each.message) for each in caught if each.category is mg.GpuWarning])\n"
        "print(os.environ['POCL_CACHE_DIR'])\n"
    )
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    environment = {name: value for name, value in os.environ.items() if name != "POCL_CACHE_DIR"}
    environment |= {"HOME": str(nowhere), "XDG_CACHE_HOME": str(nowhere)}
    ended = subprocess.run(
        [sys.executable, "-c", program, str(pocl_spec())], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    warned, folder = ended.stdout.splitlines()
    assert f"PoCL cannot write to {nowhere}/pocl/kcache" in warned
    assert not os.path.exists(folder)


def test_pocl_without_a_linker_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """PoCL links with `ld` and ends the process without: where PATH has none, opening it says so."""
    require_rung("pocl")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.warns(GpuWarning, match="links each kernel with `ld`.*binutils"):
        mg.open_backend(str(pocl_spec())).close()
