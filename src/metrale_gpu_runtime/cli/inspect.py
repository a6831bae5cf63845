"""`metrale-gpu inspect FILE`: what a file of code declares."""

from __future__ import annotations

import json as json_text
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..capabilities import Capabilities
from ..discovery import open_backend
from ..errors import CompileError, FunctionConstantError, NotSupported
from ..modules.formats import format_of_suffix
from ..modules.machine_code import kernels_in
from ..modules.sources import find_code
from ..signature import KernelSignature
from .plain import print_plain


def inspect_file(file: Path, backend: str, options: tuple[str, ...], as_json: bool, console: Console) -> None:
    """Load the file and print its kernels. Raises what loading it raises.

    Machine code that the backend does not take is read instead: it says for itself which kernels it has.
    """
    with open_backend(backend) as gpu:
        form = format_of_suffix(file.suffix)
        takes = gpu.capabilities.code_formats
        if form is not None and form.name in ("cubin", "fatbin") and form.name not in takes:
            _inspect_machine_code(file, form.name, as_json, console)
            return
        module = gpu.load_module(file.stem, path=file, options=options)
        rows = []
        for name in module:
            row: dict[str, object] = {"kernel": name}
            try:
                kernel = module[name]
            except (NotSupported, CompileError, FunctionConstantError) as error:
                # One kernel that the device cannot run, or that is made with values only, hides none of the others.
                row["refused"] = str(error)
                row["needs_constants"] = isinstance(error, FunctionConstantError)
            else:
                attributes = kernel.attributes
                row |= {
                    "signature": str(kernel.signature),
                    "parameters": _parameters(kernel.signature),
                    "static_shared_mem": attributes.static_shared_mem,
                    "local_mem": attributes.local_mem,
                    "registers": attributes.registers,
                    "max_threads_per_block": attributes.max_threads_per_block,
                    "required_block": attributes.required_block,
                }
            rows.append(row)
        device = gpu.capabilities.device
    if as_json:
        print(json_text.dumps({"file": str(file), "device": device, "kernels": rows}, indent=2))
        return
    _show(file, rows, device, console)


def _inspect_machine_code(file: Path, form: str, as_json: bool, console: Console) -> None:
    code = find_code(file.stem, file, capabilities=Capabilities(backend="inspect", device="", code_formats=(form,)))
    kernels, notes = kernels_in(code, file.stem)
    rows: list[dict[str, object]] = [
        {
            "kernel": each.name,
            "image": each.image,
            "signature": str(each.signature),
            "parameters": _parameters(each.signature),
            "max_block": each.max_block,
            "required_block": each.required_block,
        }
        for each in kernels
    ]
    if as_json:
        print(json_text.dumps({"file": str(file), "device": None, "kernels": rows, "notes": notes}, indent=2))
        return
    if rows or not notes:
        _show(file, rows, "", console)
    else:
        print_plain(console, f"{file}: no kernels that can be read")
    for note in notes:
        print_plain(console, f"note: {note}")


def _show(file: Path, rows: list[dict[str, object]], device: str, console: Console) -> None:
    if not rows:
        print_plain(console, f"{file}: no kernels")
    for row in rows:
        if "refused" in row:
            why = "is made with function constants" if row["needs_constants"] else f"cannot run on {device}"
            console.print(Text.assemble((str(row["kernel"]), "bold"), "  ", (why, "yellow")))
            print_plain(console, f"  {row['refused']}")
            continue
        print_plain(console, row["signature"], "bold")
        table = Table(show_header=False, box=None, pad_edge=False)
        for key, label in _FACTS.items():
            if row.get(key) is not None:
                table.add_row(f"  {label}", Text(str(row[key])))
        console.print(table)


_FACTS = {
    "image": "compiled as",
    "static_shared_mem": "static shared memory, bytes",
    "local_mem": "local memory per thread, bytes",
    "registers": "registers per thread",
    "max_threads_per_block": "threads per block, at most",
    "max_block": "block, at most",
    "required_block": "block must be",
}


def _parameters(signature: KernelSignature) -> list[dict[str, object]] | None:
    if signature.parameters is None:
        return None
    return [
        {
            "index": each.index,
            "name": each.name,
            "type": each.c_type,
            "kind": each.kind,
            "offset": each.offset,
            "nbytes": each.nbytes,
            "align": each.align,
            "source": each.source,
        }
        for each in signature.parameters
    ]
