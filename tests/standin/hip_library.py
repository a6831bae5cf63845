"""The stand-in's HIP in this process: built once for each state of its sources, found by AMD's bindings by its soname.

It has no device until `reset(devices=…)` gives it some. Children find it by `environment()`.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from standin.building import FLAGS, WARNINGS, compiler

SOURCES = Path(__file__).parent
HIP, HIPRTC = "libamdhip64.so", "libhiprtc.so"
_LINK = ("-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic")


@cache
def library_folder() -> Path:
    """The folder that holds both libraries, for LD_LIBRARY_PATH."""
    core = sorted(SOURCES.glob("core*.c"))
    programs = {HIP: [*core, *sorted(SOURCES.glob("hip*.c"))], HIPRTC: [SOURCES / "hiprtc.c"]}
    programs[HIP].remove(SOURCES / "hiprtc.c")
    digest = hashlib.sha256(" ".join((*FLAGS, *WARNINGS, *_LINK)).encode())
    for path in sorted(
        {*SOURCES.glob("core*.h"), SOURCES / "control.h", SOURCES / "hip.h", *programs[HIP], *programs[HIPRTC]}
    ):
        digest.update(path.read_bytes())
    folder = Path(tempfile.gettempdir()) / f"metrale-hip-standin-{os.getuid()}-{digest.hexdigest()[:16]}"
    if not (folder / HIP).is_file():
        # Several workers may build at once; the first to finish gives the folder its name.
        own = Path(tempfile.mkdtemp(dir=folder.parent))
        for name, sources in programs.items():
            command = [compiler() or "gcc", *FLAGS, *WARNINGS, *_LINK, f"-Wl,-soname,{name}", "-o", str(own / name)]
            command += [*(str(source) for source in sources), "-lpthread", "-ldl"]
            subprocess.run(command, check=True, capture_output=True, text=True)
        try:
            own.rename(folder)
        except OSError:
            shutil.rmtree(own)
    return folder


def environment(devices: int, **settings: object) -> dict[str, str]:
    """This process's environment for a child that is to find the stand-in, with settings: `architecture="gfx90a"`."""
    path = os.pathsep.join([str(library_folder()), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    chosen = {f"METRALE_STANDIN_HIP_{name.upper()}": str(value) for name, value in settings.items()}
    return {**os.environ, "LD_LIBRARY_PATH": path, "METRALE_STANDIN_HIP_DEVICES": str(devices), **chosen}


class _Launch(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("ordinal", "thread", "context", "stream", "module", "function", "exec")),
        ("kernel", ctypes.c_char_p),
        *((name, ctypes.c_uint32 * 3) for name in ("grid", "block", "cluster")),
        ("shared", ctypes.c_uint32),
        *(
            (name, ctypes.c_int32)
            for name in (
                "cooperative",
                "programmatic",
                "has_priority",
                "priority",
                "has_sync_domain",
                "sync_domain",
                "device",
            )
        ),
        ("parameter_nbytes", ctypes.c_uint32),
    )


class _Call(ctypes.Structure):
    _fields_ = (
        ("serial", ctypes.c_uint64),
        ("thread", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("context", ctypes.c_uint64),
        ("owner", ctypes.c_uint64),
        ("code", ctypes.c_int32),
        ("owner_matches", ctypes.c_int32),
    )


class _Violation(ctypes.Structure):
    _fields_ = (
        ("serial", ctypes.c_uint64),
        ("thread", ctypes.c_uint64),
        ("kind", ctypes.c_char_p),
        ("call", ctypes.c_char_p),
        ("detail", ctypes.c_char * 200),
    )


@dataclass(frozen=True)
class Launch:
    """One launch that HIP accepted, as it was recorded."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    device: int
    cooperative: bool
    parameters: bytes


class HipStandin:
    """What a test asks of the loaded library beside HIP's own calls."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        for name in ("call_count", "launch_count", "violation_count", "count", "calls", "launches", "violations"):
            self._function(name).restype = ctypes.c_uint64
        self._function("launch_parameters").restype = ctypes.c_uint64
        self._function("launch_parameters").argtypes = (ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64)
        self._function("set").argtypes = (ctypes.c_char_p, ctypes.c_int64)
        self._function("set_attribute").argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int64)
        self._function("fail_call").argtypes = (ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int)
        self._function("fail_launch").argtypes = (ctypes.c_uint64, ctypes.c_int)

    def _function(self, name: str) -> Any:
        return getattr(self.library, f"standin_{name}")

    def reset(self, *, devices: int = 0, architecture: str | None = None, **attributes: int) -> None:
        """As loaded, with so many devices of this architecture and these attributes (`warp_size=64`)."""
        self._function("reset")()
        self.set("devices", devices)
        if architecture is not None:
            assert self._function("set_text")(b"architecture", architecture.encode()) == 0
        for name, value in attributes.items():
            assert self._function("set_attribute")(-1, name.encode(), value) == 0, name

    def set(self, name: str, value: int) -> None:
        assert self._function("set")(name.encode(), value) == 0, name

    def fail_call(self, entry: str, code: int, *, nth: int = 1, count: int = 1) -> None:
        self._function("fail_call")(entry.encode(), nth, count, code)

    def fail_launch(self, code: int, *, nth: int = 1) -> None:
        self._function("fail_launch")(nth, code)

    def call_count(self, entry: str = "") -> int:
        return int(self._function("call_count")(entry.encode()))

    def count(self, kind: str, what: str) -> int:
        return int(self._function("count")(kind.encode(), what.encode()))

    def violations(self) -> list[str]:
        room = (_Violation * 64)()
        count = min(int(self._function("violations")(room, 64)), 64)
        return [f"{each.kind.decode()}: {each.call.decode()}: {each.detail.decode()}" for each in room[:count]]

    def calls(self, most: int = 4096) -> list[tuple[str, int]]:
        """(entry point, code) of the last calls, oldest first."""
        room = (_Call * most)()
        count = min(int(self._function("calls")(room, most)), most)
        return [(each.name.decode(), each.code) for each in room[:count]]

    def launches(self) -> list[Launch]:
        return list(self._launches())

    def _launches(self) -> Iterator[Launch]:
        room = (_Launch * 256)()
        for each in room[: min(int(self._function("launches")(room, 256)), 256)]:
            parameters = ctypes.create_string_buffer(each.parameter_nbytes)
            self._function("launch_parameters")(each.ordinal, parameters, each.parameter_nbytes)
            yield Launch(
                each.kernel.decode(),
                tuple(each.grid),
                tuple(each.block),
                each.shared,
                each.device,
                bool(each.cooperative),
                parameters.raw,
            )


@cache
def load() -> HipStandin:
    """The stand-in of this process. Raises OSError where it cannot be built."""
    if compiler() is None:
        raise OSError("there is no C compiler to build the stand-in with")
    folder = library_folder()
    ctypes.CDLL(str(folder / HIPRTC), ctypes.RTLD_GLOBAL)
    return HipStandin(ctypes.CDLL(str(folder / HIP), ctypes.RTLD_GLOBAL))
