"""`metrale-gpu devices`: what can be opened here, and why the rest cannot."""

from __future__ import annotations

import json as json_text

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..discovery import available_backends
from ..native import launch_core


def show_devices(as_json: bool, console: Console) -> None:
    """Print each backend with its devices or the reason."""
    states = available_backends()
    if as_json:
        print(
            json_text.dumps(
                [
                    {
                        "backend": state.name,
                        "usable": state.is_usable,
                        "reason": state.reason,
                        "devices": [
                            {"index": each.index, "name": each.name, **dict(each.details)} for each in state.devices
                        ],
                    }
                    for state in states.values()
                ],
                indent=2,
            )
        )
        return
    table = Table("backend", "device", "state")
    for state in states.values():
        if not state.devices:
            table.add_row(state.name, "–", Text.assemble(("not usable:", "yellow"), f" {state.reason}"))
        for each in state.devices:
            table.add_row(state.name, Text(f"{state.name}:{each.index}  {each.name}"), "[green]usable[/]")
    console.print(table)
    console.print(f"launch core: {launch_core}")
