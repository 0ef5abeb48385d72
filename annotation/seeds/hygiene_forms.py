"""The steps of text hygiene as fields of a form."""

import re
from typing import Any, ClassVar

from django import forms

from annotation.core.forms import RefusableForm

MOST_WORDS = 10_000


class HygieneForm(RefusableForm):
    """A field left empty is a step not taken."""

    mask_urls = forms.BooleanField(label="Mask addresses of pages as <url>", required=False)
    mask_emails = forms.BooleanField(label="Mask e-mail addresses as <email>", required=False)
    mask_handles = forms.BooleanField(label="Mask account names as <user>", required=False)
    language = forms.CharField(
        label="Only texts in the language",
        required=False,
        max_length=20,
        help_text="BCP 47 tag, for example en. Texts too short to tell are kept and marked. Empty: no check.",
    )
    min_tokens = forms.IntegerField(label="Words, at least", required=False, min_value=0, max_value=MOST_WORDS)
    max_tokens = forms.IntegerField(label="Words, at most", required=False, min_value=1, max_value=MOST_WORDS)
    mask_names: ClassVar[tuple[str, ...]] = ("mask_urls", "mask_emails", "mask_handles")

    def steps(self) -> list[dict[str, Any]]:
        data = self.cleaned_data
        steps: list[dict[str, Any]] = [{"step": name} for name in self.mask_names if data[name]]
        if data["language"]:
            steps.append({"step": "language", "language": data["language"]})
        lengths = {name: data[name] for name in ("min_tokens", "max_tokens") if data[name] is not None}
        if lengths:
            steps.append({"step": "length", "min_tokens": 0, "max_tokens": MOST_WORDS, **lengths})
        return steps

    def input_of_step(self, path: str) -> str:
        """Return the input of a path such as ``hygiene[1].phrases[0]``, the second step's; any other path unchanged."""
        step = re.match(r"hygiene\[(\d+)\](?:\.(\w+))?", path)
        if step is None:
            return path
        name = self.steps()[int(step[1])]["step"]
        return step[2] if step[2] in self.fields else {"length": "max_tokens"}.get(name, name)
