"""Keys: one digest of everything that goes into a compilation."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from .headers import HeadersUnknown, Name, folders_of, user_headers

FORMAT = "1"
"""Of keys and of what is kept under them. What was kept in another format is never found, and goes in time."""

# Options that compilers take besides those they are given, by the kind that is compiled. Sources: PoCL's env_variables,
# the flags of AMD's OpenCL runtime, HIP's environment variables.
_OPTION_VARIABLES = {
    "opencl": (
        "POCL_EXTRA_BUILD_FLAGS",
        "AMD_OCL_BUILD_OPTIONS",
        "AMD_OCL_BUILD_OPTIONS_APPEND",
        "AMD_OCL_LINK_OPTIONS",
        "AMD_OCL_LINK_OPTIONS_APPEND",
    ),
    "driver": ("HIPRTC_COMPILE_OPTIONS_APPEND",),
    "link": ("HIPRTC_LINK_OPTIONS_APPEND",),
}


def takes_other_options(kind: str) -> bool:
    """Whether a compiler of this kind is given options by the environment: then nobody here knows what they read."""
    return any(name in os.environ for name in _OPTION_VARIABLES.get(kind, ()))


@dataclass(frozen=True, slots=True)
class CompilationKey:
    """The key of one compilation of C-like text, None when it must not be remembered; and the headers it names that are
    none of the user's."""

    key: str | None
    elsewhere: tuple[Name, ...] = ()


def key_of(kind: str, parts: Sequence[str | bytes]) -> str:
    """The key of parts of one kind: 64 hexadecimal digits. Each part counts, and where it ends."""
    digest = hashlib.sha256()
    for part in (FORMAT, kind, *parts):
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def key_of_source(
    kind: str,
    parts: Sequence[str | bytes],
    source: str,
    options: Sequence[str],
    folders: Sequence[str | os.PathLike[str]],
) -> CompilationKey:
    """The key of a compilation whose text, with these options and folders for headers, is among what it depends on."""
    if takes_other_options(kind):
        return CompilationKey(None)
    try:
        headers = user_headers(source, folders_of(options, folders))
    except (HeadersUnknown, OSError):  # an unreadable header: the compiler is to say so
        return CompilationKey(None)
    places = [os.fspath(folder) for folder in folders]
    # Relative folders are the working folder's, and line information holds whole paths.
    places += [] if all(map(os.path.isabs, places)) else [os.getcwd()]
    read = [f"{path}={digest}" for path, digest in sorted(headers.digests.items())]
    key = key_of(kind, [*parts, source, repr(list(options)), repr(places), *read])
    return CompilationKey(key, tuple(headers.elsewhere))


def compile_key(
    source: str,
    *,
    name: str,
    options: Sequence[str],
    names: Sequence[str],
    architecture: str,
    debug: bool,
    include_paths: Sequence[str | os.PathLike[str]],
    compiler: str,
    with_cubin: bool = False,
    kind: str = "source",
) -> str | None:
    """The key of one compilation; None when it must not be remembered. `compiler` names it with its version, and the
    device where it compiles for one."""
    parts = [name, repr(list(names)), architecture, str(debug), str(with_cubin), compiler]
    return key_of_source(kind, parts, source, options, include_paths).key
