"""Pages of dry runs: permissions, contents, and that sandboxes are hidden."""

import json
from unittest import mock

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.dry_runs import tasks
from annotation.dry_runs.specification import DryRunSpecification
from annotation.models import AuditEntry, Campaign, DryRun, JobState, Project, User
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

WIDTHS = [[2, 0.7], [3, 0.5], [5, 0.4]]
CERTAINTY = {
    "criterion": "relevance",
    "responses": 12,
    "target": 0.2,
    "half_width": 0.7,
    "half_width_kept": 0.5,
    "needed": 28,
    "needed_kept": 20,
    "expected": WIDTHS,
    "expected_kept": [[2, None], [3, 0.4], [5, 0.3]],
    "recovery": 0.72,
    "recovery_kept": 0.84,
    "reason": "",
}
RESULT = {
    "version": 1,
    "currency": "GBP",
    "paid": True,
    "ratings_per_unit": 2,
    "units": 12,
    "places": 24,
    "simulated": {
        "share": 1.0,
        "units": 12,
        "places": 24,
        "filled": 24,
        "screens": 30,
        "by_purpose": {"work": 24, "gold": 6},
        "raters": 4,
        "arrived": 4,
        "worked": 4,
        "left": 0,
        "hours": 0.4,
    },
    "forecast": {
        "cost": {
            "screens": 30,
            "pay": "3.00",
            "fees": "1.00",
            "total": "4.00",
            "total_low": "3.50",
            "total_high": "4.50",
            "per_rating": "0.17",
            "pay_per_hour": 12.5,
        },
        "duration": {
            "hours": 0.5,
            "hours_low": 0.3,
            "hours_high": 0.9,
            "hours_p10": 0.4,
            "hours_p50": 0.5,
            "hours_p90": 0.8,
            "raters": 4.2,
            "raters_low": 3.0,
            "raters_high": 6.0,
            "rater_hours": 0.1,
            "screens": 29.6,
            "screens_low": 28.0,
            "screens_high": 31.0,
            "n_replicates": 200,
            "reason": "",
        },
        "detection": {
            "spammers": 2,
            "struck_spammers": 1,
            "recall": 0.5,
            "recall_low": 0.09,
            "recall_high": 0.91,
            "honest": 2,
            "struck_honest": 0,
            "false_alarms": 0.0,
            "false_alarms_low": 0.0,
            "false_alarms_high": 0.66,
            "reason": "",
        },
    },
    "test": {"spammers": 2, "spammers_failed": 0, "honest": 2, "honest_failed": 0},
    "certainty": [CERTAINTY],
    "rules": {
        "source": "default",
        "version": None,
        "checks": True,
        "sentences": [{"sentence": "Exclude raters whose gold accuracy is below 0.6.", "struck": 1, "judged": 3}],
    },
    "raters": [
        {
            "rater": 1,
            "spam": "constant",
            "units": 6,
            "checks": 2,
            "seconds": 4.0,
            "failed_test": False,
            "action": "exclude",
            "why": "x",
            "evidence": {"measure": "gold accuracy", "estimate": 0.2, "n": 5},
        },
        {
            "rater": 2,
            "spam": None,
            "units": 6,
            "checks": 2,
            "seconds": 9.0,
            "failed_test": False,
            "action": None,
            "why": "",
            "evidence": None,
        },
    ],
    "screens_per_rater": {"p10": 5, "p50": 7, "p90": 8, "most": 8},
    "without_code": 1,
    "findings": [],
    "curve": [[0.0, 0.0], [0.4, 1.0]],
}
FORM = {
    "raters": 12,
    "arrivals_per_hour": 30,
    "median_seconds": 15,
    "spam_share": 25,
    "bias_sd": 10,
    "noise": 15,
    "lapse": 2,
    "dropout": 1,
    "speed_sd": 0.4,
    "target": 0.2,
    "seed": 3,
}


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(make_dataset(project), launch=False)


@pytest.fixture
def run(campaign: Campaign) -> DryRun:
    return make_run(campaign)


def make_run(campaign: Campaign, **specification: object) -> DryRun:
    return DryRun.objects.create(
        campaign=campaign,
        specification={**DryRunSpecification().to_dict(), **specification},
        state=JobState.DONE,
        finished_at=timezone.now(),
        result=RESULT,
    )


def page(campaign: Campaign, name: str, *args: object) -> str:
    return reverse(f"annotation:campaign-dry-run{name}", args=["chit-chat", campaign.pk, *args])


def test_outsiders_get_404(campaign, run, outsider, as_user):
    client = as_user(outsider)
    for address in (
        page(campaign, "s"),
        page(campaign, "", run.pk),
        page(campaign, "-compare"),
        page(campaign, "-download", run.pk),
        page(campaign, "-chart", run.pk, "places", "json"),
    ):
        assert client.get(address).status_code == 404
    for name in ("-cancel", "-retry", "-delete"):
        assert client.post(page(campaign, name, run.pk)).status_code == 404


def test_a_viewer_can_read_but_not_start_or_delete(campaign, run, viewer, as_user):
    client = as_user(viewer)
    text = client.get(page(campaign, "s")).content.decode()
    assert f"Dry run {run.pk}" in text
    assert "Start the dry run" not in text
    assert client.post(page(campaign, "s"), FORM).status_code == 403
    assert client.post(page(campaign, "-delete", run.pk)).status_code == 403


def test_a_manager_starts_a_run_with_shares_in_percent(campaign, manager, as_user, django_capture_on_commit_callbacks):
    with mock.patch.object(tasks.dry_run_execute, "apply_async") as apply_async:
        with django_capture_on_commit_callbacks(execute=True):
            response = as_user(manager).post(page(campaign, "s"), FORM)
        run = DryRun.objects.get()
    assert response.url == page(campaign, "", run.pk)
    assert apply_async.called
    assert run.specification["spam_share"] == pytest.approx(0.25)
    assert run.specification["raters"] == 12
    assert run.requested_by == manager
    assert AuditEntry.objects.get(verb="campaign.dry_run").actor == manager


def test_invalid_values_are_reported_at_their_fields(campaign, manager, as_user):
    response = as_user(manager).post(page(campaign, "s"), {**FORM, "raters": 0, "noise": 400})
    assert response.status_code == 400
    assert set(response.context["form"].errors) == {"raters", "noise"}
    assert not DryRun.objects.exists()


def test_the_form_can_be_filled_in_from_an_earlier_run(campaign, manager, as_user):
    run = make_run(campaign, raters=77, spam_share=0.3)
    client = as_user(manager)
    text = client.get(f"{page(campaign, 's')}?like={run.pk}").content.decode()
    assert 'value="77"' in text
    assert 'value="30"' in text
    assert "12 items with 24 slots" in " ".join(client.get(page(campaign, "s")).content.decode().split())


def test_the_page_shows_the_forecast(campaign, run, viewer, as_user):
    text = " ".join(as_user(viewer).get(page(campaign, "", run.pk)).content.decode().split())
    for expected in (
        "4.00 GBP: 3.00 GBP to raters for 30 items",
        "between 3.50 GBP and 4.50 GBP",
        "A rater would earn 12.50 GBP an hour",
        "between 24 min and 48 min",
        "95% intervals of ± 0.70",
        "That would take 28 ratings of each item",
        "Without excluded raters: ± 0.50",
        "The campaign has no rules; by default rules, 1 of 2 spammers would be excluded",
        "1 rater did too little for the completion code",
        "gold accuracy 0.20 of 5 answers",
        "Beta(2, 2)",
    ):
        assert expected in text, expected


def test_without_checks_the_page_says_that_no_spammer_is_caught(campaign, run, viewer, as_user):
    rules = {"source": "none", "version": None, "checks": False, "sentences": []}
    DryRun.objects.filter(pk=run.pk).update(result={**RESULT, "rules": rules})
    text = as_user(viewer).get(page(campaign, "", run.pk)).content.decode()
    assert "No: the campaign has no checks and no rules." in text
    assert "The answers of 2 spammers would count." in text


def test_findings_and_open_slots_are_shown(campaign, run, viewer, as_user):
    findings = [{"what": "An answer: status 500, “Oops”.", "times": 3}]
    simulated = {**RESULT["simulated"], "filled": 6}
    result = {**RESULT, "findings": findings, "simulated": simulated, "forecast": None, "test": None}
    DryRun.objects.filter(pk=run.pk).update(result=result)
    text = as_user(viewer).get(page(campaign, "", run.pk)).content.decode()
    assert "Raters met a problem 3 times" in text
    assert "status 500" in text
    assert "No: 6 of 24 slots (25 %) would." in text


def test_progress_is_a_fragment_that_refreshes_the_page_when_done(campaign, run, viewer, as_user):
    address, headers = f"{page(campaign, '', run.pk)}?progress=1", {"HX-Request": "true"}
    over = as_user(viewer).get(address, headers=headers)
    assert over.headers["HX-Refresh"] == "true"
    waiting = DryRun.objects.create(campaign=campaign, specification=DryRunSpecification().to_dict())
    fragment = as_user(viewer).get(f"{page(campaign, '', waiting.pk)}?progress=1", headers=headers)
    assert "<html" not in fragment.content.decode()
    assert "HX-Refresh" not in fragment.headers


@pytest.mark.parametrize("name", ["places", "weights-relevance"])
@pytest.mark.parametrize(("ending", "kind"), [("json", "application/json"), ("svg", "image/svg+xml")])
def test_charts_come_as_json_and_svg(campaign, run, viewer, as_user, name, ending, kind):
    response = as_user(viewer).get(page(campaign, "-chart", run.pk, name, ending))
    assert response.status_code == 200
    assert response.headers["Content-Type"] == kind


def test_an_unknown_chart_is_404(campaign, run, viewer, as_user):
    assert as_user(viewer).get(page(campaign, "-chart", run.pk, "weights-x", "json")).status_code == 404
    assert as_user(viewer).get(page(campaign, "-chart", run.pk, "places", "gif")).status_code == 404


def test_the_result_can_be_downloaded_as_json(campaign, run, viewer, as_user):
    download = json.loads(as_user(viewer).get(page(campaign, "-download", run.pk)).content)
    assert download["result"] == RESULT
    assert download["specification"] == run.specification


def test_two_runs_are_compared_with_differences_marked(campaign, run, viewer, as_user):
    other_run = make_run(campaign, spam_share=0.3)
    response = as_user(viewer).get(f"{page(campaign, '-compare')}?left={run.pk}&right={other_run.pk}")
    rows = {row.label: row for row in response.context["settings"] + response.context["results"]}
    assert rows["Spammers"].values == ["10 %", "30 %"]
    assert rows["Spammers"].differs
    assert rows["Cost"].values == ["4.00 GBP", "4.00 GBP"]
    assert not rows["Cost"].differs


def test_a_run_can_be_cancelled_retried_and_deleted(campaign, manager, as_user):
    run = DryRun.objects.create(campaign=campaign, specification=DryRunSpecification().to_dict())
    client = as_user(manager)
    client.post(page(campaign, "-delete", run.pk))
    assert DryRun.objects.filter(pk=run.pk).exists()  # not while it waits
    client.post(page(campaign, "-cancel", run.pk))
    run.refresh_from_db()
    assert run.state == JobState.CANCELLED
    client.post(page(campaign, "-retry", run.pk))
    run.refresh_from_db()
    assert run.state == JobState.QUEUED
    client.post(page(campaign, "-cancel", run.pk))
    client.post(page(campaign, "-delete", run.pk))
    assert not DryRun.objects.filter(pk=run.pk).exists()


def test_sandboxes_are_on_no_page_of_projects_api_or_admin(project, owner, as_user):
    hidden = Project.objects.create(name="Elusive project", slug="dry-run-x", is_sandbox=True)
    dataset = make_dataset(project)
    copy = make_campaign(dataset, launch=False)
    Campaign.objects.filter(pk=copy.pk).update(project=hidden, name="Elusive copy")
    root = User.objects.create_superuser("root-of-all", password="password")
    for user in (owner, root):
        client = as_user(user)
        for address in (
            reverse("annotation:project-list"),
            reverse("annotation:campaign-list", args=["chit-chat"]),
            "/api/v1/projects/",
        ):
            assert "Elusive" not in client.get(address).content.decode(), address
        assert client.get(reverse("annotation:campaign-list", args=["dry-run-x"])).status_code == 404
    client = as_user(root)
    for name, row in (("project", hidden), ("campaign", copy)):
        assert "Elusive" not in client.get(reverse(f"admin:annotation_{name}_changelist")).content.decode()
        assert client.get(reverse(f"admin:annotation_{name}_change", args=[row.pk])).status_code == 302
