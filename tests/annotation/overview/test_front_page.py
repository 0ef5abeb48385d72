"""The front page of a project: findings, what runs, what is to do, and the next step."""

import re
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.rated import has_rated_outputs, rated_by, weights_url
from annotation.campaigns.selectors import slots_unfilled
from annotation.campaigns.services.lifecycle import campaign_close, campaign_launch
from annotation.datasets.services.imports import dataset_import_execute
from annotation.models import (
    Campaign,
    DryRun,
    JobState,
    Project,
    ReferenceSet,
    Release,
    ResponseSource,
    Submission,
    SubmissionStatus,
    Target,
)
from annotation.overview.closing import ways_on
from annotation.overview.jobs import failed_jobs, open_jobs, project_jobs, running_jobs
from annotation.overview.registry import FINDINGS, JOBS, Finding, Source
from annotation.overview.results import MOST_BARS, picture
from annotation.overview.selectors import _led, _newest, _once
from annotation.overview.steps import Counts, next_step
from annotation.quality.selectors.suspects import Suspects
from annotation.quality.services.decisions import rater_exclude, rater_include
from annotation.results.selectors.campaigns import headline, rated_campaigns
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next
from tests.annotation.worlds.recruited import make_recruitment

pytestmark = pytest.mark.django_db
MOST_QUERIES = 140  # with everything there is; those of further rows are none


def page_of(client, project: Project, **query: str) -> str:
    return client.get(reverse("annotation:project-detail", args=[project.slug]), query).content.decode()


def heading(page: str, name: str) -> str:
    """Return the text of the section under a heading, without tags."""
    match = re.search(rf">{name}</h2>(.*?)</section>", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", match[1]).split()) if match else ""


@pytest.fixture
def lab(world) -> Project:
    return Project.objects.get(slug="lab")


def test_every_source_gives_sentences_with_pages(lab: Project, world, as_user, monkeypatch) -> None:
    """The studies here have too few units for a headline, and too few systems; tests/correlations/views has one."""
    client = as_user(world.people["viewer"])
    kinds = {finding.kind for source in FINDINGS for finding in source(lab, 3)}
    assert kinds == {"Campaign", "Raters", "Weights", "Scores"}, "nothing is said of a parameter over so few systems"
    monkeypatch.setattr("correlations.selectors.levels.FEWEST_SYSTEMS", 1)
    findings = [finding for source in FINDINGS for finding in source(lab, 3)]
    assert {finding.kind for finding in findings} == {"Campaign", "Raters", "Weights", "Scores", "Parameter study"}
    for finding in findings:
        assert finding.text.endswith("."), finding
        assert finding.at <= timezone.now()
        assert client.get(finding.url).status_code == 200, finding


def test_the_last_step_names_a_step_without_a_result(project: Project) -> None:
    rated = Counts(
        datasets=1,
        campaigns=1,
        open=0,
        complete=0,
        to_reopen=0,
        closed=1,
        of_references=0,
        answers=9,
        left_out=0,
        releases=0,
        runs=2,
        references=True,
        studies=0,
        rated_outputs=True,
    )
    assert next_step(project, rated).action == "Start a study", "one of outputs needs no weights"
    of_references = rated._replace(of_references=1, releases=1, rated_outputs=False)
    assert next_step(project, of_references).text.startswith("Let raters judge the systems' outputs, too")
    without_weights = next_step(project, rated._replace(studies=1))
    assert without_weights.text.startswith("Every step has a result but Weigh, which needs ratings of references.")
    assert (without_weights.action, without_weights.other) == ("Read the studies", "Design another campaign")
    assert next_step(project, rated._replace(studies=1, releases=1)).text.startswith("Every step has a result. More")


def test_a_finding_that_stays_is_shown_behind_the_one_that_leads() -> None:
    def finding(age: int, **marks: bool) -> Finding:
        return Finding("Study", timezone.now() - timedelta(days=age), f"Finding {age}.", "", "/", **marks)

    def order(findings: list[Finding], most: int = 3) -> list[str]:
        return [each.text[8:9] for each in _led(_newest(findings, most)).shown]

    news = [finding(age) for age in range(4)]
    assert order([*news, finding(7, leads=True), finding(8, stays=True)]) == ["7", "0", "8"]
    assert order([*news, finding(8, stays=True)]) == ["0", "8", "1"]
    assert order([finding(0, stays=True), *news[1:], finding(8, stays=True)]) == ["0", "1", "2"]  # the newest alone
    assert order([finding(1), finding(8, stays=True)], 1) == ["1"]

    twice = [("old", timezone.now() - timedelta(days=1)), ("new", timezone.now())]
    (once,) = _once([replace(finding(0), text="A.", about=name, url=f"/{name}", at=at) for name, at in twice])
    assert (once.about, once.also) == ("new", (Source("old", "/old"),)), "a finding is shown once, from the newest"


def test_the_first_finding_draws_the_systems_of_the_results(lab: Project, world, as_user) -> None:
    campaign = next(each for each in rated_campaigns(lab) if headline(each))
    verdict = headline(campaign).verdict
    drawn = picture(verdict)
    assert [bar.name for bar in drawn.bars] == [each.name for each in verdict.systems][:MOST_BARS]
    for bar, each in zip(drawn.bars, verdict.systems, strict=False):
        assert float(bar.value.replace("−", "-")) == pytest.approx(each.estimate, abs=0.005)
        assert 0 <= bar.start <= bar.at <= bar.start + bar.width <= 100.01
    assert drawn.more == max(len(verdict.systems) - MOST_BARS, 0)
    assert 'class="finding-bars"' in page_of(as_user(world.people["viewer"]), lab)


def test_every_kind_of_job_is_shown_while_it_runs_and_after_it_failed(lab: Project, world, as_user) -> None:
    client = as_user(world.people["viewer"])
    reference_set, campaign = ReferenceSet.objects.filter(project=lab)[0], lab.campaigns.filter(imported=False)[0]
    Release.objects.create(reference_set=reference_set, number=99)
    DryRun.objects.create(campaign=campaign)
    for kind in JOBS:
        jobs = kind.model._default_manager.filter(**{kind.project: lab})
        if kind.model is Release:
            jobs = jobs.filter(number=99)  # a trigger refuses to change finished ones
        jobs.update(state=JobState.QUEUED, finished_at=None)

    rows = open_jobs(lab)
    assert {row.kind for row in rows} == set(range(len(JOBS)))
    for number in range(len(JOBS)):
        row = next(row for row in rows if row.kind == number)
        assert "{" not in row.label
        assert client.get(row.url(lab)).status_code == 200, row.label
    assert len(running_jobs(lab, rows)) == len(rows)
    assert failed_jobs(lab, rows) == []

    address = reverse("annotation:project-jobs", args=[lab.slug])
    assert f"0 running and {len(rows)} waiting. No failed job is left to run again." in client.get(address).text
    DryRun.objects.update(state=JobState.FAILED, finished_at=timezone.now(), error="The campaign has no <items>.")
    (need,) = failed_jobs(lab, open_jobs(lab))
    assert need.text == f"Dry run of “{campaign.name}” failed."
    manager, retry = as_user(world.people["manager"]), open_jobs(lab)[0].retry_url(lab)
    assert "The campaign has no &lt;items&gt;." in client.get(address).text
    assert retry not in client.get(address).text  # a viewer cannot
    assert f'action="{retry}"' in manager.get(address).text
    assert manager.post(retry).status_code == 302
    assert failed_jobs(lab, open_jobs(lab)) == []  # it waits again
    DryRun.objects.update(state=JobState.FAILED, finished_at=timezone.now())
    DryRun.objects.create(campaign=campaign, state=JobState.DONE, finished_at=timezone.now())
    assert failed_jobs(lab, open_jobs(lab)) == []  # it was repeated
    jobs = project_jobs(lab)
    assert DryRun.objects.filter(state=JobState.DONE).count() == sum("Dry run" in row.label for row in jobs.ended)
    retries = {kind.retry for kind in JOBS if kind.retry}
    assert all(row.retry_url(lab) for row in jobs.waiting if JOBS[row.kind].retry)
    assert len(retries) == 9


def test_the_page_of_a_project_with_everything(lab: Project, world, as_user) -> None:
    manager, viewer = as_user(world.people["manager"]), as_user(world.people["viewer"])
    page = page_of(manager, lab)
    assert page.count('class="finding"') == 5
    assert "All findings" in heading(page, "Findings")
    assert page_of(manager, lab, findings="all").count('class="finding"') > 5
    running = heading(page, "Running")
    assert "Of lsa" in page_of(manager, lab) or "more" in running
    assert "Next step" in page
    read = page_of(viewer, lab)
    assert heading(read, "Findings") == heading(page, "Findings")
    assert "Next step" not in read
    assert "To do" not in read


def test_more_rows_make_no_more_queries(lab: Project, world, as_user) -> None:
    client = as_user(world.people["manager"])
    page_of(client, lab)  # fills caches
    with CaptureQueriesContext(connection) as before:
        page_of(client, lab)
    assert len(before) <= MOST_QUERIES
    campaign = lab.campaigns.filter(imported=False)[0]
    for _ in range(10):
        DryRun.objects.create(campaign=campaign)
    with CaptureQueriesContext(connection) as after:
        page_of(client, lab)
    assert len(after) == len(before), Counter(query["sql"][:80] for query in after.captured_queries).most_common(5)


def test_an_empty_project_says_how_to_begin(as_user, project: Project, manager, viewer) -> None:
    manages, reads = page_of(as_user(manager), project), page_of(as_user(viewer), project)
    for name in ("dataset-import", "dataset-import-example", "corpus-create"):
        address = reverse(f"annotation:{name}", args=[project.slug])
        assert f'"{address}"' in manages
        assert f'"{address}"' not in reads
    assert "No data set has been imported." in reads

    began = as_user(manager).post(reverse("annotation:dataset-import-example", args=[project.slug]))
    assert "Import of “Example” queued" in heading(page_of(as_user(manager), project), "Under way")
    dataset_import_execute(import_id=project.dataset_imports.get().pk)
    page = as_user(manager).get(began.headers["Location"]).content.decode()
    assert reverse("annotation:dataset-detail", args=[project.slug, "example"]) in page


def test_the_page_leads_from_texts_to_weights(as_user, project: Project, manager) -> None:
    client = as_user(manager)

    def step() -> str:
        return heading(page_of(client, project), "Next step")

    dataset = make_dataset(project, items=2)
    assert step().endswith("Or import ratings that you have. Design a campaign Import ratings")
    ratings_url = reverse("annotation:rating-import", args=[project.slug, dataset.slug])
    for name in ("project-detail", "campaign-list", "results"):
        page = client.get(reverse(f"annotation:{name}", args=[project.slug])).content.decode()
        assert f'href="{ratings_url}"' in page, name
    campaign = make_campaign(dataset, launch=False, ratings_per_unit=1, max_units_per_rater=1, target=Target.REFERENCES)
    assert step().endswith("Review and launch")
    needs = heading(page_of(client, project), "To do")
    assert f"“{campaign.name}” is ready to be launched" in needs or f"“{campaign.name}” cannot be launched yet" in needs

    campaign = campaign_launch(campaign=campaign)
    assert step().endswith("Invite raters")
    rater = join(campaign)
    rate_next(campaign, rater)
    page = page_of(client, project)
    assert "1 of 2" in heading(page, "Running")
    assert "needs a new rater: 1 slot can be filled by no other." in heading(page, "To do")
    rate_next(campaign, join(campaign))
    page = page_of(client, project)
    assert f"“{campaign.name}” has all its ratings, but is not closed" in heading(page, "To do")
    assert step().endswith("Build weights")

    campaign_close(campaign=Campaign.objects.get(pk=campaign.pk))
    page = page_of(client, project)
    assert "no weights are built from its ratings. Build weights" in heading(page, "To do")
    assert heading(page, "Next step").endswith("Build weights")

    reference_set = ReferenceSet.objects.create(project=project, dataset=dataset, name="Of us", slug="of-us")
    Release.objects.create(reference_set=reference_set, number=1)
    assert step().startswith("Weights Of us v1 is waiting for the jobs before it. Then score the systems")
    assert step().endswith("See how far it is")


def test_a_campaign_with_all_ratings_offers_the_same_steps_before_it_is_closed(
    as_user, project: Project, manager
) -> None:
    campaign = make_campaign(
        make_dataset(project, items=1), ratings_per_unit=1, max_units_per_rater=1, target=Target.REFERENCES
    )
    address = reverse("annotation:campaign-detail", args=[project.slug, campaign.pk])
    assert "What next?" not in as_user(manager).get(address).content.decode()
    while slots_unfilled(campaign):
        rate_next(campaign, join(campaign))
    page = as_user(manager).get(address).content.decode()
    assert "Everything planned is rated. What next?" in page
    assert "Closing only ends the rating" in page
    open_ways = ways_on(campaign)
    monitor, results = (
        reverse(f"annotation:campaign-{name}", args=[project.slug, campaign.pk])
        for name in ("monitor-fragment", "results")
    )
    assert "Items per hour" in as_user(manager).get(monitor).content.decode()
    campaign_close(campaign=campaign)
    of_references = as_user(manager).get(results).content.decode()
    assert "No system’s output was rated here" in of_references
    assert weights_url(campaign).replace("&", "&amp;") in of_references
    closed = as_user(manager).get(monitor).content.decode()
    assert "The results" not in closed, "they are of systems"
    assert "Items per hour" not in closed, "nothing goes on"
    assert ways_on(Campaign.objects.get(pk=campaign.pk)) == open_ways


def test_ratings_that_were_imported_lead_on_by_what_was_rated(project: Project) -> None:
    """An import is always of chosen systems or of references; the texts tell which of both it mostly rated."""
    dataset = make_dataset(project, items=1)
    for target, first in ((Target.OUTPUTS, "See the results"), (Target.REFERENCES, "Build weights")):
        campaign = make_campaign(dataset, name=f"Rate {target}", target=target)
        Campaign.objects.filter(pk=campaign.pk).update(
            imported=True, target=Target.CHOSEN, state="closed", closed_at=timezone.now()
        )
        campaign.refresh_from_db()
        assert ways_on(campaign)[0].action == first
        rated = rated_by(campaign)
        assert sum(rated) == campaign.units.count()
        assert rated.mostly_outputs == (target == Target.OUTPUTS)
        assert has_rated_outputs(Campaign.objects.filter(pk=campaign.pk)) == (target == Target.OUTPUTS)


def test_a_closed_campaign_offers_what_fits_its_target(as_user, project: Project, manager, viewer) -> None:
    dataset = make_dataset(project, items=1)
    offers = {
        Target.REFERENCES: ["Build weights", "Score the systems", "Records"],
        Target.OUTPUTS: ["See the results", "Score the systems", "Start a study", "Records"],
    }
    for target, expected in offers.items():
        campaign = make_campaign(dataset, name=f"Rate {target}", target=target)
        address = reverse("annotation:campaign-detail", args=[project.slug, campaign.pk])
        assert "What next?" not in as_user(manager).get(address).content.decode()
        campaign_close(campaign=campaign)
        assert "What next?" not in as_user(viewer).get(address).content.decode()
        page = as_user(manager).get(address).content.decode().partition("What next?")[2].partition("</section>")[0]
        links = re.findall(r'class="btn [^"]+" href="([^"]+)">([^<]+)</a>', page)
        assert [label for _, label in links] == expected
        assert ("means stand beside them" in page) == (target == Target.OUTPUTS)
        for link, _ in links:
            assert as_user(manager).get(link.replace("&amp;", "&")).status_code == 200, link
        if target == Target.REFERENCES:
            form = as_user(manager).get(links[0][0].replace("&amp;", "&")).content.decode()
            assert re.search(rf'name="campaigns" value="{campaign.pk}"[^>]* checked', form)


def test_submissions_and_raters_who_stand_out_wait_for_somebody(
    as_user, project: Project, manager, monkeypatch
) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    recruitment = make_recruitment(campaign, None, publish=False)
    for number in range(2):
        Submission.objects.create(recruitment=recruitment, external_id=f"s{number}", status=SubmissionStatus.AWAITING)
    monkeypatch.setattr("annotation.overview.campaigns.suspects", lambda campaign: Suspects({1: ["too fast"]}))
    needs = heading(page_of(as_user(manager), project), "To do")
    assert "2 submissions to “Replies” wait for approval. Review" in needs
    assert "1 rater of “Replies” stands out and may not have worked with care. See the rule that would exclude" in needs


def test_references_without_a_set_are_offered_from_the_campaign_that_rated_them(
    as_user, project: Project, manager
) -> None:
    dataset = make_dataset(project, items=1)
    outputs = make_campaign(dataset, name="Of outputs", target=Target.OUTPUTS)
    campaign = make_campaign(dataset, name="Of references", target=Target.REFERENCES)
    listed = reverse("annotation:reference-set-list", args=[project.slug])
    assert "Make one from" not in as_user(manager).get(listed).content.decode()  # nothing is rated yet
    for each in (outputs, campaign):
        rate_next(each, join(each))
    page = as_user(manager).get(listed).content.decode()
    assert re.findall(r"Make one from “([^”]+)”", page) == ["Of references"]
    assert f"?dataset={dataset.slug}&amp;campaign={campaign.pk}" in page
    create = reverse("annotation:reference-set-create", args=[project.slug])
    form = as_user(manager).get(create, {"dataset": dataset.slug}).content.decode()
    assert re.search(rf'name="campaigns" value="{campaign.pk}"[^>]* checked', form)
    assert not re.search(rf'name="campaigns" value="{outputs.pk}"[^>]* checked', form)
    assert re.findall(r'name="sources" value="([^"]+)"[^>]* checked', form) == ["kind:human"]  # what it rated


def test_answers_of_excluded_raters_are_counted_apart(project, as_user, viewer) -> None:
    campaign = make_campaign(make_dataset(project, items=3), ratings_per_unit=2)
    for name, times in (("ann", 3), ("rush", 2)):
        rater = join(campaign, name)
        for _ in range(times):
            rate_next(campaign, rater)
    rater_exclude(campaign=campaign, rater=rater, reason="Clicks.", replace=True)
    card = re.search(r">Answers<.*?</div>", page_of(as_user(viewer), project), flags=re.DOTALL)
    words = " ".join(re.sub(r"<[^>]+>", " ", card[0]).split())
    assert "3" in words
    assert "that count; 2 more of excluded raters" in words


def test_without_references_the_step_after_closing_is_the_result_and_not_metrics(project, as_user, manager) -> None:
    dataset = make_dataset(project, items=1)
    ResponseSource.objects.filter(item__dataset=dataset, system=None).delete()
    campaign = make_campaign(dataset, ratings_per_unit=1, target=Target.OUTPUTS)
    rate_next(campaign, join(campaign))
    client = as_user(manager)
    for _ in range(9):
        rate_next(campaign, campaign.participations.get().rater)
    assert slots_unfilled(campaign) == 0
    assert heading(page_of(client, project), "Next step").startswith("Everything is rated. See which system is better")
    assert "so far" not in page_of(client, project)
    rater_exclude(campaign=campaign, rater=campaign.participations.get().rater, reason="Spam")
    page = page_of(client, project)
    assert "Everything is rated" not in page
    assert heading(page, "Next step").startswith("Every slot is filled, but answers of excluded raters do not count")
    assert "items need another rater: the answers of excluded raters do not count" in page
    page = client.get(reverse("annotation:campaign-detail", args=[project.slug, campaign.pk])).content.decode()
    assert "Every slot is filled, but not every rating counts. What next?" in page
    assert re.search(r'class="btn btn-sm btn-primary" href="[^"]*change/replace-excluded/"', page)
    listed = client.get(reverse("annotation:campaign-list", args=[project.slug])).content.decode()
    assert re.search(r"\d of excluded raters", listed)
    rater_include(campaign=campaign, rater=campaign.participations.get().rater, reason="A mistake")
    campaign_close(campaign=campaign)
    step = heading(page_of(client, project), "Next step")
    assert step == (
        "See which system is better by the raters, how sure that is, and download the tables. See the results"
    )
    page = client.get(reverse("annotation:dataset-detail", args=[project.slug, dataset.slug])).content.decode()
    first = re.search(r'class="btn btn-primary"[^>]*href="([^"]*)"', page)
    assert first
    assert "campaigns/new" in first[1] or "campaign" in first[1]
