"""docs/hip.md: its table is the code's, and its Python runs."""

from __future__ import annotations

from docs.pages import DOCS, ROOT, blocks, matches
from rungs import require_rung

import metrale_gpu_runtime
from metrale_gpu_runtime.drivers.hip.traits import DIFFERENCES, TRAITS, differences_as_markdown

PAGE = DOCS / "hip.md"


def test_the_pages_table_is_the_codes():
    """Every difference that the code names stands in the page as the code words it."""
    assert differences_as_markdown() in PAGE.read_text(encoding="utf-8")


def test_the_table_says_the_traits_values():
    """The values that the session is given are the ones in the table."""
    said = {each.what: each.hip for each in DIFFERENCES}
    assert str(TRAITS.max_threads_per_launch) in said["threads per launch"]
    assert str(TRAITS.dlpack_device_type) in said["DLPack device type"]
    assert said["the legacy stream's handle"] == str(TRAITS.legacy_stream)
    assert ("none" in said["clusters"]) is not TRAITS.has_clusters
    assert all(f"`{each}`" in said["code"] for each in TRAITS.code_formats)
    assert all(f"`{each}`" in said["source"] for each in TRAITS.source_languages)


def test_the_pages_python_runs(executing, capsys, monkeypatch):
    """The blocks marked `hip` print what stands below them, with CUDA C through hiprtc."""
    require_rung("debug information")
    monkeypatch.chdir(ROOT)
    namespace = {"__name__": "hip"}
    ran = 0
    for block in blocks(PAGE):
        assert block.marks == {"hip"}
        exec(compile("\n" * (block.line - 1) + block.code, str(PAGE), "exec"), namespace)
        printed = capsys.readouterr().out
        assert block.output is None or matches(block.output, printed), printed
        ran += 1
    assert ran > 0
    namespace["gpu"].close()
    assert isinstance(namespace["gpu"], metrale_gpu_runtime.GpuBackend)
