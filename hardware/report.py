"""The report: what ran where, section by section, as one JSON document."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    *("metrale-gpu-runtime", "cuda-bindings", "cuda-core", "hip-python", "nvidia-cuda-nvrtc"),
    *("pyobjc-core", "pyobjc-framework-Metal", "pyopencl", "pocl-binary-distribution", "wgpu", "numpy", "llvmlite"),
)
FORMAT = 1


@dataclass(slots=True)
class Section:
    """One part of the proof. `passed` is None for what is only measured."""

    name: str
    passed: bool | None
    seconds: float
    facts: dict[str, Any]


@dataclass(slots=True)
class Report:
    """All sections of one run on one backend."""

    backend: str
    device: dict[str, Any] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True when something ran and nothing that can fail did."""
        judged = [section.passed for section in self.sections if section.passed is not None]
        return bool(self.sections) and all(judged)

    def run(self, name: str, part: Callable[[], tuple[bool | None, dict[str, Any]]]) -> Section:
        """Run one part and keep what it found; an exception is a failure that says what it was."""
        began = time.perf_counter()
        try:
            passed, facts = part()
        except Exception as error:
            passed, facts = False, {"error": f"{type(error).__name__}: {error}"}
        section = Section(name, passed, round(time.perf_counter() - began, 3), facts)
        self.sections.append(section)
        return section

    def to_json(self) -> str:
        """The document that is kept under docs/hardware."""
        return json.dumps(
            {
                "format": FORMAT,
                "passed": self.passed,
                "date": time.strftime("%Y-%m-%d"),
                "backend": self.backend,
                "device": self.device,
                "python": platform.python_version(),
                "platform": f"{sys.platform} {platform.machine()}",
                "packages": _versions(),
                "sections": [asdict(section) for section in self.sections],
            },
            indent=2,
        )

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_json() + "\n", encoding="utf-8")


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # an extra that this run did without
    return found
