"""Check the criteria of a draft: their names, questions and scales."""

from collections.abc import Sequence

from annotation.campaigns.fields.kinds import problems_in
from annotation.campaigns.fields.table import CRITERION, CriterionDraft
from annotation.campaigns.presentations import Single
from annotation.campaigns.scales import SCALES
from annotation.campaigns.services.problems import FieldProblems
from annotation.datasets.selectors.datasets import has_dialogues
from annotation.models import Dataset, ResponseSource, Scope, SourceKind

MAX_CRITERIA = 5


def validate_criteria(
    criteria: Sequence[CriterionDraft], presentation: str, dataset: Dataset, problems: FieldProblems
) -> None:
    if not 1 <= len(criteria) <= MAX_CRITERIA:
        problems.refuse("criteria", f"Found {len(criteria)} criteria; accepted: 1 to {MAX_CRITERIA}.")
    names = [criterion.name for criterion in criteria]
    for index, criterion in enumerate(criteria):
        check = _CriterionCheck(criterion, f"criteria.{index}", problems)
        check.run(presentation, dataset)
        if names.index(criterion.name) < index:
            check.refuse("name", "two criteria have this name; choose another name.")
    known = [criterion for criterion in criteria if criterion.kind in SCALES]
    standards = {criterion.standard_source for criterion in known if criterion.scale.has_standard}
    if len(standards) > 1:
        sources = " and ".join(sorted(standards))
        problems.refuse("criteria", f"Found the standard texts {sources}; accepted: the same in all criteria.")


class _CriterionCheck:
    def __init__(self, draft: CriterionDraft, path: str, problems: FieldProblems) -> None:
        self.draft, self.path, self.problems = draft, path, problems

    def refuse(self, field: str, message: str) -> None:
        self.problems.refuse(f"{self.path}.{field}", f"Criterion {self.draft.name!r}: {message}")

    def run(self, presentation: str, dataset: Dataset) -> None:
        draft = self.draft
        for name, problem in problems_in(draft, CRITERION):
            self.refuse(name, f"{problem[0].lower()}{problem[1:]}")
        if not draft.question.strip():
            self.refuse("question", "found no question; accepted: a text.")
        if draft.kind not in SCALES:
            return
        for column, message in draft.scale.problems():
            self.refuse(column, message)
        if not draft.scale.fits(presentation):
            self.refuse("kind", draft.scale.misfit)
        if draft.scale.has_standard:
            self._check_standard(dataset)
        if draft.by_turn:
            self._check_turns(presentation, dataset)

    def _check_turns(self, presentation: str, dataset: Dataset) -> None:
        whole, scale = f"accepted: {Scope.WHOLE}", self.draft.scale
        if scale.whole or scale.is_relative or scale.has_standard:
            self.refuse("scope", f"found each turn, with a scale that rates one text by another; {whole}.")
        elif presentation != Single.key:
            self.refuse("scope", f"found each turn, but a screen shows several responses; {whole}.")
        elif not has_dialogues(dataset):
            self.refuse("scope", f"found each turn, but the data set {dataset.name!r} has no dialogues; {whole}.")

    def _check_standard(self, dataset: Dataset) -> None:
        source, kinds = self.draft.standard_source, SourceKind.of_references()
        sources = ResponseSource.objects.filter(item__dataset=dataset)
        known = sources.filter(kind=source) if source in kinds else sources.filter(system__name=source)
        if not source:
            self.refuse("standard_source", "found no standard; accepted: a system, or a kind of reference.")
        elif not known.exists():
            systems = ", ".join(dataset.systems.values_list("name", flat=True)[:50])
            accepted = ", ".join(kinds) + (f", or the systems {systems}" if systems else "")
            self.refuse("standard_source", f"the data set has no text from {source!r}; accepted: {accepted}.")
