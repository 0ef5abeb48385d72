"""Draw candidates for seeds from a corpus."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.core.errors import AnnotationError
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.datasets.services.imports import dataset_slug
from annotation.hygiene.refusal import ParameterRefused
from annotation.hygiene.steps import in_order, step_from_dict, step_to_dict
from annotation.models import Corpus, DatasetImport, JobState, User
from annotation.projects.services.audit import audit_record
from annotation.seeds.criteria import check_seed, is_whole

MOST_SAMPLED = 1_000_000


def seeds_sample(
    *,
    corpus: Corpus,
    name: str,
    n: int,
    seed: int,
    hygiene: Sequence[Mapping[str, Any]] = (),
    normalisation: str = DEFAULT_RULE,
    by: User | None = None,
) -> DatasetImport:
    """Queue a data set of ``n`` random triples, each with its response as seed, for ``dataset_import_execute``."""
    dataset_slug(corpus.project, name)
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: a corpus whose index is done."
        raise AnnotationError.at("corpus", message)
    most = min(corpus.n_triples, MOST_SAMPLED)
    if not is_whole(n, 1, most):
        message = f"Found {n}; accepted: 1 to {most:,}, of the corpus's {corpus.n_triples:,} triples."
        raise AnnotationError.at("n", message)
    check_seed(seed)
    if normalisation not in RULES:
        raise AnnotationError.at("normalisation", f"Found {normalisation!r}; accepted: {', '.join(RULES)}.")
    sample = {"corpus": corpus.pk, "n": n, "seed": seed, "hygiene": _steps(hygiene), "content": corpus.content_hash}
    description = {
        "description": f"{n:,} triples drawn at random from the corpus {corpus.name} with the seed {seed}.",
        "language": corpus.language,
        "licence": corpus.licence,
        "attribution": corpus.attribution,
    }
    job = DatasetImport.objects.create(
        project=corpus.project,
        requested_by=by,
        name=name,
        filename=f"{n:,} triples of {corpus.name}"[:255],
        file_format="jsonl",
        content=b"",
        options={
            "sample": sample,
            "normalisation": normalisation,
            **{key: text for key, text in description.items() if text},
        },
    )
    audit_record(
        verb="seeds.sample",
        summary=f"Requested {n:,} triples of the corpus “{corpus.name}” as “{name}”.",
        project=corpus.project,
        by=by,
        data={"import": job.pk, **sample},
    )
    return job


def _steps(hygiene: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    steps = []
    for index, record in enumerate(hygiene):
        try:
            steps.append(step_from_dict(record))
        except ParameterRefused as error:
            inside = error.inside(f"hygiene[{index}]")
            raise AnnotationError.at(inside.field, str(inside)) from error
    try:
        return [step_to_dict(step) for step in in_order(steps)]
    except ParameterRefused as error:
        raise AnnotationError.at("hygiene", str(error)) from error
