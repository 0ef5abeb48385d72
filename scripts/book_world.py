"""Campaigns in various states for docs/screens, created in the demo's project of a running Assay.

They are created once; a second call finds them. The tests' fake Prolific stands for the provider.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db.models.functions import Now
from django.urls import reverse

from annotation.campaigns.design.templates import TEMPLATES
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.rules import rules_register
from annotation.campaigns.services.starting import campaign_start
from annotation.campaigns.services.writing import campaign_create
from annotation.datasets.services import imports
from annotation.demo.load import CONSENT, INSTRUCTIONS, LIVE_CRITERIA
from annotation.demo.raters import NAME as WATCHED
from annotation.demo.raters import screen_quality
from annotation.dry_runs import tasks
from annotation.dry_runs.services.extent import suggested
from annotation.dry_runs.services.running import dry_run_create
from annotation.dry_runs.simulation.answers import Ladder, answer
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.judgements.services import imports as judgements
from annotation.models import (
    Campaign,
    Dataset,
    DatasetImport,
    DryRun,
    Item,
    JobState,
    Participation,
    Presentation,
    Project,
    Purpose,
    QualityRules,
    Rater,
    RatingImport,
    Recruitment,
    System,
    Target,
    User,
)
from annotation.quality.services import operations
from annotation.quality.services.rules import rules_apply
from annotation.rating.services.handout import unit_request
from annotation.rating.services.raters import participation_start, rater_create
from annotation.rating.services.ratings import ratings_submit
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services import datasheet
from annotation.recruitment.providers.base import Arrival, Outcome
from annotation.recruitment.services import accounts, arrivals, endings, refreshing, studies
from annotation.recruitment.services.terms import Terms, terms_of
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds import rating_screens
from tests.annotation.worlds.campaigns import add_response

EXAMPLES = Path(__file__).resolve().parent.parent / "demo" / "examples"
MAIN, NEXT = "Relevance, first round", "Relevance, second round"
SEED = 11
REASONS = ("It is cut off", "It is not in English")
RULES: tuple[dict[str, Any], ...] = (
    {"rule": "gold_accuracy_below", "version": 1, "action": "flag", "accuracy": 0.6, "after": 2},
    {"rule": "median_seconds_below", "version": 1, "action": "exclude", "seconds": 6, "after": 6},
    {"rule": "agreement_below", "version": 1, "action": "flag", "correlation": 0.2, "after": 8},
)
RATERS: tuple[dict[str, Any], ...] = (
    {},
    {"bias": 0.1},
    {"bias": -0.1},
    {"noise": 0.3},
    {"median_seconds": 35.0},
    {"noise": 0.05, "median_seconds": 14.0},
    {"spam": "random", "median_seconds": 4.0},
    {"bias": 0.05},
)
SHEET = (
    "Lab for Conversation, an invented laboratory; the demo of Assay.",
    "Whether replies that a person finds relevant are told apart from those that are only fluent.",
    "Pilot with four colleagues on twelve items; the wording of the second question was changed after it.",
)


@dataclass(frozen=True)
class World:
    """URLs of the created pages by name, and the raters' links."""

    paths: dict[str, str]
    links: dict[str, str]


def build(fake: FakeProlific, *, base: str) -> World:
    user = User.objects.get(username="manager")
    project = Project.objects.get(slug="demo")
    dataset = Dataset.objects.get(project=project, slug="dstc7")
    drafts = [_draft(project, dataset, template, user) for template in TEMPLATES]
    upcoming = _campaign(project, _plan(dataset, NEXT, ratings_per_unit=4, qualification=_qualification()), user)
    runs = _dry_runs(upcoming, user)
    main = Campaign.objects.filter(project=project, name=MAIN).first() or _main(project, dataset, user, fake, base)
    watched = Campaign.objects.get(project=project, name=WATCHED)
    single = Campaign.objects.get(project=project, name="Try it: single responses")
    if not single.amendments.exists():
        operations.system_stop(campaign=single, system=System.objects.get(dataset=dataset, name="TeamG"), by=user)
    small = Project.objects.filter(slug="small-talk").first()
    links = _links(small) if small else _small_talk()
    paths = _paths(project, main, upcoming, watched, single, drafts, runs)
    paths |= _import_paths(project, user)
    return World(paths=paths, links=links)


# --- Campaigns --------------------------------------------------------------------------------------------------------


def _draft(project: Project, dataset: Dataset, template: Any, user: User) -> Campaign:
    existing = Campaign.objects.filter(project=project, name=template.name).first()
    return existing or campaign_start(project=project, dataset=dataset, template=template.slug, by=user)


def _plan(dataset: Dataset, name: str, **options: Any) -> CampaignDraft:
    systems = list(System.objects.filter(dataset=dataset, name__in=["Human", "TeamB", "TeamD"]))
    return CampaignDraft(
        dataset=dataset,
        name=name,
        criteria=LIVE_CRITERIA,
        target=Target.CHOSEN,
        systems=systems,
        presentation="single",
        comment="optional",
        cannot_judge_reasons=REASONS,
        instructions=INSTRUCTIONS.format(what="one response", read="the response"),
        consent=CONSENT,
        completion_code="THANK-YOU",
        payment_per_unit=Decimal("0.12"),
        payment_fee_percent=Decimal(33),
        max_units_per_rater=20,
        quality=_quality(),
        **{"item_limit": 8, **options},
    )


def _campaign(project: Project, draft: CampaignDraft, user: User) -> Campaign:
    existing = Campaign.objects.filter(project=project, name=draft.name).first()
    return existing or campaign_create(project=project, draft=draft, by=user)


def _screen(text: str, low: int, high: int, **more: Any) -> dict[str, Any]:
    expected = {"relevance": [low, high], "informativeness": [1, 5]}
    return {
        "item": "",
        "context": [],
        "message": "what is the capital of france ?",
        "feedback": "",
        "texts": [{"text": text, "expected": expected}],
        **more,
    }


GOOD, OFF_TOPIC = "it is paris , on the seine .", "bananas are yellow ."


def _quality() -> dict[str, Any]:
    gold = [_screen(GOOD, 4, 5), _screen(OFF_TOPIC, 1, 2), _screen("paris , for centuries now .", 4, 5)]
    return {"every": 4, "mix": {"gold": 2, "repeat": 1}, "repeat_gap": 3, "gold": gold}


def _qualification() -> dict[str, Any]:
    training = [_screen(GOOD, 4, 5, feedback="It **answers the question**, so it is relevant.")]
    return {
        "training": training,
        "test": [_screen(OFF_TOPIC, 1, 2), _screen(GOOD, 4, 5)],
        "pass_mark": 0.5,
        "attempts": 2,
    }


def _main(project: Project, dataset: Dataset, user: User, fake: FakeProlific, base: str) -> Campaign:
    """Create a campaign with rules, raters from Prolific and by a link, and a started datasheet."""
    main = campaign_create(project=project, draft=_plan(dataset, MAIN, ratings_per_unit=5, item_limit=14), by=user)
    rules: QualityRules = rules_register(campaign=main, records=RULES, by=user)
    main = campaign_launch(campaign=main, by=user)
    _prolific(main, user, fake, base)
    _by_hand(main, user)
    for number in range(5):
        _work(main, rater_create(project=project, name=f"Colleague {number + 1}"), RATERS[number], 15, number)
    rules_apply(campaign=main, rules=rules, by=user)
    entries = [entry for entry in datasheet.sheet_of(campaign_facts(main)).entries if not entry.is_final]
    questions = [entry.key for entry in entries if not entry.question.options]
    answers = {key: datasheet.ManagerAnswer(text) for key, text in zip(questions, SHEET, strict=False)}
    datasheet.datasheet_update(campaign=main, answers=answers, by=user)
    return main


def _work(campaign: Campaign, rater: Rater, traits: dict[str, Any], screens: int, number: int) -> None:
    """Rate screens through the services as the demo's raters do, with simulated times."""
    simulated = SimulatedRater(seed=SEED + number, **traits)
    participation_start(campaign=campaign, rater=rater)
    for number_shown in range(screens):
        shown = unit_request(campaign=campaign, rater=rater)
        if shown is None:
            return
        Presentation.objects.filter(pk=shown.pk).update(shown_at=Now() - timedelta(seconds=simulated.seconds()))
        if number_shown == 3 and number % 3 == 0 and shown.purpose == Purpose.WORK:
            ratings_submit(token=shown.token, rater=rater, values={}, cannot_judge={0: REASONS[0]})
            continue
        value = int(answer(simulated, screen_quality(shown, seed=SEED), Ladder(1, 5)))
        values = {(0, "relevance"): value, (0, "informativeness"): max(1, value - (number_shown % 2))}
        comment = "The passage is about something else." if number_shown == 5 and number % 2 else ""
        ratings_submit(token=shown.token, rater=rater, values=values, comment=comment)


# --- Recruitment ------------------------------------------------------------------------------------------------------

TERMS = Terms(
    title="Rate replies in conversations",
    description="Read a short passage and a conversation, and say how well a reply fits.",
    reward=Decimal("2.50"),
    places=12,
    minutes=14,
)


def _prolific(main: Campaign, user: User, fake: FakeProlific, base: str) -> Recruitment:
    values = {"token": fake.token, "workspace": fake.workspace}
    account = accounts.account_connect(
        project=main.project, provider="prolific", name="Lab", values=values, endpoint=fake.base_url, by=user
    )
    accounts.account_check(account=account)
    recruitment = studies.recruitment_create(
        campaign=main, provider="prolific", name="First wave", terms=TERMS, after={}, account=account, by=user
    )
    recruitment = studies.recruitment_publish(
        recruitment=recruitment, entry_url=f"{base}/r/in/{recruitment.link_token}/", by=user
    )
    right = next(code.code for code in terms_of(recruitment).codes if code.outcome == "completed")
    plans = ["done", "done", "wrong", "done", "returns", "late", "done", "at work"]
    for number, ending in enumerate(plans):
        participant, _ = fake.participant_enters(recruitment.external_id, f"60bf9310e8dec401be6e96{number:02d}")
        participant.started_at = (datetime.now(UTC) - timedelta(minutes=11 + number % 4)).isoformat()
        arrival = Arrival(rater=participant.participant_id, study=recruitment.external_id, session=participant.id)
        taken = arrivals.arrival_admit(recruitment=recruitment, arrival=arrival)
        _work(main, taken.rater, RATERS[number], {"returns": 2, "late": 3, "at work": 5}.get(ending, 14), number)
        if ending == "done":  # the last page has shown the code
            endings.submission_end(submission=taken.submission, outcome=Outcome.COMPLETED)
        if ending in ("done", "wrong"):
            fake.participant_completes(participant.id, right if ending == "done" else "NONSENSE")
        elif ending == "returns":
            fake.participant_returns(participant.id)
        elif ending == "late":
            fake.participant_times_out(participant.id)
    refreshing.recruitment_refresh(recruitment=recruitment)
    return recruitment


def _by_hand(main: Campaign, user: User) -> Recruitment:
    """Create a study made by hand at the provider: raters arrive, but outcomes are not known."""
    recruitment = studies.recruitment_create(
        campaign=main,
        provider="prolific",
        name="By hand",
        terms=replace(TERMS, places=4),
        after={},
        account=None,
        by=user,
    )
    for number in range(3):
        arrival = Arrival(
            rater=f"5f1c0a9be8dec401be6e97{number:02d}",
            study="64a1b2c3d4e5f60718293a4b",
            session=f"64b0c0ffee00000000000{number:03d}",
        )
        taken = arrivals.arrival_admit(recruitment=recruitment, arrival=arrival)
        _work(main, taken.rater, RATERS[number], 6 + number, number + 20)
    return recruitment


# --- Dry runs, imports, raters' pages ---------------------------------------------------------------------------------


def _dry_runs(campaign: Campaign, user: User) -> list[int]:
    run_ids = list(campaign.dry_runs.order_by("pk").values_list("pk", flat=True))
    for seed, spam in ((1, 0.1), (2, 0.3))[len(run_ids) :]:
        wanted = replace(suggested(campaign), seed=seed, spam_share=spam, raters=16)
        run = dry_run_create(campaign=campaign, specification=wanted.to_dict(), by=user)
        tasks.dry_run_execute.delay(run.pk)
        run_ids.append(run.pk)
    return run_ids


def wait_for_dry_runs(*, seconds: float = 240) -> None:
    """Wait until the worker has finished the dry runs."""
    until = time.monotonic() + seconds
    while DryRun.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING]).exists() and time.monotonic() < until:
        time.sleep(1)


def _import_paths(project: Project, user: User) -> dict[str, str]:
    dataset = Dataset.objects.filter(project=project, name="Examples").first()
    if dataset is None:
        dataset_import = imports.dataset_import_create(
            project=project,
            by=user,
            name="Examples",
            filename="dataset.csv",
            content=(EXAMPLES / "dataset.csv").read_bytes(),
        )
        imports.dataset_import_execute(import_id=dataset_import.pk)
        dataset = DatasetImport.objects.get(pk=dataset_import.pk).dataset
    assert dataset is not None
    job = RatingImport.objects.filter(dataset=dataset).first() or judgements.rating_import_create(
        dataset=dataset,
        by=user,
        name="Ratings by three raters",
        filename="ratings-by-rater.csv",
        content=(EXAMPLES / "ratings-by-rater.csv").read_bytes(),
        draft=True,
    )
    return {
        "rating-import": reverse("annotation:rating-import", args=[project.slug, dataset.slug]),
        "rating-import-look": reverse("annotation:rating-import-detail", args=[project.slug, job.pk]),
    }


MESSAGES = (
    (("Hi! How was the trip?", "Long, but the view was worth it."), "Would you take the train again?"),
    (("I am making soup tonight.", "Oh, which one?"), "Pumpkin. Do you have a tip for the spices?"),
    (("The library closes at six.", "Then we have an hour."), "Shall we look for the atlas first?"),
)
REPLIES = {
    "Alder": (
        "Yes, I slept half the way.",
        "A little nutmeg, and ginger if you like it sharp.",
        "Yes, it is on the second floor.",
    ),
    "Birch": ("The train is a train.", "Spices are good.", "The atlas is a book of maps."),
    "Cedar": (
        "I would, but with a seat by the window.",
        "Cumin works well with pumpkin.",
        "Let us ask at the desk, it is quicker.",
    ),
    "Elm": ("No idea what you mean.", "I like football.", "Six is after five."),
    "Hazel": ("Only if it is not full again.", "Try smoked paprika.", "You look for it, I return these two."),
    "Maple": ("Yes yes yes yes.", "Put salt.", "Maybe."),
}
HUMAN = (
    "Any time, flying is not for me.",
    "Nutmeg and a bit of orange peel.",
    "Good idea, before somebody else takes it.",
)
MANY: dict[str, Any] = {"ratings_per_unit": 60}  # each picture's rater is a new one


def _small_talk() -> dict[str, str]:
    """Create a campaign for every kind of screen, on three conversations."""
    project = Project.objects.create(name="Small talk", slug="small-talk")
    dataset = Dataset.objects.create(project=project, name="Small talk", slug="small-talk")
    systems = {name: System.objects.create(dataset=dataset, name=name) for name in REPLIES}
    for position, (context, message) in enumerate(MESSAGES):
        item = Item.objects.create(
            dataset=dataset, external_id=f"talk-{position}", position=position, context=list(context), message=message
        )
        for name, texts in REPLIES.items():
            add_response(item, texts[position], systems[name])
        add_response(item, HUMAN[position], None)
    one_system, two_systems = [systems["Alder"]], [systems["Alder"], systems["Birch"]]
    instructions = (
        "Rate how *relevant* each reply is to the last message.\n\nA short reply may be as relevant as a long one."
    )
    _running(
        dataset,
        "Replies: one by one",
        [RELEVANT],
        one_system,
        qualification=_first_steps(),
        instructions=instructions,
        consent=CONSENT,
        completion_code="DONE-7",
        item_limit=2,
    )
    _running(
        dataset,
        "Replies: pairs",
        [RELEVANT, rating_screens.BETTER],
        two_systems,
        presentation="pair",
        instructions=instructions,
    )
    _running(dataset, "Replies: six at a time", [rating_screens.FLUENT], list(systems.values()), presentation="list")
    _running(
        dataset,
        "Fluency, 0 to 100",
        [rating_screens.ADEQUATE],
        one_system,
        break_every_units=1,
        completion_code="DONE-3",
    )
    _running(dataset, "Naturalness", [rating_screens.NATURAL], one_system, seconds_between_units=30)
    _running(
        dataset,
        "Replies: two questions",
        [RELEVANT, rating_screens.FLUENT],
        one_system,
        comment="optional",
        cannot_judge_reasons=rating_screens.REASONS,
        consent=CONSENT,
    )
    return _links(project)


RELEVANT = replace(rating_screens.RELEVANT, labels=["Not at all", "A little", "Somewhat", "Mostly", "Fully"])


def _running(
    dataset: Dataset, name: str, criteria: Sequence[CriterionDraft], systems: Sequence[System], **options: Any
) -> None:
    draft = CampaignDraft(
        dataset=dataset, name=name, criteria=criteria, target=Target.CHOSEN, systems=systems, **{**MANY, **options}
    )
    campaign_launch(campaign=campaign_create(project=dataset.project, draft=draft))


def _first_steps() -> dict[str, Any]:
    def screen(text: str, low: int, high: int, **more: Any) -> dict[str, Any]:
        return {
            "message": "How do you get to work?",
            "texts": [{"text": text, "expected": {"relevance": [low, high]}}],
            **more,
        }

    why = "The reply **answers the question**. That it is short takes nothing away."
    return {
        "training": [screen("By bike, mostly.", 4, 5, feedback=why)],
        "test": [screen("I take the train at eight.", 5, 5), screen("Seven is a prime number.", 1, 2)],
        "pass_mark": 1.0,
        "attempts": 2,
    }


def _links(project: Project) -> dict[str, str]:
    campaigns = Campaign.objects.filter(project=project)
    return {campaign.name: reverse("annotation:rater-landing", args=[campaign.link_token]) for campaign in campaigns}


def _paths(
    project: Project,
    main: Campaign,
    upcoming: Campaign,
    watched: Campaign,
    single: Campaign,
    drafts: Sequence[Campaign],
    runs: Sequence[int],
) -> dict[str, str]:
    slug = project.slug
    through = list(main.recruitments.order_by("pk"))
    participations = Participation.objects.filter(campaign=main)
    person = participations.exclude(excluded_at=None).first() or participations.earliest("pk")
    account = through[0].account
    return {
        "demo": f"/p/{slug}/",
        "main": reverse("annotation:campaign-detail", args=[slug, main.pk]),
        "next": reverse("annotation:campaign-detail", args=[slug, upcoming.pk]),
        "watched": reverse("annotation:campaign-detail", args=[slug, watched.pk]),
        "single": reverse("annotation:campaign-detail", args=[slug, single.pk]),
        "direct": reverse("annotation:campaign-detail", args=[slug, drafts[-1].pk]),
        "compare": reverse("annotation:campaign-compare", args=[slug]) + f"?left={single.pk}&right={main.pk}",
        "prolific": reverse("annotation:campaign-recruitment", args=[slug, main.pk, through[0].pk]),
        "by-hand": reverse("annotation:campaign-recruitment", args=[slug, main.pk, through[1].pk]),
        "account": reverse("annotation:provider-account", args=[slug, account.pk]) if account else "",
        "rater": reverse("annotation:campaign-rater", args=[slug, main.pk, person.rater_id]),
        "erase": reverse("annotation:rater-erase", args=[slug, person.rater_id]),
        "dry-run": reverse("annotation:campaign-dry-run", args=[slug, upcoming.pk, runs[0]]),
        "dry-run-compare": reverse("annotation:campaign-dry-run-compare", args=[slug, upcoming.pk])
        + f"?left={runs[0]}&right={runs[1]}",
    }
