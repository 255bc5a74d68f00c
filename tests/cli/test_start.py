"""The examples of the first pages, as a reader would follow them, only smaller."""

import re
import shlex
from pathlib import Path

from freqdyna.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "start.md").read_text()
FEWER = {
    "--seeds 10": "--seeds 4",
    "10000": "40",
    "10_000": "40",
}
SMALL = ["--hidden=4", "--planning-steps=1", "--batch-size=4", "--episode-limit=30"]


def test_the_commands_of_the_page_train_plot_and_load(tmp_path, monkeypatch):
    page = PAGE.replace("\\\n", "")
    for large, small in FEWER.items():
        page = page.replace(large, small)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    freqdyna (.*?)(?: +#.*)?$", page, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["train"] * 2 + ["plot"] * 3
    for command in commands:
        main([*shlex.split(command), *(SMALL if command.startswith("train") else [])])
    assert Path("curves.png").exists()
    for picture in ("frequency.png", "queue.png"):
        assert Path("runs/df", picture).exists()
    scope = {}
    exec(page.split("```python\n")[1].split("```")[0], scope)  # the page's own lines
    assert scope["result"].config.seeds == 4


def python_of(page):
    """The Python lines of a page with one example."""
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    return example


def test_the_example_of_the_theory_says_what_the_page_says():
    scope = {}
    exec(python_of("docs/theory.md"), scope)
    assert abs(scope["found"].first_order[-1] - 1) < 0.05
    assert scope["uncertainty_ratio"](scope["f"], scope["x"]) >= 1
