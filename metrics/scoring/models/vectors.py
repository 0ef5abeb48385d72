"""Word vectors: a matrix that stays on disk, and the words of its rows.

vectors = WordVectors.load(Path("glove.6B.300d.txt.gz"))     # converted at the first call, opened at later ones
vectors.matrix[vectors.find(["word", "unheard-of"])]         # rows; -1 for a word that is not there
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Float32s, Floats, Ints
from metrics.scoring.models.word_vectors.conversion import converted_beside
from metrics.scoring.models.word_vectors.folder import (
    HASHES,
    KIND,
    LETTERS,
    MATRIX,
    MEAN,
    OFFSETS,
    ROWS,
    digest_and_mean,
    matrix_header,
    opened,
    read_header,
    slices,
    write_facts,
)
from metrics.scoring.models.word_vectors.training import (
    Progress,
    Training,
    cooccurrences,
    factorised,
    positive_pmi,
    read_corpus,
)
from metrics.scoring.models.word_vectors.verification import verify
from metrics.scoring.models.word_vectors.words import WordTable, make_table
from metrics.scoring.texts import Text, encoded


@dataclass(frozen=True, eq=False)
class WordVectors:
    """n words and their vectors of d numbers.

    Attributes
    ----------
    words : WordTable
    matrix : (n, d) float32
        Of a loaded model: on disk, read where it is used.
    mean : (d,) float
        Of all n vectors.
    digest : str
        SHA-256 of words and matrix.
    about : dict
        How it was made; JSON.
    """

    kind: ClassVar[str] = KIND
    training: ClassVar[type[Training]] = Training

    words: WordTable
    matrix: Float32s
    mean: Floats
    digest: str
    about: dict[str, Any]

    @classmethod
    def from_words(cls, words: Iterable[str], matrix: ArrayLike, about: dict[str, Any] | None = None) -> Self:
        """Make vectors of distinct words and a matrix (n, d) in memory.

        Raises
        ------
        ValueError
            A word that comes twice, or a matrix that is not finite or of another size.
        """
        utf8 = list(map(encoded, words))
        seen: set[bytes] = set()
        for word in utf8:
            if word in seen:
                raise ValueError(f"words: found {word.decode(errors='replace')!r} twice; accepted: each word once")
            seen.add(word)
        array = np.ascontiguousarray(matrix, dtype="<f4")
        if array.ndim != 2 or array.shape[0] != len(utf8) or not array.size or not np.isfinite(array).all():
            raise ValueError(
                f"matrix: found shape {array.shape}; accepted: a row of finite numbers for each of {len(utf8)} words"
            )
        table = make_table(utf8)
        digest, mean = digest_and_mean(table.letters, table.offsets, array.shape[1], slices(array))
        return cls(table, array, mean, digest, about or {})

    @classmethod
    def train(cls, texts: Iterable[Text], *, progress: Progress | None = None, **options: Any) -> Self:
        """Learn vectors from a corpus: shifted positive pointwise mutual information, factorised.

        The same texts give the same vectors, in whatever order they come.

        Parameters
        ----------
        texts : iterable of strings, or with ``tokenize="none"`` also of token sequences
            Read once.
        progress : callable, optional
            Called with the number of texts read so far.
        **options
            The fields of `metrics.scoring.models.word_vectors.training.Training`.

        Raises
        ------
        ValueError
            An option is out of range, or there is nothing to learn from the texts.

        References
        ----------
        Levy and Goldberg: Neural word embedding as implicit matrix factorization. NIPS 2014.
        """
        training = cls.training(**options)
        corpus = read_corpus(texts, training, progress)
        information = positive_pmi(
            cooccurrences(corpus, training.window), shift=training.shift, smoothing=training.smoothing
        )
        if not information.nnz:
            raise ValueError(
                f"texts: found no two words that occur together more than by chance, each {training.min_count} times"
            )
        matrix = factorised(information, dimension=training.dimension, power=training.power)
        # A word without any information would have a vector without direction: better unknown.
        informed = np.flatnonzero(np.diff(information.indptr))
        about = asdict(training)
        del about["dimension"]  # the matrix has it
        return cls.from_words([corpus.words[row] for row in informed.tolist()], matrix[informed], about)

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def facts(self) -> dict[str, Any]:
        return {"vocabulary": len(self), "dimensions": self.dimension}

    def __len__(self) -> int:
        return len(self.words)

    def find(self, words: Sequence[str], *, lowercase: bool = False) -> Ints:
        """Return the row (k,) of each word, or of its lowercase form; -1 if unknown."""
        return self.words.find([word.lower() for word in words] if lowercase else words)

    def neighbours(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """Return the other words of the largest cosines with this word, and the cosines.

        Raises
        ------
        ValueError
            An unknown word.
        """
        row = int(self.find([word])[0])
        if row < 0:
            raise ValueError(f"word: found {word!r}, which has no vector; accepted: one of {len(self)} words")
        unit = unit_rows(self.matrix[row : row + 1].astype(np.float64))[0]
        cosines = np.concatenate([unit_rows(part.astype(np.float64)) @ unit for part in slices(self.matrix)])
        cosines[row] = -np.inf
        best = np.argsort(-cosines, kind="stable")[: min(count, len(self) - 1)]
        return [(self.words.word(index), float(cosines[index])) for index in best.tolist()]

    def save(self, path: Path) -> None:
        """Write a folder; equal vectors made in the same way, equal bytes."""
        path.mkdir(parents=True)
        with (path / MATRIX).open("wb") as file:
            file.write(matrix_header(*self.matrix.shape))
            for part in slices(self.matrix):
                part.tofile(file)
        write_facts(path, self.words, self.mean, self.digest, self.about)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Open a folder that `save` wrote, or a file of vectors, which is converted at the first call.

        Raises
        ------
        ValueError
            It is neither, cannot be read, or differs from its header: which file, what was found.
        """
        if path.is_file():
            path = converted_beside(path)
        header = read_header(path)
        table = WordTable(*(opened(path / name) for name in (LETTERS, OFFSETS, HASHES, ROWS)))
        matrix, mean = opened(path / MATRIX), np.array(opened(path / MEAN))
        if matrix.shape != (header["words"], header["dimension"]) or len(table) != header["words"]:
            raise ValueError(f"{path}: found {matrix.shape} numbers for {header['words']} words; the folder is damaged")
        verify(path, table, matrix.shape[1], header["digest"])
        return cls(table, matrix, mean, header["digest"], header["about"])


def row_lengths(matrix: Floats) -> Floats:
    """Return the Euclidean length (n,) of each row."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", matrix, matrix)))


def unit_rows(matrix: Floats) -> Floats:
    """Scale each row to length 1; a row of zeros stays as it is."""
    lengths = row_lengths(matrix)[:, None]
    return np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
