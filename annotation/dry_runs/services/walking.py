"""Simulated raters walk through the rater's pages, each on a clock of their own; nobody waits for real.

Requests are made one after the other, in the order of the virtual times: the same raters meet the same screens again.
"""

import heapq
import http.client
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models.functions import Now
from django.urls import reverse

from annotation.allocation.leases import adaptive_lease
from annotation.allocation.seeds import derive_seed
from annotation.dry_runs.services.knowing import Knowledge, Known
from annotation.dry_runs.services.loopback import Answer, Browser, Form, forms
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.models import (
    Campaign,
    CommentField,
    Participation,
    Presentation,
    PresentationOutcome,
    Purpose,
    Slot,
    SlotState,
    Stage,
)
from annotation.rating.services.handout import slots_sweep

BARE = re.compile(r"(.+?)(?:\.[0-9a-f]{8})?")  # a field's name without the screen's
TITLE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
TAGS = re.compile(r"<[^>]+>")
REPORT_EVERY = 10
MOST_STEPS = 12  # from one screen to the next: feedback, result, break
WRITTEN = "A comment of a simulated rater."

Report = Callable[[int, float], None]  # screens answered, hours that have passed for the raters


@dataclass(frozen=True)
class Answered:
    """One screen that a rater sent; times in seconds since the opening."""

    rater: int
    presentation: int
    purpose: str
    shown: float
    sent: float


@dataclass(frozen=True)
class Finding:
    """Something that a rater should not have met."""

    what: str
    times: int


@dataclass
class Journal:
    """All that happened, and which participation is whose."""

    answered: list[Answered] = field(default_factory=list)
    participations: dict[int, int] = field(default_factory=dict)  # rater -> participation
    arrived: int = 0
    left: int = 0  # by dropping out
    trouble: dict[str, int] = field(default_factory=dict)
    hours: float = 0.0

    def note(self, what: str) -> None:
        self.trouble[what] = self.trouble.get(what, 0) + 1

    @property
    def findings(self) -> list[Finding]:
        return [Finding(what, times) for what, times in sorted(self.trouble.items())]


class _Trouble(Exception):
    """A page that is not what it should be; the rater gives up."""


@dataclass
class _Visit:
    """A rater on their way."""

    place: int
    traits: SimulatedRater
    browser: Browser
    form: Form | None = None
    known: Known | None = None
    shown: float = 0.0
    screens: int = 0


@dataclass(frozen=True)
class Rules:
    """What of the original's design follows the raters' own clocks."""

    lease: int
    lease_bounds: tuple[int, int] | None
    seconds_between: int

    @classmethod
    def of(cls, campaign: Campaign) -> "Rules":
        low, high = campaign.lease_min_seconds, campaign.lease_max_seconds
        bounds = None if low is None or high is None else (low, high)
        return cls(campaign.lease_seconds, bounds, campaign.seconds_between_units)


class Walk:
    """One dry run from the opening to the last answer."""

    def __init__(
        self,
        *,
        campaign: Campaign,
        rules: Rules,
        raters: Sequence[SimulatedRater],
        arrivals_per_hour: float,
        seed: int,
        connection: http.client.HTTPConnection,
        report: Report,
    ) -> None:
        self.campaign, self.rules, self.seed, self.report = campaign, rules, seed, report
        self.visits = [_Visit(place, traits, Browser(connection)) for place, traits in enumerate(raters)]
        self.knowledge = Knowledge.of(campaign, seed)
        self.journal = Journal()
        self.times: list[float] = []  # of answered work, for the lease that follows the pace
        self.queue: list[tuple[float, int, str, int, int]] = []
        self.events = 0
        gaps = np.random.default_rng(derive_seed(seed, "arrivals")).exponential(3600 / arrivals_per_hour, len(raters))
        for place, when in enumerate(np.cumsum(gaps).tolist()):
            self._at(when, "arrive", place)

    def play(self) -> Journal:
        while self.queue:
            now, _, what, place, presentation = heapq.heappop(self.queue)
            if what == "lapse":
                self._lapse(presentation)
                continue
            visit = self.visits[place]
            try:
                if what == "arrive":
                    self._arrive(visit, now)
                else:
                    self._send(visit, now)
            except _Trouble as trouble:
                self.journal.note(str(trouble))
            self.journal.hours = max(self.journal.hours, now / 3600)
        return self.journal

    # --- A rater's steps ----------------------------------------------------------------------------------------------

    def _arrive(self, visit: _Visit, now: float) -> None:
        self.journal.arrived += 1
        landing = self._look(visit, self._url("landing"), "landing page")
        form = next((one for one in forms(landing.text) if one.action == self._url("consent")), None)
        if form is None:
            raise _Trouble(f"The landing page lets nobody in: “{_title(landing.text)}”.")
        data = {**form.values, **({"agree": "1"} if "agree" in form.values else {})}
        if "name" in data:
            data["name"] = f"Simulated {visit.place + 1}"
        sent = self._expect(visit.browser.post(form.action, data), "consent")
        if not sent.go:
            raise _Trouble(f"Consent leads nowhere: “{_title(sent.text)}”.")
        self._known_by_seed(visit)
        self._go_on(visit, sent, now)

    def _known_by_seed(self, visit: _Visit) -> None:
        """The rater's own order comes from the seed and the place, not from what ids the database is at."""
        joined = Participation.objects.filter(campaign=self.campaign).latest("pk")
        Participation.objects.filter(pk=joined.pk).update(order_seed=derive_seed(self.seed, "order", visit.place))
        self.journal.participations[visit.place] = joined.pk

    def _send(self, visit: _Visit, now: float) -> None:
        if visit.form is None or visit.known is None:
            return
        data = self._filled(visit.form, visit.known, visit.traits)
        got = self._expect(visit.browser.post(visit.form.action, data, part=True), "an answer")
        done = Answered(visit.place, visit.known.presentation, visit.known.purpose, visit.shown, now)
        self.journal.answered.append(done)
        if visit.known.purpose == Purpose.WORK:
            self.times.append(done.sent - done.shown)
        if len(self.journal.answered) % REPORT_EVERY == 0:
            self.report(len(self.journal.answered), now / 3600)
        self._go_on(visit, got, now)

    def _go_on(self, visit: _Visit, got: Answer, now: float) -> None:
        """Follow wherever pages lead until there is a screen to answer, or the last page."""
        visit.form = visit.known = None
        for _ in range(MOST_STEPS):
            form = next((one for one in forms(got.text) if one.name == "rating"), None)
            if form is not None and not got.go:
                self._meet(visit, form, now)
                return
            if "/finish/" in got.go:
                self._look(visit, got.go, "last page")
                return
            got = self._look(visit, got.go or self._url("work"), "page between screens")
        raise _Trouble(f"Pages lead in a circle: “{_title(got.text)}”.")

    def _meet(self, visit: _Visit, form: Form, now: float) -> None:
        """A screen: it is answered after a while, or the rater closes the window."""
        known = self.knowledge.about(form.values["token"])
        earliest = visit.shown + self.rules.seconds_between if visit.screens else now
        visit.form, visit.known, visit.shown = form, known, max(now, earliest)
        visit.screens += 1
        lease = self._lease()
        stays = not visit.traits.leaves()
        sent = visit.shown + visit.traits.seconds()
        if known.purpose == Purpose.WORK and (not stays or sent > visit.shown + lease):
            self._at(visit.shown + lease, "lapse", visit.place, known.presentation)
        if stays:
            self._at(sent, "send", visit.place)
        else:
            self.journal.left += 1

    def _filled(self, form: Form, known: Known, traits: SimulatedRater) -> dict[str, str]:
        """The form with an answer to everything it asks; what it asks and the design does not is trouble."""
        answers = {
            (number, criterion.name): value
            for criterion in self.knowledge.criteria
            for number, value in criterion.scale.simulate(traits, known.texts).items()
        }
        names = {_bare(name): name for name in form.values}
        data = {name: value for name, value in form.values.items() if name in ("token", "csrfmiddlewaretoken")}
        for (position, criterion), value in answers.items():
            name = names.get(f"r{position}-{criterion}")
            text = f"{value:.10g}"
            if name is None:
                raise _Trouble(f"A screen does not ask “{criterion}” of its text {position + 1}.")
            if name in form.choices and text not in form.choices[name]:
                raise _Trouble(f"A screen does not offer {text} for “{criterion}”.")
            data[name] = text
        if self.campaign.comment == CommentField.REQUIRED and "comment" in names:
            data[names["comment"]] = WRITTEN
        return data

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _lease(self) -> int:
        if self.rules.lease_bounds is None:
            return self.rules.lease
        low, high = self.rules.lease_bounds
        return adaptive_lease(np.array(self.times[-500:]), low=low, high=high, initial=self.rules.lease)

    def _lapse(self, presentation: int) -> None:
        """The lease ends by the rater's clock: somebody else may have the place from now on."""
        held = Presentation.objects.filter(pk=presentation, outcome=PresentationOutcome.SHOWN).values("slot")
        if Slot.objects.filter(pk__in=held, state=SlotState.LEASED).update(expires_at=Now()):
            slots_sweep()

    def _url(self, name: str) -> str:
        return reverse(f"annotation:rater-{name}", args=[self.campaign.link_token])

    def _look(self, visit: _Visit, path: str, what: str) -> Answer:
        return self._expect(visit.browser.get(path), what)

    def _expect(self, got: Answer, what: str) -> Answer:
        if got.status >= 400:
            raise _Trouble(f"{what[0].upper()}{what[1:]}: status {got.status}, “{_title(got.text)}”.")
        return got

    def _at(self, when: float, what: str, place: int, presentation: int = 0) -> None:
        self.events += 1  # equal times keep their order
        heapq.heappush(self.queue, (when, self.events, what, place, presentation))


def failed_the_test(journal: Journal) -> set[int]:
    """Raters who did not qualify."""
    failed = set(
        Participation.objects.filter(pk__in=journal.participations.values(), stage=Stage.FAILED).values_list(
            "pk", flat=True
        )
    )
    return {place for place, pk in journal.participations.items() if pk in failed}


def _bare(name: str) -> str:
    match = BARE.fullmatch(name)
    return match[1] if match else name


def _title(text: str) -> str:
    found = TITLE.search(text)
    return " ".join(TAGS.sub("", found[1]).split())[:120] if found else "a page without a title"
