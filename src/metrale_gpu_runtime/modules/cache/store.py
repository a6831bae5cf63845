"""The folder between processes: entries read, written, and the least recently used ones removed.

Any number of processes may use one folder at once, also over a network, without locks: an entry is written under a
name of its own and then renamed, so that it is there whole or not at all, and what a crash or a full disk leaves of it
is found by its checksum. So nothing is forced to the disk, and nothing that a killed process leaves behind stands in
anybody's way.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import GpuWarning
from . import entries
from .settings import FOLDER_VARIABLE, SIZE_VARIABLE, SWITCH_VARIABLE, CacheSettings, environment, read_settings

_NEW = ".new-"
_ABANDONED_S = 3600.0
# After how much writing of its own a process looks again at the whole folder; what trimming leaves of the limit.
_LOOK_AGAIN = 1 / 32
_LEFT = 7 / 8

_told: set[str] = set()


@dataclass(slots=True)
class FolderFigures:
    """What is in a folder: entries and their bytes by kind, and files that were begun and not finished."""

    counts: Counter[str] = field(default_factory=Counter)
    nbytes: Counter[str] = field(default_factory=Counter)
    unfinished: int = 0

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self.counts.total()

    @property
    def total_nbytes(self) -> int:
        """Bytes of all entries."""
        return self.nbytes.total()


class Store:
    """One cache folder. Reading and writing never fail: what does not work is told once, as a GpuWarning."""

    def __init__(self, settings: CacheSettings) -> None:
        self.settings = settings
        self.folder, self.max_nbytes = settings.folder, settings.max_nbytes
        self._problem = settings.problem
        self._can_write = settings.folder is not None
        # None until this process has looked at the whole folder.
        self._unlooked: int | None = None

    # ------------------------------------------------ entries

    def read(self, kind: str, key: str) -> bytes | None:
        """What is kept under a key; None where that is nothing, or nothing that can be trusted, which is removed."""
        folder = self._usable_folder()
        if folder is None:
            return None
        name = entries.file_name(kind, key)
        path = os.path.join(folder, name)
        try:
            data = entries.read_file(path, name, self.max_nbytes)
        except entries.Damaged:
            _remove(path)
            return None
        except OSError:  # mostly: it is not there. Whatever it is, it can be compiled
            return None
        with suppress(OSError):  # of a folder that is only read, nothing is ever removed by its age
            os.utime(path)
        return data

    def would_write(self) -> bool:
        """Whether `write` has a chance: the cache is on, its folder is to be trusted, and no writing has failed yet."""
        return self._can_write and self._usable_folder() is not None

    def write(self, kind: str, key: str, data: bytes) -> None:
        """Keep an entry, if that can be done."""
        folder = self._usable_folder()
        if folder is None or not self._can_write or len(data) > self.max_nbytes:
            return
        name = entries.file_name(kind, key)
        try:
            _make(folder)
            self._put(folder, name, entries.written(name, data))
        except OSError as error:
            self._can_write = False
            self._tell(f"{folder} cannot be written: {error.strerror or error}")
            return
        if self._unlooked is not None:
            self._unlooked += len(data)
        if self._unlooked is None or self._unlooked > self.max_nbytes * _LOOK_AGAIN:
            self.trim()

    def remove(self, kind: str, key: str) -> None:
        """Forget an entry."""
        folder = self._usable_folder()
        if folder is not None:
            _remove(os.path.join(folder, entries.file_name(kind, key)))

    @staticmethod
    def _put(folder: Path, name: str, contents: bytes) -> None:
        # mkstemp: a name that nobody has, never through a link, readable by nobody else.
        file, path = tempfile.mkstemp(prefix=_NEW, dir=folder)
        try:
            with os.fdopen(file, "wb") as opened:
                opened.write(contents)
            os.replace(path, os.path.join(folder, name))
        except FileNotFoundError:
            pass  # cleared by somebody meanwhile: there is nothing to keep it in, and no harm done
        except BaseException:
            _remove(path)
            raise

    # ------------------------------------------------ the whole folder

    def figures(self) -> FolderFigures:
        """What is in the folder now. Raises OSError where it cannot be read; empty where it is not there."""
        figures = FolderFigures()
        for _, nbytes, kind, _ in self._listed():
            if kind is None:
                figures.unfinished += 1
            else:
                figures.counts[kind] += 1
                figures.nbytes[kind] += nbytes
        return figures

    def trim(self) -> None:
        """Remove what was used least recently until the entries are well within the limit; and what nobody finished."""
        self._unlooked = 0
        try:
            listed = sorted(self._listed(), key=lambda each: each[0])
        except OSError:
            return
        begun_before = time.time() - _ABANDONED_S
        for mtime, _, kind, path in listed:
            if kind is None and mtime < begun_before:
                _remove(path)
        total = sum(nbytes for _, nbytes, kind, _ in listed if kind is not None)
        if total <= self.max_nbytes:
            return
        for _, nbytes, kind, path in listed:
            if total <= self.max_nbytes * _LEFT:
                return
            if kind is not None:
                _remove(path)
                total -= nbytes

    def clear(self) -> FolderFigures:
        """Remove every entry and what was never finished; what that was. Nothing else in the folder is touched.

        Raises OSError for the first that could not be removed.
        """
        figures = self.figures()
        for _, _, _, path in self._listed():
            with suppress(FileNotFoundError):
                os.unlink(path)
        self._unlooked = None
        return figures

    def _listed(self) -> list[tuple[float, int, str | None, str]]:
        """(last used, bytes, kind, path) of entries; the kind is None for what was begun and not finished."""
        listed: list[tuple[float, int, str | None, str]] = []
        if self.folder is None:
            return listed
        with suppress(FileNotFoundError), os.scandir(self.folder) as files:
            for each in files:
                kind = entries.kind_of(each.name)
                if kind is None and not each.name.startswith(_NEW):
                    continue
                with suppress(FileNotFoundError):
                    state = each.stat(follow_symlinks=False)
                    if not stat.S_ISDIR(state.st_mode):
                        listed.append((state.st_mtime, state.st_size, kind, each.path))
        return listed

    # ------------------------------------------------ whether it can be used

    def refusal(self) -> str | None:
        """Why the folder is not used although the cache is on; None where it is, or is not there yet."""
        if self.folder is None:
            return None
        try:
            state = os.stat(self.folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"it cannot be reached: {error.strerror or error}"
        if not stat.S_ISDIR(state.st_mode):
            return "it is no folder"
        refused = entries.not_trusted(state)
        if refused is not None:
            # Nobody changes the mode of another user's folder, nor that of one that many users share.
            is_own = entries.is_owned(state) and not state.st_mode & stat.S_ISVTX
            remedy = "chmod 700 it, or " if is_own else ""
            return f"{refused}, and what lies there would be run: {remedy}name a folder of your own"
        return None

    def is_writable(self) -> bool:
        """Whether this user may make the folder, or write to it where it is there; False where the cache is off."""
        if self.folder is None:
            return False
        nearest = next((each for each in (self.folder, *self.folder.parents) if os.path.lexists(each)), None)
        return nearest is not None and nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)

    def _usable_folder(self) -> Path | None:
        if self._problem is not None:
            self._tell(self._problem, is_used=self.folder is not None)
            self._problem = None
        if self.folder is None:
            return None
        refused = self.refusal()
        if refused is None:
            return self.folder
        self._tell(f"{self.folder} is not used: {refused}")
        return None

    def _tell(self, reason: str, *, is_used: bool = False) -> None:
        if reason in _told:
            return
        _told.add(reason)
        without = "" if is_used else "Everything works without it, and is compiled anew by each process. "
        warnings.warn(
            f"the compile cache: {reason}. {without}{FOLDER_VARIABLE}=/a/folder chooses another folder, "
            f"{SIZE_VARIABLE} its size, {SWITCH_VARIABLE}=off turns it off",
            GpuWarning,
            stacklevel=2,
        )


def _make(folder: Path) -> None:
    """Make a folder that only the user may enter, and those above it that are missing."""
    if not folder.is_dir():
        for each in (*reversed(folder.parents), folder):
            if not each.is_dir():
                with suppress(FileExistsError):
                    each.mkdir(mode=0o700)


def _remove(path: str) -> None:
    with suppress(OSError):  # not there any more, or not ours to remove: it is not read either
        os.unlink(path)


_current: tuple[tuple[str | None, ...], Store] | None = None


def current_store() -> Store:
    """The store that the environment names now; the same as long as that stays."""
    global _current
    seen = environment()
    known = _current
    if known is None or known[0] != seen:
        known = _current = (seen, Store(read_settings()))
    return known[1]
