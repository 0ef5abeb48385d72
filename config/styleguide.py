"""Realistic data for the style guide page, which shows every component of templates/components/."""

import math
from typing import Any

from django import forms

from annotation.core.charts import Spec, Theme, palette, themed
from annotation.core.forms import Form


class ExampleForm(Form):
    """A widget of each kind, bound to invalid data, so that the page shows errors, too."""

    name = forms.CharField(help_text="Shown to members, never to raters.", initial="Replies, pilot")
    scale_high = forms.IntegerField(label="Highest point of the scale", min_value=2, max_value=100)
    presentation = forms.ChoiceField(
        choices=[("single", "One response at a time"), ("pair", "Two side by side"), ("list", "A list")],
        widget=forms.RadioSelect,
    )
    criterion = forms.ChoiceField(choices=[("relevance", "Relevance"), ("informativeness", "Informativeness")])
    dataset = forms.FileField(label="Data set", help_text="JSON Lines, CSV or TSV, UTF-8.")
    instructions = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    consent = forms.BooleanField(label="Ask for consent first", required=False, help_text="Kept with the time.")


def bar_chart(theme: Theme) -> Spec:
    rows = [("BLEU", "single", 0.21), ("BLEU", "all", 0.34), ("ΔBLEU", "single", 0.22), ("ΔBLEU", "all", 0.48)]
    scale = {"domain": ["single", "all"], "range": [palette(theme).line_strong, palette(theme).accent]}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": 220,
        "data": {"values": [{"metric": m, "references": r, "rho": rho} for m, r, rho in rows]},
        "transform": [{"calculate": "'ρ = ' + format(datum.rho, '.2f')", "as": "label"}],
        "mark": {"type": "bar", "cornerRadiusEnd": 3},
        "encoding": {
            "x": {"field": "rho", "type": "quantitative", "title": "Spearman's ρ"},
            "y": {"field": "metric", "type": "nominal", "title": None},
            "yOffset": {"field": "references", "sort": scale["domain"]},
            "color": {"field": "references", "type": "nominal", "scale": scale},
            "tooltip": {"field": "label"},
        },
    }
    return themed(spec, theme)


def examples() -> dict[str, Any]:
    return {
        "statuses": ["draft", "running", "paused", "closed", "queued", "done", "failed", "cancelled"],
        "weights": [0.6, 0.1, 0.0, -0.3, -0.8, math.nan],
        "rows": [
            {"id": "7f3a", "text": "I have used it for a year and it still works fine.", "weight": 0.6, "n": 5},
            {"id": "81c0", "text": "Did you read what the article says about the third one?", "weight": 0.1, "n": 5},
            {"id": "90be", "text": "lol what", "weight": -0.8, "n": 4},
        ],
        "errors": [
            {"line": 17, "field": "rating", "found": "6", "accepted": "a number from 1 to 5"},
            {"line": 203, "field": "item", "found": "(empty)", "accepted": "the external id of an item"},
        ],
        "form": ExampleForm(data={"scale_high": "1", "name": ""}),
    }
