"""Parts of a kernel that only some threads of a block run, but which are still run for the whole block at once, each
step for the threads of a mask. A region that is not worth it, or not of these shapes, stays ordinary control flow
inside of the loop over the threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ....ptx.control_flow import BasicBlock


@dataclass(eq=False, slots=True)
class Mask:
    """The threads that run `blocks`.

    "if": those that left the block `branch` to `entry`; when all are done, those of the `other` side run, if this is
    the first of two; then all go on at `join`. "loop": those that have not left the loop with header `entry` yet;
    `exits` are the blocks at whose end threads leave it one by one, to `join`.
    """

    number: int
    kind: str
    blocks: frozenset[int]
    entry: int
    join: int
    branch: int = -1
    exits: frozenset[int] = frozenset()
    other: Mask | None = None
    parent: Mask | None = None
    is_second: bool = False

    def chain(self) -> list[Mask]:
        """This mask and those around it, the innermost first."""
        found = [self]
        while found[-1].parent is not None:
            found.append(found[-1].parent)
        return found


class MaskFinder:
    """Decides which regions of divergent branches get masks. `worth` are the blocks that make a region worth one (they
    loop, or wait for other threads), `closed` those that no region with a mask may hold."""

    def __init__(self, blocks: tuple[BasicBlock, ...], reachable: set[int], worth: set[int], closed: set[int]) -> None:
        self.blocks, self.reachable, self.worth, self.closed = blocks, reachable, worth, closed
        self.count = 0

    def find(self, regions: dict[int, tuple[frozenset[int], int | None]]) -> tuple[list[Mask], set[int]]:
        """The masks for these regions (by the block of the branch: its blocks and join), and the blocks of the regions
        that get none."""
        plain: list[frozenset[int]] = []
        groups: list[tuple[frozenset[int], list[Mask]]] = []
        loops: dict[frozenset[int], list[int]] = {}
        for branch, (region, join) in regions.items():
            if branch in region:
                loops.setdefault(region, []).append(branch)
                continue
            masks = self._sides(branch, region, join)
            if masks:
                groups.append((region, masks))
            else:
                plain.append(region)
        for region, branches in loops.items():
            joins = {regions[branch][1] for branch in branches}
            mask = self._loop(region, branches, joins.pop()) if len(joins) == 1 else None
            if mask is not None:
                groups.append((region, [mask]))
            else:
                plain.append(region)
        self._drop_conflicts(groups, plain)
        masks = [mask for _, members in groups for mask in members]
        self._nest(masks)
        return masks, set().union(*plain) if plain else set()

    # ------------------------------------------------------------ shapes

    def _new(self, kind: str, blocks: frozenset[int], entry: int, join: int) -> Mask:
        self.count += 1
        return Mask(self.count, kind, blocks, entry, join)

    def _leaves_only_to(self, blocks: frozenset[int], join: int) -> bool:
        return all(s in blocks or s == join for index in blocks for s in self.blocks[index].successors)

    def _is_entered_only(self, blocks: frozenset[int], entry: int, sources: Iterable[int]) -> bool:
        """Whether `entry` is the one way in, from `sources`."""
        allowed = set(sources)
        for index in blocks:
            outside = {p for p in self.blocks[index].predecessors if p in self.reachable and p not in blocks}
            if outside and (index != entry or not outside <= allowed):
                return False
        return True

    def _sides(self, branch: int, region: frozenset[int], join: int | None) -> list[Mask]:
        if join is None or region & self.closed or not region & self.worth:
            return []
        masks: list[Mask] = []
        for successor in self.blocks[branch].successors:
            if successor == join:
                continue
            side = self._reached(successor, join)
            if not self._leaves_only_to(side, join) or not self._is_entered_only(side, successor, [branch]):
                return []
            mask = self._new("if", side, successor, join)
            mask.branch = branch
            masks.append(mask)
        if len(masks) == 2:
            if masks[0].blocks & masks[1].blocks:
                return []
            masks[0].other, masks[1].is_second = masks[1], True
        return masks

    def _reached(self, start: int, stop: int) -> frozenset[int]:
        seen: set[int] = set()
        pending = [start]
        while pending:
            index = pending.pop()
            if index not in seen and index != stop:
                seen.add(index)
                pending.extend(self.blocks[index].successors)
        return frozenset(seen)

    def _loop(self, region: frozenset[int], branches: list[int], join: int | None) -> Mask | None:
        if join is None or region & self.closed:
            return None
        headers = [
            index
            for index in region
            if any(p in self.reachable and p not in region for p in self.blocks[index].predecessors)
        ]
        if len(headers) != 1 or not self._leaves_only_to(region, join):
            return None
        # Threads leave one by one only at branches with one way out.
        for branch in branches:
            if join not in self.blocks[branch].successors or len(self.blocks[branch].successors) != 2:
                return None
        mask = self._new("loop", region, headers[0], join)
        mask.exits = frozenset(branches)
        return mask

    # ------------------------------------------------------------ nesting

    @staticmethod
    def _drop_conflicts(groups: list[tuple[frozenset[int], list[Mask]]], plain: list[frozenset[int]]) -> None:
        """What lies in a region without masks, or crosses another one, gets none either."""
        changed = True
        while changed:
            changed = False
            for group in list(groups):
                region, masks = group
                in_plain = any(region & other and not other < region for other in plain)
                crossing = any(
                    mask.blocks & other.blocks and not mask.blocks <= other.blocks and not other.blocks <= mask.blocks
                    for mask in masks
                    for _, others in groups
                    for other in others
                )
                branch_in_plain = any(mask.branch in other for mask in masks for other in plain)
                if in_plain or crossing or branch_in_plain:
                    groups.remove(group)
                    plain.append(region)
                    changed = True

    @staticmethod
    def _nest(masks: list[Mask]) -> None:
        # A branch around nothing but a loop has the same blocks as the loop's mask and is the outer one.
        def size(mask: Mask) -> tuple[int, int]:
            return len(mask.blocks), int(mask.kind == "if")

        for mask in masks:
            around = [
                other
                for other in masks
                if other is not mask and mask.blocks <= other.blocks and size(other) > size(mask)
            ]
            mask.parent = min(around, key=size, default=None)


def innermost(masks: list[Mask], block_count: int) -> list[Mask | None]:
    """For each block the innermost mask that holds it."""
    found: list[Mask | None] = [None] * block_count

    def depth(mask: Mask) -> int:
        return len(mask.chain())

    for mask in sorted(masks, key=depth):
        for index in mask.blocks:
            found[index] = mask
    return found
