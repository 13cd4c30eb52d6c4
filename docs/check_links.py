"""Check that every link inside the built site leads to a file, and to a mark that is there.

python docs/check_links.py [docs/_build/html]

Addresses outside the site need a network: ``sphinx-build -b linkcheck docs docs/_build/linkcheck``.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links and marks of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.marks: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and by which name it can be linked to."""
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.marks.add(value or "")
            elif name in ("href", "src") and value:
                self.links.add(value)


@cache
def read(path: Path) -> Page:
    """The page in a file."""
    return Page(path.read_text("utf-8"))


def is_broken(link: str, page: Path) -> bool:
    """Whether a link inside the site leads nowhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return True
    mark = unquote(parts.fragment)
    return bool(mark) and target.suffix == ".html" and mark not in read(target).marks


def broken_links(site: Path) -> list[tuple[str, str]]:
    """Page and link of all that lead nowhere."""
    return [
        (page.relative_to(site).as_posix(), link)
        for page in sorted(site.resolve().rglob("*.html"))
        for link in sorted(read(page).links)
        if "_static" not in page.parts and is_broken(link, page)
    ]


def main() -> None:
    """Print them, and fail where there are any."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/_build/html").resolve()
    found = broken_links(site)
    for page, link in found:
        print(f"{page}: {link} leads nowhere")
    sys.exit(1 if found or not (site / "index.html").exists() else 0)


if __name__ == "__main__":
    main()
