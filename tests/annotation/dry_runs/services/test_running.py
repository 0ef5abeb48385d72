"""Dry runs over the real pages, on a server of their own."""

from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest
from django.apps import apps
from django.db import connection

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.core import jobs
from annotation.core.errors import AnnotationError
from annotation.dry_runs.services import running as module
from annotation.dry_runs.services.extent import extent
from annotation.dry_runs.services.running import dry_run_create, dry_run_execute, sandboxes_sweep
from annotation.dry_runs.services.sandbox import sandbox_open
from annotation.dry_runs.specification import DryRunSpecification
from annotation.models import AuditEntry, Campaign, CampaignState, DryRun, JobState, Project, QualityRules
from tests.annotation.dry_runs.services.conftest import CHECKS, FEW, play
from tests.annotation.worlds.campaigns import INFORMATIVENESS, RELEVANCE, join, rate_next
from tests.annotation.worlds.designed import QUALIFICATION

Draft = Callable[..., Campaign]
pytestmark = pytest.mark.django_db(transaction=True)


def counts() -> dict[str, int]:
    return {
        model._meta.db_table: model._default_manager.count() for model in apps.get_models(include_auto_created=True)
    }


@pytest.fixture
def untouched() -> Iterator[dict[str, int]]:
    """Assert at the end that every table has as many rows as the test stored here."""
    row_counts: dict[str, int] = {}
    yield row_counts
    assert row_counts
    assert counts() == row_counts


def test_every_slot_is_filled_and_nothing_is_left_behind(draft: Draft, untouched: dict[str, int]) -> None:
    campaign = draft(quality=CHECKS, consent="Do you agree?", instructions="Rate.", payment_per_unit="0.10")
    run = dry_run_create(campaign=campaign, specification=FEW)
    untouched.update(counts())
    dry_run_execute(dry_run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.error, run.sandbox_id) == (JobState.DONE, "", None)
    part = run.result["simulated"]
    assert (part["filled"], part["places"], run.result["findings"]) == (12, 12, [])
    assert part["by_purpose"]["work"] == 12
    assert part["by_purpose"]["gold"] >= 1
    assert float(run.result["forecast"]["cost"]["total"]) > 0.1 * 12
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.DRAFT


def test_answers_depend_on_the_specification_and_its_seed(draft: Draft) -> None:
    campaign = draft(quality=CHECKS)
    first, repeated, other_seed = (
        play(campaign, dropout=0.05, spam_share=0.25, seed=seed).result for seed in (5, 5, 6)
    )
    assert first == repeated
    assert first["curve"] != other_seed["curve"]


def test_a_running_campaign_is_not_changed(draft: Draft) -> None:
    campaign = campaign_launch(campaign=draft())
    rate_next(campaign, join(campaign))
    before = list(campaign.ratings.values())
    run = play(campaign)
    assert run.state == JobState.DONE
    assert run.result["simulated"]["filled"] == 12
    assert list(campaign.ratings.values()) == before
    assert campaign.units.filter(done_slots=1).count() == 1


@pytest.mark.parametrize(
    "columns",
    [
        {"presentation": "pair", "criteria": [RELEVANCE, INFORMATIVENESS]},
        {"presentation": "list", "comment": "required", "cannot_judge_reasons": ["No sense"], "break_every_units": 1},
        {"qualification": QUALIFICATION, "admission": "account", "seconds_between_units": 30, "rater_language": "ar"},
    ],
    ids=["pairs", "lists", "qualification"],
)
def test_simulated_raters_can_use_every_kind_of_page(draft: Draft, columns: dict[str, Any]) -> None:
    run = play(draft(**columns), noise=0, bias_sd=0, lapse=0, spam_share=0)
    part = run.result["simulated"]
    assert (run.error, run.result["findings"]) == ("", [])
    assert part["filled"] == part["places"] > 0


def test_most_spammers_are_caught_by_gold_and_repeats(draft: Draft) -> None:
    """Three in ten spam; every second screen is a check, so that each rater meets some ten of each kind."""
    campaign = draft(items=7, k=4, quality=CHECKS, max_units_per_rater=40)
    run = play(campaign, raters=10, spam_share=0.3, arrivals_per_hour=600, lapse=0, noise=0.1)
    detection = run.result["forecast"]["detection"]
    assert run.result["rules"]["source"] == "default"
    assert detection["spammers"] >= 2
    assert detection["struck_spammers"] > detection["spammers"] / 2
    assert detection["struck_honest"] <= 1


def test_without_checks_no_spammer_is_caught(draft: Draft) -> None:
    run = play(draft(), spam_share=0.5)
    assert run.result["rules"] == {"source": "none", "version": None, "checks": False, "sentences": []}
    assert run.result["forecast"]["detection"]["struck_spammers"] == 0
    assert run.result["forecast"]["detection"]["spammers"] > 0


def test_registered_rules_replace_the_default_ones_and_use_the_raters_seconds(draft: Draft) -> None:
    campaign = draft(quality=CHECKS)
    rule = {"rule": "median_seconds_below", "version": 1, "action": "exclude", "seconds": 7.0, "after": 1}
    QualityRules.objects.create(campaign=campaign, version=1, rules=[rule], before_launch=True)
    run = play(campaign, spam_share=0.5, speed_sd=0)  # spammers take 4 seconds in the median, others 10
    assert run.result["rules"]["source"] == "registered"
    rows = run.result["raters"]
    assert {row["action"] for row in rows if row["spam"]} == {"exclude"}
    assert {row["action"] for row in rows if not row["spam"]} == {None}


def test_the_slot_of_a_rater_who_leaves_is_given_to_another(draft: Draft) -> None:
    run = play(draft(items=2), raters=24, dropout=0.3)
    part = run.result["simulated"]
    assert part["left"] > 0
    assert part["filled"] == part["places"]


def test_raters_with_too_few_units_for_a_code_are_counted(draft: Draft) -> None:
    run = play(draft(min_units_per_rater=7), raters=2)
    assert run.result["without_code"] == sum(row["units"] < 7 for row in run.result["raters"])


def test_server_errors_are_reported_as_findings(draft: Draft) -> None:
    with mock.patch("annotation.rating.views.work.unit_request", side_effect=AnnotationError("broken")):
        run = play(draft(), raters=2)
    assert run.state == JobState.DONE
    assert sum(finding["times"] for finding in run.result["findings"]) == 2
    assert "status 500" in run.result["findings"][0]["what"]
    assert run.result["forecast"] is None


def test_a_cancelled_run_leaves_nothing_behind(draft: Draft, untouched: dict[str, int]) -> None:
    run = dry_run_create(campaign=draft(items=3, k=4), specification=FEW)
    untouched.update(counts())
    played = module.Walk.play

    def cancelled_meanwhile(walk: Any) -> Any:
        assert Project.objects.filter(is_sandbox=True).count() == 1
        jobs.job_request_cancel(run)
        return played(walk)

    with mock.patch.object(module.Walk, "play", cancelled_meanwhile):
        dry_run_execute(dry_run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.result) == (JobState.CANCELLED, {})


def test_a_failed_run_leaves_nothing_behind_and_has_a_reason(draft: Draft, untouched: dict[str, int]) -> None:
    run = dry_run_create(campaign=draft(quality={"every": 2, "mix": {"gold": 1}}), specification=FEW)
    untouched.update(counts())
    dry_run_execute(dry_run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "gold" in run.error


def test_the_sandbox_of_a_killed_worker_is_removed(draft: Draft, untouched: dict[str, int]) -> None:
    run = dry_run_create(campaign=draft(quality=CHECKS), specification=FEW)
    claim = jobs.job_claim(DryRun, run.pk)
    assert claim
    untouched.update(counts())
    sandbox = sandbox_open(dry_run=run, claim=claim, extent=extent(run.campaign, DryRunSpecification.from_dict(FEW)))
    rate_next(sandbox, join(sandbox))
    assert sandboxes_sweep() == 0  # it is at work
    claim.fail("Given up.")
    assert sandboxes_sweep() == 1
    assert sandboxes_sweep() == 0


def test_a_second_worker_removes_the_sandbox_of_the_first(draft: Draft) -> None:
    run = dry_run_create(campaign=draft(), specification=FEW)
    claim = jobs.job_claim(DryRun, run.pk)
    assert claim
    sandbox_open(dry_run=run, claim=claim, extent=extent(run.campaign, DryRunSpecification.from_dict(FEW)))
    jobs.job_abandon(run)
    dry_run_execute(dry_run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.DONE
    assert not Project.objects.filter(is_sandbox=True).exists()


def test_a_large_campaign_is_simulated_in_part_and_extrapolated(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.dry_runs.services.extent.MOST_SCREENS", 18)
    monkeypatch.setattr("annotation.dry_runs.services.extent.FEWEST_RATERS", 4)
    campaign = draft(items=12, payment_per_unit="0.10")
    run = play(campaign, raters=20)
    part = run.result["simulated"]
    assert part["share"] == pytest.approx(3 / 12)
    assert (part["units"], run.result["units"]) == (9, 36)
    assert run.result["forecast"]["cost"]["screens"] == 72


def test_creating_a_run_is_audited_and_validated(draft: Draft) -> None:
    campaign = draft()
    with pytest.raises(AnnotationError) as refused:
        dry_run_create(campaign=campaign, specification={"raters": 0, "noise": 2.0, "x": 1})
    assert set(refused.value.fields) == {"raters", "noise", "x"}
    dry_run_create(campaign=campaign, specification=FEW)
    entry = AuditEntry.objects.get(verb="campaign.dry_run")
    assert entry.data["raters"] == 4
    Campaign.objects.filter(pk=campaign.pk).update(imported=True)
    campaign.refresh_from_db()
    with pytest.raises(AnnotationError, match="collected elsewhere"):
        dry_run_create(campaign=campaign, specification=FEW)


def test_purging_touches_sandboxes_only(project: Project, draft: Draft) -> None:
    campaign = draft()
    module.sandbox_purge(project.pk)
    assert Campaign.objects.filter(pk=campaign.pk).exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('assay.purge', true)")
        assert cursor.fetchone()[0] != "on"
