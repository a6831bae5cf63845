"""Makes interface.json from the macOS wheel of pyobjc-framework-Metal: what its bindings declare, as data.

    python -m metal_standin.extract FOLDER_OR_WHEEL > tests/metal_standin/interface.json

Nothing of the wheel's compiled code runs: its protocols are read from the Mach-O file, and its metadata module, which
is plain Python that calls `objc`, is executed against a recorder.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from .declared import DECLARED
from .macho import protocols

# The protocols of the file that compute has to do with; those for drawing, ray tracing and Metal 4 stay out.
PROTOCOLS = (
    "NSObject",
    "MTLAllocation",
    "MTLResource",
    "MTLCommandQueue",
    "MTLCommandEncoder",
    "MTLComputeCommandEncoder",
    "MTLBlitCommandEncoder",
    "MTLComputePipelineState",
    "MTLBinding",
    "MTLBufferBinding",
    "MTLThreadgroupBinding",
    "MTLTextureBinding",
    "MTLFence",
    "MTLResidencySet",
    "MTLFunctionLog",
    "MTLFunctionLogDebugLocation",
    "MTLLogContainer",
    "NSFastEnumeration",
)
_STRUCTS = ("MTLSize", "MTLOrigin", "MTLRegion", "MTLSizeAndAlign", "MTLResourceID")
_FUNCTIONS = ("MTLCopyAllDevices", "MTLCreateSystemDefaultDevice", "MTLSizeMake", "MTLOriginMake")


class _Recorder:
    """Stands for the module `objc` while the metadata module runs, and keeps what it is told."""

    arch = "arm64"

    def __init__(self) -> None:
        self.selectors: dict[str, dict[str, Any]] = {}
        self.structs: dict[str, tuple[str, list[str]]] = {}

    def createStructType(self, name: str, encoding: bytes, fields: list[str]) -> None:
        self.structs[name.rpartition(".")[2]] = (encoding.decode(), fields)

    def registerMetaDataForSelector(self, owner: bytes, selector: bytes, metadata: dict[str, Any]) -> None:
        self.selectors.setdefault(owner.decode(), {})[selector.decode()] = _plain(metadata)

    def registerNewKeywordsFromSelector(self, owner: str, selector: bytes) -> None:
        pass

    def _updatingMetadata(self, updating: bool) -> None:
        pass


def _plain(value: Any) -> Any:
    """JSON's form: texts for bytes, and texts for the positions of arguments."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    return value


def _metadata(source: str) -> tuple[_Recorder, dict[str, Any]]:
    recorder = _Recorder()
    names: dict[str, Any] = {}
    held = sys.modules.get("objc")
    sys.modules["objc"] = recorder  # type: ignore[assignment]
    try:
        exec(compile(source, "Metal/_metadata.py", "exec"), names)
    finally:
        del sys.modules["objc"]
        if held is not None:
            sys.modules["objc"] = held
    return recorder, names


def find_wheel(place: Path) -> Path:
    """The one wheel of pyobjc-framework-Metal in this folder, or the wheel itself. Raises FileNotFoundError."""
    if place.is_file():
        return place
    wheels = sorted(place.glob("pyobjc_framework_[Mm]etal-*.whl"))
    if len(wheels) != 1:
        raise FileNotFoundError(f"{place} holds {len(wheels)} wheels of pyobjc-framework-Metal; exactly one is wanted")
    return wheels[0]


def extract(wheel: Path) -> dict[str, Any]:
    """What the bindings in this wheel declare, of what compute uses."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        library = next(name for name in names if name.startswith("Metal/_Metal.") and name.endswith(".so"))
        record = next(name for name in names if name.endswith(".dist-info/METADATA"))
        version = next(
            line.partition(": ")[2]
            for line in archive.read(record).decode().splitlines()
            if line.startswith("Version: ")
        )
        found = {protocol.name: protocol for protocol in protocols(archive.read(library))}
        recorder, module = _metadata(archive.read("Metal/_metadata.py").decode())
    kept = {
        name: {
            "inherits": list(found[name].inherits),
            "methods": {m.selector: m.encoding for m in found[name].methods if m.required and not m.of_class},
            "optional": {m.selector: m.encoding for m in found[name].methods if not m.required and not m.of_class},
        }
        for name in PROTOCOLS
    }
    wanted = {selector for protocol in kept.values() for selector in (*protocol["methods"], *protocol["optional"])}
    wanted |= {selector for table in DECLARED.values() for selector in (*table.methods, *table.class_methods)}
    owners = {"NSObject", *DECLARED}
    enums = {}
    for entry in module["enums"].split("$"):
        name, _, value = entry.partition("@")
        if name and not name.startswith("MTL4"):
            enums[name] = float(value) if "." in value else int(value)
    return {
        "bindings": f"pyobjc-framework-Metal {version}",
        "protocols": kept,
        "selectors": {
            owner: {selector: metadata for selector, metadata in sorted(table.items()) if selector in wanted}
            for owner, table in sorted(recorder.selectors.items())
            if owner in owners
        },
        "structs": {name: recorder.structs[name] for name in _STRUCTS},
        "functions": {name: _plain(module["functions"][name]) for name in _FUNCTIONS},
        "enums": enums,
        "constants": sorted(
            name for name in module["constants"].split("$") if name.startswith("MTL") and "@" not in name
        ),
        "aliases": module["aliases"],
    }


def _text(data: dict[str, Any]) -> str:
    """One entry a line, so that a new wheel shows as a readable difference."""
    lines = ["{"]
    for position, (key, value) in enumerate(data.items()):
        comma = "," if position + 1 < len(data) else ""
        if isinstance(value, dict):
            inner = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()]
            if key in ("protocols", "selectors"):
                inner = [
                    f"  {json.dumps(name)}: {{\n"
                    + ",\n".join(f"   {json.dumps(k)}: {json.dumps(v)}" for k, v in entry.items())
                    + "\n  }"
                    for name, entry in value.items()
                ]
            lines += [f" {json.dumps(key)}: {{", ",\n".join(inner), f" }}{comma}"]
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}{comma}")
    return "\n".join([*lines, "}"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(_text(extract(find_wheel(Path(sys.argv[1])))))
