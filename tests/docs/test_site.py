"""The pages and the tools that make a site of them; `make docs` builds it and checks its links."""

import base64
import inspect
import json
import re
from pathlib import Path

import pytest
from notebook_page import as_markdown, link_pages
from outward_links import leave_the_site

import freqdyna
from freqdyna import frequency, search_control
from freqdyna.agents.algorithms import ALGORITHMS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_algorithm_has_a_page_that_ends_in_its_differences_from_the_paper(name):
    page = (DOCS / "algorithms" / f"{name}.md").read_text()
    assert page.startswith(f"# {name}\n")
    assert f"--algorithm {name} " in page
    assert re.findall(r"^## (.*)$", page, re.MULTILINE)[-1] == "Differences from the paper"


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


def test_links_out_of_the_folder_become_paths_and_pictures_are_taken_along(tmp_path):
    docs = tmp_path / "docs"
    page = docs / "sub" / "page.md"
    (tmp_path / "src").mkdir()
    for name in ("src/code.py", "src/curves.png"):
        (tmp_path / name).touch()

    def replaced(markdown):
        return leave_the_site(markdown, page, docs, lambda picture: f"<{picture.name}>")

    assert replaced("[`code.py`](../../src/code.py), good") == "`src/code.py`, good"
    assert replaced("the [output](../../src/code.py#L3)") == "the output: `src/code.py`"
    assert (
        replaced("![a curve](../../src/curves.png)") == "[![a curve](<curves.png>)](<curves.png>)"
    )
    for same in (
        "[other](../other.md#here), [site](https://example.org), [below](#below)",
        "    [indented](../../src/none.py)",
        "```\n[fenced](../../src/none.py)\n```",
    ):
        assert replaced(same) == same
    with pytest.raises(FileNotFoundError, match=r"docs/sub/page\.md links to \.\./\.\./src/none"):
        replaced("[gone](../../src/none.py)")


def test_a_notebook_becomes_a_page(tmp_path):
    assert link_pages("[tour](sub/tour.ipynb), [x](x.md)") == "[tour](sub/tour.md), [x](x.md)"
    picture = {"image/png": base64.b64encode(b"picture").decode(), "text/plain": "<Figure>"}
    outputs = [
        {"output_type": "stream", "text": ["\x1b[1mbold\x1b[0m\n", "line\n"]},
        {"output_type": "display_data", "data": picture},
        {"output_type": "execute_result", "data": {"text/plain": "42"}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "draw()", "outputs": outputs},
        {"cell_type": "code", "source": "", "outputs": []},
    ]
    path = tmp_path / "tour.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    page, pictures = as_markdown(path)
    assert pictures == {"tour-1.png": b"picture"}
    assert page.split("\n\n") == [
        "# Title\ntext",
        "```python\ndraw()\n```",
        "```text\nbold\nline\n```",
        "![Picture 1 of the notebook](tour-1.png)",
        "```text\n42\n```\n",
    ]
