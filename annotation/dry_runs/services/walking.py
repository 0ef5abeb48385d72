"""Simulated raters walk through the rater's pages, each on a simulated clock.

Requests follow one another in the order of the simulated times, so that a repeated run shows the same screens.
"""

import heapq
import http.client
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models.functions import Now
from django.urls import reverse

from annotation.allocation.leases import adaptive_lease
from annotation.allocation.seeds import derive_seed
from annotation.campaigns.design.writing import Writing
from annotation.campaigns.questions import kind_of
from annotation.core.prose import capitalised
from annotation.dry_runs.services.loopback import Browser, Form, Page, forms
from annotation.dry_runs.services.qualities import ShownScreen, shown_screen
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.models import (
    Campaign,
    CommentField,
    Criterion,
    Participation,
    Presentation,
    PresentationOutcome,
    Purpose,
    Slot,
    SlotState,
)
from annotation.rating.selectors.questions import field_of, questionnaire_of
from annotation.rating.services.handout import slots_sweep
from annotation.rating.services.written import WARNED

FIELD_NAME = re.compile(r"(.+?)(?:\.[0-9a-f]{8})?")  # without the screen's token
TURN_FIELD = re.compile(r"r(\d+)t\d+-(.+)")
TITLE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
TAGS = re.compile(r"<[^>]+>")
ALL_RATED = "data-all-rated"  # marks the landing page of a campaign in which nothing is left
REPORT_EVERY = 10
MOST_STEPS = 12  # from one screen to the next: feedback, result, break
COMMENT = "A comment of a simulated rater."
TEXT = "A text of a simulated rater about item"

Report = Callable[[int, float], None]  # screens answered, simulated hours


@dataclass(frozen=True)
class Answered:
    """A screen that a rater answered; times in seconds since the opening."""

    rater: int
    presentation: int
    purpose: str
    shown: float
    sent: float


@dataclass(frozen=True)
class Finding:
    """A problem that raters met."""

    what: str
    times: int


@dataclass
class Journal:
    """The record of a walk. Raters are named by their index."""

    answered: list[Answered] = field(default_factory=list)
    participations: dict[int, int] = field(default_factory=dict)  # rater -> participation
    arrived: int = 0
    left: int = 0  # by dropping out
    problems: Counter[str] = field(default_factory=Counter)
    hours: float = 0.0

    @property
    def findings(self) -> list[Finding]:
        return [Finding(what, times) for what, times in sorted(self.problems.items())]


class _PageProblem(Exception):
    """An unexpected page; the rater gives up."""


@dataclass
class _Visit:
    """A rater on the way through the campaign."""

    index: int
    traits: SimulatedRater
    browser: Browser
    form: Form | None = None
    screen: ShownScreen | None = None
    shown: float = 0.0
    screens: int = 0


@dataclass(frozen=True)
class Timing:
    """The rules of the original's design that follow the raters' simulated clocks."""

    lease: int
    lease_bounds: tuple[int, int] | None
    seconds_between: int

    @classmethod
    def of(cls, campaign: Campaign) -> "Timing":
        low, high = campaign.lease_min_seconds, campaign.lease_max_seconds
        bounds = None if low is None or high is None else (low, high)
        return cls(campaign.lease_seconds, bounds, campaign.seconds_between_units)


class Walk:
    """A dry run from the opening to the last answer."""

    def __init__(
        self,
        *,
        campaign: Campaign,
        timing: Timing,
        raters: Sequence[SimulatedRater],
        arrivals_per_hour: float,
        seed: int,
        connection: http.client.HTTPConnection,
        report: Report,
    ) -> None:
        self.campaign, self.timing, self.seed, self.report = campaign, timing, seed, report
        self.visits = [_Visit(index, traits, Browser(connection)) for index, traits in enumerate(raters)]
        self.criteria = list(Criterion.objects.filter(campaign=campaign).order_by("position", "id"))
        self.journal = Journal()
        self.times: list[float] = []  # of answered work, for the lease that follows from them
        self.queue: list[tuple[float, int, str, int, int]] = []
        self.events = 0
        gaps = np.random.default_rng(derive_seed(seed, "arrivals")).exponential(3600 / arrivals_per_hour, len(raters))
        for index, when in enumerate(np.cumsum(gaps).tolist()):
            self._schedule(when, "arrive", index)

    def play(self) -> Journal:
        while self.queue:
            now, _, event, index, presentation = heapq.heappop(self.queue)
            if event == "lapse":
                self._lapse(presentation)
                continue
            visit = self.visits[index]
            try:
                if event == "arrive":
                    self._arrive(visit, now)
                else:
                    self._send(visit, now)
            except _PageProblem as problem:
                self.journal.problems[str(problem)] += 1
            self.journal.hours = max(self.journal.hours, now / 3600)
        return self.journal

    # --- A rater's steps ----------------------------------------------------------------------------------------------

    def _arrive(self, visit: _Visit, now: float) -> None:
        self.journal.arrived += 1
        landing = self._get(visit, self._url("landing"), "landing page")
        form = next((form for form in forms(landing.text) if form.action == self._url("consent")), None)
        if form is None and ALL_RATED in landing.text:
            return  # as late visitors are
        if form is None:
            raise _PageProblem(f"The landing page has no way in: “{_title(landing.text)}”.")
        data = {**form.values, **({"agree": "1"} if "agree" in form.values else {})}
        if "name" in data:
            data["name"] = f"Simulated {visit.index + 1}"
        page = self._checked(visit.browser.post(form.action, data), "consent")
        if not page.go:
            raise _PageProblem(f"Consent leads nowhere: “{_title(page.text)}”.")
        self._seed_order(visit)
        self._go_on(visit, page, now)

    def _seed_order(self, visit: _Visit) -> None:
        """Let the rater's order follow from the seed and the rater's index, not from ids of the database."""
        joined = Participation.objects.filter(campaign=self.campaign).latest("pk")
        Participation.objects.filter(pk=joined.pk).update(order_seed=derive_seed(self.seed, "order", visit.index))
        self.journal.participations[visit.index] = joined.pk

    def _send(self, visit: _Visit, now: float) -> None:
        if visit.form is None or visit.screen is None:
            return
        screen = visit.screen
        data = self._filled(visit.form, screen, visit.traits)
        page = self._checked(visit.browser.post(visit.form.action, data, part=True), "an answer")
        self.journal.answered.append(Answered(visit.index, screen.presentation, screen.purpose, visit.shown, now))
        if screen.purpose == Purpose.WORK:
            self.times.append(now - visit.shown)
        if len(self.journal.answered) % REPORT_EVERY == 0:
            self.report(len(self.journal.answered), now / 3600)
        self._go_on(visit, page, now)

    def _go_on(self, visit: _Visit, page: Page, now: float) -> None:
        """Follow the pages to a screen to answer, or to the last page."""
        visit.form = visit.screen = None
        for _ in range(MOST_STEPS):
            form = next((form for form in forms(page.text) if form.name == "rating"), None)
            if form is not None and not page.go:
                self._meet(visit, form, now)
                return
            if form := next((form for form in forms(page.text) if form.name == "questions"), None):
                page = self._checked(visit.browser.post(form.action, self._about(form, visit.traits)), "questions")
                continue
            if "/finish/" in page.go:
                self._get(visit, page.go, "last page")
                return
            page = self._get(visit, page.go or self._url("work"), "page between items")
        raise _PageProblem(f"Pages lead in a circle: “{_title(page.text)}”.")

    def _meet(self, visit: _Visit, form: Form, now: float) -> None:
        """Show a screen; the rater answers it after a while, or closes the window."""
        screen = shown_screen(self.campaign, form.values["token"], seed=self.seed)
        earliest = visit.shown + self.timing.seconds_between if visit.screens else now
        visit.form, visit.screen, visit.shown = form, screen, max(now, earliest)
        visit.screens += 1
        lease = self._lease()
        stays = not visit.traits.leaves()
        sent = visit.shown + visit.traits.seconds()
        if screen.purpose == Purpose.WORK and (not stays or sent > visit.shown + lease):
            self._schedule(visit.shown + lease, "lapse", visit.index, screen.presentation)
        if stays:
            self._schedule(sent, "send", visit.index)
        else:
            self.journal.left += 1

    def _about(self, form: Form, traits: SimulatedRater) -> dict[str, str]:
        """Return the form's fields with the rater's answers to the questions about raters."""
        answers = {
            field_of(each): kind_of(each).simulate(traits.rng) for each in questionnaire_of(self.campaign).questions
        }
        return {**form.values, **answers}

    def _filled(self, form: Form, screen: ShownScreen, traits: SimulatedRater) -> dict[str, str]:
        """Return the form's fields with the rater's answer on every criterion."""
        answers = {
            (number, criterion.name): value
            for criterion in self.criteria
            if not criterion.by_turn
            for number, value in criterion.scale.simulate(traits, screen.texts).items()
        }
        names = {_field_name(name): name for name in form.values}
        data = {name: value for name, value in form.values.items() if name in ("token", "csrfmiddlewaretoken")}
        data |= self._of_turns(names, screen, traits)
        for (position, criterion), value in answers.items():
            name = names.get(f"r{position}-{criterion}")
            text = f"{value:.10g}"
            if name is None:
                raise _PageProblem(f"An item does not ask “{criterion}” of its text {position + 1}.")
            if name in form.choices and text not in form.choices[name]:
                raise _PageProblem(f"An item does not offer {text} for “{criterion}”.")
            data[name] = text
        if "written" in names:
            writing = Writing.lenient(self.campaign.writing)
            text = f"{TEXT} {screen.presentation}. " * (writing.least // len(TEXT) + 1)
            data |= {names["written"]: text[: writing.most], WARNED: "1"}
        if self.campaign.comment == CommentField.REQUIRED and "comment" in names:
            data[names["comment"]] = COMMENT
        return data

    def _of_turns(self, names: Mapping[str, str], screen: ShownScreen, traits: SimulatedRater) -> dict[str, str]:
        """Return the rater's answers to what is asked of turns, by field: a turn is as good as its dialogue."""
        scales = {criterion.name: criterion.scale for criterion in self.criteria if criterion.by_turn}
        asked = [(match, name) for plain, name in names.items() if (match := TURN_FIELD.fullmatch(plain))]
        return {
            name: f"{scales[match[2]].simulate(traits, [screen.texts[int(match[1])]])[0]:.10g}" for match, name in asked
        }

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _lease(self) -> int:
        if self.timing.lease_bounds is None:
            return self.timing.lease
        low, high = self.timing.lease_bounds
        return adaptive_lease(np.array(self.times[-500:]), low=low, high=high, initial=self.timing.lease)

    def _lapse(self, presentation: int) -> None:
        """End the lease by the rater's clock: from now on, another rater may have the slot."""
        held = Presentation.objects.filter(pk=presentation, outcome=PresentationOutcome.SHOWN).values("slot")
        if Slot.objects.filter(pk__in=held, state=SlotState.LEASED).update(expires_at=Now()):
            slots_sweep()

    def _url(self, name: str) -> str:
        return reverse(f"annotation:rater-{name}", args=[self.campaign.link_token])

    def _get(self, visit: _Visit, path: str, label: str) -> Page:
        return self._checked(visit.browser.get(path), label)

    def _checked(self, page: Page, label: str) -> Page:
        if page.status >= 400:
            raise _PageProblem(f"{capitalised(label)}: status {page.status}, “{_title(page.text)}”.")
        return page

    def _schedule(self, when: float, event: str, index: int, presentation: int = 0) -> None:
        self.events += 1  # equal times keep their order
        heapq.heappush(self.queue, (when, self.events, event, index, presentation))


def _field_name(name: str) -> str:
    match = FIELD_NAME.fullmatch(name)
    return match[1] if match else name


def _title(text: str) -> str:
    match = TITLE.search(text)
    return " ".join(TAGS.sub("", match[1]).split())[:120] if match else "a page without a title"
