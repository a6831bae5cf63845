"""The instructions, a file per family. Importing this package registers all of them."""

from . import (  # noqa: F401
    approximate,
    atomics,
    barrier,
    bits,
    compare,
    conversion,
    floating,
    half,
    integer,
    memory,
    moves,
    system,
    warp,
)
