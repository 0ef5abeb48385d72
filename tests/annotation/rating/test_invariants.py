"""Invariants of rating: random walks and concurrent threads on the real database."""

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event
from typing import ClassVar

import pytest
from django.db import connection, transaction
from django.db.models import Count
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from annotation.campaigns.services.lifecycle import campaign_close, campaign_pause, campaign_resume
from annotation.core.errors import AnnotationError
from annotation.models import (
    Campaign,
    CampaignState,
    CheckAnswer,
    CheckUnit,
    Participation,
    Presentation,
    PresentationOutcome,
    Project,
    Purpose,
    Rater,
    Rating,
    Slot,
    SlotState,
    Unit,
)
from annotation.quality.selectors.amendments import rated_systems, stopped_systems
from annotation.quality.services.amendments import chain_check
from annotation.quality.services.decisions import cannot_judge_reopen, rater_exclude, rater_include, raters_replace
from annotation.quality.services.operations import (
    campaign_extend,
    campaign_top_up,
    items_add,
    system_resume,
    system_stop,
)
from annotation.rating.services.handout import slots_sweep, standing_lock, unit_leave, unit_request, unit_return
from annotation.rating.services.ratings import SubmissionRefused, ratings_submit
from tests.annotation.worlds.campaigns import add_response, join, make_campaign, make_dataset

ANSWERED = (PresentationOutcome.SUBMITTED, PresentationOutcome.LATE, PresentationOutcome.REPLACED)
REASON = "Not a sentence"
RATERS = st.integers(0, 3)
INDEX = st.integers(0, 10**6)


class Walk(RuleBasedStateMachine):
    """A campaign of four raters. ``sent`` is the model: every acknowledged answer, revision by revision."""

    acknowledged: ClassVar[int] = 0  # over all walks: a walk without an answer would test nothing

    def __init__(self) -> None:
        super().__init__()
        self.point = transaction.atomic()  # rolled back at the end: every example begins with the same state
        self.point.__enter__()
        self.sent: dict[int, list[tuple[dict[int, int], dict[int, str]]]] = {}
        self.shown: list[Presentation] = []
        self.items = 0

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.point.__exit__(None, None, None)

    @initialize(kind=st.sampled_from(["single", "pair", "list"]), k=st.integers(1, 3), checks=st.booleans())
    def launch(self, kind: str, k: int, checks: bool) -> None:
        self.project = Project.objects.create(name="Walk", slug="walk")
        self.dataset = make_dataset(self.project, items=2, systems=["Ada", "Bo", "Cy"])
        # For the first item, Di's text is the same as Ada's.
        item, di = self.dataset.items.get(position=0), self.dataset.systems.create(name="Di")
        add_response(item, item.responses.get(sources__system__name="Ada").text, di)
        self.campaign = make_campaign(self.dataset, presentation=kind, ratings_per_unit=k, launch=True)
        changes: dict[str, object] = {"cannot_judge_reasons": [REASON]}
        if checks:
            changes["quality"] = {"every": 3, "mix": {"attention": 1, "repeat": 1}, "repeat_gap": 1}
            texts = [{"text": f"Choose {n}.", "role": "attention", "expected": {}} for n in range(self.width(kind))]
            CheckUnit.objects.create(campaign=self.campaign, kind=Purpose.ATTENTION, number=0, texts=texts)
        Campaign.objects.filter(pk=self.campaign.pk).update(**changes)
        self.campaign.refresh_from_db()
        self.raters = [join(self.campaign) for _ in range(4)]
        self.stale = Campaign.objects.get(pk=self.campaign.pk)  # as in a process that fetched it long ago
        self.work(rater_index=0, value=3, screens=1)  # so that every walk has an answer to lose

    @staticmethod
    def width(kind: str) -> int:
        return {"single": 1, "pair": 2, "list": 3}[kind]

    def now(self) -> Campaign:
        return Campaign.objects.get(pk=self.campaign.pk)

    # --- Raters -------------------------------------------------------------------------------------------------------

    @rule(rater_index=RATERS)
    def request(self, rater_index: int) -> None:
        participation = Participation.objects.get(campaign=self.campaign, rater=self.raters[rater_index])
        presentation = unit_request(campaign=self.stale, rater=self.raters[rater_index])
        if presentation is None:
            return
        assert participation.excluded_at is None, "an excluded rater was handed something"
        assert self.now().state == CampaignState.RUNNING, "something was handed out though not running"
        if presentation not in self.shown:
            self.shown.append(presentation)
            assert presentation.unit is None or presentation.purpose != Purpose.WORK or not presentation.unit.stopped

    def some(self, pick: int, *outcomes: str) -> Presentation | None:
        for presentation in self.shown:
            presentation.refresh_from_db()
        candidates = [presentation for presentation in self.shown if not outcomes or presentation.outcome in outcomes]
        return candidates[pick % len(candidates)] if candidates else None

    def send(self, presentation: Presentation, values: dict[int, int], unjudged: dict[int, str]) -> None:
        written = {(position, "relevance"): value for position, value in values.items()}
        closed = self.now().state == CampaignState.CLOSED
        before = Rating.objects.count() + CheckAnswer.objects.count()
        try:
            result = ratings_submit(
                token=presentation.token, rater=presentation.rater, values=written, cannot_judge=unjudged
            )
        except SubmissionRefused:
            assert closed, "an answer was refused though the campaign takes answers"
            assert Rating.objects.count() + CheckAnswer.objects.count() == before
            return
        assert not closed, "a closed campaign took an answer"
        assert Rating.objects.count() + CheckAnswer.objects.count() == before + result.written
        self.sent.setdefault(presentation.pk, []).append((values, unjudged))
        Walk.acknowledged += 1

    @rule(pick=INDEX, value=st.integers(1, 5), leave_out=st.booleans())
    def submit(self, pick: int, value: int, leave_out: bool) -> None:
        """Answer an item on screen, a lapsed one or an answered one: browsers keep pages open for long."""
        presentation = self.some(pick)
        if presentation is None:
            return
        positions = list(range(len(presentation.order)))
        unjudged = {positions[-1]: REASON} if leave_out else {}
        self.send(presentation, {position: value for position in positions if position not in unjudged}, unjudged)

    @rule(pick=INDEX)
    def submit_on_screen(self, pick: int) -> None:
        presentation = self.some(pick, PresentationOutcome.SHOWN)
        if presentation is not None:
            self.send(presentation, dict.fromkeys(range(len(presentation.order)), 3), {})

    @rule(rater_index=RATERS, value=st.integers(1, 5), screens=st.integers(1, 4))
    def work(self, rater_index: int, value: int, screens: int) -> None:
        """Answer some items in a row: without this most walks have next to no answers."""
        for _ in range(screens):
            self.request(rater_index)
            on_screen = [shown for shown in self.shown if shown.outcome == PresentationOutcome.SHOWN]
            presentation = next((shown for shown in on_screen if shown.rater == self.raters[rater_index]), None)
            if presentation is not None:
                self.send(presentation, dict.fromkeys(range(len(presentation.order)), value), {})
                presentation.refresh_from_db()

    @rule(pick=INDEX)
    def submit_twice(self, pick: int) -> None:
        presentation = self.some(pick, *ANSWERED)
        if presentation is None or self.now().state == CampaignState.CLOSED:
            return
        before = Rating.objects.count() + CheckAnswer.objects.count()
        self.send(presentation, *self.sent[presentation.pk][-1])
        assert Rating.objects.count() + CheckAnswer.objects.count() == before, "the same answer was stored twice"

    @rule(pick=INDEX)
    def give_back(self, pick: int) -> None:
        presentation = self.some(pick)
        if presentation is not None:
            unit_return(presentation=presentation)

    @rule(pick=INDEX)
    def leave(self, pick: int) -> None:
        presentation = self.some(pick)
        if presentation is not None:
            unit_leave(presentation=presentation)

    @rule()
    def leases_run_out(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE annotation_slot SET expires_at = statement_timestamp() - interval '1 s' WHERE state = 'leased'"
            )

    @rule()
    def sweep(self) -> None:
        slots_sweep()

    # --- Managers -----------------------------------------------------------------------------------------------------

    @rule(rater_index=RATERS, replace=st.booleans())
    def exclude(self, rater_index: int, replace: bool) -> None:
        ratings = Rating.objects.count()
        replace = replace and self.now().state != CampaignState.CLOSED
        result = rater_exclude(campaign=self.stale, rater=self.raters[rater_index], reason="Spam", replace=replace)
        assert Rating.objects.count() == ratings, "a decision changed ratings"
        held = Slot.objects.filter(campaign=self.campaign, rater=self.raters[rater_index])
        assert not held.filter(state=SlotState.LEASED).exists()
        if replace:
            assert not held.exists()
        repeated = rater_exclude(campaign=self.stale, rater=self.raters[rater_index], reason="Spam", replace=replace)
        assert (repeated.decision, repeated.released, repeated.reopened) == (None, 0, 0)
        assert result.reopened == 0 or replace

    @rule(rater_index=RATERS)
    def include(self, rater_index: int) -> None:
        rater_include(campaign=self.stale, rater=self.raters[rater_index], reason="A mistake")

    @rule()
    def replace_all(self) -> None:
        try:
            raters_replace(campaign=self.stale)
        except AnnotationError:
            assert self.now().state == CampaignState.CLOSED

    @rule(per_unit=st.integers(1, 2))
    def reopen_unjudged(self, per_unit: int) -> None:
        try:
            cannot_judge_reopen(campaign=self.stale, per_unit=per_unit)
        except AnnotationError:
            assert self.now().state == CampaignState.CLOSED

    @rule(more=st.integers(1, 2))
    def extend(self, more: int) -> None:
        before = self.now()
        if before.ratings_per_unit < 6:
            self.amend(
                before, lambda: campaign_extend(campaign=self.stale, ratings_per_unit=before.ratings_per_unit + more)
            )

    @rule(ratings=st.integers(1, 4))
    def top_up(self, ratings: int) -> None:
        wanted = Slot.objects.filter(campaign=self.campaign).count()
        with suppress(AnnotationError):  # closed, or every unit has as many as it may
            campaign_top_up(campaign=self.stale, ratings=ratings, most=8)
            assert Slot.objects.filter(campaign=self.campaign).count() == wanted + ratings

    @rule(pick=INDEX)
    def stop(self, pick: int) -> None:
        systems = list(rated_systems(self.campaign))
        with suppress(AnnotationError):  # stopped already, the last one, or only in lists
            system_stop(campaign=self.stale, system=systems[pick % len(systems)])

    @rule(pick=INDEX)
    def resume_system(self, pick: int) -> None:
        if names := stopped_systems(self.campaign):
            system = self.dataset.systems.get(name=names[pick % len(names)])
            self.amend(self.now(), lambda: system_resume(campaign=self.stale, system=system))

    @rule()
    def add_items(self) -> None:
        if self.items == 3:
            return
        self.items += 1
        item = self.dataset.items.create(external_id=f"more-{self.items}", position=10 + self.items, message="More?")
        for system in self.dataset.systems.all():
            add_response(item, f"{system.name} says {self.items}.", system)
        self.amend(self.now(), lambda: items_add(campaign=self.stale))

    def amend(self, before: Campaign, change: Callable[[], object]) -> None:
        try:
            change()
        except AnnotationError:
            assert before.state == CampaignState.CLOSED
        else:
            assert before.state != CampaignState.CLOSED

    @rule()
    def pause_or_resume(self) -> None:
        state = self.now().state
        if state != CampaignState.CLOSED:
            (campaign_pause if state == CampaignState.RUNNING else campaign_resume)(campaign=self.stale)

    @rule(really=st.integers(0, 7))
    def close(self, really: int) -> None:
        if really == 5 and self.now().state != CampaignState.CLOSED:
            campaign_close(campaign=self.stale)

    # --- Invariants ---------------------------------------------------------------------------------------------------

    @invariant()
    def slots_are_filled_once_and_counted_right(self) -> None:
        check_slots(self.campaign)

    @invariant()
    def every_acknowledged_answer_is_in_the_log(self) -> None:
        for pk, answers in self.sent.items():
            presentation = Presentation.objects.get(pk=pk)
            log = presentation.ratings if presentation.purpose == Purpose.WORK else presentation.check_answers
            for position in range(len(presentation.order)):
                answered = [values.get(position, unjudged.get(position)) for values, unjudged in answers]
                expected = [answer for n, answer in enumerate(answered) if n == 0 or answer != answered[n - 1]]
                rows = log.filter(position=position).order_by("revision")
                assert [row.revision for row in rows] == list(range(len(expected)))
                assert [row.cannot_judge or row.value for row in rows] == expected

    @invariant()
    def the_chain_of_amendments_holds(self) -> None:
        assert chain_check(self.campaign).broken is None


def check_slots(campaign: Campaign) -> None:
    campaign = Campaign.objects.get(pk=campaign.pk)
    slots = list(Slot.objects.filter(campaign=campaign))
    done = [slot for slot in slots if slot.state == SlotState.DONE]
    units = {unit.pk: unit for unit in Unit.objects.filter(campaign=campaign)}
    numbers: dict[int, list[int]] = {}
    for slot in slots:
        numbers.setdefault(slot.unit_id, []).append(slot.number)
    assert {unit: sorted(slot_numbers) for unit, slot_numbers in numbers.items()} == {
        pk: list(range(unit.ratings_wanted)) for pk, unit in units.items()
    }
    filled = Counter(slot.unit_id for slot in done)
    assert {pk: unit.done_slots for pk, unit in units.items()} == {pk: filled[pk] for pk in units}
    slots_per_rater = Counter((slot.unit_id, slot.rater_id) for slot in slots if slot.rater_id)
    assert max(slots_per_rater.values(), default=1) == 1, "a rater has two places of one unit"
    submitted = Presentation.objects.filter(
        campaign=campaign, purpose=Purpose.WORK, outcome=PresentationOutcome.SUBMITTED
    ).annotate(n=Count("ratings__response", distinct=True))
    by_slot = {presentation.slot_id: presentation for presentation in submitted}
    assert len(by_slot) == len(submitted) == len(done)
    for slot in done:
        filling = by_slot[slot.pk]
        assert (filling.token, filling.rater_id, filling.unit_id) == (slot.token, slot.rater_id, slot.unit_id)
        assert filling.n == len(filling.order), "a place is filled without a full answer"
    assert not Presentation.objects.filter(campaign=campaign).exclude(purpose=Purpose.WORK).exclude(slot=None).exists()
    assert not Rating.objects.filter(campaign=campaign).exclude(presentation__purpose=Purpose.WORK).exists()
    excluded = Participation.objects.filter(campaign=campaign, excluded_at__isnull=False).values("rater")
    assert not Slot.objects.filter(campaign=campaign, state=SlotState.LEASED, rater__in=excluded).exists()


@pytest.mark.django_db
def test_invariants_hold_over_random_sequences_of_what_raters_and_managers_do() -> None:
    Walk.acknowledged = 0
    walks = settings.default.max_examples // 4
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=walks,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target],
        ),
    )
    assert Walk.acknowledged >= walks


class Crowd:
    """Raters and managers of one campaign, each in a thread with its own connection."""

    def __init__(self, project: Project) -> None:
        self.campaign = make_campaign(make_dataset(project, items=8), ratings_per_unit=2, presentation="pair")
        self.raters = [join(self.campaign) for _ in range(8)]
        self.over = Event()
        self.acknowledged: list[tuple[int, int]] = []

    def rater(self, rater: Rater) -> None:
        draw = random.Random(rater.pk)
        while not self.over.is_set():
            presentation = unit_request(campaign=self.campaign, rater=rater)
            if presentation is None:
                time.sleep(0.002)
            elif draw.random() < 0.05:
                unit_return(presentation=presentation)
            else:
                value = draw.randint(1, 5)
                values = {(position, "relevance"): value for position in range(len(presentation.order))}
                for _ in range(draw.choice([1, 1, 2])):
                    ratings_submit(token=presentation.token, rater=rater, values=values)
                self.acknowledged.append((presentation.pk, value))

    def decisions(self) -> None:
        draw = random.Random(7)
        for step in range(60):
            rater = draw.choice(self.raters)
            match step % 3:
                case 0:
                    rater_exclude(campaign=self.campaign, rater=rater, reason="Spam", replace=step % 2 == 0)
                case 1:
                    rater_include(campaign=self.campaign, rater=rater, reason="Sorry")
                case 2:
                    raters_replace(campaign=self.campaign)
            time.sleep(0.01)
        for rater in self.raters:
            rater_include(campaign=self.campaign, rater=rater, reason="The end")

    def operations(self) -> None:
        system = self.campaign.dataset.systems.get(name="Ada")
        for step in range(12):
            system_stop(campaign=self.campaign, system=system)
            time.sleep(0.02)
            system_resume(campaign=self.campaign, system=system)
            cannot_judge_reopen(campaign=self.campaign)
            campaign_extend(campaign=self.campaign, ratings_per_unit=3 + step)
            slots_sweep()
            time.sleep(0.02)

    def run(self) -> None:
        def in_thread(act: Callable[..., None], *arguments: object) -> None:
            try:
                act(*arguments)
            finally:
                connection.close()

        with ThreadPoolExecutor(len(self.raters) + 2) as pool:
            working = [pool.submit(in_thread, self.rater, rater) for rater in self.raters]
            managing = [pool.submit(in_thread, self.decisions), pool.submit(in_thread, self.operations)]
            try:
                for manager in managing:
                    manager.result(120)
                time.sleep(0.5)
            finally:
                self.over.set()
            for rater in working:
                rater.result(60)  # a deadlock or a broken constraint is raised here


@pytest.mark.django_db(transaction=True)
def test_invariants_hold_while_eight_raters_and_two_managers_work_concurrently(project: Project) -> None:
    crowd = Crowd(project)
    crowd.run()
    check_slots(crowd.campaign)
    assert chain_check(crowd.campaign).broken is None
    assert len(crowd.acknowledged) > 100
    for pk, value in crowd.acknowledged:
        stored = Rating.objects.filter(presentation=pk)
        assert [(rating.value, rating.revision) for rating in stored] == [(float(value), 0)] * 2
    assert Rating.objects.count() == 2 * len(crowd.acknowledged)


@pytest.mark.django_db(transaction=True)
def test_a_campaign_is_paused_at_once_while_many_raters_request_units(project: Project) -> None:
    """With row locks, a change would wait for ever: there is always a request under way in this test."""
    campaign = make_campaign(make_dataset(project, items=1))
    raters = [join(campaign) for _ in range(12)]
    over = Event()

    def request_units(rater: Rater) -> None:
        try:
            while not over.is_set():
                with transaction.atomic():
                    standing_lock(campaign=campaign, rater=rater)
                    time.sleep(0.02)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(raters)) as pool:
        requests = [pool.submit(request_units, rater) for rater in raters]
        try:
            time.sleep(0.3)
            begun = time.monotonic()
            campaign_pause(campaign=campaign)
            waited = time.monotonic() - begun
        finally:
            over.set()
        for request in requests:
            request.result(30)
    assert waited < 5  # 0.02 s if nothing else runs; without a queue the pause never comes
