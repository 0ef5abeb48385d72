"""A store keeps one copy of equal models, whoever else is at work in its folder."""

from pathlib import Path

import pytest

from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore, model_name

TEXTS = ["the cat sat", "a dog saw the cat", "no cat sat"]


@pytest.fixture
def model() -> LsaModel:
    return LsaModel.train(TEXTS, components=2)


def test_what_is_added_is_found_by_its_hash_and_leaves_nothing_else(tmp_path: Path, model: LsaModel) -> None:
    store = ModelStore([tmp_path / "models"])

    references = {store.add(model) for _ in range(2)}

    assert references == {f"sha256:{model.digest}"}
    assert store.load("lsa", f"sha256:{model.digest[:12]}").digest == model.digest
    assert [path.name for path in (tmp_path / "models").iterdir()] == [model_name("lsa", model.digest)]


def test_somebody_who_is_faster_with_the_same_model_is_no_error(tmp_path: Path, model: LsaModel) -> None:
    class Slow(LsaModel):
        def save(self, path: Path) -> None:
            super().save(path)
            ModelStore([tmp_path]).add(model)

    slow = Slow(model.words, model.components, model.singular_values, model.tokenize, model.n_texts)

    assert ModelStore([tmp_path]).add(slow) == f"sha256:{model.digest}"
    assert ModelStore([tmp_path]).load("lsa", f"sha256:{model.digest}").words == model.words


def test_a_folder_that_is_another_model_than_its_name_says_is_refused(tmp_path: Path, model: LsaModel) -> None:
    store = ModelStore([tmp_path])
    other = LsaModel.train([*TEXTS, "the roof"], components=2)
    store.add(other)
    (tmp_path / model_name("lsa", other.digest)).rename(tmp_path / model_name("lsa", model.digest))

    with pytest.raises(ValueError, match=f"holds sha256:{other.digest}; accepted: sha256:{model.digest}"):
        store.load("lsa", f"sha256:{model.digest}")
