"""Studies side by side, for programs."""

from typing import Any

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from annotation.core.parameters import is_whole
from annotation.models import Project
from correlations.models import Study
from correlations.selectors.compared import MOST_STUDIES, Compared, compared_studies, finished_studies
from correlations.stats.coefficients.registry import COEFFICIENTS

PARAMETERS = [
    OpenApiParameter(
        "study",
        type=int,
        many=True,
        description=f"Ids of two to {MOST_STUDIES} finished studies; by default the two newest.",
    ),
    OpenApiParameter(
        "coefficient", description=f"Of {', '.join(COEFFICIENTS)}; by default the leading one of the first study."
    ),
]


class ComparedStudySerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    data_set = serializers.CharField()
    signature = serializers.CharField()


class ComparedCellSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="95%, bootstrap over items."
    )
    observations = serializers.FloatField(help_text="Mirror images counted once.")
    items = serializers.IntegerField()
    systems = serializers.IntegerField()
    reason = serializers.CharField(help_text="Why it is neither ranked nor pooled, or empty.")


class ComparedDifferenceSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)


class PooledSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    heterogeneity = serializers.FloatField(allow_null=True, help_text="I squared.")
    heterogeneity_p = serializers.FloatField(allow_null=True, help_text="Of Cochran's Q.")
    reason = serializers.CharField(help_text="Why it or its interval is undefined, or empty.")


class ComparedRowSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    references = serializers.CharField()
    signature = serializers.CharField()
    of_studies = serializers.ListField(
        child=ComparedCellSerializer(allow_null=True), help_text="In the order of the studies; null in one without it."
    )
    difference = ComparedDifferenceSerializer(allow_null=True, help_text="First less second, of two studies.")
    pooled = PooledSerializer(allow_null=True, help_text="Over data sets; null if two studies share one.")
    average_rank = serializers.FloatField(allow_null=True)
    studies_led = serializers.IntegerField(allow_null=True)


class RanksSerializer(serializers.Serializer[Any]):
    p = serializers.FloatField(allow_null=True, help_text="Friedman's.")
    critical_difference = serializers.FloatField(allow_null=True, help_text="Nemenyi's.")


class SettingSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())
    differs = serializers.BooleanField()


class ComparisonSerializer(serializers.Serializer[Any]):
    """Rows of the same metric, settings and references in several studies."""

    coefficient = serializers.CharField()
    sentence = serializers.CharField()
    assumption = serializers.CharField()
    independent = serializers.BooleanField(help_text="Whether no two studies are of one data set.")
    studies = ComparedStudySerializer(many=True)
    rows = ComparedRowSerializer(many=True)
    ranks = RanksSerializer(allow_null=True)
    settings = SettingSerializer(many=True)


def requested_comparison(request: HttpRequest, project: Project) -> Compared:
    """Return the studies of the query side by side; refuse fewer than two, unknown ones, and unknown coefficients."""
    finished = finished_studies(project)
    studies = _named(request.GET.getlist("study"), finished.in_bulk) if "study" in request.GET else list(finished[:2])
    if not 2 <= len(studies) <= MOST_STUDIES:
        accepted = f"two to {MOST_STUDIES} finished studies"
        raise ValidationError({"study": [f"Found {len(studies)}; accepted: {accepted}."]})
    compared = compared_studies(studies, request.GET.get("coefficient") or None)
    if compared is None:
        found = request.GET.get("coefficient") or "none in common"
        raise ValidationError({"coefficient": [f"Found {found!r}; accepted: one that all these studies have."]})
    return compared


def _named(written: list[str], in_bulk: Any) -> list[Study]:
    wrong = next((text for text in written if not is_whole(text)), None)
    known: dict[int, Study] = {} if wrong is not None else in_bulk({int(text) for text in written})
    wrong = next((text for text in written if not is_whole(text) or int(text) not in known), None)
    if wrong is not None:
        raise ValidationError({"study": [f"Found {wrong[:40]!r}; accepted: ids of finished studies of this project."]})
    return [known[pk] for pk in dict.fromkeys(map(int, written))]
