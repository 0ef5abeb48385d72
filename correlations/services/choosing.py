"""What choosing a parameter's value reaches on items that it was not chosen on."""

from collections.abc import Sequence

from annotation.core.numbers import finite_or_none
from correlations.parameter_specification import ParameterSpecification
from correlations.results.parameters import CrossValidation
from correlations.selectors.inputs import BoolArray, FloatArray
from correlations.stats.choosing import cross_validated_choice, fitting_folds
from correlations.stats.parameters import ParameterValue

REPEATS = 20  # of the division into folds


def cross_validation(
    values: Sequence[ParameterValue], human: FloatArray, usable: BoolArray, in_use: int, spec: ParameterSpecification
) -> CrossValidation | None:
    """Cross-validate the choice of the best value; None if the study measures no choice, or the items are too few."""
    n_folds = fitting_folds(int(usable.any(axis=0).sum()))
    if spec.halves < 1 or not n_folds or len(values) < 2:
        return None
    found = cross_validated_choice(
        values,
        human,
        usable,
        in_use,
        coefficient=spec.coefficient,
        n_folds=n_folds,
        n_repeats=REPEATS,
        seed=spec.seed + 2,
    )
    if found is None:
        return None
    return CrossValidation(
        folds=found.n_folds,
        repeats=found.n_repeats,
        judged=found.judged,
        shares=tuple(found.shares.tolist()),
        on_training=found.on_training,
        inside=finite_or_none(found.inside),
        outside=found.outside,
        own=found.fixed,
        gain=found.gain,
        gain_range=found.gain_range,
    )
