"""Converts a notebook to a page: text, code in fences, outputs below, images as files."""

import base64
import json
import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"\]\(([^()\s]+)\.ipynb\)")
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def link_pages(markdown: str) -> str:
    """Replace links to notebooks by links to the pages made from them."""
    return LINK.sub(r"](\1.md)", markdown)


def as_markdown(path: Path) -> tuple[str, dict[str, bytes]]:
    """The page of the notebook at `path`, and its images by file name."""
    cells = json.loads(path.read_text())["cells"]
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in cells:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts.append(f"```python\n{source}\n```")
            parts += [_output(output, path.stem, pictures) for output in cell["outputs"]]
    return "\n\n".join(part for part in parts if part) + "\n", pictures


def _output(output: dict[str, Any], stem: str, pictures: dict[str, bytes]) -> str:
    """One output of a cell; an image is added to `pictures`."""
    data = output.get("data", {})
    if "image/png" in data:
        name = f"{stem}-{len(pictures) + 1}.png"
        pictures[name] = base64.b64decode("".join(data["image/png"]))
        return f"![Picture {len(pictures)} of the notebook]({name})"
    text = "".join(data.get("text/plain", output.get("text", "")))
    text = ESCAPES.sub("", text).strip("\n")
    return f"```text\n{text}\n```" if text else ""
