import math
import re

import pytest
from django import forms
from django.template.loader import render_to_string

from annotation.templatetags.components import show_all


def text_of(name, **context):
    """The words a reader sees, without markup and surplus white space."""
    html = render_to_string(f"components/{name}.html", context)
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.mark.parametrize(
    ("weight", "text", "css_class"),
    [(0.6, "+0.60", "weight-positive"), (-0.8, "−0.80", "weight-negative"), (0.0, "0.00", 'class="weight"')],
)
def test_weight_shows_its_sign_in_words_and_not_only_in_colour(weight, text, css_class):
    assert text_of("weight_badge", weight=weight) == text
    assert css_class in render_to_string("components/weight_badge.html", {"weight": weight})


@pytest.mark.parametrize("missing", [None, math.nan])
def test_what_is_undefined_says_why_and_is_never_zero(missing):
    assert text_of("weight_badge", weight=missing, reason="no ratings yet") == "undefined : no ratings yet"
    assert text_of("interval", estimate=missing, reason="all values are equal") == "undefined : all values are equal"


def test_interval_prints_the_estimate_and_its_bounds_with_the_asked_digits():
    assert text_of("interval", estimate=0.4812, low=0.41, high=0.5467) == "0.48 [0.41, 0.55]"
    assert text_of("interval", estimate=-0.0312, low=-0.1, high=0.05, digits=3) == "−0.031 [−0.100, 0.050]"
    assert text_of("interval", estimate=0.5) == "0.50"


@pytest.mark.parametrize(
    ("status", "polls"),
    [("queued", True), ("running", True), ("done", False), ("failed", False), ("cancelled", False)],
)
def test_job_is_polled_until_it_has_ended(status, polls):
    html = render_to_string("components/job_status.html", {"status": status, "poll_url": "/runs/1/"})

    assert ('hx-get="/runs/1/"' in html) is polls


def test_progress_of_nothing_is_zero_percent():
    html = render_to_string("components/progress.html", {"value": 0, "total": 0, "label": "Scoring"})

    assert 'aria-valuenow="0"' in html


class Upload(forms.Form):
    name = forms.CharField(help_text="Shown to members.")
    mode = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect, help_text="One of them.")


def test_errors_and_help_are_tied_to_their_field():
    html = render_to_string("components/form.html", {"form": Upload(data={})})

    assert 'id="id_name_helptext"' in html
    assert 'id="id_name_error"' in html
    assert re.search(r'<input[^>]+name="name"[^>]+aria-describedby="id_name_helptext id_name_error"', html)
    assert re.search(r'<fieldset[^>]+aria-describedby="id_mode_helptext id_mode_error"', html)


def test_import_errors_name_line_field_found_and_accepted():
    errors = [{"line": 17, "field": "rating", "found": "<6>", "accepted": "1 to 5"}]

    text = text_of("error_report", errors=errors, summary="1 line of a.tsv cannot be read.", more=3)

    assert "17 rating &lt;6&gt; 1 to 5" in text
    assert text.endswith("… and 3 more lines with errors.")


def test_no_table_hides_a_single_row() -> None:
    for first, count in ((6, 6), (6, 7), (10, 11)):
        assert not show_all(count, "rows", first=first)["is_long"]
    for first, count in ((6, 8), (10, 12)):
        assert show_all(count, "rows", first=first)["is_long"]
