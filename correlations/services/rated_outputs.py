"""Rated outputs as a table of raters and outputs, each different text once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.rating.selectors.ratings import rater_places
from correlations.selectors.inputs import FloatArray, IntArray
from correlations.services.inputs import StudyInputs
from correlations.stats.closeness import GivenRatings


@dataclass(frozen=True)
class RatedOutputs:
    """R raters, N different rated outputs. Systems that gave the same text share one."""

    raters: IntArray  # (R,) by their place among the project's raters
    ratings: FloatArray  # (R, N); NaN where the rater did not rate the output
    system: IntArray  # (N,), of one system that gave it
    item: IntArray  # (N,)

    @cached_property
    def given(self) -> GivenRatings:
        return GivenRatings.of(self.ratings)

    @cached_property
    def means(self) -> FloatArray:
        """Return the mean rating (N,) of each output."""
        return np.asarray(np.nansum(self.ratings, axis=0) / (~np.isnan(self.ratings)).sum(axis=0))

    @cached_property
    def mean(self) -> float:
        """Return the mean of all ratings."""
        return float(np.nanmean(self.ratings))

    @classmethod
    def of(cls, inputs: StudyInputs, project_id: int) -> "RatedOutputs | None":
        """Return the rated outputs of a study; None if there are none, or if their raters are not known."""
        if not (inputs.human.raters_known and inputs.human.n_judgements):
            return None
        rated, hypothesis_ids, places = inputs.human.raters, inputs.corpus.hypothesis_ids, rater_places(project_id)
        _, first, column = np.unique(
            hypothesis_ids[rated.system, rated.segment], return_index=True, return_inverse=True
        )
        raters, row = np.unique([places[pk] for pk in rated.rater.tolist()], return_inverse=True)
        shape = raters.size, first.size
        cell = np.ravel_multi_index((row, column), shape)
        total, count = (np.bincount(cell, of, raters.size * first.size) for of in (rated.value, None))
        ratings = np.full(total.shape, np.nan)
        np.divide(total, count, out=ratings, where=count > 0)
        return cls(raters, ratings.reshape(shape), rated.system[first], rated.segment[first])
