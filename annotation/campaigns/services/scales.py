"""The criteria of a draft: is each a question that can be asked, on a scale that can be answered?"""

import re
from collections.abc import Sequence

from annotation.campaigns.fields.table import CriterionDraft
from annotation.campaigns.scales import SCALES
from annotation.campaigns.services.problems import Problems
from annotation.models import Dataset, ResponseSource, SourceKind

MAX_CRITERIA = 5
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
        one.check(presentation, dataset)
        if names.index(criterion.name) < place:
            one.refuse("name", "is there twice; each needs a name of its own.")
    known = [criterion for criterion in criteria if criterion.kind in SCALES]
    standards = {criterion.standard_source for criterion in known if criterion.scale.has_standard}
    if len(standards) > 1:
        found = " and ".join(sorted(standards))
        problems.refuse("criteria", f"Found the standard texts {found}; a screen shows one: name the same in each.")


class _Criterion:
    def __init__(self, draft: CriterionDraft, path: str, problems: Problems) -> None:
        self.draft, self.path, self.problems = draft, path, problems

    def refuse(self, field: str, message: str) -> None:
        self.problems.refuse(f"{self.path}.{field}", f"Criterion {self.draft.name!r}: {message}")

    def check(self, presentation: str, dataset: Dataset) -> None:
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
        if draft.kind not in SCALES:
            self.refuse("kind", f"found {draft.kind!r}; accepted: {', '.join(SCALES)}.")
            return
        for column, message in draft.scale.problems():
            self.refuse(column, message)
        if not draft.scale.fits(presentation):
            self.refuse("kind", draft.scale.misfit)
        if draft.scale.has_standard:
            _check_standard(self, dataset)


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
