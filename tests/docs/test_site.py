"""The pages and the tools that make a site of them; `make docs` builds it and checks its links."""

import inspect
import re
from pathlib import Path

import pytest
from outward_links import leave_the_site

import freqdyna
from freqdyna import frequency, search_control

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_has_every_public_name():
    shown = set()
    for page in (DOCS / "api").glob("*.md"):
        shown.update(re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE))
    found = [getattr(freqdyna, name) for name in freqdyna.__all__]
    found += [getattr(frequency, name) for name in frequency.__all__]
    found += [search_control.Search, search_control.Proposal, search_control.HillClimb]
    for public in found:
        if inspect.isclass(public) or inspect.isfunction(public):
            full = f"{public.__module__}.{public.__qualname__}"
            assert shown & {full, public.__module__}, full


def test_links_out_of_the_folder_become_paths(tmp_path):
    docs = tmp_path / "docs"
    page = docs / "sub" / "page.md"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "code.py").touch()

    def replaced(markdown):
        return leave_the_site(markdown, page, docs)

    assert replaced("[`code.py`](../../src/code.py), good") == "`src/code.py`, good"
    for same in ("[other](../other.md#here), [below](#below)", "    [code](../../src/none.py)"):
        assert replaced(same) == same
    with pytest.raises(FileNotFoundError):
        replaced("[gone](../../src/none.py)")
