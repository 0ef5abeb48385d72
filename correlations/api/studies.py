"""Studies: specified once, computed by a worker, read as a table or whole."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import Strict
from correlations.api.base import (
    NamesField,
    ReportFiles,
    StudyJobSerializer,
    StudySpecificationSerializer,
    StudyViewSet,
)
from correlations.api.comparisons import PARAMETERS, ComparisonSerializer, requested_comparison
from correlations.api.sensitivity import SensitivitySerializer
from correlations.models import Study
from correlations.results.codec import to_json
from correlations.results.sensitivity import Sensitivity
from correlations.results.study import StudyResult
from correlations.selectors.compared_words import plain
from correlations.selectors.held import RESAMPLES_NOTE
from correlations.selectors.worth import answers
from correlations.services.reports import report_file
from correlations.services.studies import study_create
from correlations.specification import Specification, is_metric
from correlations.specification_schema import metric_schemas
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.worth import MARGINS
from correlations.tasks import execute

NOT_REQUESTED = "create the study with “sensitivity”: true"


@extend_schema_field({"oneOf": metric_schemas()})
class MetricField(serializers.Field[Any, Any, Any, Any]):
    """A metric's name, or its name with parameters, or the run that holds imported scores."""

    def to_internal_value(self, data: Any) -> Any:
        entry = {"name": data} if isinstance(data, str) else data
        if isinstance(entry, dict) and set(entry) == {"run"}:
            return entry
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise ValidationError(f"Found {data!r}; accepted: a name, or an object with a name and parameters.")
        if not is_metric(entry):
            raise ValidationError(f"Found parameters {entry['parameters']!r}; accepted: an object.")
        return entry

    def to_representation(self, value: Any) -> Any:
        return value


class SpecificationSerializer(StudySpecificationSerializer):
    """Missing fields take their defaults. The answer lists every field, and can be sent again unchanged."""

    pairs = serializers.ListField(child=NamesField(min_length=2, max_length=2), required=False)
    metrics = serializers.ListField(child=MetricField(), required=False, allow_empty=False)
    subsets = NamesField(required=False, allow_empty=False)
    sweep_subset = serializers.CharField(required=False, allow_blank=True)
    order = serializers.IntegerField(required=False)
    tokenize = serializers.CharField(required=False)
    lowercase = serializers.BooleanField(required=False)
    unit_size = serializers.IntegerField(required=False, allow_null=True)
    assignments = serializers.IntegerField(required=False)
    orientation = serializers.CharField(required=False)
    remainder = serializers.CharField(required=False)
    sweeps = serializers.BooleanField(required=False)
    sensitivity = serializers.BooleanField(required=False)
    compare = serializers.CharField(required=False)
    coefficients = NamesField(required=False)

    SPECIFICATION = Specification


class StudyRequestSerializer(Strict, serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    specification = SpecificationSerializer()


class StudySerializer(StudyJobSerializer):
    specification = SpecificationSerializer(read_only=True)
    score_runs: Any = serializers.PrimaryKeyRelatedField(many=True, read_only=True)

    class Meta(StudyJobSerializer.Meta):
        model = Study
        fields = (*StudyJobSerializer.Meta.fields, "score_runs")


class NumbersField(serializers.ListField):
    child = serializers.FloatField(allow_null=True)


class IntervalField(serializers.ListField):
    child = serializers.FloatField()


class CoefficientSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(help_text="Why it is undefined, or empty.")
    paper = IntervalField(
        allow_null=True, required=False, help_text="As the paper's: Fisher's z, 95%, mirrors counted."
    )
    over_items = IntervalField(allow_null=True, required=False, help_text="95%, bootstrap over items.")
    over_items_and_raters = IntervalField(
        allow_null=True, required=False, help_text=f"The middle 95% of resamples of items and raters. {RESAMPLES_NOTE}"
    )


class StudyRowSerializer(serializers.Serializer[Any]):
    """One metric under one choice of references; the result holds more of it."""

    metric = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # a field of the answer, not the serializer's own label
    subset = serializers.CharField()
    n_observations = serializers.FloatField()
    items = serializers.IntegerField()
    signature = serializers.CharField()
    run = serializers.IntegerField(help_text="Number of the score run behind it.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add each coefficient under its short name; a row has those that the study computed."""
        entries = COEFFICIENTS.values()
        return super().get_fields() | {
            entry.short: CoefficientSerializer(required=False, help_text=f"{entry.name}.") for entry in entries
        }


class CoefficientCeilingSerializer(serializers.Serializer[Any]):
    halves = serializers.FloatField(allow_null=True, help_text="Of random halves of the raters, over units.")
    ceiling = serializers.FloatField(
        allow_null=True, help_text="What another group of as many raters would reach (Spearman-Brown)."
    )
    reason = serializers.CharField(help_text="Why there is no ceiling, or empty.")
    one_rater = serializers.FloatField(
        allow_null=True, help_text="A rater who is left out against the others, over outputs; the mean over raters."
    )
    metric = serializers.FloatField(allow_null=True, help_text="The row against the same others.")
    raters = serializers.IntegerField(help_text="Raters with enough outputs to be left out.")
    one_rater_ends = IntervalField(allow_null=True, help_text="95% over items, of the leading coefficient.")
    metric_ends = IntervalField(allow_null=True, help_text="The same of the row.")
    difference_ends = IntervalField(allow_null=True, help_text="The same of the row less the rater.")


class RowCeilingSerializer(serializers.Serializer[Any]):
    """How far the raters agree among themselves over the items of a row: the human ceiling."""

    metric = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # as in StudyRowSerializer
    subset = serializers.CharField()
    splits = serializers.IntegerField(help_text="Random halvings of the raters.")
    raters_of_output = serializers.FloatField(allow_null=True, help_text="Harmonic mean over outputs.")
    one_rater_reason = serializers.CharField(help_text="Why no rater could be left out, or empty.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        entries = COEFFICIENTS.values()
        return super().get_fields() | {
            entry.short: CoefficientCeilingSerializer(required=False, help_text=f"{entry.name}.") for entry in entries
        }


class TestedRaterSerializer(serializers.Serializer[Any]):
    rater = serializers.IntegerField(help_text="The rater's place among the project's raters.")
    outputs = serializers.IntegerField()
    advantage = serializers.FloatField(
        help_text="Share of outputs on which the row is at least as close to the others."
    )
    agreement = serializers.FloatField(allow_null=True, help_text="The rater's own Pearson's r with the others.")
    agreement_p = serializers.FloatField(allow_null=True, help_text="One-sided, that it is not above 0.")


class LeftOutRaterSerializer(serializers.Serializer[Any]):
    rater = serializers.IntegerField()
    outputs = serializers.IntegerField(help_text="Fewer than 30, too few for the test.")


class MarginTestSerializer(serializers.Serializer[Any]):
    """The test with one margin; p-values are in the order of the raters."""

    epsilon = serializers.FloatField()
    winning_rate = serializers.FloatField(help_text="Share of the tested raters that the row beats.")
    passed = serializers.BooleanField(help_text="The winning rate is 0.5 or more.")
    p = serializers.ListField(child=serializers.FloatField())
    p_corrected = serializers.ListField(child=serializers.FloatField(), help_text="After Benjamini and Yekutieli.")
    beaten = serializers.IntegerField()


class AssumedScaleSerializer(serializers.Serializer[Any]):
    """The ends of the scale that imported scores are taken to have, and those of the raters' scale."""

    low = serializers.FloatField()
    high = serializers.FloatField()
    lower_is_better = serializers.BooleanField()
    rating_low = serializers.FloatField()
    rating_high = serializers.FloatField()


class StandInSerializer(serializers.Serializer[Any]):
    scale = serializers.CharField(help_text="How scores came onto the ratings' scale: ratings, bounds or line.")
    outputs = serializers.IntegerField()
    advantage = serializers.FloatField(allow_null=True)
    raters = TestedRaterSerializer(many=True)
    left_out = LeftOutRaterSerializer(many=True)
    margins = serializers.DictField(
        child=MarginTestSerializer(), help_text=f"By whom it replaces: {', '.join(MARGINS)}."
    )
    reason = serializers.CharField(help_text="Why there is no test, or empty.")
    assumed = AssumedScaleSerializer(
        allow_null=True, help_text="Null: the scores have no scale with two ends, and were fitted to the ratings."
    )
    same_offset_p = serializers.FloatField(
        allow_null=True,
        help_text="Of a test that the system that the scores favour most, or least, is so by chance.",
    )


class HelpedMeanSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    rated = serializers.IntegerField()
    scored = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    mean_interval = IntervalField(allow_null=True, help_text="95%, of the rated outputs alone.")
    estimate = serializers.FloatField(allow_null=True)
    interval = IntervalField(allow_null=True, help_text="95%, with the scores of all outputs.")
    saved = serializers.FloatField(allow_null=True)
    reason = serializers.CharField()


class FittedScoresSerializer(serializers.Serializer[Any]):
    """A judge's scores put on the raters' scale by straight lines, as a metric's are, in place of a rater."""

    advantage = serializers.FloatField(allow_null=True)
    winning_rates = serializers.DictField(child=serializers.FloatField(), help_text="By whom it would replace.")
    lead = serializers.FloatField(
        allow_null=True,
        help_text="The share of outputs on which the row is closer to the raters than one rating for all, less the "
        "share on which it is farther.",
    )
    lead_p = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="One-sided, of no more than the margin."
    )


class SameRatingSerializer(FittedScoresSerializer):
    """One and the same rating for every output of the row, in place of a rater."""

    rating = serializers.FloatField(allow_null=True, help_text="The mean of all ratings.")
    closer = serializers.IntegerField(help_text="Outputs on which the row is closer to the raters than this rating.")
    farther = serializers.IntegerField(help_text="Outputs on which it is farther from them.")


HELD_OUT = (
    "With epsilon chosen on other systems. Null for pairs of any two outputs, and with fewer than two systems that "
    "have pairs."
)


class PairsRightSerializer(serializers.Serializer[Any]):
    pairwise = serializers.FloatField(allow_null=True, help_text="Pairwise accuracy.")
    calibrated = serializers.FloatField(allow_null=True, help_text="The same with ties calibrated on these pairs.")
    held_out = serializers.FloatField(allow_null=True, help_text=HELD_OUT)
    epsilon = serializers.FloatField(allow_null=True)
    outputs = serializers.IntegerField(help_text="That are paired; of over a million pairs as many are drawn.")
    reason = serializers.CharField(help_text="Why nothing is defined, else empty.")


class RankingSerializer(serializers.Serializer[Any]):
    pairwise = serializers.FloatField(allow_null=True, help_text="Pairwise accuracy within items.")
    calibrated = serializers.FloatField(allow_null=True, help_text="The same with ties calibrated on these pairs.")
    held_out = serializers.FloatField(allow_null=True, help_text="The same with epsilon chosen on other items.")
    epsilon = serializers.FloatField(allow_null=True, help_text="Scores that differ by no more are a tie.")
    chance = serializers.FloatField(allow_null=True, help_text="What telling nothing gets right, with ties.")
    soft = serializers.FloatField(allow_null=True, help_text="Soft pairwise accuracy.")
    within_systems = PairsRightSerializer(help_text="Over pairs of outputs of one system.")
    over_all = PairsRightSerializer(help_text="Over pairs of any two outputs.")


class RowWorthSerializer(serializers.Serializer[Any]):
    """What a row of the table is worth: as a ranker, in place of a rater, and in ratings."""

    metric = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # as in StudyRowSerializer
    subset = serializers.CharField()
    ranking = RankingSerializer()
    stand_in = StandInSerializer()
    answers = serializers.DictField(
        child=serializers.CharField(allow_blank=True), help_text="Whether it stands in, by whom it would replace."
    )
    same_rating = SameRatingSerializer()
    fitted = FittedScoresSerializer(allow_null=True)
    means = HelpedMeanSerializer(many=True)
    saved = serializers.FloatField(allow_null=True, help_text="Share of ratings that the row's scores save.")
    at_most = serializers.FloatField(allow_null=True, help_text="What they would save of many more outputs.")


class LevelEstimateSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    over_items = IntervalField(allow_null=True, help_text="The middle 95% over resampled items.")
    over_items_and_systems = IntervalField(allow_null=True, help_text="The same if systems are drawn anew, too.")
    p = serializers.FloatField(allow_null=True, help_text="Two-sided, of no relation; null where there is no test.")


class SystemEstimateSerializer(LevelEstimateSerializer):
    over_items = IntervalField(allow_null=True, help_text="95% interval over other items.")
    over_items_and_systems = IntervalField(allow_null=True, help_text="The same over other items and systems.")
    over_systems = IntervalField(allow_null=True, help_text="The same over other systems.")
    over_raters = IntervalField(
        allow_null=True,
        help_text="Interval of at least 95% over other raters; null where they are not known one by one.",
    )
    over_items_systems_and_raters = IntervalField(allow_null=True, help_text="95% interval over all three together.")


class SystemPointSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    outputs = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True)
    rating = serializers.FloatField(allow_null=True)
    spread = serializers.FloatField(allow_null=True, help_text="Standard deviation of its outputs' mean ratings.")


class WithoutSystemSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    values = serializers.DictField(child=serializers.FloatField(allow_null=True))


class SystemLevelSerializer(serializers.Serializer[Any]):
    systems = SystemPointSerializer(many=True)
    coefficients = serializers.DictField(child=SystemEstimateSerializer())
    without = WithoutSystemSerializer(allow_null=True)
    reason = serializers.CharField(help_text="Why coefficients are undefined, or empty.")
    raters = serializers.IntegerField(help_text="Whose ratings count.")
    raters_reason = serializers.CharField(help_text="Why no raters are drawn anew, or empty.")


class OutputLevelSerializer(serializers.Serializer[Any]):
    grouping = serializers.CharField(help_text="all, item or system.")
    outputs = serializers.IntegerField()
    coefficients = serializers.DictField(child=LevelEstimateSerializer())
    groups = serializers.DictField(child=serializers.IntegerField(), help_text="Items or systems where it is defined.")
    reason = serializers.CharField()


class ScaledErrorsSerializer(serializers.Serializer[Any]):
    scaled = serializers.CharField(help_text="How scores came onto the raters' scale.")
    step = serializers.FloatField(allow_null=True, help_text="To which they were rounded: the ratings' precision.")
    outputs = serializers.IntegerField()
    mae = serializers.FloatField(allow_null=True)
    rmse = serializers.FloatField(allow_null=True)
    constant_mae = serializers.FloatField(allow_null=True, help_text="Of the mean rating, given to every output.")
    constant_rmse = serializers.FloatField(allow_null=True)
    reason = serializers.CharField()


class RowLevelsSerializer(serializers.Serializer[Any]):
    """How a row of the table agrees with the raters over systems and over outputs."""

    metric = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # as in StudyRowSerializer
    subset = serializers.CharField()
    system = SystemLevelSerializer()
    outputs = OutputLevelSerializer(many=True)
    errors = ScaledErrorsSerializer(many=True)  # type: ignore[assignment] # DRF's own name is of a list of refusals


class PairTestsSerializer(serializers.Serializer[Any]):
    """One test of every pair; lists are in the order of the pairs."""

    level = serializers.CharField(help_text="systems or outputs.")
    method = serializers.CharField(
        help_text="items, items-systems (bootstraps), swap-items, swap-systems, swap-both (permutations), williams or "
        "williams-2 (with n - 2 degrees of freedom)."
    )
    coefficient = serializers.CharField()
    draws = serializers.IntegerField(help_text="Resamples or permutations; 0 for a formula.")
    first = NumbersField(help_text="Coefficients of the first rows.")
    second = NumbersField()
    low = NumbersField(help_text="Of the 95% interval of the difference; null where the test has none.")
    high = NumbersField()
    p = NumbersField(help_text="Two-sided.")
    p_holm = NumbersField(help_text="Corrected for all pairs of the test.")
    reasons = serializers.ListField(child=serializers.CharField(allow_blank=True), help_text="Why there is no p.")


class SignificanceSerializer(serializers.Serializer[Any]):
    """Every two rows of the table against each other, each on the outputs that both can use."""

    rows = serializers.ListField(child=serializers.IntegerField(), help_text="Places of the compared rows, from 0.")
    pairs = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))
    outputs = serializers.ListField(child=serializers.IntegerField(), help_text="That both rows of a pair can use.")
    tests = PairTestsSerializer(many=True)


@extend_schema_view(
    create=extend_schema(request=StudyRequestSerializer, responses={201: StudySerializer, 200: StudySerializer})
)
class StudiesViewSet(ReportFiles, StudyViewSet):
    queryset = Study.objects.all()
    serializer_class = StudySerializer
    request_serializer = StudyRequestSerializer
    lookup_url_kwarg = "study_pk"
    task = execute
    create_study = staticmethod(study_create)
    prefetched = ("campaigns", "score_runs")

    @extend_schema(responses=StudyRowSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def table(self, request: Request, **_: Any) -> ApiResponse:
        """Return a row per metric and choice of references."""
        return ApiResponse(StudyRowSerializer(to_json(self.finished().read_result().rows), many=True).data)

    @extend_schema(responses=RowCeilingSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def ceilings(self, request: Request, **_: Any) -> ApiResponse:
        """Return how far the raters agree among themselves over the items of each row: the human ceiling."""
        return self._of_rows("ceilings", RowCeilingSerializer)

    @extend_schema(responses=RowWorthSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def worth(self, request: Request, **_: Any) -> ApiResponse:
        """Return what each row is worth: as a ranker, in place of a rater, and in ratings saved."""
        result = self.finished().read_result()
        parts = [to_json(worth) | {"answers": each} for worth, each in zip(result.worth, answers(result), strict=True)]
        return ApiResponse(RowWorthSerializer(_named(result, parts), many=True).data)

    @extend_schema(responses=RowLevelsSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def levels(self, request: Request, **_: Any) -> ApiResponse:
        """Return how each row agrees with the raters over systems and over outputs."""
        return self._of_rows("levels", RowLevelsSerializer)

    @extend_schema(responses=SignificanceSerializer)
    @action(detail=True, pagination_class=None)
    def significance(self, request: Request, **_: Any) -> ApiResponse:
        """Return the tests of every two rows: over systems and over outputs."""
        return ApiResponse(SignificanceSerializer(to_json(self.finished().read_result().significance)).data)

    @extend_schema(responses=SensitivitySerializer)
    @action(detail=True, pagination_class=None)
    def sensitivity(self, request: Request, **_: Any) -> ApiResponse:
        """Return how many raters the study needed; empty, with the reason, if its specification did not request it."""
        result = self.finished().read_result()
        content = to_json(result.sensitivity or Sensitivity.nothing(NOT_REQUESTED)) | {"coefficient": result.lead.key}
        return ApiResponse(SensitivitySerializer(content).data)

    @extend_schema(parameters=PARAMETERS, responses=ComparisonSerializer)
    @action(detail=False, pagination_class=None)
    def comparison(self, request: Request, **_: Any) -> ApiResponse:
        """Return studies side by side: differences, values pooled over data sets, average ranks, what differs."""
        return ApiResponse(plain(requested_comparison(request, self.project)))

    @extend_schema(responses={200: dict[str, Any]})
    @action(detail=True)
    def specification(self, request: Request, **_: Any) -> ApiResponse:
        """Return the specification alone, as the page, this API and `manage.py study` take it."""
        return ApiResponse(Specification.requested(self.get_object().specification))

    def report_content(self, ending: str) -> tuple[bytes, str]:
        study = self.finished()
        return report_file(study, study.read_result(), ending), f"study-{study.pk}"

    def _of_rows(self, part: str, serializer: type[serializers.Serializer[Any]]) -> ApiResponse:
        """Return a part of the result that has an entry for each row, with the row's names."""
        result = self.finished().read_result()
        return ApiResponse(serializer(_named(result, map(to_json, getattr(result, part))), many=True).data)


def _named(result: StudyResult, parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts of the rows with the rows' names."""
    names = ({name: getattr(row, name) for name in ("metric", "label", "subset")} for row in result.rows)
    return [name | part for name, part in zip(names, parts, strict=True)]
