"""Content of a model survives being saved, whatever the shapes of its arrays."""

from pathlib import Path

import numpy as np
import pytest

from metrics.scoring.models.files import Content


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_an_array_keeps_its_shape_and_the_model_its_hash(tmp_path: Path, shape: tuple[int, ...]) -> None:
    content = Content(
        "lsa", {"layout": 1}, ["a", "b"], {"values": np.arange(6.0)[: int(np.prod(shape))].reshape(shape)}
    )

    content.save(tmp_path / "model")
    loaded = Content.load(tmp_path / "model", "lsa", 1)

    assert loaded.array("values").shape == shape
    assert loaded.digest() == content.digest()
