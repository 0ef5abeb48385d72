"""A stand-in for the sentence-transformers library: vectors of letters, and a record of what was encoded."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class StandIn:
    encoded: list[list[str]] = []

    def __init__(self, path: str, *, local_files_only: bool) -> None:
        assert local_files_only
        assert Path(path).is_dir()

    def encode(self, texts: list[str], **options: Any) -> NDArray[np.float32]:
        self.encoded.append(list(texts))
        return np.array([letters(text) for text in texts], dtype=np.float32)


def letters(text: str) -> list[float]:
    return [text.count(letter) - 0.3 for letter in LETTERS]


def install(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Put the stand-in where the library would be; returns what will be encoded, call by call."""
    module = ModuleType("sentence_transformers")
    module.__spec__ = ModuleSpec("sentence_transformers", None)
    module.SentenceTransformer = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(StandIn, "encoded", [])
    return StandIn.encoded


def remove(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the library be absent, wherever the tests run."""
    find_spec = sys.modules["importlib.util"].find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *package: None if name == "sentence_transformers" else find_spec(name, *package),
    )


def model_folder(path: Path, weights: bytes = b"weights") -> Path:
    (path / "1_Pooling").mkdir(parents=True)
    (path / "modules.json").write_text("[]")
    (path / "1_Pooling" / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(weights)
    return path
