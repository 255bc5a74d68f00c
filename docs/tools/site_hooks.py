"""MkDocs hooks: pages that are generated, and links to files outside docs/."""

import os
import subprocess
import sys
from pathlib import Path

import settings_tables
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from outward_links import leave_the_site

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "reproduction.md"
MARKER = "<!-- settings -->"


def on_pre_build(config: MkDocsConfig) -> None:
    """Write the page of the reproduction, unless it is newer than all that it is made of."""
    sources = [*ROOT.glob("reproduction/*.py"), *ROOT.glob("results/reproduction/*.parquet")]
    newest = max(source.stat().st_mtime for source in sources)
    if not RESULTS.exists() or RESULTS.stat().st_mtime < newest:
        print("evaluating the stored results of the reproduction (a minute or two) ...", flush=True)
        paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        command = [sys.executable, "-m", "reproduction", "page"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert the tables of settings; links to files outside docs/ become paths."""
    docs = Path(config.docs_dir).resolve()
    if MARKER in markdown:
        markdown = markdown.replace(MARKER, settings_tables.tables())
    return leave_the_site(markdown, docs / page.file.src_uri, docs)
