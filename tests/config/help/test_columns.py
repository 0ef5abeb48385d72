"""Headers of tables explain themselves: each text of the registry stands behind a header of a page."""

import re
from pathlib import Path

from django.conf import settings
from django.template import Context, Template
from django.utils.html import escape

from annotation.quality.selectors.measures import MEASURES
from config.help.columns import COLUMNS

TEMPLATES = "\n".join(path.read_text() for path in (Path(settings.BASE_DIR) / "templates").rglob("*.html"))


def test_every_explained_column_is_a_header_of_some_page() -> None:
    used = set(re.findall(r'{% (?:th|explain) "([^"]+)" "([^"]+)"', TEMPLATES))
    used |= {("raters", kind.label) for kind in MEASURES.values()}  # headers made in a loop
    assert {(table, column) for table, columns in COLUMNS.items() for column in columns} - used == set()


def test_every_measure_of_the_raters_table_is_explained() -> None:
    listed = {kind.label for name, kind in MEASURES.items() if kind.is_listed and name != "n"}
    assert listed - COLUMNS["raters"].keys() == set()


def test_a_header_with_an_explanation_is_a_button_and_others_are_plain() -> None:
    page = '{% load help %}{% th "run" "Place" "num" %}{% th "run" "System" rowspan=2 %}{% explain "raters" "Gold" %}'
    text = escape(COLUMNS["run"]["Place"])
    assert Template(page).render(Context()) == (
        f'<th scope="col" class="num"><button class="explained" type="button" title="{text}" '
        'data-explain>Place</button></th><th scope="col" rowspan="2">System</th>'
        f'title="{COLUMNS["raters"]["Gold"]}" data-explain'
    )
