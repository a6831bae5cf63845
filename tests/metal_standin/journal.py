"""What callers did: the messages sent, and each rule of Metal, PyObjC or Objective-C that one broke."""

from __future__ import annotations

from collections import Counter, deque


class ValidationAbort(RuntimeError):
    """Where Metal's API validation would end the process; here the message has no effect and the test goes on."""


class Journal:
    """The record of one process, emptied by `clear`."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self.messages: deque[tuple[str, str]] = deque(maxlen=200_000)
        self.sent: Counter[tuple[str, str]] = Counter()

    def clear(self) -> None:
        self.violations.clear()
        self.messages.clear()
        self.sent.clear()

    def note(self, text: str) -> None:
        """Enter a broken rule without refusing the message."""
        self.violations.append(text)

    def abort(self, text: str) -> ValidationAbort:
        """Enter a broken rule; the caller raises what this returns."""
        self.violations.append(text)
        return ValidationAbort(text)


journal = Journal()
