"""Training data S1 to S6 of Dušek, Novikova and Rieser (2017), on made references."""

from collections import Counter

import pytest

from metrics.scoring.qe.inputs import Example
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.plans import TrainingData, WrittenText, training_data
from metrics.scoring.qe.scale import RatingScale

SCALE = RatingScale(1, 6, 0.5)
TRAINING = [
    Instance("inform(food=thai)", "they serve thai food", 5, ("thai food is served", "it has thai food")),
    Instance("inform(food=thai)", "thai thai", 2, ("thai food is served",)),
]
TESTED = [Instance("inform(food=french)", "french food", 4, ("french food is served",))]
WRITTEN = [
    WrittenText("inform(area=soma)", "it is in soma"),
    WrittenText("inform(area=soma)", "soma it is", complete=True),
    WrittenText("inform(food=thai)", "it has thai food"),
]


def data_of(plan: str, **options: object) -> TrainingData:
    return training_data(TRAINING, QualityOptions(plan=plan, **options), SCALE, tested=TESTED, written=WRITTEN)


@pytest.mark.parametrize(
    ("plan", "texts"),
    [
        ("S1", []),
        ("S2", []),
        ("S3", ["X-food food is served", "it has X-food food"]),
        ("S4", ["X-food food is served", "it has X-food food", "it is in X-area"]),
        # The tested reference is a training reference with another value: the placeholder is the same.
        ("S5", ["X-food food is served", "it has X-food food", "it is in X-area", "X-food food is served"]),
        (
            "S6",
            ["X-food food is served", "it has X-food food", "it is in X-area", "X-food food is served", "X-area it is"],
        ),
    ],
)
def test_each_plan_adds_texts_with_the_highest_rating_and_copies_with_errors(plan: str, texts: list[str]) -> None:
    data = data_of(plan)
    assert [each.rating for each in data.rated] == [5, 2]
    assert data.rated[0].output == ("they", "serve", "X-food", "food")
    whole = [each for each in data.synthetic if not each.errors]
    assert [" ".join(each.output) for each in whole] == texts
    assert {each.rating for each in whole} <= {6}
    copies = Counter(each.errors for each in data.synthetic if each.errors)
    originals = 0 if plan == "S1" else 2 + len(texts)
    assert copies == (Counter(dict.fromkeys((1, 2, 3, 4), originals)) if originals else Counter())


def test_copies_have_the_lowered_ratings_and_the_same_seed_makes_the_same() -> None:
    copies = data_of("S2", errors=2).synthetic
    assert [(each.errors, each.rating) for each in copies] == [(1, 4), (2, 3), (1, 1), (2, 1)]
    assert copies == data_of("S2", errors=2).synthetic
    assert copies != data_of("S2", errors=2, seed=2).synthetic
    assert [each.rating for each in data_of("S2", errors=2, error_points=0.5).synthetic] == [4.5, 4, 1.5, 1]


def test_pairs_for_the_rank_loss_put_fewer_errors_first() -> None:
    data = data_of("S1", rank_weight=1.0, errors=2)
    examples = data.all
    families = [(examples[better], examples[worse]) for better, worse in data.pairs]
    assert [(better.errors, worse.errors) for better, worse in families] == [(0, 1), (0, 2), (1, 2)] * 2
    assert all(better.source == worse.source for better, worse in families)
    assert data_of("S2").pairs == []
    assert data_of("S1", rank_weight=1.0, estimator="ridge").synthetic == []


def test_an_output_without_words_has_no_copies() -> None:
    empty = [*TRAINING, Instance("inform(food=thai)", "", 1)]
    data = training_data(empty, QualityOptions(plan="S2"), SCALE)
    assert data.rated[-1] == Example(("inform", "food", "X-food"), (), 1)
    assert len(data.synthetic) == 8
