"""`doctor`: for each backend what was looked for, where, what was found, why it is not usable, and what would help."""

from __future__ import annotations

from .report import BackendReport, DoctorReport, SettingReport
from .run import doctor

__all__ = ["BackendReport", "DoctorReport", "SettingReport", "doctor"]
