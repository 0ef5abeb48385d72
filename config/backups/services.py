"""Write a backup of an installation, and restore one into an empty installation."""

from __future__ import annotations

import errno
import os
import shutil
import tarfile
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from annotation.core.errors import AnnotationError
from annotation.core.progress import Progress, noop
from config.backups.archive import Contents, Writer, checked_contents, extract
from config.backups.installation import Installation

DUMP, KEY = "database.dump", "secret_key"


def backup_write(path: Path, installation: Installation, *, product: str, progress: Progress = noop) -> Contents:
    """Write everything into one archive while the installation works, and return what is in it.

    The database comes first, as it is at one moment. Files never change after they are written, so the copies made
    after that moment are those that its rows name. The archive gets its name when it is complete and on disk.

    Raises
    ------
    AnnotationError
        The file exists, its folder does not, or the database cannot be read.
    """
    if path.exists():
        raise AnnotationError(f"{path}: found a file; accepted: the path of a new one.")
    if not path.parent.is_dir():
        raise AnnotationError(f"{path}: found no folder {path.parent}; accepted: a path in a folder that exists.")
    installation.require_server()
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        dump, unfinished = Path(folder) / DUMP, Path(folder) / path.name
        progress(0, 1, "database")
        migrations = installation.migrations()
        installation.dump(dump)
        created = datetime.now(UTC).isoformat(timespec="seconds")
        files = {DUMP: dump, **installation.files()}
        if installation.has_own_key():
            files[KEY] = installation.secret_key_file
        unfinished.touch(mode=0o600)  # it holds everything that the database holds
        with unfinished.open("wb") as stream:
            with tarfile.open(fileobj=stream, mode="w") as archive:
                writer = Writer(archive, sum(map(_size, files.values())), progress)
                for name, file in files.items():
                    _add(writer, name, file)
                contents = Contents(
                    product=product,
                    created=created,
                    postgresql=installation.version(),
                    migrations=migrations,
                    key=installation.key_digest,
                    members=writer.members,
                )
                writer.close(contents)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.rename(path)
    return contents


def _size(file: Path) -> int:
    with suppress(FileNotFoundError):  # deleted a moment ago
        return file.stat().st_size
    return 0


def _add(writer: Writer, name: str, file: Path) -> None:
    try:
        writer.add(name, file)
    except FileNotFoundError:
        if name in (DUMP, KEY):
            raise
        # Its corpus or model was deleted a moment ago, after the database was read.


def backup_restore(
    path: Path, installation: Installation, *, known: Collection[str], progress: Progress = noop
) -> Contents:
    """Fill an empty installation from an archive, whole or not at all; the database then needs `migrate`.

    ``known`` are the migrations of this version, as "app.name".

    Raises
    ------
    AnnotationError
        The archive is damaged or of a later version, the database has tables, or folders have files of the archive.
    """
    contents = checked_contents(path, progress)
    if later := [name for name in contents.migrations if name not in known]:
        raise AnnotationError(
            f"{path}: found the migration {later[0]}, which this version does not have; accepted: backups of this "
            f"version or an earlier one. It was written by version {contents.product}."
        )
    installation.require_server()
    if count := installation.tables():
        raise AnnotationError(
            f"{installation.address}: found {count} tables; accepted: an empty database. For the embedded one set "
            "ASSAY_DATA_DIR to a new folder."
        )
    for name in contents.members:
        if (target := _target(installation, name)) is not None and target.exists():
            raise AnnotationError(f"{target}: found a file that the backup has, too; accepted: folders without it.")
    home = installation.secret_key_file.parent
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".restore-", dir=home) as folder:
        extract(path, Path(folder), progress)
        moved: list[Path] = []
        try:
            for name in contents.members:
                if (target := _target(installation, name)) is not None:
                    moved.append(target)
                    _move(Path(folder) / name, target)
            installation.load(Path(folder) / DUMP)
        except BaseException:
            for target in moved:
                target.unlink(missing_ok=True)
            raise
        if KEY in contents.members:
            _move(Path(folder) / KEY, installation.secret_key_file)
            installation.secret_key_file.chmod(0o600)
    return contents


def _target(installation: Installation, name: str) -> Path | None:
    """Return where a member goes; None for those that are no file of a folder."""
    folder, _, rest = name.partition("/")
    return installation.folders[folder] / rest if rest and folder in installation.folders else None


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copyfile(source, target)  # to another file system
