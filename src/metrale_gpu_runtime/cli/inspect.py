"""`metrale-gpu inspect FILE`: what a file of code declares."""

from __future__ import annotations

import json as json_text
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..discovery import open_backend
from ..errors import NotSupported
from ..signature import KernelSignature


def inspect_file(file: Path, backend: str, options: tuple[str, ...], as_json: bool, console: Console) -> None:
    """Load the file and print its kernels. Raises what loading it raises."""
    with open_backend(backend) as gpu:
        module = gpu.load_module(file.stem, path=file, options=options)
        rows = []
        for name in module:
            row: dict[str, object] = {"kernel": name}
            try:
                kernel = module[name]
            except NotSupported as error:
                row["refused"] = str(error)
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
    if not rows:
        console.print(f"{file}: no kernels")
    for row in rows:
        if "refused" in row:
            console.print(f"[bold]{row['kernel']}[/]  [yellow]cannot run on {device}[/]")
            console.print(f"  {row['refused']}", markup=False, highlight=False, soft_wrap=True)
            continue
        console.print(row["signature"], markup=False, highlight=False, style="bold", soft_wrap=True)
        table = Table(show_header=False, box=None, pad_edge=False)
        for key, label in _FACTS.items():
            if row[key] is not None:
                table.add_row(f"  {label}", str(row[key]))
        console.print(table)


_FACTS = {
    "static_shared_mem": "static shared memory, bytes",
    "local_mem": "local memory per thread, bytes",
    "registers": "registers per thread",
    "max_threads_per_block": "threads per block, at most",
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
