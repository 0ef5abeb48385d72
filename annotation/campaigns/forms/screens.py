"""Prepared screens: checks, training and test, one by one in a form or all of them as JSON Lines."""

import json
from typing import Any

from django import forms

from annotation.campaigns.design.quality import PREPARED
from annotation.campaigns.forms.fields import textarea
from annotation.core.file_limits import DESIGN_BYTES, PAGE_MISTAKES
from annotation.core.forms import Form, RefusableForm
from annotation.core.uploads import upload_limit
from annotation.models import Campaign, Criterion


class PreparedForm(RefusableForm):
    """One prepared screen; expected values are a centre and a tolerance, cut off at the ends of the scale."""

    item = forms.CharField(
        label="Item",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"list": "items"}),
        help_text="The id of an item whose conversation is shown; or leave it empty and write one below.",
    )
    context = forms.CharField(label="Earlier turns", required=False, widget=textarea(3), help_text="A line for each.")
    message = forms.CharField(label="Last message", required=False, widget=textarea(2))
    feedback = forms.CharField(
        label="Feedback",
        required=False,
        widget=textarea(3),
        help_text="Markdown. In training, shown once the item is answered: why this is the right answer.",
    )

    def __init__(
        self, campaign: Campaign, kind: str, data: Any = None, *, screen: dict[str, Any] | None = None
    ) -> None:
        texts = (screen or {}).get("texts", [])
        n_sent = sum(name.startswith("text_") for name in data or ())  # the stored screen may have become shorter
        n_texts = max(campaign.presentation_kind.form_texts, len(texts) + 2 * (len(texts) > 2), n_sent)
        super().__init__(data, initial=self._initial(screen))
        self.criteria = list(campaign.criteria.all())
        self.rows: list[tuple[str, list[tuple[Criterion, str, str]]]] = []
        if not PREPARED[kind].has_feedback:
            del self.fields["feedback"]
        for number in range(min(n_texts, 25)):
            self._add_text(number, texts[number] if number < len(texts) else {})

    @staticmethod
    def _initial(screen: dict[str, Any] | None) -> dict[str, Any]:
        if screen is None:
            return {}
        texts = {name: screen.get(name, "") for name in ("item", "message", "feedback")}
        return {**texts, "context": "\n".join(screen.get("context", []))}

    def _add_text(self, number: int, stored: dict[str, Any]) -> None:
        name = f"text_{number}"
        self.fields[name] = forms.CharField(
            label=f"Text {number + 1}" if number else "Text to rate",
            required=number == 0,
            initial=stored.get("text", ""),
            widget=textarea(2),
        )
        expected = []
        for index, criterion in enumerate(self.criteria):
            ends = stored.get("expected", {}).get(criterion.name)
            centre, tolerance = f"value_{number}_{index}", f"tolerance_{number}_{index}"
            self.fields[centre] = forms.FloatField(
                label=f"{criterion.name}: expected", required=False, initial=sum(ends) / 2 if ends else None
            )
            self.fields[tolerance] = forms.FloatField(
                label="±", required=False, min_value=0, initial=(ends[1] - ends[0]) / 2 if ends else 0
            )
            expected.append((criterion, centre, tolerance))
        self.rows.append((name, expected))

    @property
    def text_groups(self) -> list[tuple[forms.BoundField, list[tuple[forms.BoundField, forms.BoundField]]]]:
        """Return each text with the expected value and the tolerance per criterion, for the template."""
        return [
            (self[name], [(self[centre], self[tolerance]) for _, centre, tolerance in expected])
            for name, expected in self.rows
        ]

    def arguments(self) -> dict[str, Any]:
        return {"screen": self.screen()}

    def screen(self) -> dict[str, Any]:
        data = self.cleaned_data
        texts = []
        for name, expected in self.rows:
            if not data[name].strip():
                continue
            ranges = {
                criterion.name: criterion.scale.expected_range(data[centre], data[tolerance] or 0.0)
                for criterion, centre, tolerance in expected
                if data[centre] is not None
            }
            texts.append({"text": data[name].strip(), "expected": ranges})
        return {
            "item": data["item"].strip(),
            "context": [line.strip() for line in data["context"].splitlines() if line.strip()],
            "message": data["message"].strip(),
            "feedback": data.get("feedback", "").strip(),
            "texts": texts,
        }

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        """Return the input of a path such as ``quality.gold.2.texts.1.expected.relevance``."""
        parts = path.split(".")[3:] or [path]
        name: str | None = parts[0]
        if parts[0] == "texts" and len(parts) > 1 and parts[1].isdecimal():
            filled = [name for name, _ in self.rows if str(self.cleaned_data.get(name, "")).strip()]
            number, names = int(parts[1]) - 1, [criterion.name for criterion in self.criteria]
            name = filled[number] if number < len(filled) else None
            if name and len(parts) > 3 and parts[3] in names:
                name = f"value_{name.removeprefix('text_')}_{names.index(parts[3])}"
        return self, name if name in self.fields else None


class LinesForm(Form):
    """All prepared screens of a kind: written, pasted or uploaded, one JSON object a line."""

    lines = forms.CharField(
        label="Items",
        required=False,
        max_length=DESIGN_BYTES,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false"}),
    )
    file = forms.FileField(
        label="Or a file",
        required=False,
        help_text="JSON Lines, in UTF-8. It takes the place of what is written above.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.txt"}),
        validators=[upload_limit(max_bytes=DESIGN_BYTES)],
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        text = data.get("lines", "")
        if file := data.get("file"):
            try:
                text = file.read().decode("utf-8-sig")
            except UnicodeDecodeError as error:
                self.add_error("file", f"Found bytes that are not UTF-8, at {error.start:,}; accepted: UTF-8.")
                return data
        self.problems: list[dict[str, Any]] = []
        self.screens: dict[int, Any] = {}  # by their lines
        for number, line in enumerate(text.splitlines(), start=1):
            if len(self.problems) == PAGE_MISTAKES:
                break
            if line.strip():
                try:
                    self.screens[number] = json.loads(line)
                except (ValueError, RecursionError):  # also whole numbers of more digits than Python reads
                    message = f"Found {line.strip()[:60]}; accepted: one JSON object a line."
                    self.problems.append({"line": number, "field": "", "text": message})
        return data

    @staticmethod
    def written(screens: list[dict[str, Any]]) -> str:
        return "\n".join(json.dumps(screen, ensure_ascii=False) for screen in screens)
