"""Headers of tables explain themselves: each text of the registry stands behind a header of a page."""

import re
from pathlib import Path

from django.conf import settings
from django.template import Context, Template
from django.utils.html import escape

from annotation.quality.selectors.measures import MEASURES
from config.help.columns import COLUMNS
from correlations.views.metrics import STUDY
from correlations.views.parameters import PARAMETER_STUDY

# Headers that say all by themselves. Any other is explained in the registry.
PLAIN = """
    Accepted, Account, Action, Address, Adds, Amount, Answer, Bonus, Browser, By, Campaign, Change, Code, Coefficient,
    Column, Computed, Context and message, Corpus, Created, Criterion, Data set, Decision, Details, Dry run, E-mail,
    Ends in, Expires, Fact, Field, File, First values, Found, Highest, Holds, How it was computed, How many, How the
    submission ended, Imported, In all, Invitation, Item, Items, Job, Kind, Labels, Language, Last
    seen, Last used, Licence, Line, List, Lowest, Mean, Mean rating, Means, Member, Message, Metric, Model,
    Name, No., Notes, Notification, Output, Pair, Progress, Provider, Question, Rater, Reason, Recruitment, Reference,
    References, Release, Response, Responses, Role, Rule, Run, Scale, Scheme, Score, Seconds, Seconds per item
    (median), Selected, Sent, Setting, Share of the candidates, Shown, Signed in, Since, Source, Split, Started, State,
    Study, System, System or text, Table, Text, Value, Webhook, Weight, What, What follows, What happened, When, Works
    until, n-gram, none
"""
PLAIN_HEADER = re.compile(r'<th\b[^>]*scope="col"[^>]*>\s*([^<{]*?)\s*</th>')  # one of words alone
STYLE_GUIDE = "styleguide.html"
TEMPLATES = "\n".join(
    path.read_text()
    for path in (Path(settings.BASE_DIR) / "templates").rglob("*.html")
    if path.name != STYLE_GUIDE  # its tables are samples
)


def test_every_explained_column_is_a_header_of_some_page() -> None:
    used = set(re.findall(r'{% (?:th|explain) "([^"]+)" "([^"]+)"', TEMPLATES))
    used |= {("raters", kind.label) for kind in MEASURES.values()}  # headers made in a loop
    used |= {("studies", heading) for kind in (STUDY, PARAMETER_STUDY) for heading in kind.cells}
    assert {(table, column) for table, columns in COLUMNS.items() for column in columns} - used == set()


def test_every_header_explains_itself_or_says_all() -> None:
    assert set(PLAIN_HEADER.findall(TEMPLATES)) - {""} - set(" ".join(PLAIN.split()).split(", ")) == set()


def test_every_measure_of_the_raters_table_is_explained() -> None:
    listed = {kind.label for name, kind in MEASURES.items() if kind.is_listed and name != "n"}
    assert listed - COLUMNS["raters"].keys() == set()


def test_a_header_with_an_explanation_is_a_button_and_others_are_plain() -> None:
    page = '{% load help %}{% th "run" "Place" "num" %}{% th "run" "System" rowspan=2 %}{% explain "raters" "Gold" %}'
    text = escape(COLUMNS["run"]["Place"])
    assert Template(page).render(Context()) == (
        f'<th scope="col" class="num"><button class="explained" type="button" title="{text}" '
        'data-column-note>Place</button></th><th scope="col" rowspan="2">System</th>'
        f'title="{COLUMNS["raters"]["Gold"]}" data-column-note'
    )
