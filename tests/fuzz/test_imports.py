"""The imports that ``make fuzz`` tries, and whether it notices what a refused one leaves."""

from pathlib import Path
from typing import Any

from pytest_django import Settings

from annotation.core.errors import AnnotationError
from annotation.models import Project
from scripts.fuzz.damage import Sample
from scripts.fuzz.imports import Import, attempt, build_world, imports


def test_every_way_in_takes_its_undamaged_file_and_what_is_left_is_noticed(
    db: None, tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR, settings.MODELS_DIR = tmp_path, tmp_path / "models"
    project, owner = build_world()
    outcomes = {
        f"{way.kind}, {way.sample.name}": attempt(way, way.sample.content, tmp_path)
        for way in imports(project, owner)
        if "parquet" not in way.sample.name  # each takes a process
    }
    assert {name: outcome for name, outcome in outcomes.items() if outcome != "imported"} == {}
    assert list(tmp_path.rglob("*.npy")) == []

    def with_a_row(_: bytes) -> Any:
        Project.objects.create(name="Left", slug="left")
        raise AnnotationError("Refused.")

    def with_a_change(_: bytes) -> Any:
        Project.objects.update(name="Changed")
        raise AnnotationError("Refused.")

    def with_a_file(_: bytes) -> Any:
        (tmp_path / "left").touch()
        raise AnnotationError("Refused.")

    sample = Sample("x", b"", bytes)
    assert "annotation_project had 1 rows and has 2" in attempt(Import(sample, with_a_row), b"", tmp_path)
    assert "annotation_project had 1 rows and has 1" in attempt(Import(sample, with_a_change), b"", tmp_path)
    assert "files are left" in attempt(Import(sample, with_a_file), b"", tmp_path)
    assert (Project.objects.count(), list(tmp_path.glob("left"))) == (1, [])
