"""A store keeps one copy of equal models, whatever other processes do in its folder."""

from pathlib import Path

import pytest

from metrics.scoring.models.files import model_name
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore

TEXTS = ["the cat sat", "a dog saw the cat", "no cat sat"]


@pytest.fixture
def model() -> LsaModel:
    return LsaModel.train(TEXTS, components=2)


def test_an_added_model_is_found_by_its_hash_and_leaves_nothing_else(tmp_path: Path, model: LsaModel) -> None:
    store = ModelStore([tmp_path / "models"])

    references = {store.add(model) for _ in range(2)}

    assert references == {f"sha256:{model.digest}"}
    assert store.load("lsa", f"sha256:{model.digest[:12]}").digest == model.digest
    assert [path.name for path in (tmp_path / "models").iterdir()] == [model_name("lsa", model.digest)]


def test_another_process_that_adds_the_same_model_first_is_no_error(tmp_path: Path, model: LsaModel) -> None:
    class Slow(LsaModel):
        def save(self, path: Path) -> None:
            super().save(path)
            ModelStore([tmp_path]).add(model)

    slow = Slow(model.words, model.components, model.singular_values, model.tokenize, model.n_texts)

    assert ModelStore([tmp_path]).add(slow) == f"sha256:{model.digest}"
    assert ModelStore([tmp_path]).load("lsa", f"sha256:{model.digest}").words == model.words


def test_a_folder_that_is_another_model_than_its_name_says_is_refused(tmp_path: Path, model: LsaModel) -> None:
    store = ModelStore([tmp_path])
    other_model = LsaModel.train([*TEXTS, "the roof"], components=2)
    store.add(other_model)
    (tmp_path / model_name("lsa", other_model.digest)).rename(tmp_path / model_name("lsa", model.digest))

    with pytest.raises(ValueError, match=f"holds sha256:{other_model.digest}; accepted: sha256:{model.digest}"):
        store.load("lsa", f"sha256:{model.digest}")


def test_a_model_named_by_its_path_is_then_found_by_its_hash(tmp_path: Path, model: LsaModel) -> None:
    model.save(tmp_path / "mine")
    store = ModelStore()

    reference = store.reference("lsa", str(tmp_path / "mine"))

    assert reference == f"sha256:{model.digest}"
    assert store.load("lsa", reference).words == model.words


def test_another_model_at_the_same_path_is_read_anew(tmp_path: Path, model: LsaModel) -> None:
    other_model = LsaModel.train([*TEXTS, "the roof"], components=2)
    model.save(tmp_path / "mine")
    store = ModelStore()
    assert store.load("lsa", str(tmp_path / "mine")).digest == model.digest

    other_model.save(tmp_path / "other")
    for file in (tmp_path / "other").iterdir():  # in place: the folder itself stays as old as it was
        (tmp_path / "mine" / file.name).write_bytes(file.read_bytes())

    assert store.load("lsa", str(tmp_path / "mine")).digest == other_model.digest


def test_digits_that_are_wrong_further_on_are_refused_of_a_model_in_memory_too(tmp_path: Path, model: LsaModel) -> None:
    store = ModelStore([tmp_path])
    store.load("lsa", store.add(model))
    wrong = "0" if model.digest[-1] != "0" else "1"

    with pytest.raises(ValueError, match=f"holds sha256:{model.digest}"):
        store.load("lsa", f"sha256:{model.digest[:-1]}{wrong}")


@pytest.mark.parametrize("digits", ["", "0123456789a", "../../../x..", "0123456789AB", "0" * 65])
def test_an_invalid_hash_is_not_looked_for(tmp_path: Path, digits: str) -> None:
    with pytest.raises(ValueError, match="accepted: sha256: and 12 to 64 digits"):
        ModelStore([tmp_path]).path("lsa", f"sha256:{digits}")


@pytest.mark.parametrize("damage", ["words.txt", "model.json", "components.npy", "header", "half"])
def test_a_damaged_model_is_refused_by_name(tmp_path: Path, model: LsaModel, damage: str) -> None:
    folder = tmp_path / "mine"
    model.save(folder)
    if damage == "header":
        (folder / "model.json").write_text('{"kind": "lsa", "layout": 1}')
    elif damage == "half":
        (folder / "components.npy").write_bytes((folder / "components.npy").read_bytes()[:-4])
    else:
        (folder / damage).unlink()

    with pytest.raises(ValueError, match=r"model: found .*(/mine|components\.npy).*; accepted"):
        ModelStore().load("lsa", str(folder))
