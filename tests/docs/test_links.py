"""Links between files, and to headings, lead somewhere: on GitHub as in the product and on the site."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.conftest import ROOT
from tests.docs.documents import FILES, anchors, inner

IN_HTML = re.compile(r'<(?:a|img)\b[^>]*? (?:href|src)="([^"]+)"')


def addresses(path: Path) -> set[str]:
    targets = set()
    for token in inner(path):
        targets |= {str(token.attrs[name]) for name in ("href", "src") if name in token.attrs}
        if token.type in ("html_inline", "html_block"):
            targets |= set(IN_HTML.findall(token.content))
    return targets


def is_broken(path: Path, address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists() or not target.is_relative_to(ROOT):
        return True
    return bool(parts.fragment) and target.suffix == ".md" and unquote(parts.fragment) not in anchors(target)


def test_every_link_leads_to_a_file_and_to_a_heading_of_it() -> None:
    links = [(path, address) for path in FILES for address in addresses(path)]
    assert len(links) > 500
    assert [f"{path.relative_to(ROOT)}: {address}" for path, address in links if is_broken(path, address)] == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    readme = ROOT / "README.md"
    assert is_broken(readme, "docs/nothing.md")
    assert is_broken(readme, "docs/methods.md#nothing")
    assert is_broken(readme, "../outside.md")
    assert not is_broken(readme, "docs/methods.md#bleu")


def test_every_picture_says_what_it_shows() -> None:
    without = [
        path.relative_to(ROOT) for path in FILES for token in inner(path) if token.type == "image" and not token.content
    ]
    assert without == []
