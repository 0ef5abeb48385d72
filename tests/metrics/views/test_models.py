"""Pages of trained models: for members, by their roles, and for no one else."""

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.core.jobs import job_claim
from annotation.models import JobState
from metrics.models import TrainedModel
from metrics.services.runs import score_run_create
from metrics.services.training import model_execute
from tests.annotation.worlds.mined import indexed_corpus
from tests.metrics.trained import models_dir, queued_model, trained_model  # noqa: F401
from tests.metrics.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]

READING = [
    ("model-list", []),
    ("model-detail", ["model"]),
    ("model-download", ["model"]),
    ("model-overlap-download", ["model", "csv"]),
    ("model-spectrum", ["model"]),
    ("model-spectrum-download", ["model", "svg"]),
    ("model-spectrum-download", ["model", "csv"]),
]
CHANGING = [("model-cancel", ["model"]), ("model-retry", ["model"]), ("model-delete", ["model"])]


@pytest.fixture
def model(world: World) -> TrainedModel:
    return trained_model(world)


def address(world: World, name: str, parts: list[str], model: TrainedModel | None = None) -> str:
    ids = {"model": model.pk if model else 0}
    return reverse(f"metrics:{name}", args=[world.project.slug, *(ids.get(part, part) for part in parts)])


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def page_of(client, url: str) -> str:
    return " ".join(client.get(url).content.decode().split())


def test_a_viewer_may_read(world: World, model: TrainedModel, viewer, as_user) -> None:
    for name, parts in READING:
        assert as_user(viewer).get(address(world, name, parts, model)).status_code == 200, name


def test_an_outsider_gets_404(world: World, model: TrainedModel, outsider, as_user) -> None:
    client = as_user(outsider)
    for name, parts in [*READING, ("model-create", [])]:
        assert client.get(address(world, name, parts, model)).status_code == 404, name
    for name, parts in CHANGING:
        assert client.post(address(world, name, parts, model)).status_code == 404, name
    assert client.get(reverse("metrics:model-detail", args=["elsewhere", model.pk])).status_code == 404


def test_the_list_shows_each_model_and_its_purpose(world: World, model: TrainedModel, viewer, as_user) -> None:
    page = page_of(as_user(viewer), address(world, "model-list", []))
    rows = json.loads(body(as_user(viewer).get(address(world, "model-list", []) + "?format=json")))

    assert "Cat space v1" in page
    assert "LSA space" in page
    assert [(row["model"], row["texts"], row["sha256"]) for row in rows] == [
        ("cat-space", model.report["texts"], model.digest)
    ]


def test_an_empty_list_says_what_models_are_for(world: World, manager, as_user) -> None:
    page = page_of(as_user(manager), address(world, "model-list", []))

    assert "No model yet" in page
    assert address(world, "model-create", []) in page


def test_the_page_warns_of_texts_that_are_judged(world: World, model: TrainedModel, viewer, as_user) -> None:
    (row,) = model.report["overlap"]

    page = page_of(as_user(viewer), address(world, "model-detail", ["model"], model))

    assert "Trained on texts that it will help to judge." in page
    assert f"{row['references']} of {row['references_of']}" in page
    assert model.reference in page
    assert "What the singular values say" in page


def test_the_page_says_that_judged_texts_were_left_out(world: World, viewer, as_user) -> None:
    model = trained_model(world, keep_apart=True)

    page = page_of(as_user(viewer), address(world, "model-detail", ["model"], model))

    assert "None of the texts below was trained on: 40 were met and left out." in page
    assert "Trained on texts that it will help to judge." not in page


@pytest.mark.parametrize("kind", ["language_model", "vectors"])
def test_a_model_without_singular_values_has_no_figure(world: World, viewer, as_user, kind: str) -> None:
    model = trained_model(world, kind=kind, name="Other")

    page = page_of(as_user(viewer), address(world, "model-detail", ["model"], model))

    assert "singular values" not in page
    assert as_user(viewer).get(address(world, "model-spectrum", ["model"], model)).status_code == 404


def test_a_waiting_model_is_watched_and_cancelled(world: World, manager, as_user) -> None:
    model = queued_model(world)
    url = address(world, "model-detail", ["model"], model)

    part = as_user(manager).get(url, headers={"HX-Request": "true"}).content.decode()
    assert "Next in line" in part
    assert "<html" not in part
    assert as_user(manager).get(address(world, "model-download", ["model"], model)).status_code == 404
    as_user(manager).post(address(world, "model-cancel", ["model"], model))
    assert as_user(manager).get(url, headers={"HX-Request": "true"})["HX-Refresh"] == "true"

    model.refresh_from_db()
    assert model.state == JobState.CANCELLED


def test_a_failed_model_is_started_over(world: World, manager, as_user, django_capture_on_commit_callbacks) -> None:
    model = queued_model(world)
    job_claim(TrainedModel, model.pk).fail("No room.")
    assert "No room." in page_of(as_user(manager), address(world, "model-detail", ["model"], model))

    with django_capture_on_commit_callbacks() as enqueued:
        as_user(manager).post(address(world, "model-retry", ["model"], model))

    model.refresh_from_db()
    assert (model.state, len(enqueued)) == (JobState.QUEUED, 1)


def test_the_download_is_the_models_folder(world: World, model: TrainedModel, viewer, as_user) -> None:
    answer = as_user(viewer).get(address(world, "model-download", ["model"], model))
    archive = zipfile.ZipFile(io.BytesIO(body(answer)))

    assert f"cat-space-v1-{model.digest[:12]}.zip" in answer["Content-Disposition"]
    assert f"lsa-{model.digest[:12]}/model.json" in archive.namelist()
    assert archive.testzip() is None


def test_missing_files_are_reported(world: World, model: TrainedModel, viewer, as_user, settings) -> None:
    settings.MODELS_DIR = settings.MODELS_DIR / "elsewhere"

    answer = as_user(viewer).get(address(world, "model-download", ["model"], model), follow=True)

    assert "are not on this host" in answer.content.decode()


def test_a_model_is_deleted_unless_a_run_reads_it(world: World, model: TrainedModel, manager, as_user) -> None:
    client, url = as_user(manager), address(world, "model-delete", ["model"], model)
    run, _ = score_run_create(
        project=world.project,
        release=world.release,
        systems=world.hypotheses,
        metric="am",
        parameters={"k": 2},
        by=None,
    )

    assert f"is read by score run {run.number}" in client.post(url, follow=True).content.decode()
    assert f"Run {run.number}" in page_of(client, address(world, "model-detail", ["model"], model))
    run.delete()
    assert "is gone" in client.post(url, follow=True).content.decode()
    assert not TrainedModel.objects.exists()


# --- New --------------------------------------------------------------------------------------------------------------


def test_outputs_are_not_trained_on_unless_they_are_chosen(world: World, manager, as_user) -> None:
    page = as_user(manager).get(address(world, "model-create", []) + "?kind=lsa&from=dataset:cats")

    form = page.context["form"]
    assert form["texts"].initial == ["messages", "contexts"]
    assert ("system:Human", "Outputs of Human (40)") in form.fields["texts"].choices
    assert form["keep_apart"].initial is True


@pytest.mark.parametrize("origin", ["dataset:gone", "corpus:gone", "?"])
def test_a_source_that_is_gone_is_not_replaced_by_another(world: World, manager, as_user, origin: str) -> None:
    client, where = as_user(manager), address(world, "model-create", [])
    for ask in (client.get, client.post):
        answer = ask(f"{where}?kind=lsa&from={origin}")
        assert (answer.status_code, TrainedModel.objects.count()) == (404, 0)
    assert client.get(f"{where}?kind=lsa&from=model").context["origin"].value == "dataset:cats"
    assert client.post(f"{where}?kind=lsa&from=model").status_code == 404


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("lsa", {"option_components": "3", "option_tokenize": "13a"}),
        ("language_model", {"option_order": "3", "option_prune": "0.000001", "option_tokenize": "whitespace"}),
        (
            "vectors",
            {"option_dimension": "5", "option_window": "2", "option_min_count": "1", "option_tokenize": "none"},
        ),
    ],
)
def test_a_form_trains_each_kind_on_a_data_set(
    world: World, manager, as_user, django_capture_on_commit_callbacks, kind: str, options: dict
) -> None:
    data = {"name": "Mine", "texts": ["messages", "system:Human"], **options}

    with django_capture_on_commit_callbacks() as enqueued:
        answer = as_user(manager).post(address(world, "model-create", []) + f"?kind={kind}&from=dataset:cats", data)

    model = TrainedModel.objects.get()
    assert answer.url == address(world, "model-detail", ["model"], model)
    assert len(enqueued) == 1
    model_execute(model_id=model.pk)
    model.refresh_from_db()
    assert (model.state, model.kind, model.requested_by) == (JobState.DONE, kind, manager)
    assert model.source["source_systems"] == ["Human"]
    assert model.source["keep_apart"] is False
    assert str(next(iter(options.values()))) in map(str, model.options.values())


def test_a_form_trains_on_a_corpus(world: World, manager, as_user, settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path
    corpus = indexed_corpus(world.project)
    data = {
        "name": "Pool",
        "texts": ["responses"],
        "option_order": "2",
        "option_prune": "0",
        "option_tokenize": "whitespace",
        "keep_apart": "on",
    }

    url = address(world, "model-create", []) + f"?kind=language_model&from=corpus:{corpus.slug}"
    as_user(manager).post(url, data)

    model = TrainedModel.objects.get()
    assert (model.corpus, model.source["texts"], model.source["keep_apart"]) == (corpus, ["responses"], True)


def test_a_form_takes_a_file_of_texts_and_a_model_made_elsewhere(world: World, manager, as_user) -> None:
    lines = SimpleUploadedFile("lines.txt", b"the cat sat\na dog saw it\n")
    vectors = SimpleUploadedFile("glove.txt", b"cat 1 0\ndog 0 1\n")
    client, url = as_user(manager), address(world, "model-create", [])

    client.post(
        f"{url}?kind=lsa&from=texts",
        {"name": "A", "file": lines, "option_components": "2", "option_tokenize": "whitespace"},
    )
    client.post(f"{url}?kind=vectors&from=model", {"name": "B", "file": vectors})

    for model in TrainedModel.objects.all():
        model_execute(model_id=model.pk)
    assert list(TrainedModel.objects.order_by("name").values_list("name", "state")) == [("A", "done"), ("B", "done")]


@pytest.mark.parametrize(
    ("query", "data", "field"),
    [
        ("kind=lsa&from=dataset:cats", {"name": "A", "option_components": "2", "option_tokenize": "13a"}, "texts"),
        (
            "kind=lsa&from=dataset:cats",
            {"name": "猫", "texts": "messages", "option_components": "2", "option_tokenize": "13a"},
            "name",
        ),
        (
            "kind=lsa&from=dataset:cats",
            {"name": "A", "texts": "messages", "option_components": "0", "option_tokenize": "13a"},
            "option_components",
        ),
        ("kind=lsa&from=texts", {"name": "A", "option_components": "2", "option_tokenize": "13a"}, "file"),
        ("kind=vectors&from=model", {"name": "A"}, "file"),
    ],
)
def test_a_mistake_is_reported_at_its_field(world: World, manager, as_user, query: str, data: dict, field: str) -> None:
    answer = as_user(manager).post(address(world, "model-create", []) + f"?{query}", data)

    assert list(answer.context["form"].errors) == [field]
    errors = str(answer.context["form"].errors)
    assert any(words in errors for words in ("ccepted", "Choose a file.", "Choose at least one under “Texts”."))
    assert "Nothing was started" in answer.content.decode()
    assert not TrainedModel.objects.exists()


def test_a_file_above_the_limit_is_refused(world: World, manager, as_user, settings) -> None:
    settings.UPLOAD_MAX_BYTES = 3
    data = {"name": "B", "file": SimpleUploadedFile("glove.txt", b"cat 1 0\n")}

    answer = as_user(manager).post(address(world, "model-create", []) + "?kind=vectors&from=model", data)

    assert "by the command train_metric_model" in answer.content.decode()


def test_an_encoder_is_registered_by_the_command_alone(world: World, manager, as_user) -> None:
    page = page_of(as_user(manager), address(world, "model-create", []) + "?kind=sentence")

    assert "--register FOLDER" in page
    assert as_user(manager).get(address(world, "model-create", []) + "?kind=glove").status_code == 404
