"""Score runs: asked for once per signature, computed by a worker, read per system and per segment."""

from typing import Any, cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import Cursor
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.access import get_in_project_or_404
from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet, ProjectViewSet, Strict, find_named
from annotation.core.numbers import finite_or_none
from annotation.core.pagination import Pages
from annotation.models import Dataset, Item, Release, System, User
from annotation.references.releases.selectors.releases import release_name, release_named, release_names
from metrics.models import ScoreRun, SystemScore
from metrics.scoring.external import External
from metrics.scoring.registry import METRICS
from metrics.selectors.arrays import n_segments, segments_at
from metrics.selectors.runs import system_scores
from metrics.services.runs import score_run_create
from metrics.subsets import Subset
from metrics.tasks import execute

# --- What is asked and shown ------------------------------------------------------------------------------------------


def _parameters_told() -> str:
    """What each metric takes, for the description of the API."""
    lines = ["What the metric takes; what is left out has its default.", ""]
    for name, metric in METRICS.items():
        if name != External.name:
            taken = "; ".join(f"`{one.name}` ({one.default!r}): {one.accepted}" for one in metric.parameter_list())
            lines.append(f"- **{name}**, {metric.label}: {taken or 'nothing'}")
    return "\n".join(lines)


class ScoreRunRequestSerializer(Strict, serializers.Serializer[Any]):
    release = serializers.CharField(
        required=False, help_text="A finished release: `reference-set/v2`, or its newest: `reference-set`."
    )
    dataset = serializers.SlugField(
        required=False, help_text="Instead of a release, for a metric that reads no references."
    )
    systems = serializers.ListField(child=serializers.CharField(), help_text="Names; all are scored on the same items.")
    metric = serializers.ChoiceField(choices=list(METRICS))
    parameters = serializers.DictField(required=False, default=dict, help_text=_parameters_told())
    subset = serializers.CharField(default="all", help_text="References that count: all, original, w>0, w>=0.6, …")
    items = serializers.ChoiceField(
        choices=["referenced", "positive"], default="referenced", help_text="Items with a reference, or a positive one."
    )


class ScoreRunSerializer(JobSerializer):
    dataset: serializers.SlugRelatedField[Dataset] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    release = serializers.SerializerMethodField(
        help_text="As `reference-set/v2`; null for a metric that reads no references."
    )
    parameters = serializers.DictField(read_only=True)
    subset = serializers.SerializerMethodField(help_text="As it is written in a request.")
    systems: serializers.SlugRelatedField[System] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )

    class Meta:
        model = ScoreRun
        fields: tuple[str, ...] = (
            "id",
            *JOB_FIELDS,
            "dataset",
            "release",
            "metric",
            "parameters",
            "subset",
            "systems",
            "signature",
        )
        read_only_fields: tuple[str, ...] = fields

    def get_release(self, run: ScoreRun) -> str | None:
        return None if run.release is None else release_name(run.release)

    def get_subset(self, run: ScoreRun) -> str:
        return str(Subset.from_mapping(run.subset))


class ScoreRunDetailSerializer(ScoreRunSerializer):
    report = serializers.DictField(
        read_only=True, help_text="Counts; how many items were left out for which reason, and the first 1,000 of each."
    )
    bootstrap = serializers.DictField(
        read_only=True, help_text="`replicates`, `seed` and `method` of the intervals, or the `reason` for none."
    )

    class Meta(ScoreRunSerializer.Meta):
        fields = (*ScoreRunSerializer.Meta.fields, "report", "bootstrap")
        read_only_fields = fields


class SystemScoreSerializer(serializers.ModelSerializer[SystemScore]):
    system: serializers.SlugRelatedField[System] = serializers.SlugRelatedField(slug_field="name", read_only=True)
    details = serializers.DictField(read_only=True)

    class Meta:
        model = SystemScore
        fields = ("system", "score", "low", "high", "n_segments", "undefined_reason", "clamped_orders", "details")
        read_only_fields = fields


class SegmentSerializer(serializers.Serializer[Any]):
    item = serializers.CharField()
    scores = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="By system; null where the segment has no score."
    )


# --- Endpoints --------------------------------------------------------------------------------------------------------


class ScoreRunsViewSet(JobViewSet):
    queryset = ScoreRun.objects.all()
    lookup_field = "pk"
    lookup_url_kwarg = "score_run_pk"
    lookup_value_converter = "int"
    task = execute

    def get_queryset(self) -> QuerySet[ScoreRun]:
        runs = self.project.score_runs.select_related("dataset", "release__reference_set", "requested_by")
        return runs.prefetch_related("systems").defer("release__report")

    def get_serializer_class(self) -> type[ScoreRunSerializer]:
        return ScoreRunSerializer if self.action == "list" else ScoreRunDetailSerializer

    @extend_schema(
        request=ScoreRunRequestSerializer, responses={201: ScoreRunDetailSerializer, 200: ScoreRunDetailSerializer}
    )
    def create(self, request: Request, **_: Any) -> Response:
        """A new run (201), or the one that computed the same signature before (200). Poll its ``url``."""
        asked = self.validated(ScoreRunRequestSerializer)
        dataset, release = self.texts(asked.pop("dataset", ""), asked.pop("release", ""))
        systems = find_named(dataset.systems.all(), asked.pop("systems"), field="systems")
        try:
            subset = Subset.parse(asked.pop("subset"), items=asked.pop("items"))
        except ValueError as error:
            raise ValidationError({"subset": [str(error).removeprefix("subset: ")]}) from error
        run, created = score_run_create(
            project=self.project,
            release=release,
            dataset=dataset,
            systems=systems,
            subset=subset,
            by=cast(User, request.user),
            **asked,
        )
        if not created:
            return self.answer(run)
        self.start(run)
        return self.answer(run, status.HTTP_201_CREATED)

    def texts(self, dataset: str, release: str) -> tuple[Dataset, Release | None]:
        """The data set, and the release of its references where one is named."""
        if bool(dataset) == bool(release):
            raise ValidationError(
                {"release": ["Found none or both of a release and a dataset; accepted: one of them."]}
            )
        if dataset:
            return find_named(self.project.datasets.all(), [dataset], field="dataset", by="slug")[0], None
        found = release_named(self.project, release)
        if found is None:
            raise ValidationError({"release": [f"Found {release[:40]!r}; accepted: {release_names(self.project)}."]})
        return found.reference_set.dataset, found


class InRunViewSet(mixins.ListModelMixin, ProjectViewSet):
    run: ScoreRun

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.run = get_in_project_or_404(ScoreRun.objects.all(), self.project, pk=kwargs["score_run_pk"])


class ScoresViewSet(InRunViewSet):
    """Each system's score, with what it was made of."""

    queryset = SystemScore.objects.all()
    serializer_class = SystemScoreSerializer

    def get_queryset(self) -> QuerySet[SystemScore]:
        return system_scores(self.run)


class IndexPages(Pages):
    """Pages of the segments of a run, whose cursor is the index of the first."""

    def paginate_queryset(self, indices: Any, request: Request, view: Any = None) -> list[Any]:
        self.base_url = request.build_absolute_uri()
        page_size = self.get_page_size(request)
        self.page_size = self.max_page_size if page_size is None else page_size
        self.indices = indices
        cursor = self.decode_cursor(request)
        written = str(cursor.position) if cursor and cursor.position else "0"
        self.start = int(written) if written.isdecimal() and len(written) < 10 else 0
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

    def list(self, request: Request, **_: Any) -> Response:
        indices = self.paginate_queryset(range(n_segments(self.run))) or []
        item_ids, scores = segments_at(self.run, indices)
        external_ids = dict(Item.objects.filter(pk__in=item_ids).values_list("pk", "external_id"))
        names = self.run.scores.order_by("position").values_list("system__name", flat=True)
        rows = [
            {
                "item": external_ids[item_id],
                "scores": {name: finite_or_none(score) for name, score in zip(names, own, strict=True)},
            }
            for item_id, own in zip(item_ids, scores.T.tolist(), strict=True)
        ]
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)
