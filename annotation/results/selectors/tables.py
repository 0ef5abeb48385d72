"""Results as tables, as LaTeX, and as a paragraph for the paper."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from annotation.core.latex import escape
from annotation.core.numbers import counted, decimals, ends_in_words
from annotation.core.prose import enumerated
from annotation.models import Campaign
from annotation.results.selectors.agreement import rater_agreement
from annotation.results.selectors.sentences import few_raters_sentence, named_sentence, number
from annotation.results.selectors.verdicts import CriterionVerdict, PairVerdict, Results, SystemVerdict

MOST_PAIRS = 6  # whose differences the paragraph gives
WON = ("wins", "ties", "losses", "ties_identical")
SYSTEM_COLUMNS = (
    *("criterion", "system", "estimate", "low", "high", "first_rank", "last_rank", "cluster"),
    *("standardised", "standardised_low", "standardised_high", "share_won", "share_low", "share_high"),
    *(*WON, "ratings", "raters", "items"),
)
PAIR_COLUMNS = (
    *("criterion", "first", "second", "difference", "low", "high", "p", "p_holm"),
    *("single_low", "single_high"),
    *("p_permutation", "p_wilcoxon", "items", *WON),
)


def system_rows(results: Results) -> Iterator[Sequence[object]]:
    for verdict in results.criteria:
        for each in verdict.systems:
            yield (
                *(verdict.criterion, each.name, each.estimate, each.low, each.high),
                *(each.first_rank, each.last_rank, each.cluster),
                *(each.standardised, each.standardised_low, each.standardised_high),
                *(each.share, each.share_low, each.share_high),
                *_won(each, verdict),
                *(each.ratings, each.raters or None, each.items),
            )


def pair_rows(results: Results) -> Iterator[Sequence[object]]:
    for verdict in results.criteria:
        for pair in verdict.pairs:
            numbers = (pair.difference, pair.low, pair.high, pair.p, pair.adjusted, pair.single_low, pair.single_high)
            over_items = (pair.permutation, pair.wilcoxon, pair.items)
            yield (verdict.criterion, pair.first, pair.second, *numbers, *over_items, *_won(pair, verdict))


def _won(row: SystemVerdict | PairVerdict, verdict: CriterionVerdict) -> tuple[float | None, ...]:
    """Return comparisons won, tied and lost, and ties of identical texts; None where texts were not shown in pairs."""
    return (row.wins, row.ties, row.losses, row.identical) if verdict.by_pairs else (None,) * len(WON)


TABLES = {"systems": (SYSTEM_COLUMNS, system_rows), "pairs": (PAIR_COLUMNS, pair_rows)}


def latex_table(results: Results) -> str:
    """Return two tables of each criterion for booktabs: systems, with a line between clusters, and differences."""
    tables = [table(verdict) for verdict in results.criteria for table in (_latex, _latex_differences)]
    return "\n\n".join(filter(None, tables)) + "\n"


def _latex(verdict: CriterionVerdict) -> str:
    means = verdict.by_means
    columns = ["Rank", "System", *(["Mean", "Standardised"] if means else ["Strength"])]
    columns += ["Won", "Tied", "Lost", "Share won"] if verdict.by_pairs else []
    columns.append("Ratings" if means else "Comparisons")
    lines = [
        rf"\begin{{tabular}}{{rl{'r' * (len(columns) - 2)}}}",
        rf"% {verdict.criterion}: estimates with 95% intervals over raters and items. {_basis(verdict)}",
        r"\toprule",
        " & ".join(columns) + r" \\",
        r"\midrule",
    ]
    cluster = verdict.systems[0].cluster if verdict.systems else 0
    for each in verdict.systems:
        if each.cluster != cluster:
            lines.append(r"\midrule")
            cluster = each.cluster
        cells = [each.ranks, each.name, _with_interval(each.estimate, each.low, each.high)]
        if means:
            cells.append(_with_interval(each.standardised, each.standardised_low, each.standardised_high))
        if verdict.by_pairs:
            cells += [f"{each.wins:,}", each.shown_ties, f"{each.losses:,}"]
            cells.append(_with_interval(each.share, each.share_low, each.share_high))
        cells.append(f"{each.ratings:,}")
        lines.append(" & ".join("--" if cell == "nan" else escape(cell) for cell in cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_differences(verdict: CriterionVerdict) -> str:
    """Return the differences, the largest first, with the corrected interval and p, and the single ones; or nothing."""
    compared = [pair for pair in verdict.pairs if pair.is_compared]
    if not compared:
        return ""
    corrected = f"corrected for {counted(len(compared), 'pair')} after Holm; single: not corrected"
    lines = [
        r"\begin{tabular}{lrrrr}",
        f"% {verdict.criterion}: differences with 95% intervals and p, {corrected}.",
        r"\toprule",
        r"Systems & Difference & $p$ & Single interval & Single $p$ \\",
        r"\midrule",
    ]
    for pair in compared:
        single = "--" if isnan(pair.single_low) else f"[{', '.join(ends_in_words(pair.single_low, pair.single_high))}]"
        cells = [f"{pair.first} − {pair.second}", _with_interval(pair.difference, pair.low, pair.high)]
        cells += [_p(pair.adjusted), rf"{{\small {escape(single)}}}", rf"{{\small {_p(pair.p)}}}"]
        lines.append(" & ".join([escape(cells[0]), escape(cells[1]), *cells[2:]]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _p(value: float) -> str:
    if isnan(value):
        return "--"
    return "$<$0.001" if value < 0.001 else f"{value:.3f}"


def _basis(verdict: CriterionVerdict) -> str:
    by = f"By {counted(verdict.raters, 'rater')}." if verdict.raters else "Raters are not known one by one."
    standardised = " Standardised: in standard deviations of each rater's ratings." if verdict.by_means else ""
    return f"{by}{standardised} A line separates systems of which all above are significantly better than all below."


def _with_interval(estimate: float, low: float, high: float) -> str:
    if isnan(estimate):
        return "nan"
    return number(estimate) if isnan(low) else f"{number(estimate)} [{', '.join(ends_in_words(low, high))}]"


def paragraph(results: Results, campaigns: Sequence[Campaign]) -> str:
    """Return what a paper says about the results and how they were computed, with references."""
    n = counted(results.raters, "rater") if results.raters_known else "raters who are not known one by one"
    where = f" in {enumerated([f'“{campaign.name}”' for campaign in campaigns])}" if campaigns else ""
    texts = [f"Results rest on {counted(results.ratings, 'rating')} by {n} of {counted(results.items, 'item')}{where}."]
    if results.left_out.parts:
        texts.append(f"Left out are {enumerated(results.left_out.parts)}.")
    texts += [
        f"{enumerated(names)} have the same outputs throughout and are one system here." for names in results.same
    ]
    kinds = {verdict.ranked for verdict in results.criteria}
    if "means" in kinds:
        texts.append(
            "A system's score is the mean over items of the mean rating of its output; 95% intervals are over raters "
            "and items together (two-way clustering, Cameron et al., 2011, with Student quantiles for each part, "
            "Graybill and Wang, 1980; on a scale with ends by the log odds of the mean between them). Differences are "
            "tested against the same two sources of variance, with Holm's (1979) correction over all pairs and "
            "intervals corrected alike, cut at the largest difference that the scale allows."
        )
    if "comparisons" in kinds:
        texts.append(
            "Preferences are ranked by Bradley-Terry strengths with ties (Davidson, 1970) and an effect of the first "
            "place (Davidson and Beaver, 1977), with intervals robust to raters and items (Cameron et al., 2011), and "
            "differences corrected over all pairs after Holm (1979), intervals alike."
        )
    texts.append(
        "A rank range goes from one more than the number of significantly better systems to the number of systems "
        "less the significantly worse; a cluster ends where all systems above are significantly better than all below."
    )
    many = len(results.criteria) > 1
    for verdict in results.criteria:
        texts += [_asked(verdict), named_sentence(verdict, many=many), _estimates(verdict), _differences(verdict)]
    texts += dict.fromkeys(few_raters_sentence(verdict) for verdict in results.criteria)
    if len(campaigns) == 1 and results.raters_known and not results.left_out.filtered:
        texts.append(rater_agreement(campaigns[0]))  # of all the campaign's ratings, so not with a filter
    return " ".join(filter(None, texts))


def _asked(verdict: CriterionVerdict) -> str:
    """Return the question, unless it only repeats the name, and the scale."""
    question = verdict.question.strip()
    if not question:
        return ""
    asked = "" if question.rstrip("?.").casefold() == verdict.criterion.casefold() else f": “{question}”"
    on = f", {verdict.of_means}" if verdict.by_means and verdict.of_means else ""
    return f"Raters were asked for “{verdict.criterion}”{asked}{on}."


def _estimates(verdict: CriterionVerdict) -> str:
    """Return every system's mean or strength, best first; none if they are undefined."""
    known = [each for each in verdict.systems if not isnan(each.estimate)]
    if len(known) < 2:
        return ""
    what = "Means" if verdict.by_means else "Strengths"
    of_each = [f"{each.name} {_with_interval(each.estimate, each.low, each.high)}" for each in known]
    return f"{what} with 95% intervals: {'; '.join(of_each)}."


def _differences(verdict: CriterionVerdict) -> str:
    """Return each difference if there are few, else the largest certain ones, with intervals and p."""
    compared = [pair for pair in verdict.pairs if pair.is_compared]
    certain = [pair for pair in compared if pair.is_certain]
    shown = compared if len(compared) <= MOST_PAIRS else certain[:MOST_PAIRS]
    if not compared:
        return ""
    are = "is" if len(certain) == 1 else "are"
    count = f"Of {len(compared):,} differences {len(certain) or 'none'} {are} certain"
    count = "" if len(compared) == 1 or count in verdict.sentence else f"{count}. "
    if not shown:
        return count.strip()
    is_cut, strengths = len(shown) < len(certain), "" if verdict.by_means else " of strengths"
    which = f"The {len(shown)} largest" if is_cut else f"Difference{'s' * (len(shown) > 1)}{strengths}"
    of_each = "; ".join(f"{pair.first} less {pair.second} {_tested(pair)}" for pair in shown)
    return f"{count}{which} with corrected 95% {'intervals' if len(shown) > 1 else 'interval'} and p: {of_each}."


def _tested(pair: PairVerdict) -> str:
    """Return a difference with its interval and p, both corrected."""
    p = "p\u00a0<\u00a00.001" if pair.adjusted < 0.001 else f"p\u00a0=\u00a0{decimals(pair.adjusted, 3)}"
    return f"{_with_interval(pair.difference, pair.low, pair.high)}, {p}"


def plain_results(results: Results, campaigns: Sequence[Campaign], content: dict[str, Any]) -> dict[str, Any]:
    """Return everything for JSON: the results, the campaigns, and the paragraph.

    Sentences say, too, where raters are few: on the page that stands below the chart of differences.
    """
    criteria = [
        given | {"sentence": " ".join(filter(None, [verdict.sentence, few_raters_sentence(verdict)]))}
        for given, verdict in zip(content["criteria"], results.criteria, strict=True)
    ]
    return {
        "campaigns": [{"id": campaign.pk, "name": campaign.name, "state": campaign.state} for campaign in campaigns],
        **content,
        "criteria": criteria,
        "paragraph": paragraph(results, campaigns),
    }
