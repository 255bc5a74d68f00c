"""Replaces links to files outside docs/, which work in the repository but not on the site."""

import re
from pathlib import Path

LINK = re.compile(r"\[((?:`[^`]*`|[^\[\]`])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^ *(```|~~~)")
NOT_A_PATH = ("http://", "https://", "mailto:", "#", "/")


def leave_the_site(markdown: str, page: Path, docs: Path) -> str:
    """Replace every link to a file outside the documentation by its path, as code.

    A link to a file that does not exist is an error.

    Args:
        markdown: The text of the page.
        page: The file of the page.
        docs: The folder of the documentation.

    """
    root = docs.parent

    def replaced(link: re.Match[str]) -> str:
        text, address = link.groups()
        target = (page.parent / address.partition("#")[0]).resolve()
        if address.startswith(NOT_A_PATH) or target.is_relative_to(docs):
            return link[0]
        if not target.is_relative_to(root) or not target.exists():
            raise FileNotFoundError(f"{page.relative_to(root)} links to {address}: no such file")
        path = target.relative_to(root).as_posix()
        return f"`{path}`" if path.endswith(text.strip("`/")) else f"{text}: `{path}`"

    lines, code = [], False
    for line in markdown.split("\n"):
        if FENCE.match(line):
            code = not code
        # An indented line may be code, which has no links to replace.
        lines.append(line if code or line.startswith("    ") else LINK.sub(replaced, line))
    return "\n".join(lines)
