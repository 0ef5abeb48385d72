"""Static files are collected once, and again when they change."""

from pathlib import Path

from pytest_django import Settings

from config.static_files import MANIFEST, STAMP, collect_changed


def test_files_are_collected_only_if_they_changed(tmp_path: Path, settings: Settings) -> None:
    source, root = tmp_path / "source", tmp_path / "root"
    source.mkdir()
    (source / "a.css").write_text("a { color: red }")
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS, settings.STATIC_ROOT = [source], root
    storage = {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": storage}

    assert [collect_changed(), collect_changed()] == [True, False]
    assert "a.css" in (root / MANIFEST).read_text()
    (source / "a.css").write_text("a { color: green }")
    assert [collect_changed(), collect_changed()] == [True, False]
    assert any("green" in path.read_text() for path in root.glob("a.*.css"))
    (root / MANIFEST).unlink()
    assert collect_changed()
    (root / STAMP).unlink()  # as an interrupted start leaves it
    assert [collect_changed(), collect_changed()] == [True, False]
