"""The door: what type checkers are told is what there is, and importing it is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import metrale_gpu_runtime


def test_type_checkers_and_the_program_see_the_same_names():
    """The imports under TYPE_CHECKING and the table of homes name the same things in the same files."""
    tree = ast.parse(Path(metrale_gpu_runtime.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    stated = {(alias.name, node.module) for node in block.body for alias in node.names}
    assert stated == set(metrale_gpu_runtime._HOME_OF.items())


def test_an_unknown_name_is_an_attribute_error():
    """Asking for what is not there is an ordinary AttributeError."""
    assert not hasattr(metrale_gpu_runtime, "no_such_name")


def test_importing_loads_almost_nothing():
    """`import metrale_gpu_runtime` alone brings in no other module of the package, not even typing."""
    code = (
        "import sys; before = set(sys.modules); import metrale_gpu_runtime; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - {"__future__"} == {"metrale_gpu_runtime"}
