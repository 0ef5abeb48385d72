"""ΔBLEU explained: each hypothesis of an item against its weighted references, n-gram by n-gram."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from annotation.core.numbers import finite_or_none
from annotation.models import Item, Release, ReleaseWeight, Response, ResponseSource, SourceKind
from metrics.models import ScoreRun
from metrics.scoring.delta_bleu import DeltaBleu
from metrics.scoring.explain.ngrams import NgramContribution, NgramExplanation, OrderTotal, explain_hypothesis
from metrics.scoring.texts import tokenize_texts
from metrics.selectors.corpus import plain_responses
from metrics.selectors.lanes import Token, with_lines
from metrics.selectors.ngrams import Holder, Ngram, Reference, Text, Weighed, written
from metrics.selectors.runs import mean_ratings, plain_kinds_of
from metrics.subsets import Subset

USUAL_TOKENIZER = "13a"  # that of sacreBLEU: words and marks apart
# Languages without spaces between words, and their tokenisers.
UNSPACED = {"zh": "zh", "ja": "char", "th": "char", "lo": "char", "km": "char", "my": "char"}

ALL = Subset()


def default_tokenizer(language: str) -> str:
    """Return the tokeniser for a language, a BCP 47 tag."""
    return UNSPACED.get(language.lower().partition("-")[0], USUAL_TOKENIZER)


@dataclass(frozen=True)
class Reading:
    """How n-grams are counted: all that an explanation depends on besides texts and weights."""

    max_order: int = 2
    semantics: str = "galley2015"
    tokenize: str = USUAL_TOKENIZER
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
        """Return the query of a page's address; see `metrics.forms.runs.ReadingForm`."""
        values = {
            "order": self.max_order,
            "semantics": self.semantics,
            "refs": str(self.subset),
            "tokenize": self.tokenize,
            "case": "lower" if self.lowercase else "kept",
        }
        return urlencode(values | others)

    def explain(self, hypothesis: str, references: Sequence[str], weights: Sequence[float]) -> NgramExplanation:
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
        return [tuple(tokens) for tokens in tokenize_texts(texts, tokenize=self.tokenize, lowercase=self.lowercase)]


@dataclass
class OrderLine:
    """The arithmetic of one order as text."""

    total: OrderTotal
    sum: str
    numerator: str
    ceiling: str
    denominator: str
    added: str

    @property
    def precision(self) -> float | None:
        return finite_or_none(self.total.precision)


@dataclass
class Hypothesis:
    """An output of one or several systems, explained; ``explanation`` is None if no reference counts."""

    key: str
    names: list[str]
    response: Text
    explanation: NgramExplanation | None
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
        return None if self.explanation is None else finite_or_none(self.explanation.score)

    @property
    def reason(self) -> str:
        return "no reference counts" if self.explanation is None else self.explanation.reason

    @property
    def penalty(self) -> float:
        return 1.0 if self.explanation is None else self.explanation.brevity_penalty

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
        """Return whether sums are shown without rounding."""
        return self.scale in (10, 1000)

    @property
    def written_top(self) -> str:
        return "" if self.top_weight is None else written(self.top_weight, self.scale)

    def choose(self, number: int | None) -> Reference | None:
        """Return the reference with this number, and mark the n-grams that it won."""
        chosen = next((reference for reference in self.references if reference.number == number), None)
        for ngram in chosen.won if chosen else ():
            ngram.is_chosen = True
        return chosen

    def of_response(self, response_id: int) -> Reference | None:
        return next((reference for reference in self.references if reference.response.pk == response_id), None)


def explain_item(release: Release, item: Item, reading: Reading) -> Explanation:
    """Explain every system's output of the item under a release; outputs that are references come last."""
    sources = ResponseSource.objects.filter(item=item, system__isnull=False).select_related("response", "system")
    names: dict[int, list[str]] = {}
    responses: dict[int, Response] = {}
    for source in sources.order_by("system__name"):
        names.setdefault(source.response_id, []).append(source.system.name)  # type: ignore[union-attr]
        responses[source.response_id] = source.response
    rows = release_rows(release, item)
    references = {row.response_id for row in rows}
    ordered = sorted(responses, key=lambda pk: (pk in references, names[pk]))
    explanation = explain([(names[pk], responses[pk]) for pk in ordered], rows, reading)
    ratings = mean_ratings(item.dataset_id, ordered)
    for hypothesis in explanation.hypotheses:
        if hypothesis.response.pk in ratings:
            hypothesis.rating, hypothesis.n_ratings = ratings[hypothesis.response.pk]
    return explanation


def explain_segment_of_run(run: ScoreRun, item: Item, system: str, hypothesis: Response) -> Explanation:
    """Explain a hypothesis as a run scored it; BLEU is ΔBLEU with every weight 1."""
    return explain([([system], hypothesis)], run_references(run, item), Reading.of_run(run))


def run_references(run: ScoreRun, item: Item) -> list[ReleaseWeight]:
    """Return the item's references that the run read; the data set's own are rows of weight 1 that are not stored."""
    if run.release is not None:
        return release_rows(run.release, item)
    responses = plain_responses([item.pk], plain_kinds_of(run)).prefetch_related("sources__system")
    return [plain_row(response) for response in responses]


def plain_row(response: Response) -> ReleaseWeight:
    """Return a reference of the data set itself as a row of a release; its sources should be prefetched."""
    is_original = any(source.kind == SourceKind.SEED for source in response.sources.all())
    return ReleaseWeight(item_id=response.item_id, response=response, weight=1.0, is_original=is_original)


def release_rows(release: Release, item: Item) -> list[ReleaseWeight]:
    """Return the item's references by falling weight."""
    rows = ReleaseWeight.objects.filter(release=release, item=item).select_related("response")
    return list(rows.prefetch_related("response__sources__system").order_by("-weight", "response_id"))


def item_neighbours(release: Release, item: Item) -> tuple[int | None, int | None]:
    """Return the release's items before and after this one, by position."""
    weights = ReleaseWeight.objects.filter(release=release).values_list("item_id", flat=True)
    before = weights.filter(item_position__lt=item.position).order_by("-item_position").first()
    after = weights.filter(item_position__gt=item.position).order_by("item_position").first()
    return before, after


def explain(outputs: Sequence[tuple[list[str], Text]], rows: Sequence[Weighed], reading: Reading) -> Explanation:
    """Explain each output (its systems' names and its text) against the weighted references in ``rows``."""
    mask = reading.subset.row_mask(rows).tolist()
    tokens = reading.tokens([row.response.text for row in rows])
    references = [
        Reference(number, row, row.response, counts, words)
        for number, (row, counts, words) in enumerate(zip(rows, mask, tokens, strict=True), start=1)
    ]
    counted = [reference for reference in references if reference.counts]
    result = Explanation(reading, references, [], 1, None)
    for number, (names, response) in enumerate(outputs, start=1):
        same = next((reference for reference in references if reference.response == response), None)
        key = f"h{number}"
        if not counted:
            plain = [Token(text, None, False) for text in reading.tokens([response.text])[0]]
            result.hypotheses.append(Hypothesis(key, names, response, None, plain, 0, [], [], same))
            continue
        texts, weights = [each.response.text for each in counted], [each.weight for each in counted]
        explanation = reading.explain(response.text, texts, weights)
        result.scale, result.top_weight = explanation.weight_scale, explanation.top_weight
        result.hypotheses.append(_hypothesis(key, names, response, explanation, counted, same))
    for reference in references:
        reference.scale = result.scale
    return result


def _hypothesis(
    key: str,
    names: list[str],
    response: Text,
    explanation: NgramExplanation,
    counted: Sequence[Reference],
    same: Reference | None,
) -> Hypothesis:
    ngrams = [
        _ngram(f"{key}-g{number}", part, counted, explanation.weight_scale)
        for number, part in enumerate(explanation.parts, 1)
    ]
    for ngram in ngrams:
        if ngram.reference is not None:
            ngram.reference.won.append(ngram)
    tokens, lanes = with_lines(explanation.tokens, [ngram for ngram in ngrams if ngram.holders])
    orders = [_order_line(total, explanation) for total in explanation.totals]
    return Hypothesis(
        key, names, response, explanation, tokens, lanes, ngrams, orders, same, counted[explanation.closest]
    )


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


def _order_line(total: OrderTotal, explanation: NgramExplanation) -> OrderLine:
    scale = explanation.weight_scale
    terms = [f"{n} × {written(weight, scale, bracket=True)}" for weight, n in total.terms]
    return OrderLine(
        total,
        " + ".join(terms) or "no match",
        written(total.numerator, scale),
        f"{total.n_grams} × {written(explanation.top_weight, scale, bracket=True)}",
        written(total.denominator, scale),
        written(total.added, scale) if total.added else "",
    )
