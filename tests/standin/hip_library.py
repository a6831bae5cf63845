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
from functools import cache
from pathlib import Path

from .building import FLAGS, WARNINGS, compiler
from .control import StandIn

SOURCES = Path(__file__).parent
HIP, HIPRTC = "libamdhip64.so", "libhiprtc.so"
_LINK = ("-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic")


@cache
def library_folder() -> Path:
    """The folder that holds both libraries, for LD_LIBRARY_PATH. Raises OSError where they cannot be built."""
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
        if compiler() is None:
            raise OSError("there is no C compiler to build the stand-in with")
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


class HipStandIn(StandIn):
    """The stand-in's HIP of this process."""

    def reset(self, *, devices: int = 0, architecture: str = "gfx1100", **settings: int) -> None:
        """As StandIn's, with devices of this architecture."""
        super().reset(devices=devices, **settings)
        self.set_text("architecture", architecture)


@cache
def load() -> HipStandIn:
    """The stand-in of this process, loaded once. Raises OSError where it cannot be built."""
    folder = library_folder()
    ctypes.CDLL(str(folder / HIPRTC), ctypes.RTLD_GLOBAL)
    return HipStandIn(ctypes.CDLL(str(folder / HIP), ctypes.RTLD_GLOBAL))
