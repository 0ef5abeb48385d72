import os
import sys
from importlib.metadata import PathDistribution
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from metrics.scoring.models import sentence_encoder
from metrics.scoring.models.sentence_encoder import SentenceEncoder, located, unavailable
from metrics.scoring.models.store import ModelStore
from tests.metrics.scoring.models.sentence_library import install, letters, model_folder, remove


def test_without_the_library_it_says_what_to_install(monkeypatch, tmp_path):
    remove(monkeypatch)
    assert unavailable() == "sentence-transformers is not installed; python -m pip install sentence-transformers"
    encoder = SentenceEncoder.load(model_folder(tmp_path / "model"))
    with pytest.raises(ValueError, match="model: sentence-transformers is not installed; python -m pip install"):
        encoder.encode(["a"])


def test_with_the_library_there_is_nothing_to_say(monkeypatch):
    install(monkeypatch)
    assert unavailable() == ""


def test_each_distinct_text_is_encoded_once_in_sorted_order(monkeypatch, tmp_path):
    encoded = install(monkeypatch)
    encoder = SentenceEncoder.load(model_folder(tmp_path / "model"))
    vectors = encoder.encode(["b", "a", "b", "c"])
    assert encoded == [["a", "b", "c"]]
    np.testing.assert_allclose(vectors, [letters(text) for text in "babc"], rtol=1e-6)


def test_the_digest_is_of_names_and_contents_and_not_of_notes_or_hidden_files(tmp_path):
    first = SentenceEncoder.load(model_folder(tmp_path / "one")).digest
    folder = model_folder(tmp_path / "two")
    (folder / "README.md").write_text("about")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "lock").write_text("")
    assert SentenceEncoder.load(folder).digest == first
    (folder / "vocab.txt").write_text("a")
    assert SentenceEncoder.load(folder).digest != first
    assert SentenceEncoder.load(model_folder(tmp_path / "three", b"other weights")).digest != first


def test_a_store_keeps_a_copy_under_its_hash(tmp_path):
    encoder = SentenceEncoder.load(model_folder(tmp_path / "model"))
    store = ModelStore([tmp_path / "models"])
    reference = store.add(encoder)
    copy = store.load("sentence", reference)
    assert copy.digest == encoder.digest
    assert (copy.path / "1_Pooling" / "config.json").is_file()


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"model: found no modules.json in .*; accepted: the folder of a sentence-tra"):
        SentenceEncoder.load(tmp_path)


def test_a_model_is_located_by_folder_by_hash_and_by_the_package_that_carries_it(monkeypatch, tmp_path):
    folder = model_folder(tmp_path / "carrier" / "model")
    facts = tmp_path / "carrier-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n")
    (facts / "RECORD").write_text("carrier/model/model.safetensors,,\ncarrier/model/modules.json,,\n")
    monkeypatch.setattr(sentence_encoder.metadata, "distribution", lambda name: PathDistribution(facts))
    assert located("carrier") == str(folder)
    assert located(str(folder)) == str(folder)
    assert located("sha256:0123456789ab") == "sha256:0123456789ab"
    assert located("") == ""


class InvalidNameError(ValueError):
    pass


def hub(monkeypatch, cached):
    def look(name, file):
        if " " in name:
            raise InvalidNameError
        return cached.get((name, file))

    module = ModuleType("huggingface_hub")
    module.__spec__ = SimpleNamespace(name="huggingface_hub")
    module.try_to_load_from_cache = look
    module.errors = SimpleNamespace(HFValidationError=InvalidNameError)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)


def test_a_model_in_the_cache_of_the_hub_is_located_by_its_name(monkeypatch, tmp_path):
    folder = model_folder(tmp_path / "snapshot")
    hub(monkeypatch, {("org/model", "modules.json"): os.fspath(folder / "modules.json")})
    assert located("org/model") == str(folder)


@pytest.mark.parametrize("name", ["org/other", "no such name"])
def test_a_missing_model_is_refused_and_never_fetched(monkeypatch, name):
    hub(monkeypatch, {})
    with pytest.raises(
        ValueError, match=rf"model: found no sentence-transformers model '{name}'; accepted: its folder"
    ):
        located(name)


def test_without_the_hubs_library_its_cache_is_not_looked_into(monkeypatch):
    monkeypatch.setattr(sentence_encoder.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"model: found no sentence-transformers model 'org/model'"):
        located("org/model")
