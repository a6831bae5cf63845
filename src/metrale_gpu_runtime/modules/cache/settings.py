"""What the environment says of the compile cache: whether it is on, where it is, how large it may become."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

SWITCH_VARIABLE = "METRALE_CACHE"
FOLDER_VARIABLE = "METRALE_CACHE_DIR"
SIZE_VARIABLE = "METRALE_CACHE_MAX_MIB"
DEFAULT_MAX_MIB = 512
FOLDER_NAME = "metrale-gpu-runtime"

_READ = (SWITCH_VARIABLE, FOLDER_VARIABLE, SIZE_VARIABLE, "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA")


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """`folder` is None where the cache is off; `problem` is what was wrong with what the environment says."""

    folder: Path | None
    max_nbytes: int = DEFAULT_MAX_MIB << 20
    problem: str | None = None


def environment() -> tuple[str | None, ...]:
    """The variables that `read_settings` reads: where this is equal, so are the settings."""
    return tuple(os.environ.get(name) for name in _READ)


def read_settings() -> CacheSettings:
    """The settings as the environment has them. What cannot be understood turns the cache off or leaves the default,
    with a problem; never an error."""
    switch = os.environ.get(SWITCH_VARIABLE, "").strip().lower()
    if switch == "off":
        return CacheSettings(None)
    if switch not in ("", "on"):
        return CacheSettings(None, problem=f"{SWITCH_VARIABLE} is {switch!r}; it is on or off, and was taken as off")
    max_mib, problem = _max_mib()
    if max_mib == 0:
        return CacheSettings(None)
    try:
        folder = _folder()
    except (RuntimeError, OSError) as error:
        return CacheSettings(None, problem=f"there is no folder for it: {error}; {FOLDER_VARIABLE} names one")
    return CacheSettings(folder, max_mib << 20, problem)


def _max_mib() -> tuple[int, str | None]:
    given = os.environ.get(SIZE_VARIABLE, "").strip()
    if not given:
        return DEFAULT_MAX_MIB, None
    if given.isdecimal():
        return int(given), None
    return (
        DEFAULT_MAX_MIB,
        f"{SIZE_VARIABLE} is {given!r}; it is a whole number of MiB, and {DEFAULT_MAX_MIB} was taken",
    )


def _folder() -> Path:
    """METRALE_CACHE_DIR, else a folder in the user's cache folder. Raises RuntimeError where the user has no home."""
    given = os.environ.get(FOLDER_VARIABLE, "")
    if given.strip():
        return Path(given).expanduser().absolute()
    return _users_folder() / FOLDER_NAME


def _users_folder() -> Path:
    """The user's folder for caches. Source: XDG Base Directory Specification 0.8, which has relative paths ignored;
    Apple's File System Programming Guide; Windows' known folder LocalAppData."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    return Path.home() / ".cache"
