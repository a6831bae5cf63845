"""docs/metal.md: its numbers and names are the code's, and its Python runs over the stand-in."""

from __future__ import annotations

import re

import pytest
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin as metal_standin
from pages import DOCS, ROOT, blocks, matches
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.metal import bindings, capabilities, streams, temporaries

PAGE = DOCS / "metal.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_pages_python_runs(
    metal_standin: MetalStandIn, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks marked `metal` print what stands below them; the stand-in executes their kernels."""
    require_rung("metal stand-in")
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {"__name__": "metal"}
    ran = 0
    for block in blocks(PAGE):
        assert block.marks == {"metal"}
        exec(compile("\n" * (block.line - 1) + block.code, str(PAGE), "exec"), namespace)
        printed = capsys.readouterr().out
        assert block.output is None or matches(block.output, printed), printed
        ran += 1
    gpu = namespace["gpu"]
    assert isinstance(gpu, mg.GpuBackend)
    gpu.close()
    assert ran >= 3


def test_the_policys_numbers_are_the_codes() -> None:
    """Each constant of the policy stands in the page with its value, and there is no other in that table."""
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", TEXT, re.MULTILINE))
    assert told == {name: str(getattr(streams, name)) for name in ("BUSY_COUNT", "MAX_OPERATIONS", "MAX_IN_FLIGHT")}


def test_the_limits_are_the_codes() -> None:
    """Buffer indices, inline bytes, the granule of threadgroup memory and what is kept are as the driver has them."""
    assert f"A kernel has {capabilities.MAX_BUFFERS} buffer indices" in TEXT
    assert f"a value up to {capabilities.MAX_INLINE_NBYTES} bytes" in TEXT
    assert f"rounded up to {capabilities.THREADGROUP_GRANULE} bytes" in TEXT
    assert f"up to {temporaries.KEPT_NBYTES >> 20} MiB of them are kept" in TEXT


def test_the_selectors_that_are_registered_are_listed() -> None:
    """What this package changes for the whole process is said in full: every selector, and none besides."""
    listed = re.findall(r"^- `(new\w[\w:]*)`$", TEXT, re.MULTILINE)
    assert listed == sorted(each.decode() for each in bindings.OWNED)


def test_the_page_says_that_no_mac_ran_it() -> None:
    """Nobody who reads the page's top takes the stand-in for a Mac."""
    top = TEXT.split("## ")[0]
    assert "No Mac has run any of this yet" in top
    assert "make test-metal" in TEXT


def test_every_exception_in_the_table_is_one_of_the_package() -> None:
    """The table of what is raised names classes that there are."""
    table = TEXT.split("| what happened | what is raised |")[1].split("\n\n")[0]
    named = re.findall(
        r"`(\w+)`(?:, with|, naming| \||$)",
        "\n".join(row.rpartition(" | ")[2] for row in table.splitlines()),
        re.MULTILINE,
    )
    assert len(named) >= 10
    assert all(issubclass(getattr(mg, name), mg.GpuError) for name in named)


def test_a_prepared_launch_sends_the_floors_messages_and_a_label(metal_standin: MetalStandIn) -> None:
    """What the page says of the count of messages: 4 arguments are 8 messages by hand and 9 here, and a command buffer
    is 64 launches while the GPU is busy."""
    require_rung("metal stand-in")
    kernel = (
        "kernel void four(device uint *a, constant uint &b, constant uint &c, constant uint &d) { a[0] = b + c + d; }"
    )
    with mg.open_backend("metal") as gpu:
        prepared = gpu.load_module("four", source=kernel)["four"][1, 1].prepare(gpu.empty(1, mg.u32), 2, 3, 5)
        prepared()
        gpu.synchronize()
        metal_standin.clear_calls()
        metal_standin.hold()
        for _ in range(streams.BUSY_COUNT + streams.MAX_OPERATIONS):
            prepared()
        sent = {selector: count for (_, selector), count in metal_standin.sent().items()}
        metal_standin.release()
    launches = streams.BUSY_COUNT + streams.MAX_OPERATIONS
    by_hand = {
        **dict.fromkeys(("computeCommandEncoder", "setComputePipelineState:", "setBuffer:offset:atIndex:"), launches),
        "dispatchThreadgroups:threadsPerThreadgroup:": launches,
        "endEncoding": launches,
        "setBytes:length:atIndex:": 3 * launches,
    }
    assert by_hand.items() <= sent.items()
    assert sent["setLabel:"] == launches
    assert sent["commit"] == sent["commandBufferWithDescriptor:"] == streams.BUSY_COUNT + 1
    extra = set(sent) - set(by_hand) - {"setLabel:", "commit", "commandBufferWithDescriptor:"}
    # Of a command buffer, not of a launch; and the thread that looks after the stream.
    assert extra <= {"encodeSignalEvent:value:", "status", "waitUntilCompleted"}
