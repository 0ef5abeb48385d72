"""Small forms of which a step shows several, each for an entry that can be left empty or removed."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms.utils import ErrorDict

from annotation.core.forms import Form


class KindSelect(forms.Select):
    """Each option lists the fields that its kind uses; the style sheet hides the others."""

    def __init__(self, uses: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self.uses = uses

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        option["attrs"]["data-uses"] = " ".join(self.uses[value])
        return option


class PartForm(Form):
    """A form with the fields ``name``, ``question`` and ``remove``."""

    @property
    def is_left_out(self) -> bool:
        """Whether the form was sent without name and question, or its entry is to be removed."""
        text = [str(self.data.get(self.add_prefix(name), "")).strip() for name in ("name", "question")]
        return self.is_bound and (bool(self.data.get(self.add_prefix("remove"))) or not any(text))

    def full_clean(self) -> None:
        """Check the fields, unless they are left out: what was not filled in has no mistakes."""
        super().full_clean()
        if self.is_left_out:
            self._errors = ErrorDict()

    @property
    def is_shown(self) -> bool:
        """Whether the form has an entry, a mistake or a question."""
        return bool(self.initial or self.errors or self["question"].value())
