import pytest

from metrics.models import ScoreRun
from metrics.selectors import runs
from metrics.services.runs import score_run_create
from metrics.subsets import Subset
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


def test_pages_of_runs_go_from_the_newest_to_the_oldest_and_hold_each_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "RUNS_PAGE", 2)
    for metric in ("bleu", "sbleu", "chrf", "ter", "rouge_l"):
        score_run_create(
            project=world.project,
            release=world.release,
            systems=world.hypotheses,
            metric=metric,
            parameters={},
            subset=Subset(),
            by=None,
        )
    # Written again out of order: without an order of its own a query finds them as they lie.
    ScoreRun.objects.filter(metric="bleu").update(progress_note="again")

    ids: list[int] = []
    more, before = True, None
    while more:
        page, before = runs.group_page(world.project, before=before)
        ids += [run.pk for group in page for run in group.runs]
        more = before is not None

    assert ids == sorted(ScoreRun.objects.values_list("pk", flat=True), reverse=True)
