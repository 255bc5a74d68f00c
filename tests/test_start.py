"""The page "start in five minutes", as a reader would follow it, but for fewer steps."""

import re
import shlex
from pathlib import Path

from freqdyna.cli import main

PAGE = (Path(__file__).parent.parent / "docs" / "start.md").read_text()
FEWER = {
    "--seeds 10": "--seeds 4",
    "10000": "40",
    "10_000": "40",
    "first_step=5_000": "first_step=0",
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
