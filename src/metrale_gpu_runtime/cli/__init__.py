"""metrale-gpu: data in, text or JSON out; computes nothing. typer and rich are imported when it runs."""

from __future__ import annotations


def main() -> None:
    """Run the command line. Errors of this package end with exit code 1 and their message on standard error."""
    from .app import run

    run()
