"""Numbers of the demo, compared with the raw files, sacrebleu, scipy, krippendorff and pingouin."""

import math
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from django.db import connection, transaction
from scipy import stats

from annotation.datasets.services.export import dataset_chunks
from annotation.demo import load as demo_data
from annotation.models import Campaign, Dataset, Item, JobState, Project, ReferenceSet, Release, Response
from annotation.quality.selectors.monitoring.statistics import Statistics, compute_statistics
from annotation.quality.selectors.raters import moment
from annotation.records.selectors.tables import TABLES
from annotation.records.services.archive import single_chunks
from annotation.references.releases.files.kinds import FILES
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from annotation.weighting.agreement import icc
from correlations.models import Study
from correlations.selectors.stand_in_words import stand_in_sentence
from correlations.selectors.worth import stand_in_report
from correlations.services import execution
from correlations.services.demo import JUDGE, demo_judge, demo_judge_study_specification, demo_study_specification
from correlations.services.execution import study_execute
from correlations.services.inputs import StudyInputs
from correlations.services.rated_outputs import RatedOutputs
from correlations.services.studies import study_create
from metrics.subsets import Subset
from tests.demo import raw, slow
from tests.demo.world import imported_demo

ASSIGNMENTS = 200
ROWS = [(metric, subset) for metric in ("bleu", "sbleu", "delta_bleu") for subset in raw.SUBSETS]
# Each test runs in a savepoint inside the fixture's transaction.
pytestmark = pytest.mark.django_db
for_each_row = pytest.mark.parametrize(("metric", "subset"), ROWS)


@pytest.fixture(scope="module", autouse=True)
def demo(django_db_setup: None, django_db_blocker):  # type: ignore[no-untyped-def]
    """Load the demo once for all tests here, and roll it back afterwards."""
    with django_db_blocker.unblock(), transaction.atomic(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "study_worth", worth_once(execution.study_worth))
        imported_demo()
        build_release(reference_set())
        connection.check_constraints()  # foreign keys are deferred, and there will be no commit
        yield
        study_of.cache_clear()
        transaction.set_rollback(True)


def worth_once(study_worth: Callable[..., Any]) -> Callable[..., Any]:
    """Compute once what the same rows are worth: it depends neither on units nor on assignments, and takes long."""
    known: dict[tuple[str, ...], Any] = {}

    def worth(inputs: StudyInputs, outputs: RatedOutputs | None) -> Any:
        rows = tuple(row.signature for row in inputs.rows)
        if rows not in known:
            known[rows] = study_worth(inputs, outputs)
        return known[rows]

    return worth


def reference_set() -> ReferenceSet:
    project = Project.objects.get(slug=demo_data.PROJECT_SLUG)
    return reference_set_create(
        dataset=Dataset.objects.get(project=project),
        name="DSTC7 references",
        campaigns=[project.campaigns.get(name=demo_data.REFERENCE_CAMPAIGN)],
        source_systems=list(raw.REFERENCE_NAMES),
        original_systems=[raw.ORIGINAL],
    )


def build_release(chosen: ReferenceSet) -> None:
    release = release_create(reference_set=chosen, by=None)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert release.state == JobState.DONE, release.error


@cache
def study_of(**changes: object) -> dict:
    """Return the result of the demo's study with the given changes, without bootstrap intervals."""
    specification = demo_study_specification() | {"assignments": ASSIGNMENTS, "bootstrap": 0} | changes
    study, _ = study_create(
        project=Project.objects.get(slug=demo_data.PROJECT_SLUG), name="?", specification=specification, by=None
    )
    study_execute(study_id=study.pk)
    result = Study.objects.get(pk=study.pk)
    assert result.state == JobState.DONE, result.error
    return result.result


def row_of(result: dict, metric: str, subset: str) -> dict:
    return next(row for row in result["rows"] if (row["metric"], row["subset"]) == (metric, subset))


slow_study = cache(slow.SlowStudy)


# --- Texts, judgements, weights ---------------------------------------------------------------------------------------


def test_items_and_texts_equal_those_of_the_files() -> None:
    texts = {(item, text) for (_, item), text in raw.outputs().items()}
    for item, *gold in raw.lines("gold_responses"):
        texts |= {(item, " ".join(text.split())) for text in gold if text.strip()}

    assert list(Item.objects.order_by("position").values_list("external_id", flat=True)) == list(raw.item_names())
    stored = Response.objects.values_list("item__external_id", "text")
    assert {(item, " ".join(text.split())) for item, text in stored} == texts
    assert len(stored) == len(texts)


def test_every_weight_is_linear_in_the_mean_over_judgements_and_criteria() -> None:
    stored = {
        (item, " ".join(text.split())): (weight, mean, n, original)
        for item, text, weight, mean, n, original in Release.objects.get().weights.values_list(
            "item__external_id", "response__text", "weight", "rating_mean", "n_ratings", "is_original"
        )
    }
    means, judged = raw.mean_rating(raw.REFERENCE_NAMES), raw.judgements(raw.REFERENCE_NAMES)
    expected = {
        (item, text): (float(weight), float(means[item, text]), len(judged[item, text]), original)
        for item, references in raw.references().items()
        for text, weight, original in references
    }
    assert stored.keys() == expected.keys()
    for key, values in expected.items():
        assert stored[key] == pytest.approx(values, abs=1e-15), key


def test_rows_that_read_weights_leave_out_the_items_without_a_positive_one() -> None:
    without = sorted(set(raw.item_names()) - set(raw.usable_items()))
    report = Release.objects.get().report["items"]
    result = study_of()

    assert (len(without), len(raw.usable_items())) == (110, 890)
    assert report["without_positive"] == 110
    assert sorted(report["without_positive_listed"]) == without[: len(report["without_positive_listed"])]
    assert result["items"] == {"used": 1000, "dropped": []}
    assert row_of(result, "bleu", "all")["dropped"]["items"] == []
    assert sorted(row_of(result, "delta_bleu", "all")["dropped"]["items"]) == without


@pytest.mark.parametrize("tenths", range(-10, 11))
@pytest.mark.parametrize("operator", [">", ">="])
def test_thresholds_select_the_same_as_with_exact_weights(operator: str, tenths: int) -> None:
    # Twelfths of the demo, and tenths of five ratings, where 0.6 = 2 (4.2 - 1) / 4 - 1 in floating point.
    twelfths = [weight for references in raw.references().values() for _, weight, _ in references]
    exact = [*twelfths, *(2 * (Fraction(total, 5) - 1) / 4 - 1 for total in range(5, 26))]
    computed = [2 * (float((weight + 1) * 2 + 1) - 1) / 4 - 1 for weight in exact]
    threshold = Fraction(tenths, 10)

    mask = Subset.parse(f"w{operator}{tenths / 10}").mask(np.array(computed), np.zeros(len(exact), dtype=bool))

    assert mask.tolist() == [weight > threshold or (operator == ">=" and weight == threshold) for weight in exact]


# --- Scores -----------------------------------------------------------------------------------------------------------


@for_each_row
def test_scores_of_systems_equal_sacrebleu_and_the_equation(metric: str, subset: str) -> None:
    row = row_of(study_of(), metric, subset)
    expected = slow_study(metric, subset)
    items = list(expected.items)

    assert row["items"] == len(items)
    assert row["dropped"]["count"] == len(raw.item_names()) - len(items)
    assert [entry["system"] for entry in row["systems"]] == list(raw.HYPOTHESIS_NAMES)
    for entry in row["systems"]:
        system = entry["system"]
        if metric == "bleu":
            score = sacrebleu_score(system, items, subset)
        else:
            score, _ = slow.unit_score(metric, expected.sums[system].sum(axis=0))
        assert entry["score"] == pytest.approx(score, abs=1e-9), system


def sacrebleu_score(system: str, items: list[str], subset: str) -> float:
    """Score the corpus in one call; None stands for a missing reference."""
    references = [[text for text, _ in raw.chosen(item, subset)] for item in items]
    streams = [[texts[j] if j < len(texts) else None for texts in references] for j in range(4)]
    streams = [stream for stream in streams if any(stream)]
    return slow.plain_bleu().corpus_score([raw.outputs()[system, item] for item in items], streams).score / 100


@for_each_row
def test_ratings_of_systems_pool_all_judgements_of_a_text(metric: str, subset: str) -> None:
    """Ratings of TeamCE include TeamEC's; equal texts of Baseline and Constant share their ratings."""
    means = raw.mean_rating(raw.HYPOTHESIS_NAMES)
    items = slow_study(metric, subset).items
    for entry in row_of(study_of(), metric, subset)["systems"]:
        values = [means[item, raw.outputs()[entry["system"], item]] for item in items]
        assert entry["rating"] == pytest.approx(float(sum(values) / len(values)), abs=1e-12)
        assert entry["rated_items"] == len(values)


# --- Correlations -----------------------------------------------------------------------------------------------------


@for_each_row
def test_with_one_unit_per_pair_the_coefficients_equal_scipys(metric: str, subset: str) -> None:
    row = row_of(study_of(unit_size=1000, assignments=1, sweeps=False), metric, subset)

    observations = slow_study(metric, subset).observations(np.random.default_rng(0), 1000)

    assert row["n_observations"] == observations.shape[1] == 30
    assert row["rho"]["value"] == pytest.approx(stats.spearmanr(*observations).statistic, abs=1e-12)
    assert row["tau"]["value"] == pytest.approx(stats.kendalltau(*observations).statistic, abs=1e-12)


@for_each_row
def test_coefficients_of_units_of_a_hundred_match_other_random_assignments(metric: str, subset: str) -> None:
    row = row_of(study_of(), metric, subset)
    n = 20
    coefficients = slow_study(metric, subset).coefficients(7, n)

    # 15 pairs; units of a hundred of the row's items, with a last short one; each observation and its mirror image.
    assert row["n_observations"] == 15 * math.ceil(len(slow_study(metric, subset).items) / 100) * 2
    for name, replicates in (("rho", coefficients[:, 0]), ("tau", coefficients[:, 1])):
        error = replicates.std(ddof=1) * math.sqrt(1 / n + 1 / ASSIGNMENTS)
        assert abs(row[name]["value"] - replicates.mean()) < 4 * error
        assert 0.5 < row[name]["assignment_spread"] / replicates.std(ddof=1) < 2


def test_the_notebook_of_the_documentation_gives_the_table_of_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run what docs/notebook.md prints, on the files that it names, with the assignments of the study here."""
    project = Project.objects.get(slug=demo_data.PROJECT_SLUG)
    campaign = project.campaigns.get(name=demo_data.OUTPUT_CAMPAIGN)
    files = {
        "dataset": dataset_chunks(Dataset.objects.get(project=project)),
        "release": FILES["items.jsonl"].write(Release.objects.get()),
        "ratings": single_chunks(TABLES["ratings"], campaign, "jsonl"),
    }
    for name, chunks in files.items():
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(chunks))
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).resolve().parents[2] / "docs" / "notebook.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert code is not None
    assert len(code[1].split("import Subset\n")[1].strip().splitlines()) == 20  # as the page says
    names: dict = {}

    exec(code[1].replace("n_assignments=1000", f"n_assignments={ASSIGNMENTS}"), names)

    for row, expected in zip(names["table"].rows, study_of()["rows"], strict=True):
        assert row.n_observations == expected["n_observations"]
        for key, short in (("spearman", "rho"), ("kendall", "tau")):
            assert row.coefficients[key].mean == pytest.approx(expected[short]["value"], abs=1e-12), row.name


@for_each_row
def test_the_papers_interval_equals_fishers(metric: str, subset: str) -> None:
    row = row_of(study_of(), metric, subset)
    for name in ("rho", "tau"):
        z, half = math.atanh(row[name]["value"]), stats.norm.ppf(0.975) / math.sqrt(row["n_observations"] - 3)
        assert row[name]["paper"] == pytest.approx([math.tanh(z - half), math.tanh(z + half)], abs=1e-12)


@pytest.mark.parametrize("subset", ["original", "w>0", "w>=0.6", "all"])
def test_the_share_of_clamped_numerators_matches_other_assignments(subset: str) -> None:
    row = row_of(study_of(), "delta_bleu", subset)
    study, rng = slow_study("delta_bleu", subset), np.random.default_rng(3)
    n_items, n_clamped = len(study.items), Counter[str]()
    n_draws = math.ceil(360 / math.ceil(n_items / 100))
    for _ in range(n_draws):
        order = rng.permutation(n_items)
        for start in range(0, n_items, 100):
            unit = order[start : start + 100]
            for system in raw.HYPOTHESIS_NAMES:
                n_clamped[system] += slow.unit_score("delta_bleu", study.sums[system][unit].sum(axis=0))[1]
    for entry in row["systems"]:
        # 360 units here and thousands in the study: about 4.5 standard errors of a share of one half.
        share = n_clamped[entry["system"]] / (n_draws * math.ceil(n_items / 100))
        assert entry["clamped_share"] == pytest.approx(share, abs=0.12)


def test_sweeps_agree_with_the_table() -> None:
    result = study_of()
    sweeps = result["sweeps"]
    for metric, label in (("bleu", "BLEU"), ("sbleu", "sBLEU"), ("delta_bleu", "ΔBLEU")):
        rho = row_of(result, metric, "all")["rho"]["value"]
        for name, point in (("threshold", -1.0), ("unit_size", 100.0), ("order", 2.0)):
            assert sweep_point(sweeps[name], label, point)["rho"]["value"] == pytest.approx(rho, abs=1e-12)
        best = [item for item in raw.item_names() if any(weight == 1 for _, weight, _ in raw.references()[item])]
        assert sweep_point(sweeps["threshold"], label, 1.0)["items"] == len(best)


@pytest.mark.parametrize("label", ["BLEU", "sBLEU", "ΔBLEU"])
def test_units_of_one_item_correlate_smoothed_sentence_scores(label: str) -> None:
    items = raw.usable_items() if label == "ΔBLEU" else raw.item_names()
    means = raw.mean_rating(raw.HYPOTHESIS_NAMES)
    scores, human = {}, {}
    for system in raw.HYPOTHESIS_NAMES:
        texts = [raw.outputs()[system, item] for item in items]
        human[system] = np.array([float(12 * means[pair]) for pair in zip(items, texts, strict=True)])
        scores[system] = np.array(
            [sentence_score(label, text, raw.chosen(item, "all")) for item, text in zip(items, texts, strict=True)]
        )
    pairs = list(combinations(raw.HYPOTHESIS_NAMES, 2))
    metric = np.concatenate([(scores[a] - scores[b]).round(12) for a, b in pairs])
    rating = np.concatenate([(human[a] - human[b]).round(9) for a, b in pairs])

    point = sweep_point(study_of()["sweeps"]["unit_size"], label, 1.0)

    assert point["n_observations"] == 15 * len(items) * 2
    # Not exact: equal sentence scores may differ in the last bit, which splits a tie.
    expected = stats.spearmanr(np.r_[metric, -metric], np.r_[rating, -rating]).statistic
    assert point["rho"]["value"] == pytest.approx(expected, abs=1e-5)


def sentence_score(label: str, hypothesis: str, references: slow.Weighted) -> float:
    """Return BLEU+1; for ΔBLEU, the top weight replaces one, and a negative bigram numerator is set to 0."""
    if label != "ΔBLEU":
        return slow.bleu_plus_one(hypothesis, tuple(text for text, _ in references))
    hyp_len, ref_len, unigrams, bigrams, unigram_total, bigram_total = slow.delta_sums(hypothesis, references)
    if unigrams <= 0:
        return 0.0
    top = max(weight for _, weight in references)
    product = float(unigrams / unigram_total * (max(bigrams, Fraction(0)) + top) / (bigram_total + top))
    return math.sqrt(product) * math.exp(min(0.0, 1 - float(ref_len / hyp_len)))


def sweep_point(sweep: dict, label: str, point: float) -> dict:
    series = next(series for series in sweep["series"] if series["label"] == label)
    return series["points"][sweep["points"].index(point)]


# --- Circularity and agreement ----------------------------------------------------------------------------------------


def test_judges_who_rated_both_sides_of_an_item_are_counted() -> None:
    sides = []
    for names in (raw.HYPOTHESIS_NAMES, raw.REFERENCE_NAMES):
        judged = raw.judgements(names).items()
        sides.append({(judge, item) for (item, _), rows in judged for judge, _ in rows})
    outputs, references = sides

    circularity = study_of()["circularity"]

    assert circularity["rater_items"] == len(outputs)
    assert circularity["rater_items_on_both_sides"] == len(outputs & references)
    judges = [{judge for judge, _ in side} for side in sides]
    assert circularity["raters_on_both_sides"] == len(judges[0] & judges[1])
    same = sum(
        raw.outputs()[system, item] in [text for text, _, _ in raw.references()[item]]
        for system in raw.HYPOTHESIS_NAMES
        for item in raw.item_names()
    )
    assert circularity["same_text_items"] == same


@pytest.mark.parametrize("criterion", [0, 1])
@pytest.mark.parametrize("campaign", [demo_data.REFERENCE_CAMPAIGN, demo_data.OUTPUT_CAMPAIGN])
def test_alpha_equals_the_krippendorff_library(campaign: str, criterion: int) -> None:
    latest = ratings(campaign, criterion).drop_duplicates(["judge", "response"], keep="last")
    table = latest.pivot(index="judge", columns="response", values="value").to_numpy()

    alpha = figures_of(campaign).criteria[criterion].alpha

    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="ordinal")
    assert alpha.alpha == pytest.approx(expected, abs=1e-10)
    assert (alpha.n_ratings, alpha.n_responses) == (len(latest), latest["response"].nunique())


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # pingouin's own use of pandas
@pytest.mark.parametrize("criterion", [0, 1])
def test_icc_equals_pingouins_and_scipys(criterion: int) -> None:
    """Some raters rated a text twice: scipy's F over all that count; pingouin needs the same number of each text."""
    import pingouin  # here, because it takes each process that imports it half a second

    data = ratings(demo_data.REFERENCE_CAMPAIGN, criterion).drop_duplicates(["judge", "response"], keep="last")
    values = [group.to_numpy() for _, group in data.groupby("response")["value"]]
    f = stats.f_oneway(*values).statistic

    found = figures_of(demo_data.REFERENCE_CAMPAIGN).criteria[criterion].icc

    k0 = (len(data) - sum(len(each) ** 2 for each in values) / len(data)) / (len(values) - 1)
    assert (found.icc_1, found.icc_k, found.k) == pytest.approx(((f - 1) / (f + k0 - 1), (f - 1) / f, k0), abs=1e-10)

    whole = data[data.groupby("response")["value"].transform("size") == 3].copy()
    whole["place"] = whole.groupby("response").cumcount()
    table = pingouin.intraclass_corr(whole, targets="response", raters="place", ratings="value").set_index("Type")
    single, mean = table.loc["ICC(1,1)"], table.loc["ICC(1,k)"]
    balanced = icc([each.tolist() for each in values if len(each) == 3])
    assert (balanced.icc_1, balanced.icc_k, balanced.k) == pytest.approx((single["ICC"], mean["ICC"], 3), abs=1e-10)
    # pingouin rounds its intervals to two decimals.
    assert (balanced.icc_1_low, balanced.icc_1_high) == pytest.approx(tuple(single["CI95"]), abs=0.0051)
    assert (balanced.icc_k_low, balanced.icc_k_high) == pytest.approx(tuple(mean["CI95"]), abs=0.0051)


def figures_of(name: str) -> Statistics:
    """Compute the statistics of a campaign as a worker does."""
    campaign = Campaign.objects.get(name=name)
    return compute_statistics(campaign, moment(campaign))


def ratings(campaign: str, criterion: int) -> pd.DataFrame:
    """Return judge, response and value on a criterion for each judgement, in the order of the file."""
    names = raw.REFERENCE_NAMES if campaign == demo_data.REFERENCE_CAMPAIGN else raw.HYPOTHESIS_NAMES
    rows = []
    for judge, item, name, *values in raw.lines("human-eval-per-judge"):
        system = raw.SAME_OUTPUTS.get(name, name)
        if system in names:
            rows.append((judge, f"{item} {raw.outputs()[system, item]}", int(values[criterion])))
    return pd.DataFrame(rows, columns=["judge", "response", "value"])


# --- A judge in place of a rater --------------------------------------------------------------------------------------


def test_the_simulated_judge_is_too_good_to_be_told_and_metrics_show_no_judgement(manager) -> None:  # type: ignore[no-untyped-def]
    project = Project.objects.get(slug=demo_data.PROJECT_SLUG)
    judge = demo_judge(dataset=Dataset.objects.get(project=project), by=manager)
    specification = demo_judge_study_specification(judge) | {"assignments": 1, "bootstrap": 0}
    study, _ = study_create(project=project, name="Judge", specification=specification, by=manager)
    study_execute(study_id=study.pk)
    study.refresh_from_db()

    result = study.read_result()
    report = stand_in_report(project, result, "crowd", None)

    assert judge.report["items"] == len(raw.item_names())
    assert "No language model was asked" in judge.report["imported"]["note"]
    assert report
    assert stand_in_sentence(result).startswith("Not testable: Simulated judge agrees ")  # it is made from the ratings
    assert [(each.row.label, each.tells_more) for each in report.candidates if each.tells_more] == [(JUDGE, True)]
    assert all(each.same_passes for each in report.candidates)
