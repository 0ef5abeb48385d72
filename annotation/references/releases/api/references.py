"""Reference sets, their releases, and every weight of a release."""

from typing import Any

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import (
    JOB_FIELDS,
    AnswerSerializer,
    JobSerializer,
    JobViewSet,
    ProjectViewSet,
    ReadViewSet,
    Strict,
    UsernameField,
    find_named,
)
from annotation.core.rows import FORMATS
from annotation.datasets.api.datasets import SourceSerializer
from annotation.models import Campaign, Dataset, Item, JobState, ReferenceSet, Release, ReleaseWeight
from annotation.projects.api.versions import EditSerializer, VersionField
from annotation.references.browsing.forms import WeightFilterForm, range_errors
from annotation.references.browsing.responses import release_file_response
from annotation.references.browsing.selectors.references import WeightFilter, weight_rows
from annotation.references.releases.files.kinds import FILES
from annotation.references.releases.selectors.releases import HASHED_COLUMNS, reference_sets, release_name, releases
from annotation.references.releases.services.imports import ImportOptions, weights_import_create
from annotation.references.releases.services.releases import (
    MAX_REASON,
    release_create,
    release_deprecate,
    release_restore,
)
from annotation.references.sets.services import (
    DESCRIBED,
    TEXT_KINDS,
    reference_set_add_campaign,
    reference_set_create,
    reference_set_edit,
)
from annotation.references.tasks import release_build, weights_import_execute
from annotation.weighting.schemes import DEFAULT_SCHEME, SCHEMES

SOURCES = ("source_kinds", "source_systems", "original_kinds", "original_systems")

# --- Requests and responses -------------------------------------------------------------------------------------------


def names(help_text: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), required=False, help_text=help_text)


class SourcesSerializer(serializers.ModelSerializer[ReferenceSet]):
    source_kinds = names(f"Kinds of source that are references: {', '.join(TEXT_KINDS)}.")
    source_systems = names("Systems whose outputs are references.")
    original_kinds = names("Kinds, of those, whose response is the item's original.")
    original_systems = names("Systems, of those, whose output is the item's original.")


class ReferenceSetRequestSerializer(Strict, SourcesSerializer):
    dataset = serializers.SlugField(help_text="Slug of the data set.")
    campaigns = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the campaigns whose ratings become the weights."
    )

    class Meta:
        model = ReferenceSet
        fields = ("dataset", "name", "description", "campaigns", *SOURCES)


class ReferenceSetSerializer(SourcesSerializer):
    dataset: serializers.SlugRelatedField[Dataset] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaigns: serializers.SlugRelatedField[Campaign] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )
    latest_release = serializers.IntegerField(
        source="latest_number", read_only=True, allow_null=True, help_text="Number of the newest finished release."
    )

    version = VersionField(DESCRIBED)

    class Meta:
        model = ReferenceSet
        fields = ("slug", *DESCRIBED, "version", "dataset", "campaigns", *SOURCES, "latest_release")


class ReferenceSetEditSerializer(EditSerializer):
    add_campaigns = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Names of campaigns of the same data set and scale, whose ratings the later releases read, too.",
    )

    class Meta:
        model = ReferenceSet
        fields = (*DESCRIBED, "version", "add_campaigns")
        extra_kwargs = {"name": {"required": False}, "description": {"required": False}}


class WeightsFileSerializer(Strict, serializers.Serializer[Any]):
    dataset = serializers.SlugField(help_text="Slug of the data set whose items and texts the file names.")
    file = serializers.FileField(help_text="JSON Lines as a release is exported, or TSV or CSV; in UTF-8.")
    file_format = serializers.ChoiceField(
        choices=list(FORMATS), required=False, help_text="Needed if the file's name does not show it."
    )
    name = serializers.CharField(required=False, default="", help_text="Name of the new reference set.")
    reference_set = serializers.SlugField(
        required=False, help_text="Slug of a set of the data set: the weights become its next release."
    )
    origin = serializers.CharField(required=False, default="", help_text="Where the weights come from.")
    licence = serializers.CharField(required=False, default="", help_text="Licence of the weights.")
    add_texts = serializers.BooleanField(
        required=False, default=False, help_text="Add texts that the data set does not have, instead of refusing."
    )
    kind = serializers.ChoiceField(
        choices=TEXT_KINDS, default="human", help_text="Kind of source of added texts for which the file names none."
    )


class WeightsImportAnswerSerializer(serializers.Serializer[Any]):
    weights_import = serializers.URLField(help_text="Poll it until its state is done; it then names the release.")


class DeprecationSerializer(Strict, serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_REASON, help_text="Shown wherever the release is named.")


class ReleaseRequestSerializer(Strict, serializers.Serializer[Any]):
    method = serializers.ChoiceField(choices=list(SCHEMES), default=DEFAULT_SCHEME)
    parameters = serializers.DictField(required=False, help_text="criteria, and the parameters of the method.")
    exclusion_rules = serializers.ListField(
        child=serializers.DictField(), required=False, help_text="Records with a rule, its version and its parameters."
    )
    with_excluded = serializers.BooleanField(
        default=False,
        help_text="Count the ratings of raters excluded in the campaigns, too; else a rule is added that names them.",
    )


class ReleaseSerializer(JobSerializer):
    name = serializers.SerializerMethodField(help_text="As score runs and studies name it.")
    parameters = serializers.DictField(read_only=True)
    exclusion_rules = serializers.ListField(child=serializers.DictField(), read_only=True)
    report = serializers.DictField(read_only=True)
    deprecated_by = UsernameField()
    same_content_as = serializers.IntegerField(
        source="first_alike",
        read_only=True,
        allow_null=True,
        help_text="Number of the first of the set's earlier releases with the same content hash.",
    )
    files = serializers.SerializerMethodField(help_text="Addresses of its files, by name; none until it is done.")

    class Meta:
        model = Release
        fields = (
            "number",
            "name",
            *JOB_FIELDS,
            "method",
            "parameters",
            "exclusion_rules",
            "signature",
            "content_hash",
            "code_version",
            "same_content_as",
            "deprecated_at",
            "deprecated_by",
            "deprecation_reason",
            "report",
            "files",
        )

    def get_name(self, release: Release) -> str:
        return release_name(release)

    @extend_schema_field(serializers.DictField(child=serializers.URLField()))
    def get_files(self, release: Release) -> dict[str, str]:
        view: ReleasesViewSet = self.context["view"]
        if release.state != JobState.DONE:
            return {}
        kwargs = {**view.kwargs, view.lookup_url_kwarg: release.number}
        return {name: view.reverse_action("file", kwargs=kwargs | {"file_name": name}) for name in FILES}


class WeightSerializer(AnswerSerializer):
    item: serializers.SlugRelatedField[Item] = serializers.SlugRelatedField(slug_field="external_id", read_only=True)
    text = serializers.CharField(source="response.text", read_only=True)
    sources = SourceSerializer(source="response.sources", many=True, read_only=True)

    class Meta:
        model = ReleaseWeight
        fields = ("item", "response", "text", "sources", *HASHED_COLUMNS)


def _filter_field(field: forms.Field) -> serializers.Field[Any, Any, Any, Any]:
    """Return the API's field for a filter of the form."""
    options: dict[str, Any] = {"required": False, "help_text": field.help_text}
    match field:
        case forms.BooleanField():
            return serializers.BooleanField(default=False, **options)
        case forms.FloatField():
            return serializers.FloatField(min_value=0 if field.min_value == 0 else None, **options)
        case forms.IntegerField():
            return serializers.IntegerField(**options)
        case forms.ChoiceField() if field.choices:  # those of the others depend on the release
            choices: Any = field.choices
            return serializers.ChoiceField([value for value, _ in choices if value], **options)
    return serializers.CharField(**options)


class WeightFilterSerializer(serializers.Serializer[Any]):
    """The filters of the browser of references."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {name: _filter_field(field) for name, field in WeightFilterForm.base_fields.items()}

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if errors := range_errors(data):
            raise serializers.ValidationError({field: [message] for field, message in errors.items()})
        return data


# --- Endpoints --------------------------------------------------------------------------------------------------------


class ReferenceSetsViewSet(ReadViewSet):
    queryset = ReferenceSet.objects.all()
    serializer_class = ReferenceSetSerializer
    lookup_field = "slug"
    lookup_url_kwarg = "reference_set_slug"
    lookup_value_converter = "slug"

    def get_queryset(self) -> QuerySet[ReferenceSet]:
        return reference_sets(self.project)

    @extend_schema(request=ReferenceSetRequestSerializer, responses={201: ReferenceSetSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Create a reference set: a choice of references, and of the campaigns whose ratings weigh them."""
        data = self.validated(ReferenceSetRequestSerializer)
        dataset = self.dataset_named(data.pop("dataset"))
        campaigns = find_named(self.project.campaigns.all(), data.pop("campaigns"), field="campaigns")
        reference_set = reference_set_create(dataset=dataset, campaigns=campaigns, **data)
        return self.answer(reference_set, status.HTTP_201_CREATED)

    @extend_schema(request=ReferenceSetEditSerializer, responses=ReferenceSetSerializer)
    def partial_update(self, request: Request, **_: Any) -> ApiResponse:
        """Change the name or description, or add campaigns. The choice of references and the slug stay."""
        reference_set = self.get_object()
        data = self.validated(ReferenceSetEditSerializer)
        names = data.pop("add_campaigns", [])
        campaigns = find_named(self.project.campaigns.all(), names, field="add_campaigns")
        with transaction.atomic():
            reference_set_edit(reference_set=reference_set, by=self.user, **data)
            for campaign in campaigns:
                reference_set_add_campaign(reference_set=reference_set, campaign=campaign, by=self.user)
        return self.answer(reference_set)

    @extend_schema(
        request={"multipart/form-data": WeightsFileSerializer}, responses={202: WeightsImportAnswerSerializer}
    )
    @action(detail=False, methods=["post"], url_path="import", url_name="import", parser_classes=[MultiPartParser])
    def import_weights(self, request: Request, **_: Any) -> ApiResponse:
        """Import weights that were made elsewhere; a worker makes a finished release of all of them, or of none."""
        data = self.validated(WeightsFileSerializer)
        file = data.pop("file")
        dataset = self.dataset_named(data.pop("dataset"))
        if slug := data.pop("reference_set", ""):
            sets = self.project.reference_sets.all()
            (data["reference_set"],) = find_named(sets, [slug], field="reference_set", by="slug")
        job = weights_import_create(
            dataset=dataset, filename=file.name, content=file.read(), options=ImportOptions(**data), by=self.user
        )
        weights_import_execute.delay_on_commit(job.pk)
        url = reverse("api:weights-import-detail", args=[self.project.slug, job.pk], request=request)
        return ApiResponse({"weights_import": url}, status=status.HTTP_202_ACCEPTED, headers={"Location": url})


class ReleasesViewSet(JobViewSet):
    queryset = Release.objects.all()
    serializer_class = ReleaseSerializer
    ordering = "-number"
    lookup_field = "number"
    lookup_url_kwarg = "release_number"
    task = release_build
    reference_set: ReferenceSet

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.reference_set = get_in_project_or_404(
            ReferenceSet.objects.all(), self.project, slug=kwargs["reference_set_slug"]
        )

    def get_queryset(self) -> QuerySet[Release]:
        return releases(self.reference_set)

    @extend_schema(request=ReleaseRequestSerializer, responses={201: ReleaseSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Build the set's next release. A worker computes its weights: poll its ``url``."""
        data = self.validated(ReleaseRequestSerializer)
        release = release_create(reference_set=self.reference_set, by=self.user, **data)
        self.start(release)
        return self.answer(release, status.HTTP_201_CREATED)

    @extend_schema(request=DeprecationSerializer)
    @action(detail=True, methods=["post"])
    def deprecate(self, request: Request, **_: Any) -> ApiResponse:
        """Mark the release as one that should no longer be used, with a reason. Nothing is deleted."""
        release = self.get_object()
        release_deprecate(release=release, by=self.user, **self.validated(DeprecationSerializer))
        return self.answer(release)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, **_: Any) -> ApiResponse:
        """Undo a deprecation."""
        release = self.get_object()
        release_restore(release=release, by=self.user)
        return self.answer(release)

    @extend_schema(responses={(200, "application/octet-stream"): bytes, 304: None})
    @action(detail=True, methods=["get"], url_path="files/<str:file_name>")
    def file(self, request: Request, file_name: str, **_: Any) -> HttpResponseBase:
        """Stream a file of a finished release; If-None-Match with its ETag returns 304."""
        release = get_object_or_404(self.get_queryset(), number=self.kwargs["release_number"], state=JobState.DONE)
        return release_file_response(release, file_name, request.headers.get("If-None-Match", ""))


class WeightsViewSet(mixins.ListModelMixin, ProjectViewSet):
    """List the weights of a finished release, by item."""

    queryset = ReleaseWeight.objects.all()
    serializer_class = WeightSerializer
    release: Release

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        lookup = {"reference_set__slug": kwargs["reference_set_slug"], "number": kwargs["release_number"]}
        of_project = Release.objects.filter(reference_set__project=self.project).select_related("reference_set")
        self.release = get_object_or_404(of_project, **lookup)

    def get_queryset(self) -> QuerySet[ReleaseWeight]:
        filters = self.validated(WeightFilterSerializer, self.request.query_params)
        return weight_rows(self.release, WeightFilter(**filters))

    @extend_schema(parameters=[WeightFilterSerializer])
    def list(self, request: Request, **kwargs: Any) -> ApiResponse:
        return super().list(request, **kwargs)
