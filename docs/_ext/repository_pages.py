"""Pages that live elsewhere in the repository, and links that leave ``docs/``.

Links in pages are written as they work in the repository. Where a link leaves ``docs/`` it is sent
to the copy of a page, to the repository's address (``[project.urls]`` in pyproject.toml), or, where
it has none, to a copy of the file.
"""

import os
import re
import tomllib
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
COPIES = "elsewhere"  # the folder of docs/ that holds copies; git ignores it
PATTERNS = ("benchmarks/results/*.md", "reproduce/README.md", "reproduce/*/README.md")
PATTERNS += ("CONTRIBUTING.md", "CHANGELOG.md")

LINK = re.compile(r"(?P<image>!?)(?P<text>\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^()\s]+)\)")
FENCE = re.compile(r"(^(`{3,}|~{3,}).*?^\2[ \t]*$)", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"``(?P<path>[\w/-]+\.md)``")  # a page, as scripts of the gallery name it


def copied() -> dict[str, str]:
    """Name of the page in the site of every file that is copied into it, by its path."""
    paths = [path for pattern in PATTERNS for path in sorted(ROOT.glob(pattern))]
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    return {name: f"{COPIES}/{name.removesuffix('.md').lower()}" for name in names}


def repository() -> str | None:
    """Address of the repository, where the project names one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    urls = {name.lower(): url for name, url in project.get("urls", {}).items()}
    return urls.get("source") or urls.get("repository")


def copy_pages(app: Sphinx) -> None:
    """Copy them; a file that did not change keeps its time, so that its page is not made again."""
    wanted = {DOCS / f"{name}.md": ROOT / path for path, name in copied().items()}
    for stale in set((DOCS / COPIES).rglob("*.md")) - set(wanted):
        stale.unlink()
    for copy, original in wanted.items():
        text = original.read_text("utf-8")
        if not copy.exists() or copy.read_text("utf-8") != text:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, "utf-8")


def rewrite(app: Sphinx, name: str, source: list[str]) -> None:
    """Send the links of a page, as the repository shows it, to where they are in the site."""
    if app.env.doc2path(name).suffix != ".md":
        source[0] = NAMED.sub(link_to_page, source[0])
        return
    originals = {page: path for path, page in copied().items()}
    home = PurePosixPath(originals.get(name, f"docs/{name}.md")).parent

    def sent(match: re.Match[str]) -> str:
        target = destination(match["target"], name, home, bool(match["image"]))
        if target is None:
            return match["text"][1:-1]
        return f"{match['image']}{match['text']}({target})"

    parts = FENCE.split(source[0])  # text, fence, its ticks, text, ...
    parts[::3] = [LINK.sub(sent, text) for text in parts[::3]]
    del parts[2::3]
    source[0] = "".join(parts)


def link_to_page(match: re.Match[str]) -> str:
    """A link to a page of the site that a text in reStructuredText names by its path."""
    path = match["path"]
    page = copied().get(path, path.removeprefix("docs/").removesuffix(".md"))
    return f":doc:`{path} </{page}>`" if (DOCS / f"{page}.md").exists() else match[0]


def destination(target: str, name: str, home: PurePosixPath, image: bool) -> str | None:
    """Where a link of the page goes; None: nowhere, as there is nothing in the site to show."""
    path, mark, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:|/|<|\{", path):
        return target
    wanted = os.path.normpath(home / path)
    inside = PurePosixPath(wanted).is_relative_to("docs")
    if not inside and wanted not in copied() and not image and (ROOT / wanted).exists():
        return outside(wanted, name)
    there = f"docs/{copied()[wanted]}.md" if wanted in copied() else wanted
    return relative(there, name) + mark + anchor


def outside(path: str, name: str) -> str | None:
    """A file or a folder that is no page of the site."""
    if address := repository():
        return f"{address}/blob/main/{path}"
    return f"<path:{relative(path, name)}>" if (ROOT / path).is_file() else None


def relative(path: str, name: str) -> str:
    """Path of a file of the repository as seen from a page of the site."""
    return os.path.relpath(path, PurePosixPath("docs", name).parent)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Copy before pages are looked for; rewrite as each is read."""
    app.connect("builder-inited", copy_pages, priority=100)
    app.connect("source-read", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
