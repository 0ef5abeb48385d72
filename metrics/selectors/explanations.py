"""The metric explained: each hypothesis of an item against its weighted references, n-gram by n-gram."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np

from annotation.core.numbers import finite_or_none
from annotation.models import Item, Release, ReleaseWeight, Response, ResponseSource
from metrics.models import ScoreRun
from metrics.scoring.delta_bleu import DeltaBleu
from metrics.scoring.explain.ngrams import NgramContribution, NgramExplanation, OrderTotal, explain_hypothesis
from metrics.scoring.texts import tokenize_texts
from metrics.selectors.lanes import Token, drawn
from metrics.selectors.ngrams import Holder, Ngram, Reference, Said, Weighed, written
from metrics.selectors.runs import mean_ratings
from metrics.subsets import Subset

# Languages whose texts have no spaces between words, and the tokeniser that parts them.
UNSPACED = {"zh": "zh", "ja": "char", "th": "char", "lo": "char", "km": "char", "my": "char"}

ALL = Subset()


def usual_tokenizer(language: str) -> str:
    """What a text in this language (a BCP 47 tag) is read with unless somebody asks for another."""
    return UNSPACED.get(language.lower().partition("-")[0], "whitespace")


@dataclass(frozen=True)
class Reading:
    """How n-grams are counted: all that an account depends on besides texts and weights."""

    max_order: int = 2
    semantics: str = "galley2015"
    tokenize: str = "whitespace"
    lowercase: bool = True
    subset: Subset = ALL
    weighted: bool = True
    smooth_brevity: bool = False

    @classmethod
    def of_run(cls, run: ScoreRun) -> "Reading":
        parameters = run.parameters
        return cls(
            parameters["max_order"],
            parameters.get("semantics", "galley2015"),
            parameters["tokenize"],
            parameters["lowercase"],
            Subset.from_mapping(run.subset),
            run.metric == DeltaBleu.name,
            parameters.get("smooth_brevity", False),
        )

    def query(self, **others: object) -> str:
        """As the address of a page asks for it; see `metrics.forms.runs.ReadingForm`."""
        asked = {
            "order": self.max_order,
            "semantics": self.semantics,
            "refs": str(self.subset),
            "tokenize": self.tokenize,
            "case": "lower" if self.lowercase else "kept",
        }
        return urlencode(asked | others)

    def account(self, hypothesis: str, references: Sequence[str], weights: Sequence[float]) -> NgramExplanation:
        return explain_hypothesis(
            hypothesis,
            references,
            weights if self.weighted else None,
            max_order=self.max_order,
            semantics=self.semantics,
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            smooth_brevity=self.smooth_brevity,
        )

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(own) for own in tokenize_texts(texts, tokenize=self.tokenize, lowercase=self.lowercase)]


@dataclass
class OrderLine:
    """The arithmetic of one order, written out."""

    total: OrderTotal
    sum: str
    numerator: str
    ceiling: str
    denominator: str
    added: str

    @property
    def order(self) -> int:
        return self.total.order

    @property
    def precision(self) -> float | None:
        return finite_or_none(self.total.precision)

    @property
    def smoothed(self) -> float:
        return self.total.smoothed


@dataclass
class Hypothesis:
    """What one system, or several alike, answered, and its account; ``told`` is None where no reference counts."""

    key: str
    names: list[str]
    response: Said
    told: NgramExplanation | None
    tokens: list[Token]
    lanes: int
    ngrams: list[Ngram]
    orders: list[OrderLine]
    reference: Reference | None  # the same text is a reference
    closest: Reference | None = None
    rating: float | None = None
    n_ratings: int = 0

    @property
    def score(self) -> float | None:
        return None if self.told is None else finite_or_none(self.told.score)

    @property
    def reason(self) -> str:
        return "no reference counts" if self.told is None else self.told.reason

    @property
    def penalty(self) -> float:
        return 1.0 if self.told is None else self.told.brevity_penalty

    @property
    def matched(self) -> list[Ngram]:
        return [ngram for ngram in self.ngrams if ngram.holders]

    @property
    def unmatched(self) -> list[Ngram]:
        return [ngram for ngram in self.ngrams if not ngram.holders]


@dataclass
class Explanation:
    """Every hypothesis of one item against every reference of it."""

    reading: Reading
    references: list[Reference]
    hypotheses: list[Hypothesis]
    scale: int
    top_weight: float | None  # of the references that count

    @property
    def counted(self) -> list[Reference]:
        return [reference for reference in self.references if reference.counts]

    @property
    def defined(self) -> bool:
        return self.top_weight is not None and self.top_weight > 0

    @property
    def is_exact(self) -> bool:
        """Whether sums are written without rounding."""
        return self.scale in (10, 1000)

    @property
    def written_top(self) -> str:
        return "" if self.top_weight is None else written(self.top_weight, self.scale)

    def choose(self, number: int | None) -> Reference | None:
        """The reference of this number, with everything it won marked."""
        chosen = next((reference for reference in self.references if reference.number == number), None)
        for ngram in chosen.won if chosen else ():
            ngram.is_chosen = True
        return chosen

    def of_response(self, response_id: int) -> Reference | None:
        return next((reference for reference in self.references if reference.response.pk == response_id), None)


def explain_item(release: Release, item: Item, reading: Reading) -> Explanation:
    """Every system's output of the item under a release; outputs that are references themselves come last."""
    sources = ResponseSource.objects.filter(item=item, system__isnull=False).select_related("response", "system")
    names: dict[int, list[str]] = {}
    responses: dict[int, Response] = {}
    for source in sources.order_by("system__name"):
        names.setdefault(source.response_id, []).append(source.system.name)  # type: ignore[union-attr]
        responses[source.response_id] = source.response
    rows = release_rows(release, item)
    weighed = {row.response_id for row in rows}
    ordered = sorted(responses, key=lambda pk: (pk in weighed, names[pk]))
    explanation = explain([(names[pk], responses[pk]) for pk in ordered], rows, reading)
    ratings = mean_ratings(item.dataset_id, ordered)
    for hypothesis in explanation.hypotheses:
        if hypothesis.response.pk in ratings:
            hypothesis.rating, hypothesis.n_ratings = ratings[hypothesis.response.pk]
    return explanation


def explain_segment_of_run(run: ScoreRun, item: Item, system: str, hypothesis: Response) -> Explanation:
    """One hypothesis as a run scored it; BLEU's account is ΔBLEU's with every weight 1."""
    rows = release_rows(run.release, item) if run.release else []
    return explain([([system], hypothesis)], rows, Reading.of_run(run))


def release_rows(release: Release, item: Item) -> list[ReleaseWeight]:
    """The item's references by falling weight."""
    rows = ReleaseWeight.objects.filter(release=release, item=item).select_related("response")
    return list(rows.prefetch_related("response__sources__system").order_by("-weight", "response_id"))


def item_neighbours(release: Release, item: Item) -> tuple[int | None, int | None]:
    """The items of the release before and after this one, by position."""
    weights = ReleaseWeight.objects.filter(release=release).values_list("item_id", flat=True)
    before = weights.filter(item_position__lt=item.position).order_by("-item_position").first()
    after = weights.filter(item_position__gt=item.position).order_by("item_position").first()
    return before, after


def explain(outputs: Sequence[tuple[list[str], Said]], rows: Sequence[Weighed], reading: Reading) -> Explanation:
    """The account of each output (the systems' names, and the text) against the weighted references in ``rows``."""
    weights = np.array([row.weight for row in rows])
    mask = reading.subset.mask(weights, np.array([row.is_original for row in rows], dtype=bool)).tolist()
    tokens = reading.tokens([row.response.text for row in rows])
    references = [
        Reference(number, row, row.response, counts, own)
        for number, (row, counts, own) in enumerate(zip(rows, mask, tokens, strict=True), start=1)
    ]
    counted = [reference for reference in references if reference.counts]
    found = Explanation(reading, references, [], 1, None)
    for place, (names, response) in enumerate(outputs, start=1):
        same = next((reference for reference in references if reference.response == response), None)
        key = f"h{place}"
        if not counted:
            plain = [Token(text, None, False) for text in reading.tokens([response.text])[0]]
            found.hypotheses.append(Hypothesis(key, names, response, None, plain, 0, [], [], same))
            continue
        told = reading.account(response.text, [one.response.text for one in counted], [one.weight for one in counted])
        found.scale, found.top_weight = told.weight_scale, told.top_weight
        found.hypotheses.append(_hypothesis(key, names, response, told, counted, same))
    for reference in references:
        reference.scale = found.scale
    return found


def _hypothesis(
    key: str,
    names: list[str],
    response: Said,
    told: NgramExplanation,
    counted: Sequence[Reference],
    same: Reference | None,
) -> Hypothesis:
    ngrams = [_ngram(f"{key}-g{place}", part, counted, told.weight_scale) for place, part in enumerate(told.parts, 1)]
    for ngram in ngrams:
        if ngram.reference is not None:
            ngram.reference.won.append(ngram)
    tokens, lanes = drawn(told.tokens, [ngram for ngram in ngrams if ngram.holders])
    orders = [_order_line(total, told) for total in told.totals]
    return Hypothesis(key, names, response, told, tokens, lanes, ngrams, orders, same, counted[told.closest])


def _ngram(key: str, part: NgramContribution, counted: Sequence[Reference], scale: int) -> Ngram:
    holders = [
        Holder(
            counted[offer.reference],
            offer.starts,
            offer.clipped,
            offer.value,
            offer.reference == part.reference,
            written(offer.value, scale, plus=True),
        )
        for offer in part.offers
    ]
    winner = None if part.reference is None else counted[part.reference]
    return Ngram(key, part, holders, scale, winner)


def _order_line(total: OrderTotal, told: NgramExplanation) -> OrderLine:
    scale = told.weight_scale
    terms = [f"{n} × {written(weight, scale, bracket=True)}" for weight, n in total.terms]
    return OrderLine(
        total,
        " + ".join(terms) or "no match",
        written(total.numerator, scale),
        f"{total.n_grams} × {written(told.top_weight, scale, bracket=True)}",
        written(total.denominator, scale),
        written(total.added, scale) if total.added else "",
    )
