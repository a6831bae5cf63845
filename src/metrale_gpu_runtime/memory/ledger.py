"""The allocation ledger: what is alive, how large, who made it, and which launch used it last."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..driver import MemoryKind
from ..ranges import RangeMap
from .allocation import Allocation, Block

if TYPE_CHECKING:
    from ..books import BackendBooks

_REMEMBERED_GRAVES = 256

# Farther than this from every allocation, an address is explained by none of them.
_NEAR_NBYTES = 1 << 20


class Ledger:
    """Every allocation of one backend, from the moment the driver gave it until it took it back.

    Recorded bytes leave red zones out. Blocks whose last reference was dropped stay until queued work is done with
    them. Safe to use from several threads.
    """

    def __init__(self, backend: str, device: str) -> None:
        self.backend, self.device = backend, device
        # The backend whose memory this is, for those that share it.
        self.keeper: weakref.ref[BackendBooks] | None = None
        self.dropped: deque[Block] = deque()
        """Blocks whose token went away since the last settling; filled by finalisers, without a lock."""
        # Entered again by a finaliser of the caller's that runs in the middle and frees something.
        self._lock = threading.RLock()
        self._live: dict[int, Block] = {}
        self._ranges: RangeMap[Block] = RangeMap()
        self._graves: deque[Block] = deque(maxlen=_REMEMBERED_GRAVES)
        self._next_index = 0

    def next_index(self) -> int:
        """The creation number of the next allocation, from 0."""
        with self._lock:
            index = self._next_index
            self._next_index += 1
            return index

    def enter(
        self,
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
        is_counted: bool = True,
        reserved_nbytes: int = 0,
    ) -> Allocation:
        """Enter an allocation. `owned`: it is given back when the last reference drops, else only by `free`.

        A module's variable is not counted: it belongs to the module, but its addresses are known. Of
        `reserved_nbytes` of addresses `nbytes` have memory behind them.
        """
        block = Block(
            self,
            base=base,
            nbytes=nbytes,
            driver_base=driver_base,
            driver_nbytes=driver_nbytes,
            kind=kind,
            label=label,
            site=site,
            index=index,
            owned=owned,
            reserved_nbytes=reserved_nbytes,
        )
        token = Allocation(block, self.dropped)
        block.token = weakref.ref(token) if owned else token
        with self._lock:
            if base:
                self._ranges.insert(base, block.span_nbytes, block)
            if is_counted:
                self._live[index] = block
        return token

    def remove(self, block: Block, how: str) -> bool:
        """Take a block off the books; `how` is what a later use of it is told. False when it is off them already."""
        with self._lock:
            if block.gone and not block.has_pending_free:
                return False
            self._live.pop(block.index, None)
            if block.base:
                self._ranges.remove(block.base)
                self._graves.append(block)
            block.gone = block.gone or how
            block.has_pending_free = False
            block.token = None
            return True

    def retire(self, block: Block, how: str) -> bool:
        """Let its pointers be dead from now on; it stays on the books until it is removed. False when they are dead."""
        with self._lock:
            if not self.mark(block, how):
                return False
            block.token = None
            return True

    def mark(self, block: Block, how: str) -> bool:
        """Refuse new uses of a block that is about to be removed, if nothing uses it. False when it is gone already."""
        with self._lock:
            if block.gone:
                return False
            block.gone, block.has_pending_free = how, True
            return True

    def unmark(self, block: Block) -> None:
        """Let a marked block live on."""
        with self._lock:
            block.gone, block.has_pending_free = "", False

    def find(self, address: int, nbytes: int = 1) -> Block | None:
        """The live block that holds these bytes; none at all (0) may also lie at its end."""
        with self._lock:
            return self._ranges.find(address, nbytes)

    def grave_of(self, address: int) -> Block | None:
        """The freed block that last held the address, as far as it is remembered."""
        with self._lock:
            for block in reversed(self._graves):
                if block.base <= address < block.base + max(block.span_nbytes, 1):
                    return block
        return None

    def describe(self, address: int) -> str:
        """Where an address lies, or what it lies next to; "" when nothing is alive."""
        block = self.find(address)
        if block is not None:
            return f"{address - block.base} bytes into {block}{f', {block.gone}' if block.gone else ''}"
        grave = self.grave_of(address)
        if grave is not None:
            return f"{address - grave.base} bytes into {grave}, {grave.gone}"
        with self._lock:
            nearest = self._ranges.nearest(address)
        if nearest is None:
            return ""
        closest, distance = nearest
        if abs(distance) > _NEAR_NBYTES:
            return f"far from any allocation; the nearest is {closest}"
        if distance < 0:
            return f"{-distance} bytes before {closest}"
        return f"{distance - 1} bytes past the end of {closest}"

    def blocks(self) -> list[Block]:
        """All entries, in the order of their creation."""
        with self._lock:
            return list(self._live.values())

    @property
    def nbytes(self) -> int:
        return sum(block.nbytes for block in self.blocks())

    @property
    def count(self) -> int:
        return len(self._live)


def report(blocks: Iterable[Block], top: int, min_nbytes: int) -> str:
    """The ledger as text: the total, the largest call sites, the rest in one line, the sum per file."""
    sites: dict[str, list[Block]] = {}
    for block in blocks:
        sites.setdefault(block.site, []).append(block)
    totals = sorted(
        ((sum(block.nbytes for block in each), len(each), site) for site, each in sites.items()),
        key=lambda row: (-row[0], row[2]),
    )
    nbytes, count = sum(row[0] for row in totals), sum(row[1] for row in totals)
    lines = [f"{nbytes} bytes in {count} live allocation{'' if count == 1 else 's'}"]
    shown = [row for row in totals[:top] if row[0] >= min_nbytes]
    for site_nbytes, site_count, site in shown:
        lines.append(f"  {site_nbytes:>14} bytes  {site_count:>6} x  {site}")
        for block in sorted(sites[site], key=lambda block: -block.nbytes)[:3]:
            used = f", last used by {block.last_use}" if block.last_use is not None else ", not used yet"
            lines.append(f"                         {block.name}: {block.nbytes} bytes{used}")
    rest = totals[len(shown) :]
    if rest:
        lines.append(
            f"  {sum(row[0] for row in rest):>14} bytes  {sum(row[1] for row in rest):>6} x  at {len(rest)} more"
        )
    files: dict[str, int] = {}
    for site_nbytes, _, site in totals:
        file = os.path.basename(site.rpartition(":")[0] or site)
        files[file] = files.get(file, 0) + site_nbytes
    for file, file_nbytes in sorted(files.items(), key=lambda row: (-row[1], row[0])):
        lines.append(f"  {file_nbytes:>14} bytes  in {file}")
    return "\n".join(lines)
