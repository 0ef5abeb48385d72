"""The criteria of a draft: is each a question that can be asked, on a scale that can be answered?"""

import math
import re
from collections.abc import Sequence

from annotation.campaigns.fields.table import CriterionDraft
from annotation.models import Dataset, PresentationKind, ResponseSource, ScaleKind, SourceKind
from annotation.services.campaigns.problems import Problems

MAX_CRITERIA = 5
MAX_POINTS = 25
MAX_STRENGTH = 5
NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
REFERENCES = [kind for kind in SourceKind.values if kind != SourceKind.SYSTEM]


def validate_criteria(
    criteria: Sequence[CriterionDraft], presentation: str, dataset: Dataset, problems: Problems
) -> None:
    if not 1 <= len(criteria) <= MAX_CRITERIA:
        problems.refuse("criteria", f"Found {len(criteria)} criteria; accepted: 1 to {MAX_CRITERIA}.")
    names = [criterion.name for criterion in criteria]
    for place, criterion in enumerate(criteria):
        one = _Criterion(criterion, f"criteria.{place}", problems)
        one.check()
        if names.index(criterion.name) < place:
            one.refuse("name", "is there twice; each needs a name of its own.")
        if criterion.kind == ScaleKind.PREFERENCE and presentation != PresentationKind.PAIR:
            one.refuse("kind", "asks which of two is better, which only pairs show; accepted here: another scale.")
        if criterion.kind == ScaleKind.MAGNITUDE:
            _check_standard(one, dataset)
    standards = {one.standard_source for one in criteria if one.kind == ScaleKind.MAGNITUDE}
    if len(standards) > 1:
        found = " and ".join(sorted(standards))
        problems.refuse("criteria", f"Found the standard texts {found}; a screen shows one: name the same in each.")


class _Criterion:
    def __init__(self, draft: CriterionDraft, path: str, problems: Problems) -> None:
        self.draft, self.path, self.problems = draft, path, problems

    def refuse(self, field: str, message: str) -> None:
        self.problems.refuse(f"{self.path}.{field}", f"Criterion {self.draft.name!r}: {message}")

    def check(self) -> None:
        draft = self.draft
        if not NAME.fullmatch(draft.name):
            self.refuse("name", "accepted as a name: up to 60 letters, digits, hyphens and underscores.")
        if not draft.question.strip():
            self.refuse("question", "asks no question.")
        if len(draft.question) > 300:
            self.refuse("question", f"its question has {len(draft.question)} characters; accepted: up to 300.")
        for label in draft.labels:
            if len(label) > 200:
                self.refuse("labels", f"a label has {len(label)} characters; accepted: up to 200.")
        check = {
            ScaleKind.LIKERT: self._likert,
            ScaleKind.SLIDER: self._slider,
            ScaleKind.MAGNITUDE: self._magnitude,
            ScaleKind.PREFERENCE: self._preference,
        }.get(draft.kind)  # type: ignore[call-overload]
        if check is None:
            self.refuse("kind", f"found {draft.kind!r}; accepted: {', '.join(ScaleKind.values)}.")
        else:
            check()

    def _likert(self) -> None:
        if not self._ends():
            return
        points = self.draft.scale_max - self.draft.scale_min + 1
        if not 2 <= points <= MAX_POINTS:
            self.refuse(
                "scale_max",
                f"its scale goes from {self.draft.scale_min} to {self.draft.scale_max}; accepted: 2 to {MAX_POINTS} "
                "points, from low to high. A slider takes more.",
            )
        else:
            self._labels(points, "one per point")

    def _slider(self) -> None:
        if not self._ends():
            return
        span = self.draft.scale_max - self.draft.scale_min
        if span < 1:
            found = f"its scale goes from {self.draft.scale_min} to {self.draft.scale_max}"
            self.refuse("scale_max", f"{found}; accepted: from low to high.")
            return
        step = self.draft.step
        if not (math.isfinite(step) and 0 <= step <= span):
            self.refuse("step", f"found a step of {step:g}; accepted: 0 for any number, or up to {span}.")
        elif step and abs(span / step - round(span / step)) > 1e-9:
            self.refuse("step", f"steps of {step:g} do not lead from one end to the other, {span} apart.")
        self._labels(2, "one for each end")

    def _magnitude(self) -> None:
        value = self.draft.standard_value
        if value is None or not (math.isfinite(value) and 0 < value <= 1e6):
            found = "nothing" if value is None else f"{value:g}"
            self.refuse("standard_value", f"the standard counts as {found}; accepted: a number above 0, such as 100.")
        if self.draft.labels:
            self.refuse("labels", "a magnitude has no points to label; accepted: no labels.")

    def _preference(self) -> None:
        strength = self.draft.scale_max
        if not 1 <= strength <= MAX_STRENGTH:
            self.refuse("scale_max", f"found {strength} degrees of preference; accepted: 1 to {MAX_STRENGTH}.")
        else:
            self._labels(2 * strength + 1, "one per point, from the second much better to the first much better")

    def _ends(self) -> bool:
        for end in ("scale_min", "scale_max"):
            value = getattr(self.draft, end)
            if not -1000 <= value <= 1000:
                self.refuse(end, f"its scale has an end at {value}; accepted: -1000 to 1000.")
                return False
        return True

    def _labels(self, wanted: int, which: str) -> None:
        found = len(self.draft.labels)
        if found not in (0, wanted):
            what = "two ends" if self.draft.kind == ScaleKind.SLIDER else f"{wanted} points"
            self.refuse("labels", f"found {found} labels for {what}; accepted: none, or {which}.")


def _check_standard(one: _Criterion, dataset: Dataset) -> None:
    source = one.draft.standard_source
    sources = ResponseSource.objects.filter(item__dataset=dataset)
    known = sources.filter(kind=source) if source in REFERENCES else sources.filter(system__name=source)
    if not source:
        one.refuse("standard_source", "names no standard; accepted: a system, or a kind of reference.")
    elif not known.exists():
        systems = ", ".join(dataset.systems.values_list("name", flat=True)[:50])
        one.refuse(
            "standard_source",
            f"the data set has no text from {source!r}; accepted: {', '.join(REFERENCES)}"
            f"{', or the systems ' + systems if systems else ''}.",
        )
