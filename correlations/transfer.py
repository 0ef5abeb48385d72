"""Studies in an archive of a project."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from annotation.core.canonical import canonical_json
from annotation.models import JobState, Project
from annotation.transfer import registry
from annotation.transfer.registry import Hashed, Table
from annotation.transfer.tables import RATING, newest
from correlations.models import ParameterStudy, Study, StudyJob
from correlations.specification import LAST_RATING
from metrics.transfer import MODEL

DONE = {"state": JobState.DONE.value}
SPECIFICATION = newest(**{LAST_RATING: RATING})
MODELS = registry.each_within("models", registry.within(pk=MODEL))


def _result_is_readable(kind: type[StudyJob]) -> Callable[[dict[str, Any]], None]:
    def enter(row: dict[str, Any]) -> None:
        kind.RESULT.from_json(row["result"])

    return enter


def _table(kind: type[StudyJob], **translate: registry.Translate) -> Table:
    return Table(
        kind,
        where=DONE,
        left_out=registry.job_left_out(),
        fixed=DONE,
        translate={"specification": SPECIFICATION, **translate},
        enter=_result_is_readable(kind),
    )


TABLES = [
    _table(Study),
    Table(Study.campaigns.through, where={"study__state": JobState.DONE.value}),
    Table(Study.score_runs.through, where={"study__state": JobState.DONE.value}),
    _table(ParameterStudy, result=MODELS),
    Table(ParameterStudy.campaigns.through, where={"parameterstudy__state": JobState.DONE.value}),
]

STAYS = {
    **dict.fromkeys(("correlations.studydraws", "correlations.studyshard"), "of a study that is not done"),
    "correlations.jointstudy": "follows from its studies",
    "correlations.jointstudy_studies": "follows from its studies",
    "correlations.studyverification": "says what was computed on one installation",
}


def study_hash(study: StudyJob) -> str:
    """Return the SHA-256 of a study's signature and of its result, without the keys of models in this database."""
    result = MODELS(study.result, lambda label, key: 0)  # type: ignore[attr-defined] # of both kinds
    return hashlib.sha256(canonical_json([study.signature, result])).hexdigest()


def _hashes(project: Project) -> Iterator[Hashed]:
    for name, studies in (("study", project.studies), ("parameter study", project.parameter_studies)):
        for study in studies.filter(**DONE).order_by("name", "signature"):
            yield Hashed(name, study.name, study_hash(study))


registry.register(tables=TABLES, hashes=[_hashes], stays=STAYS)
