"""The folder between processes: what is kept comes back or is found to be damaged, and nothing that goes wrong is an error."""

from __future__ import annotations

import os
import shutil
import stat
import warnings
from pathlib import Path

import pytest

from metrale_gpu_runtime.errors import GpuWarning
from metrale_gpu_runtime.modules.cache import entries
from metrale_gpu_runtime.modules.cache.keys import key_of
from metrale_gpu_runtime.modules.cache.settings import read_settings
from metrale_gpu_runtime.modules.cache.store import current_store

KEYS = [key_of("cpu", [f"kernel {number}"]) for number in range(5)]
AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def put(key: str = KEYS[0], data: bytes = b"code of one kernel", kind: str = "cpu") -> None:
    current_store().write(kind, key, data)


def put_all(keys: list[str]) -> None:
    for key in keys:
        put(key)


def get(key: str = KEYS[0], kind: str = "cpu") -> bytes | None:
    return current_store().read(kind, key)


def files(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_what_is_kept_comes_back(folder: Path) -> None:
    """Each entry has its own contents, an empty one too, and one kind's key means nothing to another."""
    put(KEYS[0], b"first")
    put(KEYS[1], b"")
    assert (get(KEYS[0]), get(KEYS[1]), get(KEYS[2])) == (b"first", b"", None)
    assert get(KEYS[0], "nvrtc") is None
    put(KEYS[0], b"written again")
    assert get(KEYS[0]) == b"written again"
    assert files(folder) == sorted(f"cpu-{key}" for key in KEYS[:2])


def test_only_the_user_enters_the_folder(folder: Path) -> None:
    """The folder and those above it that were missing have mode 0700, entries 0600, whatever the umask."""
    before = os.umask(0)
    try:
        put()
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / f"cpu-{KEYS[0]}").stat().st_mode) == 0o600


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-3] ^= 0x10
    path.write_bytes(data)


def one_bit_of_the_checksum(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[60] ^= 1
    path.write_bytes(data)


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def foreign(path: Path) -> None:
    path.write_text("a file of another program, long enough to have had a head and more than that: " * 4)


def swapped(path: Path) -> None:
    shutil.copyfile(path.parent / f"cpu-{KEYS[1]}", path)


def of_another_kind(path: Path) -> None:
    put(KEYS[0], b"PTX", "nvrtc")
    shutil.copyfile(path.parent / f"nvrtc-{KEYS[0]}", path)


def link(path: Path) -> None:
    real = path.parent.parent / "elsewhere"
    path.rename(real)
    path.symlink_to(real)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def others_write(path: Path) -> None:
    path.chmod(0o666)


@pytest.mark.parametrize(
    "damage",
    [cut, empty, one_bit, one_bit_of_the_checksum, longer, foreign, swapped, of_another_kind, link, pipe, others_write],
)
def test_what_is_damaged_is_found_removed_and_made_anew(folder: Path, damage) -> None:
    """An entry that is cut, changed, another's, a link, a pipe or open to others is no hit, goes, and is written anew."""
    put(KEYS[1], b"code of another kernel")
    put()
    path = folder / f"cpu-{KEYS[0]}"
    damage(path)
    assert get() is None
    assert not os.path.lexists(path)
    assert get(KEYS[1]) == b"code of another kernel"
    put()
    assert get() == b"code of one kernel"


def test_a_link_is_removed_and_what_it_points_to_is_not(folder: Path) -> None:
    """Nothing outside of the folder is read as an entry, written or removed."""
    put()
    path = folder / f"cpu-{KEYS[0]}"
    kept = path.read_bytes()
    outside = folder.parent / "outside"
    outside.write_bytes(kept)
    path.unlink()
    path.symlink_to(outside)
    put()
    assert not path.is_symlink()
    path.unlink()
    path.symlink_to(outside)
    assert get() is None
    assert outside.read_bytes() == kept


def test_a_folder_in_an_entrys_place_costs_only_the_entry(folder: Path) -> None:
    """It is told once, and stands in nobody's way."""
    put(KEYS[1])
    (folder / f"cpu-{KEYS[0]}").mkdir()
    assert get() is None
    with pytest.warns(GpuWarning, match="cannot be written"):
        put()
    assert get() is None
    assert get(KEYS[1]) == b"code of one kernel"
    assert not [name for name in files(folder) if name.startswith(".new-")]


# ---------------------------------------------------------------- size


def sizes(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.iterdir())


def test_the_least_recently_used_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit what was used longest ago is removed, and what was read lately stays."""
    monkeypatch.setenv("METRALE_CACHE_MAX_MIB", "1")
    part = b"x" * (220 << 10)
    for at, key in enumerate(KEYS[:4]):
        put(key, part)
        os.utime(folder / f"cpu-{key}", (1000.0 + at, 1000.0 + at))
    assert get(KEYS[0]) == part
    put(KEYS[4], part)
    assert sizes(folder) <= 1 << 20
    assert [get(key) is not None for key in KEYS] == [True, False, True, True, True]


def test_what_is_larger_than_the_limit_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry does not drive out all others."""
    monkeypatch.setenv("METRALE_CACHE_MAX_MIB", "1")
    put(KEYS[0])
    put(KEYS[1], bytes((1 << 20) + 1))
    assert (get(KEYS[0]), get(KEYS[1])) == (b"code of one kernel", None)


def test_what_a_killed_process_left_goes_in_time(folder: Path) -> None:
    """An unfinished file is removed when it is old, and left alone while its writer may be alive."""
    put(KEYS[0])
    old, new, other = folder / ".new-old", folder / ".new-new", folder / "notes.txt"
    entry = folder / f"cpu-{KEYS[0]}"
    for each in (old, new, other):
        each.write_bytes(b"h" * entry.stat().st_size)
    # As large as an entry and of its very time: that is no order between them.
    os.utime(new, ns=(entry.stat().st_mtime_ns, entry.stat().st_mtime_ns))
    os.utime(old, (1000.0, 1000.0))
    os.utime(other, (1000.0, 1000.0))
    current_store().trim()
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


def test_clear_removes_entries_and_nothing_else(folder: Path) -> None:
    """What was kept and what was begun goes; a stranger's file stays."""
    put(KEYS[0], b"12345")
    put(KEYS[1], b"1234567", "nvrtc")
    (folder / ".new-x").touch()
    (folder / "notes.txt").touch()
    figures = current_store().clear()
    head = len(entries.written("", b""))
    assert dict(figures.nbytes) == {"cpu": head + 5, "nvrtc": head + 7}
    assert (figures.count, figures.unfinished) == (2, 1)
    assert files(folder) == ["notes.txt"]
    put(KEYS[0])
    assert get(KEYS[0]) == b"code of one kernel"


def test_clearing_while_another_writes_is_no_fault(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry is lost and nothing else: no warning, and the next one is kept."""
    put(KEYS[0])
    replace = os.replace

    def cleared_before(source: str, target: str) -> None:
        current_store().clear()
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", cleared_before)
        put(KEYS[1])
    assert files(folder) == []
    put(KEYS[1])
    assert get(KEYS[1]) == b"code of one kernel"


# ---------------------------------------------------------------- what goes wrong


def test_a_full_disk_is_one_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be written is not kept; why is told once, with what to set, and nothing half written stays."""
    put(KEYS[0])

    class Full:
        def __init__(self, file: int, mode: str) -> None:
            self.file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self.file)

        def write(self, data: bytes) -> None:
            os.write(self.file, data[:20])
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdopen", Full)
        with pytest.warns(GpuWarning, match=r"No space left on device.*METRALE_CACHE_DIR") as caught:
            put_all(KEYS[1:3])
    assert len(caught) == 1
    assert files(folder) == [f"cpu-{KEYS[0]}"]
    assert get(KEYS[0]) == b"code of one kernel"


def test_a_folder_that_cannot_be_made_is_one_warning(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only home, or a file in the way: everything works, and one warning says why and what to set."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("METRALE_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(GpuWarning, match=r"METRALE_CACHE_DIR=/a/folder") as caught:
        put_all(KEYS)
    assert len(caught) == 1
    assert get() is None


@pytest.mark.skipif(AS_ROOT, reason="no folder is closed to root")
def test_a_read_only_cache_is_read(folder: Path) -> None:
    """What is there is used; only writing is told."""
    put(KEYS[0])
    folder.chmod(0o500)
    try:
        assert get(KEYS[0]) == b"code of one kernel"
        with pytest.warns(GpuWarning, match="cannot be written"):
            put(KEYS[1])
    finally:
        folder.chmod(0o700)


def test_a_read_only_file_system_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written, not even when an entry was used, hits are hits without a word."""
    put(KEYS[0])

    def refused(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refused)
    monkeypatch.setattr(os, "unlink", refused)
    assert get(KEYS[0]) == b"code of one kernel"
    with warnings.catch_warnings(record=True) as caught:
        cut(folder / f"cpu-{KEYS[0]}")
        assert get(KEYS[0]) is None
    assert not caught


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o703])
def test_a_folder_that_others_may_write_is_refused(folder: Path, mode: int) -> None:
    """What lies there would be run: nothing is read or written, and the warning says why."""
    put(KEYS[0])
    folder.chmod(mode)
    with pytest.warns(GpuWarning, match=rf"others may write to it \(its mode is {mode:04o}\).*chmod 700"):
        assert get(KEYS[0]) is None
    put(KEYS[1])
    assert files(folder) == [f"cpu-{KEYS[0]}"]


def test_a_folder_or_an_entry_of_another_user_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the user or the system owns is trusted."""
    put(KEYS[0])
    own = os.geteuid()
    if own == 0:
        os.chown(folder / f"cpu-{KEYS[0]}", 12345, 12345)
        assert get(KEYS[0]) is None
        os.chown(folder, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    # Whose folder it is not, cannot change its mode.
    with pytest.warns(GpuWarning, match="belongs to the user with the number.*would be run: name a folder of your own"):
        assert get(KEYS[1]) is None


def test_a_folder_that_is_a_link_is_followed_once(folder: Path, tmp_path: Path) -> None:
    """A cache on a scratch disk, reached by a link, is the folder it points to, and is judged as that."""
    real = tmp_path / "scratch"
    real.mkdir(mode=0o700)
    folder.parent.mkdir()
    folder.symlink_to(real)
    put()
    assert get() == b"code of one kernel"
    real.chmod(0o777)
    with pytest.warns(GpuWarning, match="others may write"):
        assert get() is None


# ---------------------------------------------------------------- where it is


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"METRALE_CACHE_DIR": "/somewhere/else"}, "/somewhere/else"),
        ({"METRALE_CACHE_DIR": "~/own"}, "/home/of-a-user/own"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/metrale-gpu-runtime"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/of-a-user/.cache/metrale-gpu-runtime"),
        ({"XDG_CACHE_HOME": ""}, "/home/of-a-user/.cache/metrale-gpu-runtime"),
        ({"METRALE_CACHE": "off"}, None),
        ({"METRALE_CACHE": " OFF "}, None),
        ({"METRALE_CACHE_MAX_MIB": "0"}, None),
    ],
)
def test_the_environment_says_where(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], expected: str | None
) -> None:
    """METRALE_CACHE_DIR, else the user's folder by the XDG rules; off is off."""
    for name in ("METRALE_CACHE", "METRALE_CACHE_DIR", "METRALE_CACHE_MAX_MIB", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/of-a-user")
    monkeypatch.setattr("sys.platform", "linux")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    folder = read_settings().folder
    assert (str(folder) if folder is not None else None) == expected


def test_what_the_environment_says_wrong_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is neither on nor off turns the cache off, a size that is none leaves the default: with a warning."""
    monkeypatch.setenv("METRALE_CACHE", "maybe")
    with pytest.warns(GpuWarning, match="METRALE_CACHE is 'maybe'; it is on or off"):
        put()
    assert not folder.exists()
    monkeypatch.setenv("METRALE_CACHE", "on")
    monkeypatch.setenv("METRALE_CACHE_MAX_MIB", "much")
    # It is used all the same: nothing is compiled anew, and nothing says so.
    with pytest.warns(GpuWarning, match="a whole number of MiB, and 512 was taken. METRALE_CACHE_DIR="):
        put()
    assert get() == b"code of one kernel"


def test_off_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With METRALE_CACHE=off the folder is neither made nor read."""
    put()
    monkeypatch.setenv("METRALE_CACHE", "off")
    assert get() is None
    put(KEYS[1])
    assert files(folder) == [f"cpu-{KEYS[0]}"]
