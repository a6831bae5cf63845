"""The committed interface is the wheel's, and what was written by hand agrees with it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from rungs import require_rung

from .declared import DECLARED
from .encodings import declared_types, method_types
from .extract import _text, extract, find_wheel
from .interface import DATA, conforms, lineage, messages
from .messages import NATIVES


def test_the_committed_interface_is_what_the_wheel_declares() -> None:
    """Extracting again from the macOS wheel gives the committed file, to the byte."""
    require_rung("metal wheel")
    wheel = find_wheel(Path(os.environ["METRALE_METAL_WHEEL"]))
    committed = (Path(__file__).parent / "interface.json").read_text()
    assert _text(extract(wheel)) == committed
    assert json.loads(committed)["bindings"].split()[1] in wheel.name


@pytest.mark.parametrize("owner", [name for name, table in DECLARED.items() if name.startswith("MTL")])
def test_what_is_declared_by_hand_agrees_with_the_bindings_metadata(owner: str) -> None:
    """Each selector of a protocol that stands in declared.py is in the wheel's metadata, with the same types."""
    table = DECLARED[owner]
    for selector, text in table.methods.items():
        own = DATA["selectors"].get(owner, {}).get(selector)
        found = own or (None if table.is_class else DATA["selectors"]["NSObject"].get(selector))
        assert found is not None or table.is_class, f"{owner} {selector} is not in the wheel"
        if found is None:
            continue
        result, arguments = declared_types(text)
        stated = found.get("retval", {}).get("type")
        # NSUInteger and NSInteger enumerations: the metadata has either sign.
        assert stated is None or stated.lower() == result.code.lower(), selector
        assert selector.count(":") == len(arguments)
        for position, kind in enumerate(arguments, 2):
            stated = found.get("arguments", {}).get(str(position), {}).get("type")
            assert stated is None or stated == kind.code, f"{selector}, argument {position}"


def test_every_selector_has_as_many_arguments_as_colons() -> None:
    """The parser of encodings loses no argument and finds none too many, in any method of the file."""
    for name, protocol in DATA["protocols"].items():
        for selector, encoding in {**protocol["methods"], **protocol["optional"]}.items():
            assert len(method_types(encoding)[1]) == selector.count(":"), f"{name} {selector} {encoding}"


def test_an_encoding_is_taken_apart() -> None:
    """Qualifiers, object classes, structs, blocks and pointers, each in its place."""
    result, arguments = method_types('v56@0:8r^v16@"<MTLBuffer>"24{_NSRange=QQ}32@?<v@?@"NSError">48C52^@60')
    assert result.code == "v"
    assert [(kind.code, kind.of) for kind in arguments] == [
        ("^v", ""),
        ("@", "<MTLBuffer>"),
        ("{_NSRange=QQ}", ""),
        ("@?", ""),
        ("C", ""),
        ("^@", ""),
    ]
    assert arguments[0].qualifiers == "r"


def test_inherited_messages_are_found() -> None:
    """A buffer answers to what resources, allocations and NSObject declare; an encoder does not."""
    assert {"length", "storageMode", "allocatedSize", "retainCount"} <= set(messages("MTLBuffer"))
    assert "storageMode" not in messages("MTLComputeCommandEncoder")
    assert conforms("MTLSharedEvent", "MTLEvent")
    assert not conforms("MTLEvent", "MTLSharedEvent")
    assert lineage("MTLBuffer") == ("MTLBuffer", "MTLResource", "MTLAllocation", "NSObject")


def test_what_the_stand_in_models_is_declared() -> None:
    """No native class answers a message that the interface does not have: a typing error here would hide one there."""
    for protocol, native in NATIVES.items():
        known = {selector.replace(":", "_") for selector in messages(protocol)} | {"init"}
        modelled = {name[3:] for name in dir(native) if name.startswith("do_")}
        assert modelled <= known, f"{protocol}: {sorted(modelled - known)}"
