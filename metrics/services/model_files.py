"""Reading models that other programs made."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from metrics.scoring.models.files import Model
from metrics.scoring.models.kinds import Kind
from metrics.scoring.models.sentence_encoder import SentenceEncoder, located
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.models.word_vectors.conversion import convert

Progress = Callable[[int, int], None]


@contextmanager
def temporary_file(content: bytes, filename: str) -> Iterator[Path]:
    """Write an upload to a file that libraries can open, until the context ends."""
    with tempfile.TemporaryDirectory(prefix="assay-model-") as folder:
        path = Path(folder) / (Path(filename).name or "model")
        path.write_bytes(content)
        yield path


def load_model(kind: Kind, reference: str, directory: Path, progress: Progress) -> Model:
    """Load the model of a file or folder; a file of word vectors is first converted to a folder below ``directory``.

    An encoder may also be named by an installed package that carries it, or as the Hugging Face cache has it.

    Raises
    ------
    ValueError
        There is no such model: what was found, what is accepted.
    """
    if kind.name == SentenceEncoder.kind:
        reference = located(reference)
    path = Path(reference)
    if not path.exists():
        raise ValueError(f"path: found no {reference}; accepted: a file or folder of a {kind.label} on this host")
    if kind.name == WordVectors.kind and path.is_file():
        path = convert(path, directory, progress)
    model: Model = kind.model.load(path)
    return model
