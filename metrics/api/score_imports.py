"""Scores made elsewhere: import and export."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import ProjectViewSet, Strict
from annotation.core.exports import zip_response
from annotation.core.file_limits import SCORES_PAGE_BYTES
from annotation.core.uploads import in_bytes, upload_limit
from annotation.models import Dataset
from metrics.models import ScoreRun
from metrics.scoring.external import NAME_CHARACTERS
from metrics.selectors.score_scales import IN_FILE, PROPOSED, STATED
from metrics.services.score_exports import archive_chunks
from metrics.services.score_imports import (
    NOTE_CHARACTERS,
    import_summary,
    previews_taken,
    score_file_import,
    score_file_preview,
)
from metrics.services.score_options import ImportOptions


class ScoreImportRequestSerializer(Strict, serializers.Serializer[Any]):
    file = serializers.FileField(
        help_text="A .csv, .tsv or .jsonl table; a .seg.score or .sys.score file; a .zip or .tar.gz of such files.",
        validators=[upload_limit(", or any size by import_scores", max_bytes=SCORES_PAGE_BYTES, write=in_bytes)],
    )
    dataset = serializers.SlugField(help_text="Whose systems and items were scored.")
    name = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=NAME_CHARACTERS,
        help_text="The metric's name; score files name it themselves.",
    )
    names = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Of several columns, COLUMN=NAME: what its metric is called. Other fields name it by its column.",
    )
    skip = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Columns, or metrics of an archive, not to import."
    )
    lower_is_better = serializers.BooleanField(default=False, help_text="For every metric in the file.")
    lower = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Metrics for which lower is better."
    )
    lowest = serializers.FloatField(
        allow_null=True, default=None, help_text="Of every metric in the file; a lower score is refused."
    )
    highest = serializers.FloatField(
        allow_null=True, default=None, help_text="Of every metric in the file; a higher score is refused."
    )
    scale = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="raters, none or LOW..HIGH; of one metric: NAME=1..5. Left out, with no bound: the raters' scale if "
        "the scores seem to lie on it, else none.",
    )
    note = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=NOTE_CHARACTERS,
        help_text="Version and settings of the scorer, a link, a licence.",
    )
    check = serializers.BooleanField(default=False, help_text="Show what the file holds, and store nothing.")


class ImportedSystemSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    score = serializers.FloatField(allow_null=True, help_text="For scores of segments their mean. Null: no score.")


class ImportedScoresSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    level = serializers.ChoiceField(choices=["segment", "system"])
    items = serializers.IntegerField(help_text="Items with at least one score; 0 for scores of systems.")
    missing = serializers.IntegerField(help_text="Scores that are missing among these items and systems.")
    scores = serializers.CharField(
        help_text="Extremes of the scores, and their steps. Empty: imported before this version."
    )
    lowest = serializers.FloatField(allow_null=True, help_text="The lowest possible score. Null: no bound.")
    highest = serializers.FloatField(allow_null=True, help_text="The highest possible score. Null: no bound.")
    range_from = serializers.ChoiceField(
        choices=[STATED, PROPOSED, IN_FILE, ""],
        help_text="Whether the range was stated, proposed from the scores, or in the file. Empty: not asked.",
    )
    systems = ImportedSystemSerializer(many=True)
    run = serializers.IntegerField(allow_null=True, help_text="The score run; null if nothing was stored.")
    url = serializers.URLField(allow_null=True)
    created = serializers.BooleanField(help_text="False: the same scores were imported before, or this was a check.")


class ScoreImportsViewSet(ProjectViewSet):
    queryset = ScoreRun.objects.none()
    serializer_class = ImportedScoresSerializer
    parser_classes = (MultiPartParser,)

    @extend_schema(
        request={"multipart/form-data": ScoreImportRequestSerializer},
        responses={201: ImportedScoresSerializer(many=True), 200: ImportedScoresSerializer(many=True)},
    )
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Import each metric and level in the file as a score run: 201 if a run is new, 200 if none is."""
        values = self.validated(ScoreImportRequestSerializer)
        upload, check = values.pop("file"), values.pop("check")
        dataset = self.dataset_named(values.pop("dataset"))
        file: dict[str, Any] = {"dataset": dataset, "filename": upload.name, "content": upload.read()}
        file["options"] = ImportOptions(**values)
        if check:
            unstored = {"run": None, "url": None, "created": False}
            taken = previews_taken(score_file_preview(**file), file["options"])
            return ApiResponse([preview.summary() | unstored for preview in taken])
        runs = score_file_import(**file, by=self.user)
        code = status.HTTP_201_CREATED if any(created for _, created in runs) else status.HTTP_200_OK
        return ApiResponse([self.imported(run, created) for run, created in runs], status=code)

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=False, url_path="<slug:dataset_slug>/archive", url_name="archive")
    def archive(self, request: Request, dataset_slug: str, **_: Any) -> StreamingHttpResponse:
        """Export all finished runs of a data set with its texts and ratings, in mt-metrics-eval's layout."""
        dataset = get_in_project_or_404(Dataset.objects.all(), self.project, slug=dataset_slug)
        return zip_response(archive_chunks(dataset), f"{dataset.slug}-scores.zip")

    def imported(self, run: ScoreRun, created: bool) -> dict[str, Any]:
        kwargs = {"project_slug": self.project.slug, "score_run_pk": run.pk}
        url = reverse("api:score-run-detail", kwargs=kwargs, request=self.request)
        return import_summary(run) | {"run": run.pk, "url": url, "created": created}
