"""The driver's own compiler for PTX: where it writes its log, and the options that it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ...cuda_images import best_entry, read_fatbin
from ...driver import CodeImage
from ...errors import ModuleLoadError

_OPTIONS: tuple[tuple[str, str, Callable[[str], int]], ...] = (
    (r"-{1,2}maxrregcount[= ](\d+)", "CU_JIT_MAX_REGISTERS", int),
    (r"(?:-O|--opt-level[= ])([0-4])", "CU_JIT_OPTIMIZATION_LEVEL", int),
    (r"-lineinfo()|--generate-line-info()", "CU_JIT_GENERATE_LINE_INFO", lambda _: 1),
    (r"-g()|--device-debug()", "CU_JIT_GENERATE_DEBUG_INFO", lambda _: 1),
    (r"(?:-v|--verbose)()", "CU_JIT_LOG_VERBOSE", lambda _: 1),
)


def load_options(driver: Any, options: Sequence[str], log_nbytes: int) -> tuple[list[Any], list[Any], bytes, bytes]:
    """(names, values, information log, error log) for cuModuleLoadDataEx. The driver writes into the two logs.

    Options are spelled as ptxas spells them; `check_options` has seen them.
    """
    known = driver.CUjit_option
    # The bindings take bytes for a log and let the driver write into them. They are this call's alone.
    info, errors = bytes(log_nbytes), bytes(log_nbytes)
    names = [
        known.CU_JIT_INFO_LOG_BUFFER,
        known.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        known.CU_JIT_ERROR_LOG_BUFFER,
        known.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ]
    values: list[Any] = [info, log_nbytes, errors, log_nbytes]
    for option in options:
        for pattern, name, read in _OPTIONS:
            found = re.fullmatch(pattern, option.strip())
            if found:
                names.append(getattr(known, name))
                values.append(read(found[1] or ""))
                break
        else:
            raise AssertionError(f"{option!r} has not been refused")
    return names, values, info, errors


def check_options(image: CodeImage, capability: tuple[int, int]) -> None:
    """Raise ModuleLoadError for options that the driver would not hand to its compiler, or that this has not."""
    if not image.options:
        return
    if image.format == "fatbin":
        chosen = best_entry(read_fatbin(image.data, image.name), capability)
        if chosen is not None and chosen.kind != "ptx":
            raise ModuleLoadError(
                f"module {image.name!r}: options {' '.join(image.options)} were given for a fatbin of which the driver "
                f"takes the {chosen}; that is compiled already and takes none",
                module=image.name,
            )
    for option in image.options:
        if not any(re.fullmatch(pattern, option.strip()) for pattern, _, _ in _OPTIONS):
            raise ModuleLoadError(
                f"module {image.name!r}: the driver's PTX compiler has no option {option!r}; it takes -maxrregcount=N, "
                "-O0 to -O4, -lineinfo, -g and -v",
                module=image.name,
            )


def read_log(log: bytes) -> str:
    """What was written into a log."""
    return log.split(b"\0", 1)[0].decode(errors="replace").strip()
