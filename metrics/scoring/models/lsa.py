"""Latent semantic analysis: texts as points in a space of few dimensions, learnt from a corpus."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr, svd
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

from metrics.scoring.adequacy_fluency_text import TOKENIZERS, words_of
from metrics.scoring.arrays import Bools, Float32s, Floats, Ids, Ints
from metrics.scoring.models.files import Content
from metrics.scoring.texts import Text, check_choice, check_whole

Progress = Callable[[int], None]
Step = Callable[[], None]

MAX_COMPONENTS = 2500

_LAYOUT = 1
_WORD = re.compile(r"\b\w+\b")
_REPORT_EVERY = 20_000
# Below this share of the largest singular value a direction is rounding: the Gram matrix's eigenvalues are squares.
_NOISE = 1e-6
# A text whose vector is this much shorter than its counts lies off the dimensions: the rest is rounding.
OFF = 1e-9
# Matrices up to this smaller side are decomposed whole; up to the second, if more than one in `_FEW` is requested.
_SMALL_SIDE, _DENSE_SIDE, _FEW = 300, 12_000, 20
# Of larger ones up to so many components are found by ARPACK, and more by blocks of so many vectors.
_ONE_BY_ONE, _BLOCK = 150, 32
_CONVERGED = 1e-10
# Two passes are enough for a vector outside of the space (Kahan; see Parlett, The Symmetric Eigenvalue Problem, SIAM
# 1998, section 6.9); once the space spans all of the matrix, the rest is rounding, and takes more.
_ORTHOGONAL, _MOST_PASSES = 1e-13, 8
_PAIRS_AT_ONCE = 1 << 16
_WIDTH_AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class LsaModel:
    """Truncated SVD of a term-document matrix of raw counts, not centred, no idf.

    The vector of a text is ``U_k' x``: its counts times the first k left singular vectors, not divided by singular
    values. Dimensions are ordered, so the first k of a model with more are the model with k.

    Attributes
    ----------
    words : list of M str
        The vocabulary, sorted.
    components : (K, M) float32
        Left singular vectors as rows, by falling singular value; in each the entry of largest size is positive.
    singular_values : (K,) float64
    tokenize : str
        How cleaned texts are split before words (``\\b\\w+\\b``) are extracted.
    n_texts : int
        Number of training texts.

    References
    ----------
    Landauer, Foltz, Laham: Introduction to latent semantic analysis. Discourse Processes 25, 1998.
    D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics.
    Computer Speech and Language 55, 2019, section 3.1 and equation 1.
    """

    kind: ClassVar[str] = "lsa"

    words: Sequence[str]
    components: Float32s
    singular_values: Floats
    tokenize: str
    n_texts: int

    @classmethod
    def train(
        cls,
        texts: Iterable[Text],
        *,
        components: int = 100,
        tokenize: str = "whitespace",
        progress: Progress | None = None,
    ) -> Self:
        """Learn a space.

        Parameters
        ----------
        texts : iterable of strings
            Read once.
        components : int
            K, 1 to 2,500; fewer if the corpus does not span so many.
        tokenize : {"whitespace", "13a", "char", "intl", "zh"}
        progress : callable, optional
            Called with the number of texts read so far, and then with that of all texts while the space is computed.

        Raises
        ------
        ValueError
            K is out of range, or no text has a word.
        """
        check_whole("components", components, 1, MAX_COMPONENTS)
        check_choice("tokenize", tokenize, TOKENIZERS)
        number: dict[str, int] = {}
        counts = _counts(texts, tokenize, lambda word: number.setdefault(word, len(number)), progress)
        if not number:
            raise ValueError("texts: found no word; accepted: at least one text with a word")
        words = sorted(number)
        order = np.fromiter((number[word] for word in words), dtype=np.int64, count=len(words))
        n_texts = counts.shape[0]

        def step() -> None:
            if progress is not None:
                progress(n_texts)

        values, vectors = _truncated_svd(counts[:, order].tocsr(), components, step)
        return cls(words, vectors.astype(np.float32), values, tokenize, n_texts)

    @property
    def n_components(self) -> int:
        return int(self.components.shape[0])

    @cached_property
    def digest(self) -> str:
        return self._content.digest()

    def save(self, path: Path) -> None:
        self._content.save(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        content = Content.load(path, cls.kind, _LAYOUT)
        values, components = np.array(content.array("singular_values")), content.array("components")
        return cls(content.words, components, values, content.header["tokenize"], content.header["n_texts"])

    @property
    def facts(self) -> dict[str, Any]:
        values = self.singular_values.tolist()
        return {"vocabulary": len(self.words), "dimensions": self.n_components, "singular_values": values}

    def counts(self, texts: Iterable[Text]) -> csr_matrix:
        """Return the counts (n, M) of known words in each text."""
        return _counts(texts, self.tokenize, lambda word: self._index.get(word, -1), None, len(self.words))

    def words_in(self, text: Text) -> list[str]:
        """Return the words of a text as the model reads it, known or not."""
        return [word for words in _words([text], self.tokenize) for word in words]

    def index(self, word: str) -> int | None:
        """Return the index of a word in the vocabulary; None if it is unknown."""
        return self._index.get(word)

    def vectors(self, texts: Iterable[Text], k: int | None = None) -> Floats:
        """Return texts as points (n, k); a text of unknown words, or of words off the k dimensions, is the origin."""
        self.check_dimensions(self.n_components if k is None else k)
        counts = self.counts(texts)
        points: Floats = np.asarray(counts @ self.block(0, k or self.n_components))
        points[_is_off(np.einsum("ij,ij->i", points, points), counts)] = 0.0
        return points

    def check_dimensions(self, k: int) -> None:
        """Raise a ValueError if the model has no k dimensions."""
        if not 1 <= k <= self.n_components:
            raise ValueError(f"k: found {k}; accepted: 1 to {self.n_components}, the dimensions of the model")

    def block(self, low: int, high: int) -> Floats:
        """Return some dimensions as columns (M, high - low)."""
        return np.ascontiguousarray(self.components[low:high].T, dtype=np.float64)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: index for index, word in enumerate(self.words)}

    @property
    def _content(self) -> Content:
        header = {"layout": _LAYOUT, "tokenize": self.tokenize, "n_texts": self.n_texts}
        arrays: dict[str, NDArray[Any]] = {"components": self.components, "singular_values": self.singular_values}
        return Content(self.kind, header, self.words, arrays)


@dataclass(frozen=True, eq=False)
class Products:
    """Inner products of two sets of texts in a space of k dimensions.

    Attributes
    ----------
    left_norm : (n,) float
    right_norm : (m,) float
    cross : (P,) float
        Of the requested pairs.
    within : (Q,) float
        Of the requested pairs on the right.
    """

    left_norm: Floats
    right_norm: Floats
    cross: Floats
    within: Floats


def products(
    model: LsaModel,
    left: Sequence[Text],
    right: Sequence[Text],
    dimensions: Iterable[int],
    cross: tuple[Ints, Ints],
    within: tuple[Ints, Ints],
) -> dict[int, Products]:
    """Return products for several k at about the cost of the largest: each adds to that of the next smaller k.

    Parameters
    ----------
    model : LsaModel
    left, right : n and m texts
    dimensions : iterable of int
        The values of k.
    cross : two (P,) int arrays
        Pairs of a text on the left and a text on the right.
    within : two (Q,) int arrays
        Pairs of texts on the right.

    Returns
    -------
    dict of k to Products
    """
    ascending = sorted(set(dimensions))
    for k in ascending:
        model.check_dimensions(k)
    left_counts, right_counts = model.counts(left), model.counts(right)
    left_square, right_square = np.zeros(len(left)), np.zeros(len(right))
    across, inside = np.zeros(cross[0].size), np.zeros(within[0].size)
    by_dimension = {}
    for low, high in pairwise([0, *ascending]):
        for start in range(low, high, _WIDTH_AT_ONCE):
            block = model.block(start, min(start + _WIDTH_AT_ONCE, high))
            a, b = np.asarray(left_counts @ block), np.asarray(right_counts @ block)
            left_square += np.einsum("ij,ij->i", a, a)
            right_square += np.einsum("ij,ij->i", b, b)
            _add_products(across, a, b, cross)
            _add_products(inside, b, b, within)
        left_off, right_off = _is_off(left_square, left_counts), _is_off(right_square, right_counts)
        by_dimension[high] = Products(
            np.where(left_off, 0.0, np.sqrt(left_square)),
            np.where(right_off, 0.0, np.sqrt(right_square)),
            np.where(left_off[cross[0]] | right_off[cross[1]], 0.0, across),
            np.where(right_off[within[0]] | right_off[within[1]], 0.0, inside),
        )
    return by_dimension


def _is_off(square: Floats, counts: csr_matrix) -> Bools:
    """Return whether texts (n,) with vectors of these squared lengths are the origin except for rounding."""
    of_counts = np.asarray(counts.multiply(counts).sum(axis=1)).ravel()
    return np.asarray(square <= OFF**2 * of_counts)


def _add_products(total: Floats, a: Floats, b: Floats, pairs: tuple[Ints, Ints]) -> None:
    """Add the inner product of each pair of rows to ``total``, in parts of limited memory."""
    for start in range(0, total.size, _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        total[part] += np.einsum("ij,ij->i", a[pairs[0][part]], b[pairs[1][part]])


def _counts(
    texts: Iterable[Text],
    tokenize: str,
    number: Callable[[str], int],
    progress: Progress | None,
    width: int | None = None,
) -> csr_matrix:
    """Return the counts (n, M) of words that have a number of 0 or more."""
    indices: list[Ids] = []
    lengths: list[int] = []
    for words in _words(texts, tokenize):
        numbers = np.fromiter(map(number, words), dtype=np.int32)
        indices.append(numbers)
        lengths.append(numbers.size)
        if progress is not None and len(lengths) % _REPORT_EVERY == 0:
            progress(len(lengths))
    if progress is not None:
        progress(len(lengths))
    flat = np.concatenate([np.zeros(0, dtype=np.int32), *indices])
    row = np.repeat(np.arange(len(lengths)), lengths)
    known = flat >= 0
    columns = width if width is not None else int(flat.max(initial=-1)) + 1
    ones = np.ones(int(known.sum()))
    # Equal indices are summed.
    return csr_matrix((ones, (row[known], flat[known])), shape=(len(lengths), columns))


def _words(texts: Iterable[Text], tokenize: str) -> Iterator[Iterator[str]]:
    for words in words_of(texts, tokenize=tokenize):
        yield chain.from_iterable(map(_WORD.findall, map(str.lower, words)))


def _truncated_svd(counts: csr_matrix, components: int, step: Step) -> tuple[Floats, Floats]:
    """Return the largest singular values, and the singular vectors over words as rows (K, M)."""
    side = min(counts.shape)
    if side <= _SMALL_SIDE:
        _, values, vectors = svd(counts.toarray(), full_matrices=False, lapack_driver="gesvd")
    elif components >= side or (side <= _DENSE_SIDE and components > side // _FEW):
        values, vectors = _dense_svd(counts, min(components, side))
    elif components > _ONE_BY_ONE:
        values, vectors = _block_svd(counts, components, step)
    else:
        # The start vector makes ARPACK's result reproducible.
        start = np.random.default_rng(0).uniform(-1, 1, side)
        _, values, vectors = svds(counts, k=components, v0=start, return_singular_vectors="vh")  # type: ignore[arg-type] # as documented
        values, vectors = values[::-1], vectors[::-1]
    rank = min(components, int((values > _NOISE * values[0]).sum()))
    return np.array(values[:rank], dtype=np.float64), _signed(vectors[:rank])


def _block_svd(counts: csr_matrix, components: int, step: Step) -> tuple[Floats, Floats]:
    """Compute the same by block Lanczos: a Krylov space of the products of all texts, or of all words.

    The space is not restarted, and each block is made orthogonal to all before it: most of the work is products of
    matrices, while ARPACK, vector by vector, waits for memory. It grows until the residual of each requested pair,
    ``|A A' u - t u|``, is at most 1e-10 of t, or until it is the whole space.

    References
    ----------
    Golub and Underwood, The block Lanczos method for computing eigenvalues, Mathematical Software III, 1977.
    Saad, Numerical Methods for Large Eigenvalue Problems, revised edition, SIAM 2011, section 6.5.
    """
    by_text = counts.shape[0] < counts.shape[1]
    matrix = counts if by_text else counts.T.tocsr()
    across, side = matrix.T.tocsr(), matrix.shape[0]
    # Whole blocks, or the whole space: a direction that was left out would never come back.
    room = min(side, (2 * components // _BLOCK + 2) * _BLOCK)
    basis, projected = np.empty((side, room), order="F"), np.zeros((room, room))
    block, _ = qr(np.random.default_rng(0).standard_normal((side, min(_BLOCK, side))), mode="economic")
    used = 0
    while True:
        basis[:, used : used + block.shape[1]] = block
        image = matrix @ (across @ block)
        last, used = slice(used, used + block.shape[1]), used + block.shape[1]
        block, projected[:used, last], beyond = _orthogonal_to(basis[:, :used], np.asarray(image))
        projected[last, :used] = projected[:used, last].T
        step()
        if used < room:
            block = block[:, : room - used]
            continue
        first = max(used - components, 0)
        squares, vectors = eigh(projected, subset_by_index=(first, used - 1), check_finite=False)
        residuals = np.linalg.norm(beyond @ vectors[last], axis=0)
        significant = squares > _NOISE**2 * squares[-1]
        step()
        if used == side or (residuals[significant] <= _CONVERGED * squares[significant]).all():
            break
        room = min(side, used + max(components // 2 // _BLOCK, 1) * _BLOCK)
        block = block[:, : room - used]
        basis = np.concatenate([basis, np.empty((side, room - used))], axis=1)
        projected = np.pad(projected, (0, room - used))
    values, vectors = np.sqrt(squares[significant][::-1]), basis @ vectors[:, significant][:, ::-1]
    return values, (matrix.T @ vectors / values).T if by_text else vectors.T


def _orthogonal_to(basis: Floats, image: Floats) -> tuple[Floats, Floats, Floats]:
    """Return orthonormal columns that span the image together with the basis; its parts in the basis, and beyond."""
    inside = np.zeros((basis.shape[1], image.shape[1]))
    beyond = np.eye(image.shape[1])
    for done in range(_MOST_PASSES):
        part = basis.T @ image
        if done and np.abs(part).max() <= _ORTHOGONAL:
            break
        image = image - basis @ part
        inside += part @ beyond
        image, factor = (np.asarray(part, dtype=np.float64) for part in qr(image, mode="economic", check_finite=False))
        beyond = factor @ beyond
    return image, inside, beyond


def _dense_svd(counts: csr_matrix, components: int) -> tuple[Floats, Floats]:
    """Compute the same from all products of texts, or of words: faster if many of the components are requested."""
    by_text = counts.shape[0] < counts.shape[1]
    gram = (counts @ counts.T if by_text else counts.T @ counts).toarray()
    side = gram.shape[0]
    squares, vectors = eigh(gram, subset_by_index=(side - components, side - 1), overwrite_a=True, check_finite=False)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    significant = squares > (_NOISE**2) * squares[0]
    values, vectors = np.sqrt(squares[significant]), vectors[:, significant]
    return values, (counts.T @ vectors / values).T if by_text else vectors.T


def _signed(vectors: Floats) -> Floats:
    """Make the largest entry of each row positive: a singular vector's sign is otherwise arbitrary."""
    largest = np.abs(vectors).argmax(axis=1)
    sign = np.sign(vectors[np.arange(vectors.shape[0]), largest])
    return np.asarray(vectors * sign[:, None])
