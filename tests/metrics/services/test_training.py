"""Models are trained once on chosen texts, each text once; what they share with what is judged is counted."""

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from annotation.core.errors import AnnotationError
from annotation.core.jobs import job_request_cancel
from annotation.models import AuditEntry, JobState, Project, User
from metrics.models import TrainedModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.vectors import WordVectors
from metrics.selectors.models import folder_of
from metrics.services import training as services
from metrics.services.model_rows import ModelRequest
from metrics.services.scoring import model_store
from tests.annotation.worlds.mined import TRIPLES, indexed_corpus
from tests.metrics.trained import LSA, models_dir, queued_model, trained_model  # noqa: F401
from tests.metrics.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]

LINES = ["The cat sat on the mat.", "", "A dog saw the cat.", "The cat sat on the mat.", "The old dog sat there."]
ARPA = """
\\data\\
ngram 1=4
ngram 2=3

\\1-grams:
-0.7782 </s>
-99 <s> -0.3
-0.7782 cat -0.3
-0.7782 sat -0.3

\\2-grams:
-0.3010 <s> cat
-0.3010 cat sat
-0.3010 sat </s>

\\end\\
"""


def request_for(project: Project, name: str, kind: str, **options) -> ModelRequest:
    return ModelRequest(project, None, name, kind, **options)


def human_texts(world: World) -> set[str]:
    return {world.responses["Human", index].text for index in range(len(world.items))}


def test_a_space_is_learnt_from_each_chosen_text_once(world: World) -> None:
    model = trained_model(world)

    expected = {"what did you see ?"} | human_texts(world)
    assert model.report["texts"] == len(expected)
    assert model.report["texts_read"] == 2 * len(world.items)
    assert model.report["words"] == sum(len(text.split()) for text in expected)
    assert model.report["model"]["dimensions"] == 4
    assert len(model.report["model"]["singular_values"]) == 4
    space = LsaModel.load(folder_of(model))
    assert (space.digest, space.n_texts) == (model.digest, len(expected))
    assert model_store().load("lsa", model.reference).digest == model.digest
    assert model.size == sum(file.stat().st_size for file in folder_of(model).iterdir())


def test_it_says_how_many_outputs_and_references_it_has_seen(world: World) -> None:
    (row,) = trained_model(world).report["overlap"]

    human = {text.casefold() for text in human_texts(world)}
    outputs = {response.text.casefold() for response in world.responses.values()}
    references = {world.responses[name, index].text.casefold() for name in ("Human", "Random") for index in range(40)}
    assert (row["outputs"], row["outputs_of"]) == (len(human & outputs), len(outputs))
    assert (row["references"], row["references_of"]) == (len(human & references), len(references))


def test_judged_texts_are_left_out_unless_requested(world: World) -> None:
    model = trained_model(world, keep_apart=True)

    assert model.report["texts"] == 1
    assert model.report["kept_apart"] == len(world.items)


def test_a_training_without_texts_fails_with_a_reason(world: World) -> None:
    model = queued_model(world, texts=[], keep_apart=True)
    services.model_execute(model_id=model.pk)

    model.refresh_from_db()
    assert model.state == JobState.FAILED
    assert model.error.startswith("Nothing to train on: 40 texts were read, 0 of them empty, 40 kept apart because")


@pytest.mark.parametrize("kind", ["lsa", "language_model", "vectors"])
def test_the_same_training_is_looked_up(world: World, kind: str, monkeypatch) -> None:
    first = trained_model(world, kind=kind, name="One")
    monkeypatch.setattr("metrics.scoring.models.kinds.Kind.train", None)

    second = trained_model(world, kind=kind, name="Two")

    assert second.digest == first.digest
    assert second.report["same_as"] == {"id": first.pk, "name": "One v1"}
    assert second.report["model"] == first.report["model"]


def test_other_options_or_texts_are_another_training(world: World) -> None:
    models = [
        trained_model(world),
        trained_model(world, options={"components": 3}),
        trained_model(world, source_systems=["Human", "Random"]),
    ]

    assert len({model.training_hash for model in models}) == 3
    assert [model.version for model in models] == [1, 2, 3]


def test_a_training_whose_files_are_missing_is_repeated(world: World) -> None:
    first = trained_model(world)
    for file in folder_of(first).iterdir():
        file.unlink()
    folder_of(first).rmdir()

    second = trained_model(world)

    assert (second.digest, "same_as" in second.report) == (first.digest, False)
    assert folder_of(first).exists()


def test_a_corpus_gives_the_texts_of_its_triples(project: Project, settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    corpus = indexed_corpus(project)
    model = services.model_train_on_corpus(
        request=request_for(project, "Pool", "language_model"), corpus=corpus, texts=["responses", "contexts"]
    )
    services.model_execute(model_id=model.pk)

    model.refresh_from_db()
    texts = {text.strip() for context, _, response in TRIPLES for text in (*context, response)}
    assert (model.state, model.report["texts"]) == (JobState.DONE, len(texts))
    assert model.report["model"]["order"] == 2


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_an_upload_gives_a_text_a_line(project: Project, pack) -> None:
    model = services.model_train_on_upload(
        request=request_for(project, "Lines", "lsa", options=LSA),
        filename="lines.txt",
        content=pack("\n".join(LINES).encode()),
    )
    services.model_execute(model_id=model.pk)

    model.refresh_from_db()
    assert (model.state, model.report["texts"], model.report["empty"], model.report["repeated"]) == ("done", 3, 1, 1)
    assert model.content is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"fine\n\xff\xfe\n", "lines.txt, line 2: found bytes that are not UTF-8"),
        (gzip.compress(b"cut off" * 99, mtime=0)[:-9], "lines.txt: found a damaged gz file"),
        (b"\n\n", "Nothing to train on: 2 texts were read, 2 of them empty."),
    ],
)
def test_a_file_that_cannot_be_read_fails_the_job_in_words(project: Project, content: bytes, message: str) -> None:
    model = services.model_train_on_upload(
        request=request_for(project, "Lines", "lsa"), filename="lines.txt", content=content
    )
    services.model_execute(model_id=model.pk)

    model.refresh_from_db()
    assert model.state == JobState.FAILED
    assert model.error.startswith(message)


def test_a_file_of_this_host_is_read_here_and_now(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(LINES))

    model = services.model_train_on_file(
        request=request_for(project, "Lines", "vectors", options={"min_count": 1}), path=path
    )

    assert (model.state, model.report["texts"]) == (JobState.DONE, 3)


def test_word_vectors_made_elsewhere_are_taken_in(project: Project) -> None:
    model = services.model_register_upload(
        request=request_for(project, "GloVe", "vectors"),
        filename="glove.txt",
        content=b"cat 1 0\ndog 0.5 0.5\nmat 0 1\n",
    )
    services.model_execute(model_id=model.pk)

    model.refresh_from_db()
    assert (model.state, model.report["model"]) == (JobState.DONE, {"vocabulary": 3, "dimensions": 2})
    assert WordVectors.load(folder_of(model)).digest == model.digest


def test_an_arpa_file_made_elsewhere_is_taken_in(project: Project) -> None:
    model = services.model_register_upload(
        request=request_for(project, "SRILM", "language_model"), filename="m.arpa", content=ARPA.encode()
    )
    services.model_execute(model_id=model.pk)

    model.refresh_from_db()
    assert model.state == JobState.DONE, model.error
    assert model.report["model"]["order"] == 2


def test_a_model_that_cannot_be_read_is_refused_without_its_folder(project: Project) -> None:
    model = services.model_register_upload(
        request=request_for(project, "GloVe", "vectors"), filename="glove.txt", content=b"cat 1 0\ndog 0.5\n"
    )
    services.model_execute(model_id=model.pk)

    model.refresh_from_db()
    assert model.state == JobState.FAILED
    assert model.error.startswith("glove.txt, line 2: found 2 fields")


def test_an_encoders_folder_is_registered_with_a_copy_of_its_files(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "encoder"
    folder.mkdir()
    (folder / "modules.json").write_text(json.dumps([]))
    (folder / "weights.bin").write_bytes(b"0123")

    model = services.model_register(request=request_for(project, "Encoder", "sentence"), path=str(folder))

    assert model.state == JobState.DONE, model.error
    assert sorted(file.name for file in folder_of(model).iterdir()) == ["modules.json", "weights.bin"]


def test_a_missing_folder_cannot_be_registered(project: Project, tmp_path: Path) -> None:
    model = services.model_register(request=request_for(project, "E", "lsa"), path=str(tmp_path / "gone"))

    assert model.state == JobState.FAILED
    assert "accepted: a file or folder of a LSA space on this host" in model.error


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "猫"}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"kind": "glove"}, "kind"),
        ({"kind": "sentence"}, "kind"),
        ({"options": {"components": 0}}, "components"),
        ({"options": {"order": 2}}, "order"),
        ({"texts": ["responses"]}, "texts"),
        ({"texts": [], "source_systems": []}, "texts"),
        ({"source_kinds": ["system"]}, "source_kinds"),
        ({"source_systems": ["Nobody"]}, "source_systems"),
    ],
)
def test_wrong_requests_are_refused_at_their_field(world: World, changes: dict, field: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        queued_model(world, **changes)

    assert list(refused.value.fields) == [field]
    assert "accepted" in refused.value.message
    assert not TrainedModel.objects.exists()


def test_a_name_belongs_to_one_kind(world: World) -> None:
    queued_model(world)

    with pytest.raises(AnnotationError, match="is a model of kind lsa already"):
        queued_model(world, kind="vectors")


def test_a_data_set_of_another_project_is_refused(world: World, outsider: User) -> None:
    with pytest.raises(AnnotationError, match="belongs to another project"):
        queued_model(world, project=Project.objects.get(slug="elsewhere"))


def test_a_cancelled_training_stops(world: World) -> None:
    model = queued_model(world)
    TrainedModel.objects.filter(pk=model.pk).update(cancel_requested=True)

    services.model_execute(model_id=model.pk)

    model.refresh_from_db()
    assert model.state == JobState.CANCELLED


def test_a_training_that_waits_is_cancelled_at_once(world: World) -> None:
    model = queued_model(world)

    job_request_cancel(model)

    model.refresh_from_db()
    assert model.state == JobState.CANCELLED


def test_the_audit_log_names_who_requested_and_who_deleted_a_model(world: World, manager: User) -> None:
    model = trained_model(world, by=manager)

    services.model_delete(model=model, by=manager)

    entries = AuditEntry.objects.filter(project=world.project).order_by("pk")
    assert [(entry.verb, entry.actor, entry.data["model"]) for entry in entries] == [
        ("model.train", manager, "cat-space/v1"),
        ("model.delete", manager, "cat-space/v1"),
    ]


def test_deleting_removes_the_files_unless_another_model_is_the_same(
    world: World, django_capture_on_commit_callbacks
) -> None:
    first, second = trained_model(world), trained_model(world)
    folder = folder_of(first)

    with django_capture_on_commit_callbacks(execute=True):
        services.model_delete(model=first, by=None)
    assert folder.exists()
    with django_capture_on_commit_callbacks(execute=True):
        services.model_delete(model=second, by=None)
    assert not folder.exists()


def test_a_model_at_work_is_not_deleted(world: World) -> None:
    from annotation.core.jobs import job_claim

    model = queued_model(world)
    job_claim(TrainedModel, model.pk)

    with pytest.raises(AnnotationError, match="cancel that first"):
        services.model_delete(model=model, by=None)
