"""Replaces links to files outside docs/, which work in the repository but not on the site."""

import re
from collections.abc import Callable
from pathlib import Path

LINK = re.compile(r"(!?)\[((?:`[^`]*`|[^\[\]`])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^ *(```|~~~)")
NOT_A_PATH = ("http://", "https://", "mailto:", "#", "/")


def leave_the_site(
    markdown: str, page: Path, docs: Path, picture: Callable[[Path], str] | None = None
) -> str:
    """Replace every link to a file outside the documentation.

    An image remains an image and links to itself at full size. Any other link becomes the path in
    the repository, as code. A link to a file that does not exist is an error.

    Args:
        markdown: The text of the page.
        page: The file of the page.
        docs: The folder of the documentation.
        picture: From the path of an image to its new address.

    """
    root = docs.parent

    def replaced(found: re.Match[str]) -> str:
        shown, text, address = found.groups()
        if address.startswith(NOT_A_PATH):
            return found[0]
        target = (page.parent / address.partition("#")[0]).resolve()
        if target.is_relative_to(docs):
            return found[0]
        if not target.is_relative_to(root) or not target.exists():
            raise FileNotFoundError(f"{page.relative_to(root)} links to {address}: no such file")
        if shown and picture is not None:
            new = picture(target)
            return f"[![{text}]({new})]({new})"
        path = f"`{target.relative_to(root).as_posix()}`"
        name = text.strip("`")
        return path if path.strip("`").endswith(name) else f"{text}: {path}"

    lines, code = [], False
    for line in markdown.split("\n"):
        if FENCE.match(line):
            code = not code
        # An indented line may be code, which has no links to replace.
        lines.append(line if code or line.startswith("    ") else LINK.sub(replaced, line))
    return "\n".join(lines)
