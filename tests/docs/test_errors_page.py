"""docs/errors.md names every exception class of the package with its bases and its fields, and no other."""

from __future__ import annotations

import inspect
import re

import pytest
from pages import DOCS, table_rows

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import GpuError

PAGE = DOCS / "errors.md"
ROWS = {row[0].strip("`"): row for row in table_rows(PAGE)}
# Parameters of constructors that are not kept as fields.
NO_FIELDS = frozenset({"self", "message", "advice"})


def _exported() -> set[str]:
    return {
        name
        for name in mg.__all__
        if isinstance(getattr(mg, name), type) and issubclass(getattr(mg, name), BaseException)
    }


def _names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def _parameters(kind: type) -> set[str]:
    return set(inspect.signature(kind.__init__).parameters) if "__init__" in vars(kind) else set()


def test_the_page_has_a_row_for_every_exception_and_no_other() -> None:
    """The names in the tables are the exception classes that the package exports."""
    assert set(ROWS) == _exported()


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_row_tells_the_bases(name: str) -> None:
    """The bases column is the class's own list of bases, in order."""
    assert _names(ROWS[name][1]) == [base.__name__ for base in getattr(mg, name).__bases__]


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_row_tells_the_fields(name: str) -> None:
    """Every fact that a class is made with is in its row, and nothing is there that no class of its line has."""
    kind = getattr(mg, name)
    listed = set(_names(ROWS[name][3]))
    fields = _parameters(kind) - NO_FIELDS - ({"backend"} if name == "UnsupportedInstruction" else set())
    inherited = {"message"}.union(*(_parameters(each) for each in kind.__mro__ if issubclass(each, GpuError)))
    assert fields <= listed <= inherited | fields


def test_every_class_is_a_gpu_error_or_a_warning() -> None:
    """One `except GpuError` catches them all; what only warns is a Warning."""
    for name in _exported():
        kind = getattr(mg, name)
        assert issubclass(kind, GpuError) is not issubclass(kind, Warning)
