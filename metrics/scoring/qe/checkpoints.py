"""What a training has reached, in a file: arrays and plain values, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

_HEADER = "header"


def write_checkpoint(path: Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file under its name once it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder: a file is only renamed within a file system.
    file = NamedTemporaryFile(dir=path.parent, prefix=".unfinished-", delete=False)  # noqa: SIM115 # closed below
    try:
        with file:
            np.savez(file, allow_pickle=False, **{_HEADER: np.array(json.dumps(header))}, **arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(path)
    finally:
        Path(file.name).unlink(missing_ok=True)


def read_checkpoint(path: Path, identity: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Return header and arrays of a checkpoint of this ``identity``; None if there is none to go on from."""
    # A file that cannot be read counts as missing.
    with suppress(OSError, ValueError, KeyError, EOFError, BadZipFile), path.open("rb") as stream:
        file = np.load(stream, allow_pickle=False)
        header = json.loads(file[_HEADER].item())
        if header["identity"] == identity:
            return header, {name: file[name] for name in file.files if name != _HEADER}
    return None
