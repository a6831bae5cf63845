"""What `doctor` tells, as values, as text and as JSON (docs/doctor.md has the fields)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..driver import DeviceListing
from ..drivers.diagnosis import BROKEN, FOUND, MISSING, NOTE, Observation

SCHEMA = 1
"""The number of the JSON document's form; a field that changes its meaning or goes makes it another."""

MARKS: Mapping[str, str] = {FOUND: "+", MISSING: "-", BROKEN: "!", NOTE: "·"}


@dataclass(frozen=True, slots=True)
class BackendReport:
    """One backend: its devices, or `reason` and, where one command would help, `remedy`; and all that was looked at."""

    name: str
    devices: tuple[DeviceListing, ...] = ()
    reason: str = ""
    remedy: str = ""
    observations: tuple[Observation, ...] = ()

    @property
    def is_usable(self) -> bool:
        return bool(self.devices)

    @property
    def verdict(self) -> str:
        """One line: "cpu: usable: …" or "cuda: not usable: …"."""
        if self.devices:
            return f"{self.name}: usable: " + ", ".join(
                f"{self.name}:{each.index} {each.name}" for each in self.devices
            )
        return f"{self.name}: not usable: {self.reason}"

    @property
    def advice(self) -> tuple[str, ...]:
        """The line that says what would make it usable; none where it is."""
        if self.devices:
            return ()
        return (f"  to use it: {self.remedy}" if self.remedy else "  no command would make it usable here",)


@dataclass(frozen=True, slots=True)
class SettingReport:
    """One METRALE_ variable: what it means, its value (None: not set), and what is wrong with that (empty: nothing)."""

    name: str
    meaning: str
    value: str | None = None
    problem: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name} is not set ({self.meaning})"
        said = f"not valid: {self.problem}" if self.problem else self.meaning
        return f"{self.name} is {self.value!r}: {said}"


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All of it. `str(report)` is the text that the command prints where there is no terminal."""

    versions: Mapping[str, str]
    backends: tuple[BackendReport, ...]
    settings: tuple[SettingReport, ...]
    general: tuple[Observation, ...] = ()

    def __getitem__(self, backend: str) -> BackendReport:
        """The report of one backend. Raises KeyError."""
        for each in self.backends:
            if each.name == backend:
                return each
        raise KeyError(backend)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        yield ", ".join(f"{name} {version}" for name, version in self.versions.items())
        for backend in self.backends:
            yield ""
            yield backend.verdict
            yield from backend.advice
            yield from (observation_line(each) for each in backend.observations)
        yield ""
        yield "launch core and cache"
        yield from (observation_line(each) for each in self.general)
        yield ""
        yield "settings"
        yield from (f"  {each}" for each in self.settings)

    def as_dict(self) -> dict[str, object]:
        """The JSON document."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "backends": [
                {
                    "backend": each.name,
                    "usable": each.is_usable,
                    "reason": each.reason or None,
                    "remedy": each.remedy or None,
                    "devices": [
                        {"index": device.index, "name": device.name, "details": dict(device.details)}
                        for device in each.devices
                    ],
                    "observations": [_as_dict(observation) for observation in each.observations],
                }
                for each in self.backends
            ],
            "general": [_as_dict(each) for each in self.general],
            "settings": [
                {"name": each.name, "meaning": each.meaning, "value": each.value, "problem": each.problem or None}
                for each in self.settings
            ],
        }


def _as_dict(observation: Observation) -> dict[str, object]:
    return {
        "what": observation.what,
        "state": observation.state,
        "detail": observation.detail,
        "where": list(observation.where),
    }


def observation_line(observation: Observation) -> str:
    """One observation as text: mark, what, detail, and the places that the detail does not name."""
    elsewhere = ", ".join(each for each in observation.where if each not in observation.detail)
    where = f"  [{elsewhere}]" if elsewhere else ""
    return f"  {MARKS.get(observation.state, '?')} {observation.what}: {observation.detail}{where}"
