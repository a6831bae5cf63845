"""One piece of device memory: the ledger's entry (Block) and the token that everybody else holds (Allocation).

The token is what pointers, buffers, prepared launches and graphs refer to. When the last reference to it drops, the
block's memory can be given back; the block itself stays in the ledger until queued work is done with it.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING

from ..driver import MemoryKind
from ..native import AllocationState, BlockState, Uses, know_allocation, know_birth

if TYPE_CHECKING:
    from ..lane import Lane
    from ..trace.operations import QueuedOperation
    from .lazy import LazyMapping
    from .ledger import Ledger


class Block(BlockState):
    """What the ledger knows of one allocation.

    `base` is the address handed out (0 for no bytes), `driver_base` and `driver_nbytes` what the driver gave, red
    zones included. `uses` holds per stream number the last operation that names it, `last_use` the last of all.
    `gone` says how it ended ("freed at file:line"), "" while it lives. `born` is where in which stream's order it was
    allocated, None when it can be used everywhere. Of reserved addresses `nbytes` have memory behind them, by
    `mapping`; `reserved_nbytes` is 0 for memory that is all there.
    """

    __slots__ = (
        "__weakref__",
        "driver_base",
        "driver_nbytes",
        "fill",
        "has_pending_free",
        "index",
        "is_pooled",
        "kind",
        "label",
        "mapping",
        "owned",
        "reserved_nbytes",
        "site",
        "token",
        "twin",
        "void",
        "void_since",
    )

    def __init__(
        self,
        ledger: Ledger,
        *,
        base: int,
        nbytes: int,
        driver_base: int,
        driver_nbytes: int,
        kind: MemoryKind,
        label: str,
        site: str,
        index: int,
        owned: bool,
        reserved_nbytes: int = 0,
    ) -> None:
        self.ledger = ledger
        self.base, self.nbytes = base, nbytes
        self.driver_base, self.driver_nbytes = driver_base, driver_nbytes
        self.kind, self.label, self.site, self.index, self.owned = kind, label, site, index, owned
        self.uses: dict[int, QueuedOperation] = Uses()
        self.last_use: QueuedOperation | None = None
        self.fill: int | None = None
        self.gone = ""
        self.born: Birth | None = None
        # From the device's pool, in a stream's order; it can go back in a stream's order too.
        self.is_pooled = False
        self.mapping: LazyMapping | None = None
        self.reserved_nbytes = reserved_nbytes
        # Dead for everybody who holds a pointer, but not yet given back: queued work still uses it.
        self.has_pending_free = False
        # Why its contents are not what queued work should have written, and the operation that left them so.
        self.void = ""
        self.void_since: QueuedOperation | None = None
        # Pinned memory has a second block for its address on the device; both go together.
        self.twin: Block | None = None
        self.token: weakref.ref[Allocation] | Allocation | None = None

    @property
    def allocation(self) -> Allocation | None:
        """The token, or None when nobody holds it any more."""
        return self.token() if isinstance(self.token, weakref.ref) else self.token

    @property
    def name(self) -> str:
        """What a message calls it."""
        return repr(self.label) if self.label else f"allocation {self.index}"

    @property
    def span_nbytes(self) -> int:
        """The bytes of its addresses: more than there is memory behind where they were reserved for later."""
        return self.reserved_nbytes or self.nbytes

    def __str__(self) -> str:
        where = f" at {self.base:#x}" if self.base else ""
        size = f"{self.nbytes} bytes"
        if self.reserved_nbytes:
            size += f" mapped of {self.reserved_nbytes} reserved"
        return f"{self.name} ({size}{where}, made at {self.site})"


@know_birth
class Birth:
    """Where a block was allocated in the order of one stream; other streams wait for it before they use it."""

    __slots__ = ("lane", "ordered", "sequence")

    def __init__(self, lane: Lane, sequence: int) -> None:
        self.lane, self.sequence = lane, sequence
        # The streams that were told to wait.
        self.ordered: set[Lane] = set()


@know_allocation
class Allocation(AllocationState):
    """The hold on one allocation. While any reference to it lives, so does the memory, unless freed explicitly."""

    __slots__ = ("__weakref__", "_dropped")

    def __init__(self, block: Block, dropped: deque[Block]) -> None:
        self.block = block
        self._dropped = dropped

    @property
    def base(self) -> int:
        """The address of its first byte; 0 when it has none."""
        return self.block.base

    @property
    def nbytes(self) -> int:
        return self.block.nbytes

    @property
    def label(self) -> str:
        return self.block.label

    @property
    def site(self) -> str:
        """File and line that made it."""
        return self.block.site

    @property
    def is_live(self) -> bool:
        """False once it was freed."""
        return not self.block.gone

    def __repr__(self) -> str:
        return f"<Allocation {self.block}{f', {self.block.gone}' if self.block.gone else ''}>"

    def __del__(self) -> None:
        # Any thread, any moment, a driver call of this very thread included: so it is only noted here, without a
        # lock, and done by the next call that may do it.
        self._dropped.append(self.block)
