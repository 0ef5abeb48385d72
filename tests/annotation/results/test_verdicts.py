"""What raters say of systems, from the database: which ratings count, for whom, and in which words."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from django.utils import timezone

from annotation.core.errors import AnnotationError
from annotation.models import (
    Campaign,
    Participation,
    Project,
    QualityRules,
    RaterDecision,
    Rating,
    ResponseSource,
    System,
)
from annotation.results.attributes import ATTRIBUTES, filters_from, in_address
from annotation.results.charts import differences
from annotation.results.selectors.counted import filter_choices
from annotation.results.selectors.deciding import deciding_items
from annotation.results.selectors.stored import read_results
from annotation.results.selectors.tables import latex_table, paragraph, system_rows
from annotation.results.selectors.verdicts import Results, compute_results
from annotation.results.services.snapshots import snapshot_compute, snapshot_request
from tests.annotation.worlds import rated as world
from tests.snapshots import recalled

pytestmark = pytest.mark.django_db
RATERS = ("ann", "bob", "cat", "dan")
OFFSETS = {"Ada": 1.0, "Bo": 0.0}


def rated_campaign(project: Project, *, items: int = 12, **fields: object) -> tuple[Campaign, pd.DataFrame]:
    """Let four raters rate the outputs of two systems; return what they gave, too."""
    return recalled(("rated campaign", items, repr(fields)), project, lambda: _rated_campaign(project, items, fields))


def _rated_campaign(project: Project, items: int, fields: dict[str, object]) -> tuple[Campaign, pd.DataFrame]:
    dataset = world.make_dataset(project, slug=str(fields.pop("slug", "replies")))
    campaign = world.make_campaign(dataset, **fields)
    rng = np.random.default_rng(5)
    rows = []
    for number in range(items):
        item = world.make_item(dataset, f"item-{number}", split="test" if number % 3 else "train")
        for system, offset in OFFSETS.items():
            response = world.make_response(item, f"{system} says {number}", system)
            for severity, rater in enumerate(RATERS):
                value = int(np.clip(np.rint(3 + offset - severity / 3 + rng.normal(0, 0.8)), 1, 5))
                world.rate(campaign, rater, response, value)
                rows.append((system, number, rater, value))
    return campaign, pd.DataFrame(rows, columns=["system", "item", "rater", "value"])


def of(results: Results, name: str, criterion: int = 0):
    return next(each for each in results.criteria[criterion].systems if each.name == name)


def test_means_are_those_of_pandas_and_the_sentence_names_the_difference(project: Project) -> None:
    campaign, frame = rated_campaign(project)
    expected = frame.groupby(["system", "item"])["value"].mean().groupby("system").mean()
    z = frame.groupby("rater")["value"].transform(lambda values: (values - values.mean()) / values.std())
    standardised = frame.assign(z=z).groupby(["system", "item"])["z"].mean().groupby("system").mean()

    results = compute_results([campaign])

    verdict = results.criteria[0]
    for name in OFFSETS:
        system = of(results, name)
        assert system.estimate == pytest.approx(expected[name])
        assert system.standardised == pytest.approx(standardised[name])
        assert (system.ratings, system.raters, system.items) == (48, 4, 12)
        given = frame.loc[frame["system"] == name, "value"]
        assert dict(system.values) == {float(value): int((given == value).sum()) for value in range(1, 6)}
    (pair,) = verdict.pairs
    assert pair.difference == pytest.approx(expected["Ada"] - expected["Bo"])
    assert pair.p == pair.adjusted
    by = "By the mean of 4 raters’ ratings, Ada is better than Bo"
    assert verdict.sentence.startswith(f"{by}: +{pair.difference:.2f} on a scale of 1 to 5, 95%")
    assert [(each.ranks, each.cluster) for each in verdict.systems] == [("1", 1), ("2", 2)]


def test_no_interval_leaves_what_the_scale_allows(project: Project) -> None:
    """Two raters who contradict each other leave everything open, but no difference exceeds that of the ends."""
    dataset = world.make_dataset(project)
    campaign = world.make_campaign(dataset)
    for number in range(8):
        item = world.make_item(dataset, f"item-{number}")
        for system, values in {"Ada": (5, 2 + number % 2), "Bo": (1 + number % 2, 3)}.items():
            response = world.make_response(item, f"{system} {number}", system)
            for rater, value in zip(("ann", "bob"), values, strict=True):
                world.rate(campaign, rater, response, value)

    results = compute_results([campaign])

    (pair,) = results.criteria[0].pairs
    assert (pair.low, pair.high) == (-4, 4)
    assert not pair.is_certain
    assert pair.permutation < 0.05, "with these raters other items should show it again"
    assert results.criteria[0].sentence.startswith(
        "By the mean of 2 raters’ ratings, Ada and Bo cannot be told apart: +1.50 on a scale of 1 to 5, 95% "
        "interval −4.00"
    )
    # Half of each rater's 16 ratings are of Ada: z of +1 and -1, with 15 in the denominator.
    assert of(results, "Ada").standardised_high == pytest.approx(np.sqrt(15 / 16))


def test_excluded_late_and_corrected_ratings_are_left_out_and_named(project: Project) -> None:
    campaign, _ = rated_campaign(project, items=4)
    before = compute_results([campaign])
    Participation.objects.create(
        campaign=campaign, rater=world.make_rater(project, "eve"), order_seed=1, excluded_at=timezone.now()
    )
    response = campaign.dataset.items.first().responses.get(text="Ada says 0")
    world.rate(campaign, "eve", response, 1)
    world.rate(campaign, "fay", response, 1, extra=True)
    rating = Rating.objects.filter(campaign=campaign).first()
    Rating.objects.create(
        campaign=campaign, presentation=rating.presentation, response=rating.response, rater=rating.rater,
        criterion=rating.criterion, value=rating.value, revision=1,
    )  # fmt: skip
    unknown = world.make_response(campaign.dataset.items.first(), "Mined", "mined")
    world.rate(campaign, "ann", unknown, 5)

    rules = QualityRules.objects.create(campaign=campaign, version=1, before_launch=False)
    RaterDecision.objects.create(
        campaign=campaign, rater=Participation.objects.get().rater, action="exclude", reason="Too fast.", rules=rules
    )

    after = compute_results([campaign])

    for name in ("estimate", "low", "high", "standardised", "ratings", "raters", "items"):
        assert getattr(of(after, "Ada"), name) == pytest.approx(getattr(of(before, "Ada"), name)), name
    assert after.left_out.parts == [
        "1 rating of 1 excluded rater (by a rule registered after launch: “Too fast”)",
        "1 sent late",
        "1 corrected since",
        "1 of texts that no system gave",
    ]


def test_a_text_of_two_systems_counts_for_both_and_ties_them(project: Project) -> None:
    dataset = world.make_dataset(project)
    campaign = world.make_campaign(dataset)
    for number, value in enumerate((2, 4, 5)):
        item = world.make_item(dataset, f"item-{number}")
        shared = world.make_response(item, f"Same {number}", "Ada", "Bo")
        world.rate(campaign, "ann", shared, value)
        world.rate(campaign, "bob", shared, value - 1)
    world.make_response(item, "Another, which nobody rated", "Cy")
    world.make_response(world.make_item(dataset, "item-3"), "Only of Bo", "Bo")

    results = compute_results([campaign])

    assert of(results, "Ada").estimate == of(results, "Bo").estimate == pytest.approx(np.mean([1.5, 3.5, 4.5]))
    assert results.shared_outputs == 3
    assert results.criteria[0].pairs[0].difference == 0
    assert results.criteria[0].pairs[0].adjusted == 1


@pytest.mark.parametrize("by_means", [True, False])
def test_systems_with_the_same_outputs_are_one_and_compared_once(project: Project, *, by_means: bool) -> None:
    """The numbers are those without the second name: its pairs are not in the family of Holm's correction."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    campaign, _ = rated_campaign(project) if by_means else preferences(project, ("Ada", "Bo", "Cy"), pairs)
    alone = compute_results([campaign])
    copy = System.objects.create(dataset=campaign.dataset, name="Eve")
    for source in list(ResponseSource.objects.filter(system__name="Ada")):
        ResponseSource.objects.create(response=source.response, item=source.item, kind=source.kind, system=copy)

    results = compute_results([campaign])

    (before,), (verdict,) = alone.criteria, results.criteria
    assert [each.name for each in verdict.systems] == [
        "Ada = Eve" if each.name == "Ada" else each.name for each in before.systems
    ]
    for mine, other in zip(verdict.systems, before.systems, strict=True):
        assert (mine.estimate, mine.low, mine.ratings, mine.ranks) == (
            other.estimate,
            other.low,
            other.ratings,
            other.ranks,
        )
    assert [(pair.adjusted, pair.low) for pair in verdict.pairs] == [(pair.adjusted, pair.low) for pair in before.pairs]
    assert of(results, "Ada = Eve").names == ["Ada", "Eve"]
    assert results.same == [["Ada", "Eve"]]
    assert verdict.sentence == before.sentence.replace("Ada", "Ada = Eve")
    assert "Ada and Eve have the same outputs throughout and are one system here." in paragraph(results, [campaign])
    if by_means:
        assert len(deciding_items([campaign], "quality", ["Eve", "Bo"])) == len(
            deciding_items([campaign], "quality", ["Ada = Eve", "Bo"])
        )


def test_a_filter_admits_items_by_their_attribute(project: Project) -> None:
    campaign, frame = rated_campaign(project)
    results = compute_results([campaign], filters_from({"split": "train"}))

    expected = frame[frame["item"] % 3 == 0].groupby(["system", "item"])["value"].mean().groupby("system").mean()
    assert of(results, "Ada").estimate == pytest.approx(expected["Ada"])
    assert results.left_out.filtered == 64
    assert filter_choices([campaign]) == {"split": ["test", "train"]}
    acts = {
        "inform(name=Aromi;food=English)": ("inform", 2),
        "?request(area=?)": ("request", 1),
        "name[Aromi]": ("", 1),
    }
    items = list(campaign.dataset.items.order_by("position"))
    for item, (meaning, message) in zip(items, zip(acts, ("", "Yes, please!", "a " * 21), strict=True), strict=False):
        campaign.dataset.items.filter(pk=item.pk).update(meaning_representation=meaning, message=message)
    assert filter_choices([campaign]) == {
        "split": ["test", "train"],
        "words": [0, 1, 21],
        "act": ["", "inform", "request"],
        "facts": [0, 1, 2],
    }
    assert [ATTRIBUTES["words"].shown(words) for words in (0, 1, 21)] == ["no message", "1 to 5", "21 or more"]
    for number, (act, facts) in enumerate(acts.values()):
        of_item = compute_results([campaign], filters_from(in_address({"act": act, "facts": facts})))
        rated = frame[(frame["item"] == number) & (frame["system"] == "Ada")]["value"]
        assert of(of_item, "Ada").estimate == pytest.approx(rated.mean())
    assert compute_results([campaign], filters_from({"turns": "no number"})).criteria[0].systems == []


def test_two_campaigns_on_one_scale_are_taken_together(project: Project) -> None:
    one, frame = rated_campaign(project)
    two, again = rated_campaign(project, slug="more", name="Second")
    both = pd.concat([frame, again.assign(item=again["item"] + 100)])

    results = compute_results([one, two])

    expected = both.groupby(["system", "item"])["value"].mean().groupby("system").mean()
    assert of(results, "Bo").estimate == pytest.approx(expected["Bo"])
    assert of(results, "Bo").items == 24
    three = world.make_campaign(one.dataset, "Third", {"quality": (0, 10)})
    with pytest.raises(AnnotationError, match="'quality' on different scales"):
        compute_results([one, three])


def preferences(
    project: Project, systems: tuple[str, ...], pairs: list[tuple[int, int]]
) -> tuple[Campaign, pd.DataFrame]:
    """Let four raters compare pairs of systems on 15 items; the first systems are better, and some pairs are equal."""
    return recalled(("preferences", systems, tuple(pairs)), project, lambda: _preferences(project, systems, pairs))


def _preferences(
    project: Project, systems: tuple[str, ...], pairs: list[tuple[int, int]]
) -> tuple[Campaign, pd.DataFrame]:
    dataset = world.make_dataset(project)
    campaign = world.make_campaign(dataset, presentation="pair")
    campaign.criteria.update(kind="preference", scale_min=-1, scale_max=1, ties=True)
    rng, rows = np.random.default_rng(7), []
    for number in range(15):
        item = world.make_item(dataset, f"item-{number}")
        texts = [world.make_response(item, f"{system} says {number}", system) for system in systems]
        for i, j in pairs:
            for rater in RATERS:
                a, b = (i, j) if rng.random() < 0.5 else (j, i)
                latent = 0.5 * (b - a) + rng.logistic()
                value = 0 if abs(latent) < 0.4 else int(np.sign(latent))
                shown = world.present(campaign, rater, texts[a], texts[b])
                world.rate_in(shown, texts[a], value, position=0)
                world.rate_in(shown, texts[b], -value, position=1)
                rows.append((a, b, value))
    return campaign, pd.DataFrame(rows, columns=["first", "second", "outcome"])


def test_pairs_rated_by_points_show_who_won_how_often(project: Project) -> None:
    """Counted again with pandas: on each screen the text with more points wins; a tie is half a win."""
    dataset = world.make_dataset(project)
    campaign = world.make_campaign(dataset, presentation="pair")
    rng, rows = np.random.default_rng(3), []
    for number in range(12):
        item = world.make_item(dataset, f"item-{number}")
        texts = [world.make_response(item, f"{system} says {number}", system) for system in ("Ada", "Bo")]
        for rater in RATERS:
            points = [int(rng.integers(2, 6)), int(rng.integers(1, 5))]
            shown = world.present(campaign, rater, *texts)
            for text, value in zip(texts, points, strict=True):
                world.rate_in(shown, text, value)
            rows.append(points)
    frame = pd.DataFrame(rows, columns=["Ada", "Bo"])
    won, tied = int((frame["Ada"] > frame["Bo"]).sum()), int((frame["Ada"] == frame["Bo"]).sum())

    results = compute_results([campaign])

    ada, (pair,) = of(results, "Ada"), results.criteria[0].pairs
    assert (ada.wins, ada.ties, ada.losses) == (won, tied, len(frame) - won - tied)
    assert (pair.first, pair.wins, pair.ties, pair.losses) == ("Ada", won, tied, len(frame) - won - tied)
    assert ada.share == pytest.approx((won + tied / 2) / len(frame))
    assert of(results, "Bo").share == pytest.approx(1 - ada.share)
    assert 0 < ada.share_low < ada.share < ada.share_high < 1
    table = latex_table(results)
    assert r"Mean & Standardised & Won & Tied & Lost & Share won & Ratings \\" in table
    assert f"{ada.standardised:.2f} [" in table
    drawn = differences(results.criteria[0])
    assert [row["pair"] for rows in drawn["datasets"].values() for row in rows if "pair" in row] == ["Ada − Bo"]


def test_preferences_are_ranked_by_strengths_with_ties_and_order(project: Project) -> None:
    """The strengths are those of the log-linear form of the model, which statsmodels fits."""
    campaign, frame = preferences(project, ("Ada", "Bo", "Cy"), [(0, 1), (0, 2), (1, 2)])
    counts = frame.value_counts().reindex(
        [
            (a, b, outcome)
            for a, b in sorted(set(zip(frame["first"], frame["second"], strict=True)))
            for outcome in (1, 0, -1)
        ],
        fill_value=0,
    )
    pairs = sorted({(a, b) for a, b, _ in counts.index})
    design = []
    for a, b, outcome in counts.index:
        strengths = np.zeros(3)
        strengths[a], strengths[b] = {1: (1, 0), 0: (0.5, 0.5), -1: (0, 1)}[outcome]
        design.append([*strengths[1:], outcome == 0, -(outcome == -1), *((a, b) == pair for pair in pairs)])
    fit = sm.GLM(counts.to_numpy(), np.array(design, float), family=sm.families.Poisson()).fit(tol=1e-12)
    strengths = np.r_[0, fit.params[:2]]

    results = compute_results([campaign])
    verdict = results.criteria[0]

    for name, expected in zip(("Ada", "Bo", "Cy"), strengths - strengths.mean(), strict=True):
        assert of(results, name).estimate == pytest.approx(expected, abs=1e-5)
    assert (verdict.tie, verdict.order) == (
        pytest.approx(np.exp(fit.params[2]), abs=1e-5),
        pytest.approx(fit.params[3], abs=1e-5),
    )
    for i, name in enumerate(("Ada", "Bo", "Cy")):
        sign = np.where(frame["first"] == i, frame["outcome"], -frame["outcome"])[
            (frame[["first", "second"]] == i).any(axis=1)
        ]
        system = of(results, name)
        assert (system.wins, system.ties, system.losses) == tuple((sign == outcome).sum() for outcome in (1, 0, -1))
        assert system.share == pytest.approx(((1 + sign) / 2).mean())
        assert system.share_low < system.share < system.share_high


def test_systems_that_never_met_are_named(project: Project) -> None:
    campaign, _ = preferences(project, ("Ada", "Bo", "Cy", "Di"), [(0, 1), (2, 3)])
    verdict = compute_results([campaign]).criteria[0]

    assert verdict.parts == [["Ada", "Bo"], ["Cy", "Di"]]
    assert "Ada and Bo; Cy and Di" in verdict.sentence
    assert all(np.isnan(each.estimate) for each in verdict.systems)


def test_identical_texts_are_tied_without_a_rater(project: Project) -> None:
    campaign, frame = preferences(project, ("Ada", "Bo"), [(0, 1)])
    item = world.make_item(campaign.dataset, "same")
    world.make_response(item, "The same", "Ada", "Bo")
    verdict = compute_results([campaign]).criteria[0]

    assert verdict.identical == 1
    sign = np.where(frame["first"] == 0, frame["outcome"], -frame["outcome"])
    ada = next(each for each in verdict.systems if each.name == "Ada")
    units = campaign.units.count()  # each compared once here
    assert ada.share == pytest.approx((((1 + sign) / 2).sum() + 0.5 * 60 / units) / (60 + 60 / units))
    assert ada.ties == (sign == 0).sum()
    assert ada.identical == verdict.pairs[0].identical == pytest.approx(60 / units)
    won = ada.wins + (ada.ties + ada.identical) / 2
    assert ada.share == pytest.approx(won / (ada.wins + ada.ties + ada.identical + ada.losses)), "the column adds up"
    assert f"{ada.ties} + {60 / units:g}" in latex_table(compute_results([campaign]))


def test_magnitudes_are_ranked_by_logarithms(project: Project) -> None:
    dataset = world.make_dataset(project)
    campaign = world.make_campaign(dataset)
    campaign.criteria.update(kind="magnitude", scale_min=0, scale_max=1, standard_source="Ada", standard_value=100)
    given = {"Ada": (50, 100, 200), "Bo": (200, 100, 800)}
    for number in range(3):
        item = world.make_item(dataset, f"item-{number}")
        for system, values in given.items():
            response = world.make_response(item, f"{system} {number}", system)
            world.rate(campaign, "ann", response, values[number])
            world.rate(campaign, "bob", response, values[number] * 1.1)

    results = compute_results([campaign])

    for system, values in given.items():
        expected = np.log(np.array(values) / 100).mean() + np.log(1.1) / 2
        assert of(results, system).estimate == pytest.approx(expected)


def test_without_a_certain_difference_the_sentence_says_so(project: Project) -> None:
    campaign, _ = rated_campaign(project, items=2)
    sentence = compute_results([campaign]).criteria[0].sentence

    apart = "By the mean of 4 raters’ ratings, Ada and Bo cannot be told apart"
    assert sentence.startswith(f"{apart}: +1.12 on a scale of 1 to 5, 95% interval")
    empty = world.make_campaign(campaign.dataset, "Empty")
    assert compute_results([empty]).criteria[0].sentence == "No output of a system has a rating that counts yet."


def test_a_worker_computes_large_results_again_when_ratings_come(project: Project, monkeypatch) -> None:
    campaign, _ = rated_campaign(project, items=3)
    monkeypatch.setattr("annotation.results.selectors.stored.MOST_AT_ONCE", 5)
    read = read_results([campaign], {})
    assert (read.results, read.is_due) == (None, True)

    snapshot = snapshot_request(campaigns=[campaign], filters={})
    assert not read_results([campaign], {}).is_due  # requested a moment ago
    assert snapshot_compute(snapshot_id=snapshot.pk)
    assert not snapshot_compute(snapshot_id=snapshot.pk)  # nothing new
    read = read_results([campaign], {})
    assert (read.is_current, read.is_due) == (True, False)
    assert [each.name for each in read.results.criteria[0].systems] == ["Ada", "Bo"]
    assert of(read.results, "Ada").values == of(compute_results([campaign]), "Ada").values

    world.rate(campaign, "gus", campaign.dataset.items.first().responses.first(), 5)
    read = read_results([campaign], {})
    assert read.results is not None
    assert not read.is_current


def test_items_that_decide_are_those_that_differ_most(project: Project) -> None:
    campaign, frame = rated_campaign(project)
    of_items = frame.groupby(["item", "system"])["value"].mean().unstack()
    apart = (of_items["Ada"] - of_items["Bo"]).abs().sort_values(ascending=False)

    both = deciding_items([campaign], "quality", ["Ada", "Bo"])
    one = deciding_items([campaign], "quality", ["Ada"])

    assert [abs(each.size) for each in both] == pytest.approx(apart[apart > 0].tolist())
    assert both[0].texts[0].mean == pytest.approx(of_items["Ada"][int(both[0].item.external_id[5:])])
    spread = frame[frame["system"] == "Ada"].groupby("item")["value"].std().sort_values(ascending=False)
    assert [each.size for each in one] == pytest.approx(spread[spread > 0].tolist())
    assert deciding_items([campaign], "unknown", ["Ada"]) == []


def test_files_hold_the_numbers_of_the_page(project: Project) -> None:
    campaign, _ = rated_campaign(project)
    results = compute_results([campaign])

    table = latex_table(results)
    assert "1 & Ada & " in table
    systems, differences = table.split("\n\n")
    assert systems.count("[") == 4  # of each system its mean's and its z-score's
    assert systems.count(r"\midrule") == 2  # after the head, and between the two clusters
    (pair,) = results.criteria[0].pairs
    assert (pair.single_low, pair.single_high) == pytest.approx((pair.low, pair.high))  # one pair needs no correction
    assert f"Ada $-$ Bo & {pair.difference:.2f} [{pair.low:.2f}, {pair.high:.2f}] & {pair.p:.3f} & " in differences
    assert [row[1] for row in system_rows(results)] == ["Ada", "Bo"]
    text = paragraph(results, [campaign])
    assert "96 ratings by 4 raters of 12 items in “Quality”" in text
    assert results.criteria[0].sentence in text
    assert "Raters were asked for “quality”, on a scale of 1 to 5." in text, "the question is no more than the name"
    (pair,) = results.criteria[0].pairs
    assert f"Difference with corrected 95% interval and p: Ada less Bo {pair.difference:.2f} [{pair.low:.2f}, " in text
    assert "Raters agree with Krippendorff's α = " in text.replace("\u00a0", " ")
    assert "to rely on single ratings. (Krippendorff, 2004, asks 0.667 of single ratings" in text
    assert f"Means with 95% intervals: Ada {of(results, 'Ada').estimate:.2f} [" in text
