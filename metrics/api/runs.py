"""Score runs: one for each signature, computed by a worker; their scores by system and by segment."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import Cursor
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import (
    JOB_FIELDS,
    AnswerSerializer,
    JobSerializer,
    JobViewSet,
    ProjectViewSet,
    Strict,
    find_named,
)
from annotation.core.numbers import finite_or_none
from annotation.core.pagination import Pages
from annotation.models import Dataset, Item, Release, SourceKind, System
from annotation.references.releases.selectors.releases import release_name, release_named, release_names
from metrics.models import ScoreRun, SystemScore
from metrics.scoring.external import External
from metrics.scoring.registry import METRICS
from metrics.selectors.arrays import n_segments, segments_at
from metrics.selectors.runs import system_scores
from metrics.services.runs import score_run_create
from metrics.subsets import Subset
from metrics.tasks import execute

# --- Serializers ------------------------------------------------------------------------------------------------------


def _parameters_help() -> str:
    """Describe every metric's parameters."""
    lines = ["The metric's parameters; those left out have their defaults.", ""]
    for name, metric in METRICS.items():
        if name != External.name:
            parameters = [f"`{each.name}` ({each.default!r}): {each.accepted}" for each in metric.parameter_list()]
            lines.append(f"- **{name}**, {metric.label}: {'; '.join(parameters) or 'none'}")
    return "\n".join(lines)


class ScoreRunRequestSerializer(Strict, serializers.Serializer[Any]):
    release = serializers.CharField(
        required=False, help_text="A finished release: `reference-set/v2`, or its newest: `reference-set`."
    )
    dataset = serializers.SlugField(
        required=False,
        help_text="Instead of a release: a metric that reads references then takes the data set's own, all alike.",
    )
    systems = serializers.ListField(child=serializers.CharField(), help_text="Names; all are scored on the same items.")
    metric = serializers.ChoiceField(choices=list(METRICS))
    parameters = serializers.DictField(required=False, default=dict, help_text=_parameters_help())
    subset = serializers.CharField(
        default="all",
        help_text="References that count: all, original, w>0, w>=0.6, …; of a data set's own also kinds: human+seed.",
    )
    items = serializers.ChoiceField(
        choices=["referenced", "positive"], default="referenced", help_text="Items with a reference, or a positive one."
    )


class ScoreRunSerializer(JobSerializer):
    dataset: serializers.SlugRelatedField[Dataset] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    release = serializers.SerializerMethodField(
        help_text="As `reference-set/v2`; null for a metric that reads no references, or the data set's own."
    )
    parameters = serializers.DictField(read_only=True)
    subset = serializers.CharField(source="subset_text", read_only=True, help_text="As requests write it.")
    systems: serializers.SlugRelatedField[System] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )

    class Meta:
        model = ScoreRun
        fields: tuple[str, ...] = (
            "id",
            "number",
            *JOB_FIELDS,
            "dataset",
            "release",
            "metric",
            "parameters",
            "subset",
            "systems",
            "signature",
        )

    def get_release(self, run: ScoreRun) -> str | None:
        return None if run.release is None else release_name(run.release)


class ScoreRunDetailSerializer(ScoreRunSerializer):
    report = serializers.DictField(
        read_only=True, help_text="Counts; how many items were left out for which reason, and the first 1,000 of each."
    )
    bootstrap = serializers.DictField(
        read_only=True, help_text="`replicates`, `seed` and `method` of the intervals, or the `reason` for none."
    )

    class Meta(ScoreRunSerializer.Meta):
        fields = (*ScoreRunSerializer.Meta.fields, "report", "bootstrap")


class SystemScoreSerializer(AnswerSerializer):
    system: serializers.SlugRelatedField[System] = serializers.SlugRelatedField(slug_field="name", read_only=True)
    details = serializers.DictField(read_only=True)

    class Meta:
        model = SystemScore
        fields = (
            "system",
            "score",
            "low",
            "high",
            "first_place",
            "last_place",
            "p_best",
            "n_segments",
            "undefined_reason",
            "clamped_orders",
            "details",
        )


class SegmentSerializer(serializers.Serializer[Any]):
    item = serializers.CharField()
    scores = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="By system; null if the segment has no score."
    )


# --- Endpoints --------------------------------------------------------------------------------------------------------


class ScoreRunsViewSet(JobViewSet):
    queryset = ScoreRun.objects.all()
    lookup_url_kwarg = "score_run_pk"
    task = execute

    def get_queryset(self) -> QuerySet[ScoreRun]:
        runs = self.project.score_runs.select_related("dataset", "release__reference_set", "requested_by")
        return runs.prefetch_related("systems").defer("release__report")

    def get_serializer_class(self) -> type[ScoreRunSerializer]:
        return ScoreRunSerializer if self.action == "list" else ScoreRunDetailSerializer

    @extend_schema(
        request=ScoreRunRequestSerializer, responses={201: ScoreRunDetailSerializer, 200: ScoreRunDetailSerializer}
    )
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Create a run (201), or return the existing one with the same signature (200). Poll its ``url``."""
        values = self.validated(ScoreRunRequestSerializer)
        dataset, release = self.texts(values.pop("dataset", ""), values.pop("release", ""))
        systems = find_named(dataset.systems.all(), values.pop("systems"), field="systems")
        try:
            subset = Subset.parse(
                values.pop("subset"), items=values.pop("items"), sources=() if release else SourceKind.of_references()
            )
        except ValueError as error:
            raise ValidationError({"subset": [str(error).removeprefix("subset: ")]}) from error
        run, created = score_run_create(
            project=self.project,
            release=release,
            dataset=dataset,
            systems=systems,
            subset=subset,
            by=self.user,
            **values,
        )
        if not created:
            return self.answer(run)
        self.start(run)
        return self.answer(run, status.HTTP_201_CREATED)

    def texts(self, dataset: str, release: str) -> tuple[Dataset, Release | None]:
        """Return the data set, and the release of its references if one is named."""
        if bool(dataset) == bool(release):
            raise ValidationError(
                {"release": ["Found none or both of a release and a dataset; accepted: one of them."]}
            )
        if dataset:
            return self.dataset_named(dataset), None
        named = release_named(self.project, release)
        if named is None:
            raise ValidationError({"release": [f"Found {release[:40]!r}; accepted: {release_names(self.project)}."]})
        return named.reference_set.dataset, named


class InRunViewSet(mixins.ListModelMixin, ProjectViewSet):
    run: ScoreRun

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.run = get_in_project_or_404(ScoreRun.objects.all(), self.project, pk=kwargs["score_run_pk"])

    def page(self, rows: Sequence[dict[str, Any]]) -> ApiResponse:
        """Return a page of rows, for endpoints with ``IndexPages``."""
        return self.get_paginated_response(self.get_serializer(self.paginate_queryset(rows), many=True).data)


class ScoresViewSet(InRunViewSet):
    """Each system's score, with its details."""

    queryset = SystemScore.objects.all()
    serializer_class = SystemScoreSerializer

    def get_queryset(self) -> QuerySet[SystemScore]:
        return system_scores(self.run)


class IndexPages(Pages):
    """Pages of indices; the cursor is the first one."""

    def paginate_queryset(self, indices: Any, request: Request, view: Any = None) -> list[Any]:
        self.base_url = request.build_absolute_uri()
        page_size = self.get_page_size(request)
        self.page_size = self.max_page_size if page_size is None else page_size
        self.indices = indices
        cursor = self.decode_cursor(request)
        position = str(cursor.position) if cursor and cursor.position else "0"
        self.start = int(position) if position.isdecimal() and len(position) < 10 else 0
        return list(indices[self.start : self.start + self.page_size])

    def get_next_link(self) -> str | None:
        following = self.start + self.page_size
        return self._link(following) if following < len(self.indices) else None

    def get_previous_link(self) -> str | None:
        return self._link(max(0, self.start - self.page_size)) if self.start else None

    def _link(self, index: int) -> str:
        return self.encode_cursor(Cursor(offset=0, reverse=False, position=index))


class SegmentsViewSet(InRunViewSet):
    """Each item with every system's score on it."""

    queryset = Item.objects.all()
    serializer_class = SegmentSerializer
    pagination_class = IndexPages

    def list(self, request: Request, **_: Any) -> ApiResponse:
        indices = self.paginate_queryset(range(n_segments(self.run))) or []
        item_ids, scores = segments_at(self.run, indices)
        external_ids = dict(Item.objects.filter(pk__in=item_ids).values_list("pk", "external_id"))
        names = self.run.scores.order_by("position").values_list("system__name", flat=True)
        rows = [
            {
                "item": external_ids[item_id],
                "scores": {name: finite_or_none(score) for name, score in zip(names, row, strict=True)},
            }
            for item_id, row in zip(item_ids, scores.T.tolist(), strict=True)
        ]
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)
