"""The links between the pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import DOCS, ROOT

PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def _prose(page: Path) -> str:
    return _CODE.sub("", page.read_text(encoding="utf-8"))


def _anchors(page: Path) -> set[str]:
    """What a heading of the page is called behind a `#`, as forges make it of its words."""
    headings = re.findall(r"^#+ (.+)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each).strip().lower().replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_names_a_file_and_a_heading_that_are_there(page: Path) -> None:
    """A link to a file finds it, and one with a `#` finds the heading."""
    for target, _, heading in re.findall(r"\]\(([^)#\s]*)(#([^)\s]+))?\)", _prose(page)):
        if "://" in target:
            continue
        there = page.parent / target if target else page
        assert there.exists(), f"{page.name} links to {target}, which is not there"
        assert not heading or heading in _anchors(there), f"{page.name} links to #{heading} of {there.name}"


def test_the_index_names_every_page_and_the_readme_the_index() -> None:
    """docs/README.md links to each page of docs/, and the README to the index."""
    index = _prose(DOCS / "README.md")
    for page in DOCS.glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index
    assert "](docs/README.md)" in _prose(ROOT / "README.md")
