"""MkDocs hooks: links to files outside docs/, and pages made from notebooks."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from notebook_page import as_markdown, link_pages
from outward_links import leave_the_site


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page of the same name for every notebook."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            assert file.abs_src_path is not None
            text, pictures = as_markdown(Path(file.abs_src_path))
            page = file.src_uri.removesuffix(".ipynb")
            folder = page.rpartition("/")[0]
            files.append(File.generated(config, f"{page}.md", content=text))
            for name, content in pictures.items():
                address = f"{folder}/{name}".lstrip("/")
                files.append(File.generated(config, address, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Copy images from outside docs/ to the site; other links to the outside become paths."""
    docs = Path(config.docs_dir).resolve()

    def taken_along(picture: Path) -> str:
        address = picture.relative_to(docs.parent).as_posix()
        if files.get_file_from_path(address) is None:
            files.append(File.generated(config, address, abs_src_path=str(picture)))
        return "../" * page.file.src_uri.count("/") + address

    return leave_the_site(link_pages(markdown), docs / page.file.src_uri, docs, taken_along)
