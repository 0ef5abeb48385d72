"""Add a run's kept candidates to the data set as references, once, without the near-duplicates that were left out."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, field

from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from annotation.campaigns.services.names import reserved_name
from annotation.campaigns.services.starting import campaign_start
from annotation.campaigns.services.writing import campaign_change
from annotation.core.copying import MANY
from annotation.core.errors import AnnotationError
from annotation.datasets.services.export import dataset_rehash
from annotation.mining.selectors import kept_near_duplicates
from annotation.models import (
    Campaign,
    CandidateFate,
    Dataset,
    JobState,
    MinedCandidate,
    MiningRun,
    Response,
    SourceKind,
    Target,
    User,
)
from annotation.projects.services.audit import audit_record

TEMPLATE = "delta-bleu-references"
NAME = "Rating replies"  # raters read it, so it does not tell the purpose of the ratings


@dataclass(frozen=True)
class StorePreview:
    """The numbers of a run's candidates that are, or would be, added to its data set."""

    kinds: dict[str, int] = field(default_factory=dict)
    items: int = 0
    new_responses: int = 0
    known_responses: int = 0
    near_duplicates: int = 0  # kept, but left out here

    @property
    def sources(self) -> int:
        return sum(self.kinds.values())


def store_preview(run: MiningRun) -> StorePreview:
    """Count what would be added to the data set now."""
    known = Response.objects.filter(item=OuterRef("item"), text_key=OuterRef("text_key"))
    return _counted(run, known_responses=_n_texts(_chosen(run).filter(Exists(known))))


def _counted(run: MiningRun, *, known_responses: int) -> StorePreview:
    chosen = _chosen(run)
    return StorePreview(
        kinds=dict(chosen.values_list("kind").annotate(n=Count("pk")).order_by("kind")),
        items=chosen.values("item").distinct().count(),
        new_responses=_n_texts(chosen) - known_responses,
        known_responses=known_responses,
        near_duplicates=kept_near_duplicates(run).filter(left_out=True).count(),
    )


def _chosen(run: MiningRun) -> QuerySet[MinedCandidate]:
    return MinedCandidate.objects.filter(run=run, fate=CandidateFate.KEPT, left_out=False).order_by()


def _n_texts(candidates: QuerySet[MinedCandidate]) -> int:
    return candidates.values("item", "text_key").distinct().count()


@transaction.atomic
def near_duplicates_choose(*, run: MiningRun, take: Collection[int] = (), leave_out: Collection[int] = ()) -> None:
    """Choose the near-duplicates to add and to leave out, by their ids; the others do not change."""
    run = _open_run(run)
    near = kept_near_duplicates(run)
    ids = {*take, *leave_out}
    wrong = set(take) & set(leave_out) or ids - set(near.filter(pk__in=ids).values_list("pk", flat=True))
    if wrong:
        listed = ", ".join(map(str, sorted(wrong)[:10]))
        accepted = f"ids of kept near-duplicates of {run}, each to be taken or left out"
        raise AnnotationError.at("leave_out", f"Found {listed}; accepted: {accepted}.")
    near.filter(pk__in=take).update(left_out=False)
    near.filter(pk__in=leave_out).update(left_out=True)


@transaction.atomic
def near_duplicates_choose_all(*, run: MiningRun, left_out: bool) -> None:
    """Choose to add all near-duplicates, or to leave all out."""
    kept_near_duplicates(_open_run(run)).exclude(left_out=left_out).update(left_out=left_out)


def _open_run(run: MiningRun) -> MiningRun:
    """Return the run, locked; refuse one whose candidates cannot be added, or were added already."""
    run = MiningRun.objects.select_for_update(of=("self",)).select_related("dataset", "project").get(pk=run.pk)
    if run.state != JobState.DONE:
        raise AnnotationError(f"{run} is {run.get_state_display().lower()}; accepted: a run that is done.")
    if run.stored_at is not None:
        raise AnnotationError(
            f"The candidates of {run} are in “{run.dataset}” since {run.stored_at:%Y-%m-%d %H:%M} UTC; "
            "accepted: once for each run."
        )
    return run


# An existing text gets a further source. The unmasked raw_text of a candidate is not copied.
NEW_RESPONSES = """
INSERT INTO annotation_response (item_id, text, text_key)
SELECT first.item_id, first.text, first.text_key
  FROM (
    SELECT DISTINCT ON (c.item_id, c.text_key) c.item_id, c.text, c.text_key, i.position, c.kind, c.rank
      FROM annotation_minedcandidate c JOIN annotation_item i ON i.id = c.item_id
     WHERE c.run_id = %(run)s AND c.fate = 'kept' AND NOT c.left_out
     ORDER BY c.item_id, c.text_key, c.kind, c.rank
  ) first
 ORDER BY first.position, first.kind, first.rank
ON CONFLICT (item_id, text_key) DO NOTHING
"""
NEW_SOURCES = """
INSERT INTO annotation_responsesource
       (response_id, item_id, kind, rank, score, source_context, source_message, raw_text, mining_run_id)
SELECT r.id, c.item_id, c.kind, c.rank, c.score, c.source_context, c.source_message,
       CASE WHEN c.text <> r.text THEN c.text ELSE '' END, c.run_id
  FROM annotation_minedcandidate c
  JOIN annotation_item i ON i.id = c.item_id
  JOIN annotation_response r ON r.item_id = c.item_id AND r.text_key = c.text_key
 WHERE c.run_id = %(run)s AND c.fate = 'kept' AND NOT c.left_out
 ORDER BY i.position, c.kind, c.rank
"""


@transaction.atomic
def mining_run_store(
    *,
    run: MiningRun,
    near_duplicates: bool | None = None,
    leave_out: Collection[int] | None = None,
    by: User | None = None,
) -> StorePreview:
    """Add the kept candidates to the data set as references that name this run; refused a second time.

    Near-duplicates are added unless they were left out before. ``near_duplicates`` adds all or none, ``leave_out`` all
    but these ids, whatever was chosen before.
    """
    run = _open_run(run)
    if leave_out is not None or near_duplicates is not None:
        near_duplicates_choose_all(run=run, left_out=near_duplicates is False)
        near_duplicates_choose(run=run, leave_out=leave_out or ())
    Dataset.objects.select_for_update(no_key=True).get(pk=run.dataset_id)  # concurrent additions wait
    if not _chosen(run).exists():
        reason = "left out all it kept" if kept_near_duplicates(run).exists() else "kept no candidate"
        raise AnnotationError(f"{run} {reason}; there is nothing to add. Mine again with other numbers.")
    with connection.cursor() as cursor:
        cursor.execute(NEW_RESPONSES, {"run": run.pk})
        n_new = cursor.rowcount
        if n_new >= MANY:
            cursor.execute("ANALYZE annotation_response")
        cursor.execute(NEW_SOURCES, {"run": run.pk})
        if cursor.rowcount >= MANY:
            cursor.execute("ANALYZE annotation_responsesource")
    dataset_rehash(run.dataset)
    stored = _counted(run, known_responses=_n_texts(_chosen(run)) - n_new)
    MiningRun.objects.filter(pk=run.pk).update(stored_at=Now(), report={**run.report, "stored": stored_record(stored)})
    audit_record(
        verb="mining.store",
        summary=f"Added {stored.sources:,} mined candidates to “{run.dataset}”: "
        f"{stored.new_responses:,} new responses, {stored.known_responses:,} that were there.",
        project=run.project,
        by=by,
        data={"run": run.pk, "dataset": run.dataset.slug, **stored_record(stored)},
    )
    return stored


def stored_record(stored: StorePreview) -> dict[str, object]:
    record = asdict(stored)
    record["near_duplicates_left_out"] = record.pop("near_duplicates")
    return record


@transaction.atomic
def mining_run_rate(*, run: MiningRun, by: User | None = None) -> Campaign:
    """Create a draft campaign that rates references of the kinds that this run added."""
    if run.stored_at is None:
        raise AnnotationError(f"The candidates of {run} are not in the data set yet: add them first.")
    kinds = [kind for kind in SourceKind.values if kind in run.report.get("stored", {}).get("kinds", {})]
    name = reserved_name(run.project, NAME)
    campaign = campaign_start(project=run.project, dataset=run.dataset, template=TEMPLATE, name=name, by=by)
    splits = run.specification["seeds"].get("splits", [])
    changes = {"target": Target.REFERENCES, "reference_kinds": kinds}
    if len(splits) == 1:
        changes["split"] = splits[0]
    return campaign_change(campaign=campaign, changes=changes, settle=tuple(changes), by=by)
