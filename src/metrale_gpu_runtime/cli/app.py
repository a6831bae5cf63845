"""The commands of metrale-gpu and what their options mean."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..errors import GpuError

app = typer.Typer(
    name="metrale-gpu",
    help="Launch, check and look at GPU kernels from the command line.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _backend(spec: str) -> str:
    from ..discovery import BackendSpec, factory

    try:
        read = BackendSpec.read(spec)
        if read.words:
            factory(read.name).index_of(read.words)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return spec


def _required(names: list[str] | None) -> list[str] | None:
    from ..discovery import known_names

    unknown = [name for name in names or () if name not in known_names()]
    if unknown:
        raise typer.BadParameter(f"no backend is called {unknown[0]!r}; there are {', '.join(known_names())}")
    return names


BackendOption = Annotated[
    str,
    typer.Option(
        "--backend", "-b", callback=_backend, help='"cpu", "cuda:1", "mock", …; "auto" is the best device here.'
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        from importlib.metadata import version as installed

        print(installed("metrale-gpu-runtime"))
        raise typer.Exit


@app.command()
def demo(backend: BackendOption = "cpu") -> None:
    """Ten seconds, offline: a kernel runs, a wrong launch is refused, an overrun is caught."""
    from .demo import run_demo

    run_demo(backend, Console())


@app.command()
def devices(json: JsonOption = False) -> None:
    """Each backend with its devices, or the reason why it cannot be used here."""
    from .devices import show_devices

    show_devices(json, Console())


@app.command()
def doctor(
    json: JsonOption = False,
    require: Annotated[
        list[str] | None,
        typer.Option("--require", callback=_required, help="Exit with 1 unless it is usable; may be repeated."),
    ] = None,
) -> None:
    """For each backend what was looked for, where, what was found, and the one command that would make it usable."""
    from .doctor import show_report

    show_report(json, tuple(require or ()), Console())


@app.command()
def cache(
    action: Annotated[str, typer.Argument(help='"show", or "clear" to remove every entry.')] = "show",
    json: JsonOption = False,
) -> None:
    """Where compiled code is kept between processes, how much there is; or clear it."""
    from .cache import clear_cache, show_cache

    if action not in ("show", "clear"):
        raise typer.BadParameter(f"{action!r} is neither show nor clear")
    (clear_cache if action == "clear" else show_cache)(json, Console())


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="Code: .ptx, .cu, .cubin, .fatbin, .metal, …")],
    backend: BackendOption = "cpu",
    json: JsonOption = False,
    option: Annotated[list[str] | None, typer.Option("--option", help="A compiler option; may be repeated.")] = None,
) -> None:
    """The kernels of a file with signatures, shared memory and limits."""
    from .inspect import inspect_file

    inspect_file(file, backend, tuple(option or ()), json, Console())


@app.command(context_settings={"ignore_unknown_options": True})
def launch(
    file: Annotated[Path, typer.Argument(help="Code that the backend takes: .ptx, .cu, .metal, …")],
    kernel: Annotated[str, typer.Argument(help="The kernel's name.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="In order: in:x.npy, inout:y.npy, out:z.npy:f32:1000 (a new zeroed array), raw files with "
            "a type (in:x.bin:f32), u32:1000, f32:2.0, bool:true, bytes:00ff, null, or a bare number."
        ),
    ] = None,
    grid: Annotated[str, typer.Option("--grid", "-g", help="Blocks: 4 or 4,2,1.")] = "1",
    block: Annotated[str, typer.Option("--block", help="Threads per block: 256 or 16,16.")] = "1",
    shared_mem: Annotated[int, typer.Option("--shared-mem", help="Dynamic shared memory in bytes.")] = 0,
    signature: Annotated[str | None, typer.Option("--signature", help='"const float* x, int n"')] = None,
    constant: Annotated[
        list[str] | None,
        typer.Option("--constant", help="A function constant of Metal: WIDTH=64; may be repeated."),
    ] = None,
    backend: BackendOption = "auto",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for inout results; else NAME.out.npy beside the input.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Launch one kernel on arrays and numbers, and write what it changed."""
    from .launch import LaunchRequest, launch_file

    given, constants = tuple(arguments or ()), tuple(constant or ())
    request = LaunchRequest(file, kernel, given, grid, block, shared_mem, signature, backend, out, constants)
    launch_file(request, json, Console())


def run() -> None:
    """The entry point: errors and warnings of this package are messages, not tracebacks; an error's exit code is 1."""
    for stream in (sys.stdout, sys.stderr):
        # A name or a rule that the terminal's encoding lacks must not end a launch that went well.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    errors = Console(stderr=True)

    def show(kind: str, style: str, message: object) -> None:
        errors.print(f"[{style}]{kind}[/]: ", end="")
        print(message, file=sys.stderr)

    warnings.showwarning = lambda message, category, *_: show(category.__name__, "bold yellow", message)
    try:
        app()
    except GpuError as error:
        show(type(error).__name__, "bold red", error)
        for note in getattr(error, "__notes__", ()):
            print(note, file=sys.stderr)
        sys.exit(1)
