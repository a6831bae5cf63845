"""One entry as a file: a head that names its key and its contents' checksum, then the contents.

Only a regular file of the user's own, or of the system's, that nobody else may write is read: what is kept is run.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat

_MAGIC = b"metrale kept code 1\n"
_DIGEST_NBYTES = 32
_HEAD_NBYTES = len(_MAGIC) + 2 * _DIGEST_NBYTES
_NAME = re.compile(r"(?P<kind>[a-z]{1,32})-(?P<key>[0-9a-f]{64})")

# Not there on every system; without them a named pipe or a link is found by what the open file is.
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Damaged(Exception):
    """A file under an entry's name that is not what was kept there. The message says in what way."""


def file_name(kind: str, key: str) -> str:
    """The name of an entry's file."""
    return f"{kind}-{key}"


def kind_of(name: str) -> str | None:
    """The kind of the entry that a file of this name is, None for a name that is no entry's."""
    match = _NAME.fullmatch(name)
    return match["kind"] if match is not None else None


def written(name: str, data: bytes) -> bytes:
    """The file's contents for an entry. The checksum is of name and contents, so that no entry passes for another."""
    identity = hashlib.sha256(name.encode()).digest()
    return b"".join((_MAGIC, identity, hashlib.sha256(identity + data).digest(), data))


def read_file(path: str, name: str, max_nbytes: int) -> bytes:
    """The contents of an entry. Raises FileNotFoundError, Damaged, and OSError for what cannot be read."""
    try:
        file = os.open(path, _OPEN_FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):  # EMLINK is FreeBSD's word for a link with O_NOFOLLOW
            raise Damaged("a symbolic link") from None
        if error.errno == errno.ENXIO:
            raise Damaged("no regular file") from None
        raise
    try:
        state = os.fstat(file)
        refused = not_trusted(state)
        if not stat.S_ISREG(state.st_mode):
            raise Damaged("no regular file")
        if refused is not None:
            raise Damaged(refused)
        if state.st_size > max_nbytes + _HEAD_NBYTES:
            raise Damaged("larger than all entries may be")
        with os.fdopen(file, "rb", closefd=False) as contents:
            data = contents.read()
    finally:
        os.close(file)
    if len(data) < _HEAD_NBYTES or not data.startswith(_MAGIC):
        raise Damaged("cut short, or of another program")
    identity = data[len(_MAGIC) : len(_MAGIC) + _DIGEST_NBYTES]
    checksum, rest = data[len(_MAGIC) + _DIGEST_NBYTES : _HEAD_NBYTES], data[_HEAD_NBYTES:]
    if identity != hashlib.sha256(name.encode()).digest():
        raise Damaged("another entry's contents")
    if checksum != hashlib.sha256(identity + rest).digest():
        raise Damaged("its checksum does not fit")
    return rest


def not_trusted(state: os.stat_result) -> str | None:
    """Why a file or folder may hold what somebody else put there; None where only its owner writes, who is the user or
    the system. Windows has no such bits: there a user's folder is the user's."""
    if not hasattr(os, "geteuid"):
        return None
    if state.st_uid not in (os.geteuid(), 0):
        return f"it belongs to the user with the number {state.st_uid}, and this process runs as {os.geteuid()}"
    if state.st_mode & _OTHERS_WRITE:
        return f"others may write to it (its mode is {stat.S_IMODE(state.st_mode):04o})"
    return None


def is_owned(state: os.stat_result) -> bool:
    """Whether a file or folder is this user's own, so that its mode can be changed."""
    return not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
