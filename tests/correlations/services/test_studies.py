import threading

import pytest
from django.db import connection

from annotation.models import JobState, Participation, Project, Rater, Release
from annotation.quality.services.decisions import rater_exclude, rater_include
from annotation.rating.selectors.ratings import rater_places
from correlations.errors import StudyRefused
from correlations.models import Study
from correlations.services.demo import demo_study_specification
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from correlations.specification import Specification
from tests.metrics.world import World, make_world

pytestmark = pytest.mark.django_db


def make(world: World, **changes: object) -> tuple[Study, bool]:
    return study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)


def test_equivalent_specifications_give_the_same_study(world: World) -> None:
    first, created = make(world)
    systems = list(reversed(world.specification()["systems"]))  # type: ignore[call-overload]
    repeated, created_again = make(
        world,
        release="cat-references",
        systems=systems,
        subsets=["single", " W > 0 ", "all"],
        criteria=["relevance", "informativeness"],
        metrics=[
            {"name": "bleu", "smoothing": "none"},
            "sbleu",
            {"name": "delta_bleu", "parameters": {"max_order": 2}},
        ],
        coefficients=["spearman", "kendall"],
    )

    assert (created, created_again) == (True, False)
    assert first.pk == repeated.pk


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 8},
        {"order": 3},
        {"subsets": ["all"]},
        {"tokenize": "13a"},
        {"remainder": "drop"},
        {"coefficients": ["kendall", "spearman"]},
    ],
)
def test_a_different_specification_gives_another_study(world: World, change: dict[str, object]) -> None:
    first, _ = make(world)
    other_study, created = make(world, **change)

    assert created
    assert other_study.signature != first.signature


def test_a_study_records_the_raters_excluded_at_its_creation(world: World) -> None:
    before, _ = make(world)
    rater = Rater.objects.get(pseudonym="rater-1")
    Participation.objects.create(campaign=world.output_campaign, rater=rater, order_seed=1)
    rater_exclude(campaign=world.output_campaign, rater=rater, reason="Spam")
    without, created = make(world)
    assert created
    assert without.specification["named"]["without_raters"] == [rater_places(world.project.pk)[rater.pk]]
    assert make(world) == (without, False)

    rater_include(campaign=world.output_campaign, rater=rater, reason="A mistake")
    assert make(world) == (before, False)  # without excluded raters the signature does not change
    assert "without_raters" not in before.specification["named"]
    study_execute(study_id=without.pk)
    study_execute(study_id=before.pk)
    counts = [Study.objects.get(pk=study.pk).result["counts"] for study in (without, before)]
    assert [(count["raters"], count["raters_excluded"]) for count in counts] == [(2, 1), (3, 0)]
    assert counts[0]["judgements"] * 3 == counts[1]["judgements"] * 2


def test_a_stored_specification_gives_the_existing_study(world: World) -> None:
    study, _ = make(world)

    repeated, created = study_create(project=world.project, name="Again", specification=study.specification, by=None)

    assert not created
    assert repeated.pk == study.pk


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_create_one_study(project: Project) -> None:
    world = make_world(project, n_items=8)
    barrier = threading.Barrier(8)
    outcomes: list[tuple[int, bool]] = []

    def ask() -> None:
        try:
            barrier.wait(10)
            study, created = make(world)
            outcomes.append((study.pk, created))
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert len(outcomes) == 8
    assert len({pk for pk, _ in outcomes}) == 1
    assert [created for _, created in outcomes].count(True) == 1


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"release": "dog-references"}, "release", "found 'dog-references'; accepted: cat-references/v1"),
        ({"release": "cat-references/v7"}, "release", "accepted: cat-references/v1"),
        ({"campaigns": ["Nobody's"]}, "campaigns", 'found "Nobody\'s"; accepted: Output ratings, Reference ratings'),
        ({"systems": ["Echo", "Ghost"]}, "systems", "found 'Ghost'; accepted: Echo, Human, Parrot, Quill, Random"),
        ({"systems": ["Echo"]}, "systems", "found 1; accepted: two or more"),
        ({"pairs": [["Echo", "Human"]]}, "pairs", "found 'Human'; accepted: Echo, Parrot, Quill"),
        ({"pairs": [["Echo", "Quill"], ["Quill", "Echo"]]}, "pairs", "twice; accepted: each pair once"),
        ({"metrics": ["rouge"]}, "metrics", "found 'rouge'; accepted: 'bleu', 'sbleu', 'delta_bleu'"),
        (
            {"metrics": [{"name": "bleu", "tokenize": "words"}]},
            "metrics",
            "found 'words'; accepted: 'none', 'whitespace'",
        ),
        ({"metrics": ["bleu", "bleu"]}, "metrics", "one metric twice"),
        ({"subsets": ["w>2"]}, "subsets", "a weight from -1 to 1"),
        ({"unit_size": 0}, "unit_size", "found 0; accepted: a whole number from 1"),
        ({"orientation": "sideways"}, "orientation", "accepted: both, fixed, random"),
        ({"coefficients": ["gamma"]}, "coefficients", "accepted: pearson, spearman, kendall, somers_d"),
        ({"coefficients": []}, "coefficients", "accepted: pearson, spearman, kendall, somers_d"),
        ({"lowercase": "yes"}, "lowercase", "accepted: true or false"),
        ({"release": 5}, "release", "found 5; accepted: text"),
        ({"pairs": 5}, "pairs", "found 5; accepted: a list"),
        ({"metrics": [5]}, "metrics", "found 5; accepted: a name, or a mapping"),
        ({"metrics": [{"name": "bleu", "parameters": 5}]}, "metrics", "accepted: a name, or a mapping"),
        ({"subsets": []}, "subsets", "found none; accepted: original, all"),
        ({"colour": "red"}, "colour", "accepted: assignments, bootstrap"),
        ({"systems": ["Echo", "Quill", "Random"]}, "systems", "found Random, whose outputs have no rating in Output"),
        (
            {"systems": ["Echo", "Quill", "Random"], "pairs": [["Echo", "Quill"], ["Echo", "Random"]]},
            "pairs",
            "found Echo – Random, of which no item has ratings of both outputs in Output ratings; accepted: Echo –",
        ),
        ({"release": "", "subsets": ["w>0"]}, "subsets", "the data set's own references have no weights"),
        ({"release": "", "subsets": ["all"]}, "subsets", "BLEU reads references. Data set Cats has of its own: none"),
        ({"release": "", "metrics": ["delta_bleu"], "subsets": ["all"]}, "metrics", "ΔBLEU reads the weights"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_found_and_what_is_accepted(
    world: World, change: dict[str, object], field: str, message: str
) -> None:
    with pytest.raises(StudyRefused) as refusal:
        make(world, **change)

    assert message in refusal.value.fields[field][0]


def test_an_unfinished_release_cannot_be_studied(world: World) -> None:
    Release.objects.filter(pk=world.release.pk).update(state=JobState.QUEUED, finished_at=None)

    with pytest.raises(StudyRefused, match="none yet: release weights first"):
        make(world)


def test_a_release_of_another_project_is_not_found(world: World) -> None:
    other_project = Project.objects.create(name="Elsewhere", slug="elsewhere")

    with pytest.raises(StudyRefused, match="release"):
        study_create(project=other_project, name="x", specification=world.specification(), by=None)


def test_units_left_to_the_data_fit_the_items_that_pairs_share(world: World) -> None:
    """39 of 40 items have a positive weight; thirty units of three pairs take ten each."""
    specification = {name: value for name, value in world.specification().items() if name != "unit_size"}
    study, _ = study_create(project=world.project, name="Fits", specification=specification, by=None)
    assert study.specification["unit_size"] == 3
    same, is_new = study_create(
        project=world.project, name="3", specification=specification | {"unit_size": 3}, by=None
    )
    assert (same, is_new) == (study, False)


def test_the_demo_study_has_the_papers_design() -> None:
    demo = Specification.from_mapping(demo_study_specification())

    assert (len(demo.systems), demo.pairs) == (6, ())  # all that share rated items
    assert (demo.order, demo.unit_size, demo.assignments) == (2, 100, 1000)
    assert (demo.orientation, demo.remainder, demo.lowercase, demo.tokenize) == ("both", "keep", True, "whitespace")
    assert demo.subsets == ("original", "w>0", "w>=0.6", "all")
