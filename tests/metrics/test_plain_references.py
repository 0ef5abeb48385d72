"""Scores on a data set's own references, without raters or weights, are sacrebleu's: from page, API and command."""

import json
from collections.abc import Callable

import pytest
import sacrebleu
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Dataset, Item, JobState, Project, Response, ResponseSource, SourceKind, System
from metrics.errors import ScoreRunRefused
from metrics.models import RunOrigin, ScoreRun
from metrics.services.runs import score_run_create, score_run_execute
from metrics.subsets import Subset
from tests.snapshots import recalled

pytestmark = pytest.mark.django_db

OUTPUTS = {
    "Careful": ("The cat sat on the mat, didn't it?", "It rains in Spain.", "No.", "She left at 5 p.m. sharp."),
    "Hasty": ("cat on mat", "It is raining in Spain today, again.", "No way!", "At five, she had left."),
}
REFERENCES = {  # of two items three, of one two, of one a single reference; a mined one beside them
    SourceKind.HUMAN: (
        ("The cat sat on the mat, did it not?", "A cat was sitting on a mat."),
        ("It's raining in Spain.", "In Spain it rains."),
        ("No.",),
        ("She left at 5 p.m.", "At 5 p.m. she left."),
    ),
    SourceKind.SEED: (("The cat is on the mat.",), (), (), ("She had left at five sharp.",)),
    SourceKind.MINED: (("Dogs bark at night.",), (), (), ()),
}
COUNTED = {
    "bleu": sacrebleu.BLEU(),
    "chrf": sacrebleu.CHRF(),
    "ter": sacrebleu.TER(),
}


@pytest.fixture
def news(project: Project) -> Dataset:
    return recalled("plain-news", project, lambda: _make_news(project))


def _make_news(project: Project) -> Dataset:
    dataset = Dataset.objects.create(project=project, name="News", slug="news")
    systems = {name: System.objects.create(dataset=dataset, name=name) for name in OUTPUTS}
    for index in range(4):
        item = Item.objects.create(dataset=dataset, external_id=f"n{index}", position=index, message="What?")
        for name, texts in OUTPUTS.items():
            _add(item, texts[index], SourceKind.SYSTEM, systems[name])
        for kind, by_item in REFERENCES.items():
            for text in by_item[index]:
                _add(item, text, kind)
    return dataset


def _add(item: Item, text: str, kind: SourceKind, system: System | None = None) -> None:
    response, _ = Response.objects.get_or_create(item=item, text=text, defaults={"text_key": text})
    ResponseSource.objects.create(response=response, item=item, kind=kind, system=system)


def expected(metric: str, system: str, kinds: tuple[SourceKind, ...]) -> float:
    """Return sacrebleu's corpus score; it skips a reference that is None."""
    by_item = [[text for kind in kinds for text in REFERENCES[kind][index]] for index in range(4)]
    most = max(map(len, by_item))
    streams = [[texts[place] if place < len(texts) else None for texts in by_item] for place in range(most)]
    return COUNTED[metric].corpus_score(list(OUTPUTS[system]), streams).score / 100


def scores_of(run: ScoreRun) -> dict[str, float]:
    return dict(run.scores.values_list("system__name", "score"))


def test_the_page_scores_a_data_set_with_several_metrics_in_one_click(
    news: Dataset, manager, as_user, django_capture_on_commit_callbacks
) -> None:
    url = reverse("metrics:run-create", args=[news.project.slug])
    client = as_user(manager)
    form = client.get(url).context["form"]
    assert {"bleu", "chrf", "ter", "rouge_l"} <= set(form.initial["metrics"])
    assert "delta_bleu" not in dict(form.fields["metrics"].choices)
    assert form.fields["subset"].initial == ["seed", "human"]  # what people wrote, not what was mined

    with django_capture_on_commit_callbacks() as queued:
        answer = client.post(
            url,
            {
                "texts": f"dataset-{news.pk}",
                "metrics": ["bleu", "chrf", "ter"],
                "systems": list(news.systems.values_list("pk", flat=True)),
                "subset": ["human", "seed"],
            },
        )

    assert answer.url == f"{reverse('metrics:run-list', args=[news.project.slug])}?dataset=news"
    runs = list(ScoreRun.objects.order_by("number"))
    assert ([run.number for run in runs], len({run.group_id for run in runs}), len(queued)) == ([1, 2, 3], 1, 3)
    for run in runs:
        score_run_execute(run_id=run.pk)
        run.refresh_from_db()
        assert (run.state, run.release, run.subset_text) == (JobState.DONE, None, "human+seed"), run.error
        assert "|refs:human+seed|data:news|references:" in run.signature
        for system, score in scores_of(run).items():
            wanted = expected(run.metric, system, (SourceKind.HUMAN, SourceKind.SEED))
            assert score == pytest.approx(wanted, abs=1e-9), run.metric
    page = client.get(reverse("metrics:run-detail", args=[news.project.slug, runs[0].number])).content.decode()
    assert "the data set’s own" in page
    item = news.items.get(position=0)
    careful = news.systems.get(name="Careful")
    for run in runs:
        segment = reverse("metrics:run-segment", args=[news.project.slug, run.number, careful.pk, item.pk])
        page = client.get(segment).content.decode()
        assert "sitting" in page  # of the second reference
        assert "bark" not in page  # of the mined one


def test_the_api_scores_a_data_set_against_all_its_references(news: Dataset, manager, as_user) -> None:
    url = f"/api/v1/projects/{news.project.slug}/score-runs/"
    wanted = {"dataset": "news", "systems": list(OUTPUTS), "metric": "chrf", "subset": "all"}

    answer = as_user(manager).post(url, wanted, content_type="application/json")

    assert answer.status_code == 201, answer.content
    assert (answer.json()["number"], answer.json()["release"]) == (1, None)
    run = ScoreRun.objects.get()
    score_run_execute(run_id=run.pk)
    for system, score in scores_of(run).items():
        assert score == pytest.approx(expected("chrf", system, tuple(REFERENCES)), abs=1e-9)


def test_the_command_scores_several_metrics(news: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--project", news.project.slug, "--dataset", "news", "--subset", "original", "--json"]
    call_command("score", "--metric", "bleu", "--metric", "ter", *arguments)

    documents = json.loads(capsys.readouterr().out)
    assert [document["run"] for document in documents] == [1, 2]
    assert documents[0]["report"]["items"] == 2  # the others have no original reference
    bleu = sacrebleu.BLEU()
    original = [texts[0] for texts in REFERENCES[SourceKind.SEED] if texts]
    for row in documents[0]["systems"]:
        outputs = [OUTPUTS[row["system"]][index] for index in (0, 3)]
        assert row["score"] == pytest.approx(bleu.corpus_score(outputs, [original]).score / 100, abs=1e-9)


@pytest.fixture
def create(news: Dataset) -> Callable[..., tuple[ScoreRun, bool]]:
    fields = {"project": news.project, "dataset": news, "systems": list(news.systems.all()), "by": None}
    return lambda metric="chrf", **changes: score_run_create(metric=metric, parameters={}, **(fields | changes))


def test_the_same_references_are_scored_once_whatever_they_are_called(create, news: Dataset) -> None:
    every_kind = Subset("sources", sources=("human", "mined", "random", "seed"))

    (first, _), (second, is_new) = create(), create(subset=every_kind)
    assert (first.pk, is_new) == (second.pk, False)
    assert create(subset=Subset("sources", sources=("seed",)))[0] == create(subset=Subset("original"))[0]

    _add(news.items.get(position=1), "Rain in Spain.", SourceKind.MINED)
    third, is_new = create()
    assert is_new
    assert (third.number, third.group.origin) == (3, RunOrigin.REQUEST)


def test_references_that_change_while_they_are_scored_fail_the_run(create, news: Dataset) -> None:
    run, _ = create()
    _add(news.items.get(position=2), "Never.", SourceKind.HUMAN)

    score_run_execute(run_id=run.pk)

    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "The references were changed while they were scored" in run.error


@pytest.mark.parametrize(
    ("metric", "subset", "message"),
    [
        ("delta_bleu", Subset(), "ΔBLEU reads the weights of references; accepted: a finished release"),
        ("bleu", Subset.parse("w>0"), "own references have no weights"),
        ("bleu", Subset("sources", sources=("hearsay",)), "found 'hearsay'; accepted: seed, mined"),
        ("bleu", Subset("sources", sources=("random",)), r"has of its own: seed \(2\), mined \(1\), human \(7\)"),
    ],
)
def test_what_only_a_release_has_is_refused(create, metric: str, subset: Subset, message: str) -> None:
    with pytest.raises(ScoreRunRefused, match=message):
        create(metric, subset=subset)
