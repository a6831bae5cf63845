"""`metrale-gpu launch FILE KERNEL …`: one launch on files and numbers."""

from __future__ import annotations

import json as json_text
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ..discovery import open_backend
from ..errors import GeometryError
from ..launch import KernelLaunch
from .arguments import (
    ArgumentTextError,
    ArrayArgument,
    BytesArgument,
    CommandArgument,
    NullArgument,
    read_argument,
    read_constants,
)
from .plain import print_plain


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """The command as it was typed."""

    file: Path
    kernel: str
    arguments: tuple[str, ...]
    grid: str
    block: str
    shared_mem: int
    signature: str | None
    backend: str
    out: Path | None
    constants: tuple[str, ...] = ()


def launch_file(request: LaunchRequest, as_json: bool, console: Console) -> None:
    """Load, launch, wait, write the outputs, report. Nothing is written unless the kernel ran to its end."""
    arguments = [read_argument(index, text) for index, text in enumerate(request.arguments)]
    constants = read_constants(request.constants)
    _refuse_shared_outputs(arguments, request.out)
    with open_backend(request.backend) as gpu:
        module = gpu.load_module(request.file.stem, path=request.file)
        kernel = gpu.kernel(request.file.stem, request.kernel, signature=request.signature, constants=constants or None)
        launch = KernelLaunch(gpu, kernel).grid(_extents(request.grid, "grid")).block(_extents(request.block, "block"))
        launch.shared_mem(request.shared_mem)
        buffers = []
        for argument in arguments:
            if isinstance(argument, ArrayArgument):
                buffer = gpu.array(argument.array)
                buffers.append((argument, buffer))
                launch.arg_ptr(buffer)
            elif isinstance(argument, NullArgument):
                launch.arg_ptr(None)
            elif isinstance(argument, BytesArgument):
                launch.arg_bytes(argument.data)
            elif argument.type is None:
                launch.arg(argument.value)
            else:
                # The typed methods name kernel and argument when a value does not fit.
                getattr(launch, f"arg_{argument.type.name}")(argument.value)
        launch.check()  # a first launch compiles; that is not timed
        started, ended = gpu.create_event(), gpu.create_event()
        stream = gpu.default_stream()
        gpu.record_event(started, stream)
        launch.launch()
        gpu.record_event(ended, stream)
        gpu.synchronize(stream)
        elapsed_ms = gpu.event_elapsed_ms(started, ended)
        outputs = [_write(argument, buffer.numpy(), request.out) for argument, buffer in buffers if argument.is_written]
        report = {
            "kernel": kernel.function,
            "module": module.name,
            "signature": str(kernel.signature),
            "device": gpu.capabilities.device,
            "grid": request.grid,
            "block": request.block,
            "elapsed_ms": elapsed_ms,
            "outputs": outputs,
        }
    if as_json:
        print(json_text.dumps(report, indent=2))
        return
    print_plain(console, report["signature"], "bold")
    print_plain(console, f"ran on {report['device']} in {elapsed_ms:.3f} ms")
    for output in outputs:
        print_plain(console, f"  wrote {output['path']}  {output['dtype']} {output['shape']}")


def _extents(text: str, what: str) -> list[int]:
    try:
        return [int(part, 0) for part in text.replace("x", ",").split(",")]
    except ValueError:
        raise GeometryError(f"--{what} is {text!r}; write 4, 4,2 or 4,2,1", asked=text) from None


def _refuse_shared_outputs(arguments: list[CommandArgument], folder: Path | None) -> None:
    """Raise ArgumentTextError where one output would overwrite another."""
    first: dict[Path, int] = {}
    for index, argument in enumerate(arguments):
        if isinstance(argument, ArrayArgument) and argument.is_written:
            path = _output_path(argument, folder)
            other = first.setdefault(path.absolute(), index)
            if other != index:
                raise ArgumentTextError(f"arguments {other} and {index} would both be written to {path}")


def _output_path(argument: ArrayArgument, folder: Path | None) -> Path:
    path = argument.path
    if folder is not None:
        return folder / path.name
    return path.with_name(f"{path.stem}.out{path.suffix}") if argument.is_read else path


def _write(argument: ArrayArgument, array: object, folder: Path | None) -> dict[str, object]:
    import numpy

    result = numpy.asarray(array)
    path = _output_path(argument, folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            if path.suffix == ".npy":
                numpy.save(file, result)
            else:
                file.write(result.tobytes())
    except OSError as error:
        raise ArgumentTextError(f"{path}: the output cannot be written: {error}") from error
    return {"path": str(path), "dtype": str(result.dtype), "shape": list(result.shape)}
