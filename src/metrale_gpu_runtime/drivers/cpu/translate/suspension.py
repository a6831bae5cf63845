"""Points at which a thread leaves the function to wait, and what it keeps in its frame meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import abi
from .places import aligned
from .scalar import WIDTHS

if TYPE_CHECKING:
    from .emitter import Emitter

_FRAME_ALIGN = 64


class Suspension:
    """The kernel's resume points. A register has one place in the frame for the whole kernel."""

    def __init__(self, frame_start: int) -> None:
        self.frame_end = frame_start
        self.resume_labels: list[str] = []
        self.preserved: Sequence[str] = ()
        self._offsets: dict[str, int] = {}

    @property
    def frame_nbytes(self) -> int:
        return aligned(self.frame_end, _FRAME_ALIGN)

    def _place(self, e: Emitter, register: str, llvm: str) -> str:
        offset = self._offsets.get(register)
        if offset is None:
            nbytes = max(1, WIDTHS[llvm] // 8)
            offset = self._offsets[register] = aligned(self.frame_end, nbytes)
            self.frame_end = offset + nbytes
        return e.places.offset_pointer(e, e.places.frame(e), offset)

    def wait(self, e: Emitter, code: int) -> None:
        """Leave with `code`; go on here when called again. Registers that are live keep their values."""
        kept = [(name, e.register_types[name]) for name in self.preserved]
        for name, llvm in kept:
            value, stored = e.register(name, llvm), llvm
            if llvm == "i1":
                value, stored = e.op(f"zext i1 {value} to i8"), "i8"
            e.do(f"store {stored} {value}, ptr {self._place(e, name, llvm)}, align {max(1, WIDTHS[stored] // 8)}")
        number = len(self.resume_labels) + 1
        self.store_field(e, abi.Thread.resume.offset, str(number))
        e.do(f"ret i32 {code}")
        label = f"resume{number}"
        self.resume_labels.append(label)
        e.begin(label)
        e.forget()
        for name, llvm in kept:
            stored = "i8" if llvm == "i1" else llvm
            value = e.op(f"load {stored}, ptr {self._place(e, name, llvm)}, align {max(1, WIDTHS[stored] // 8)}")
            if llvm == "i1":
                value = e.op(f"trunc i8 {value} to i1")
            e.set_register(name, value, llvm)

    def wait_sometimes(self, e: Emitter, condition: str, code: int) -> None:
        """Leave with `code` if `condition` holds (an i1); go on here in both cases."""
        e.flush(self.preserved)
        leave, stay = e.new_label("leave"), e.new_label("stay")
        e.do(f"br i1 {condition}, label %{leave}, label %{stay}")
        e.begin(leave)
        self.wait(e, code)
        e.flush(self.preserved)
        e.do(f"br label %{stay}")
        e.begin(stay)

    def store_field(self, e: Emitter, offset: int, value: str, llvm: str = "i32") -> None:
        """Write a field of Thread."""
        pointer = "%thread" if offset == 0 else e.op(f"getelementptr i8, ptr %thread, i64 {offset}")
        e.do(f"store {llvm} {value}, ptr {pointer}, align {WIDTHS[llvm] // 8}")

    def load_field(self, e: Emitter, offset: int, llvm: str = "i32") -> str:
        """Read a field of Thread, after waiting."""
        pointer = "%thread" if offset == 0 else e.op(f"getelementptr i8, ptr %thread, i64 {offset}")
        return e.op(f"load {llvm}, ptr {pointer}, align {WIDTHS[llvm] // 8}")
