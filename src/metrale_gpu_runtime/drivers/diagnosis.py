"""What was looked for and found of one backend, and the one command that would make it usable. Values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FOUND, MISSING, BROKEN, NOTE = "found", "missing", "broken", "note"
"""An observation's states: it is there and works; it is not there; it is there and does not work; good to know."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that was looked for: `where` are places, variables or calls, `detail` what was found or is wrong."""

    what: str
    state: str
    detail: str = ""
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A backend as it is here. `reason` says why it cannot be used and is empty where nothing speaks against it.

    `remedy` is one command, or empty where none would help. `although_listed`: the reason counts also where the backend
    lists devices.
    """

    observations: tuple[Observation, ...] = ()
    reason: str = ""
    remedy: str = ""
    although_listed: bool = False

    @property
    def in_one_line(self) -> str:
        """The reason for an error: the advice stands behind the first semicolon."""
        reason = self.reason.replace(";", ",")
        advice = f"{self.remedy} (`metrale-gpu doctor` tells more)" if self.remedy else "see `metrale-gpu doctor`"
        return f"{reason}; {advice}"


def variables(environment: Mapping[str, str], names: Sequence[str]) -> list[Observation]:
    """The environment variables that were read: those that are set, then in one line those that are not."""
    seen = [
        Observation(
            "variable", NOTE, f"{name}={environment[name]}" if environment[name] else f"{name} is set, and empty"
        )
        for name in names
        if name in environment
    ]
    unset = [name for name in names if name not in environment]
    return [*seen, Observation("variables", NOTE, f"not set: {', '.join(unset)}")] if unset else seen
