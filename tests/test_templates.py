import re
from pathlib import Path

import pytest
from django.conf import settings

from annotation.mining.views.candidates import DOWNLOADS
from annotation.quality.views.operations import OPERATIONS
from annotation.references.releases.files.kinds import FILES

LONGEST_LINE = 160
TEMPLATES = Path(settings.BASE_DIR) / "templates"
NAMED_ICONS = re.compile(r"""{% icon "([^"]+)"|icon="([^"]+)"|icon\|default:"([^"]+)"|icons\.svg[^#\s]*#([a-z0-9-]+)""")
ICONS = Path(settings.BASE_DIR) / "static/vendor/bootstrap-icons/icons.svg"


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_no_line_of_a_template_is_too_long_to_read(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, start=1) if len(line) > LONGEST_LINE] == []


def test_every_icon_that_templates_and_tables_of_the_code_name_exists():
    drawn = set(re.findall(r'<symbol[^>]* id="([^"]+)"', ICONS.read_text(encoding="utf-8")))
    named = {
        name: str(path.relative_to(TEMPLATES))
        for path in TEMPLATES.rglob("*.html")
        for match in NAMED_ICONS.findall(path.read_text(encoding="utf-8"))
        for name in filter(None, match)
    }
    named |= {each.icon: name for table in (FILES, OPERATIONS) for name, each in table.items()}
    named |= {icon: name for name, (_, icon) in DOWNLOADS.items()}

    assert len(named) > 40
    assert {name: where for name, where in named.items() if name not in drawn} == {}


def test_an_address_that_a_block_names_is_used_in_that_block_alone():
    """What a tag stores in one block is empty in another, so that its button would be missing."""
    wrong = {}
    for path in TEMPLATES.rglob("*.html"):
        named, text = {}, {}
        block = []
        for part in re.split(r"({% (?:end)?block(?: [^%]*)?%})", path.read_text(encoding="utf-8")):
            if opened := re.match(r"{% block (\w+)", part):
                block.append(opened[1])
            elif part.startswith("{% endblock"):
                block.pop()
            else:
                here = "/".join(block)
                named.setdefault(here, set()).update(re.findall(r"{% url [^%]* as (\w+) %}", part))
                text[here] = text.get(here, "") + part
        used = {
            name
            for here, names in named.items()
            for other in named
            for name in names - named[other]
            if not other.startswith(here) and re.search(rf"(?:_url|value|\{{\{{)[= ]?\s*{name}\b", text[other])
        }
        if used:
            wrong[str(path.relative_to(TEMPLATES))] = used
    assert wrong == {}
