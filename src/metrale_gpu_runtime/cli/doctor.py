"""`metrale-gpu doctor`: the report of `mg.doctor()`, coloured in a terminal, plain elsewhere, or as JSON."""

from __future__ import annotations

import json as json_text

import typer
from rich.console import Console

from ..checkup import BackendReport, DoctorReport, doctor
from ..checkup.report import observation_line
from ..drivers.diagnosis import BROKEN, FOUND, MISSING, Observation
from .plain import print_plain

_STYLES = {FOUND: "green", MISSING: "yellow", BROKEN: "red"}


def show_report(as_json: bool, required: tuple[str, ...], console: Console) -> None:
    """Print it. Exits with 1 where a required backend is not usable, else with 0."""
    report = doctor()
    if as_json:
        print(json_text.dumps(report.as_dict(), indent=2, default=str))
    elif console.is_terminal:
        _show(report, console)
    else:
        print(report)
    if not all(report[name].is_usable for name in required):
        raise typer.Exit(1)


def _show(report: DoctorReport, console: Console) -> None:
    for backend in report.backends:
        _show_backend(backend, console)
    print_plain(console, "launch core and cache", "bold")
    for observation in report.general:
        _show_observation(observation, console)
    print_plain(console, "\nsettings", "bold")
    for setting in report.settings:
        print_plain(console, f"  {setting}", "red" if setting.problem else None)
    print_plain(console, "")
    print_plain(console, ", ".join(f"{name} {version}" for name, version in report.versions.items()), "dim")


def _show_backend(backend: BackendReport, console: Console) -> None:
    print_plain(console, backend.verdict, "bold green" if backend.is_usable else "bold yellow")
    for line in backend.advice:
        print_plain(console, line, "bold")
    for observation in backend.observations:
        _show_observation(observation, console)
    print_plain(console, "")


def _show_observation(observation: Observation, console: Console) -> None:
    print_plain(console, observation_line(observation), _STYLES.get(observation.state))
