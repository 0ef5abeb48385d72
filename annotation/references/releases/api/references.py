"""Reference sets, their releases, and every weight of a release."""

from typing import Any, cast

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet, ProjectViewSet, ReadViewSet, Strict, find_named
from annotation.core.rows import FORMATS
from annotation.datasets.api.datasets import SourceSerializer
from annotation.models import Campaign, Dataset, Item, JobState, ReferenceSet, Release, ReleaseWeight, SourceKind, User
from annotation.references.browsing.forms import RANGES
from annotation.references.browsing.responses import release_file_response
from annotation.references.browsing.selectors.references import WeightFilter, weight_rows
from annotation.references.releases.files import FILES
from annotation.references.releases.selectors.releases import reference_sets, release_name, releases
from annotation.references.releases.services.imports import ADDED_KINDS
from annotation.references.releases.services.releases import (
    MAX_REASON,
    release_create,
    release_deprecate,
    release_restore,
)
from annotation.references.releases.services.weights_imports import weights_import_create
from annotation.references.sets.services import reference_set_add_campaign, reference_set_create, reference_set_edit
from annotation.references.tasks import release_build, weights_import_execute
from annotation.weighting.schemes import DEFAULT_SCHEME, SCHEMES

CHOSEN = ("source_kinds", "source_systems", "original_kinds", "original_systems")

# --- What is asked and shown ------------------------------------------------------------------------------------------


def user_of(request: Request) -> User:
    """Return the user of a request; its permissions let no anonymous one through."""
    return cast(User, request.user)


def names(help_text: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), required=False, help_text=help_text)


class ReferenceSetRequestSerializer(Strict, serializers.ModelSerializer[ReferenceSet]):
    dataset = serializers.SlugField(help_text="Slug of the data set.")
    campaigns = serializers.ListField(
        child=serializers.CharField(), help_text="Names of those whose ratings become the weights."
    )
    source_kinds = names(f"Kinds that are references: {', '.join(SourceKind.values)}, but system.")
    source_systems = names("Systems whose outputs are references.")
    original_kinds = names("Of the kinds, those whose response is the item's original.")
    original_systems = names("Of the systems, those whose output is the item's original.")

    class Meta:
        model = ReferenceSet
        fields = ("dataset", "name", "description", "campaigns", *CHOSEN)


class ReferenceSetSerializer(serializers.ModelSerializer[ReferenceSet]):
    dataset: serializers.SlugRelatedField[Dataset] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaigns: serializers.SlugRelatedField[Campaign] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )
    source_kinds = names("Kinds that are references.")
    source_systems = names("Systems whose outputs are references.")
    original_kinds = names("Kinds whose response is the item's original.")
    original_systems = names("Systems whose output is the item's original.")
    latest_release = serializers.IntegerField(
        source="latest_number", read_only=True, allow_null=True, help_text="Number of the newest finished release."
    )

    class Meta:
        model = ReferenceSet
        fields = ("slug", "name", "description", "dataset", "campaigns", *CHOSEN, "latest_release")
        read_only_fields = fields


class ReferenceSetEditSerializer(Strict, serializers.ModelSerializer[ReferenceSet]):
    add_campaigns = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Names of campaigns of the same data set and scale, whose ratings the later releases read, too.",
    )

    class Meta:
        model = ReferenceSet
        fields = ("name", "description", "add_campaigns")
        extra_kwargs = {"name": {"required": False}, "description": {"required": False}}


class WeightsFileSerializer(Strict, serializers.Serializer[Any]):
    dataset = serializers.SlugField(help_text="Slug of the data set whose items and texts the file names.")
    file = serializers.FileField(help_text="JSON Lines as a release is exported, or TSV or CSV; in UTF-8.")
    file_format = serializers.ChoiceField(
        choices=list(FORMATS), required=False, help_text="Where the file's name does not say it."
    )
    name = serializers.CharField(required=False, default="", help_text="Of the new reference set.")
    reference_set = serializers.SlugField(
        required=False, help_text="Slug of a set of the data set: the weights become its next release."
    )
    origin = serializers.CharField(required=False, default="", help_text="Where the weights come from.")
    licence = serializers.CharField(required=False, default="", help_text="Of the weights.")
    add_texts = serializers.BooleanField(
        required=False, default=False, help_text="Add texts that the data set does not have, instead of refusing."
    )
    kind = serializers.ChoiceField(
        choices=ADDED_KINDS, default="human", help_text="Kind of source of added texts for which the file names none."
    )


class WeightsImportAnswerSerializer(serializers.Serializer[Any]):
    weights_import = serializers.URLField(help_text="Poll it until its state is done; it then names the release.")


class DeprecationSerializer(Strict, serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_REASON, help_text="Shown wherever the release is named.")


class ReleaseRequestSerializer(Strict, serializers.Serializer[Any]):
    method = serializers.ChoiceField(choices=list(SCHEMES), default=DEFAULT_SCHEME)
    parameters = serializers.DictField(
        required=False, help_text="n_bootstrap, seed, criteria, and what the method takes."
    )
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
    deprecated_by: serializers.SlugRelatedField[User] = serializers.SlugRelatedField(
        slug_field="username", read_only=True
    )
    same_content_as = serializers.IntegerField(
        source="first_alike",
        read_only=True,
        allow_null=True,
        help_text="Number of the first release of the set with the same content hash, where that is an earlier one.",
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
        read_only_fields = fields

    def get_name(self, release: Release) -> str:
        return release_name(release)

    @extend_schema_field(serializers.DictField(child=serializers.URLField()))
    def get_files(self, release: Release) -> dict[str, str]:
        view: ReleasesViewSet = self.context["view"]
        if release.state != JobState.DONE:
            return {}
        kwargs = {**view.kwargs, view.lookup_url_kwarg: release.number}
        return {name: view.reverse_action("file", kwargs=kwargs | {"file_name": name}) for name in FILES}


class WeightSerializer(serializers.ModelSerializer[ReleaseWeight]):
    item: serializers.SlugRelatedField[Item] = serializers.SlugRelatedField(slug_field="external_id", read_only=True)
    text = serializers.CharField(source="response.text", read_only=True)
    sources = SourceSerializer(source="response.sources", many=True, read_only=True)

    class Meta:
        model = ReleaseWeight
        fields = (
            "item",
            "response",
            "text",
            "sources",
            "weight",
            "rating_mean",
            "n_ratings",
            "standard_error",
            "low",
            "high",
            "is_original",
        )
        read_only_fields = fields


class WeightFilterSerializer(serializers.Serializer[Any]):
    """As the browser of references is narrowed."""

    low = serializers.FloatField(required=False, help_text="Weights of at least this.")
    high = serializers.FloatField(required=False, help_text="Weights of at most this.")
    sign = serializers.ChoiceField(["positive", "zero", "negative"], required=False, help_text="Of the weight.")
    min_width = serializers.FloatField(required=False, min_value=0, help_text="Of the interval, at least.")
    max_width = serializers.FloatField(required=False, min_value=0, help_text="Of the interval, at most.")
    spans_zero = serializers.BooleanField(required=False, default=False, help_text="Only intervals that hold 0.")
    min_ratings = serializers.IntegerField(required=False, help_text="Judgements that count, at least.")
    max_ratings = serializers.IntegerField(required=False, help_text="Judgements that count, at most.")
    min_spread = serializers.FloatField(
        required=False, min_value=0, help_text="Standard deviation of the judgements, at least."
    )
    max_spread = serializers.FloatField(required=False, min_value=0, help_text="And at most.")
    source = serializers.CharField(  # type: ignore[assignment]  # a field of a request, not Field.source
        required=False, help_text="A kind of source, or the name of a system."
    )
    split = serializers.CharField(required=False, help_text="Of the item.")
    original = serializers.ChoiceField(
        ["yes", "no"], required=False, help_text="Only the items' original responses, or all but those."
    )
    no_positive = serializers.BooleanField(
        required=False, default=False, help_text="Only of items without a positive weight."
    )
    fallen = serializers.BooleanField(
        required=False, default=False, help_text="Only seeds whose mean fell below the threshold they were chosen at."
    )
    text = serializers.CharField(required=False, help_text="Words of the response or of its item's message.")

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        for label, low, high in RANGES:
            if low in data and high in data and data[low] > data[high]:
                found = f"{label} from {data[low]:g} to {data[high]:g}"
                raise serializers.ValidationError({low: [f"Found {found}; accepted: the first not above the second."]})
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
    def create(self, request: Request, **_: Any) -> Response:
        """A choice of references, and of the campaigns whose ratings weigh them."""
        asked = self.validated(ReferenceSetRequestSerializer)
        (dataset,) = find_named(self.project.datasets.all(), [asked.pop("dataset")], field="dataset", by="slug")
        campaigns = find_named(self.project.campaigns.all(), asked.pop("campaigns"), field="campaigns")
        made = reference_set_create(project=self.project, dataset=dataset, campaigns=campaigns, **asked)
        return self.answer(made, status.HTTP_201_CREATED)

    @extend_schema(request=ReferenceSetEditSerializer, responses=ReferenceSetSerializer)
    def partial_update(self, request: Request, **_: Any) -> Response:
        """Another name or description, or more campaigns. What is a reference stays, and so does the slug."""
        reference_set = self.get_object()
        asked = self.validated(ReferenceSetEditSerializer)
        names = asked.pop("add_campaigns", [])
        campaigns = find_named(self.project.campaigns.all(), names, field="add_campaigns")
        with transaction.atomic():
            reference_set_edit(reference_set=reference_set, by=user_of(request), **asked)
            for campaign in campaigns:
                reference_set_add_campaign(reference_set=reference_set, campaign=campaign, by=user_of(request))
        return self.answer(reference_set)

    @extend_schema(
        request={"multipart/form-data": WeightsFileSerializer}, responses={202: WeightsImportAnswerSerializer}
    )
    @action(detail=False, methods=["post"], url_path="import", url_name="import", parser_classes=[MultiPartParser])
    def import_weights(self, request: Request, **_: Any) -> Response:
        """Weights that were made elsewhere; a worker makes a finished release of all of them, or of none."""
        asked = self.validated(WeightsFileSerializer)
        file = asked.pop("file")
        (dataset,) = find_named(self.project.datasets.all(), [asked.pop("dataset")], field="dataset", by="slug")
        if slug := asked.pop("reference_set", ""):
            sets = self.project.reference_sets.all()
            (asked["reference_set"],) = find_named(sets, [slug], field="reference_set", by="slug")
        job = weights_import_create(
            dataset=dataset, filename=file.name, content=file.read(), by=user_of(request), **asked
        )
        weights_import_execute.delay_on_commit(job.pk)
        where = reverse("api:weights-import-detail", args=[self.project.slug, job.pk], request=request)
        return Response({"weights_import": where}, status=status.HTTP_202_ACCEPTED, headers={"Location": where})


class ReleasesViewSet(JobViewSet):
    queryset = Release.objects.all()
    serializer_class = ReleaseSerializer
    ordering = "-number"
    lookup_field = "number"
    lookup_url_kwarg = "release_number"
    lookup_value_converter = "int"
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
    def create(self, request: Request, **_: Any) -> Response:
        """The set's next release; its weights follow from a worker. Poll its ``url``."""
        asked = self.validated(ReleaseRequestSerializer)
        release = release_create(reference_set=self.reference_set, by=user_of(request), **asked)
        self.start(release)
        return self.answer(release, status.HTTP_201_CREATED)

    @extend_schema(request=DeprecationSerializer)
    @action(detail=True, methods=["post"])
    def deprecate(self, request: Request, **_: Any) -> Response:
        """Say that the release should no longer be chosen, and why. Nothing is deleted."""
        release = self.get_object()
        release_deprecate(release=release, by=user_of(request), **self.validated(DeprecationSerializer))
        return self.answer(release)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, **_: Any) -> Response:
        """Take a deprecation back."""
        release = self.get_object()
        release_restore(release=release, by=user_of(request))
        return self.answer(release)

    @extend_schema(responses={(200, "application/octet-stream"): bytes, 304: None})
    @action(detail=True, methods=["get"], url_path="files/<str:file_name>")
    def file(self, request: Request, file_name: str, **_: Any) -> HttpResponseBase:
        """One of the files of a finished release, streamed; If-None-Match with its ETag answers 304."""
        release = get_object_or_404(self.get_queryset(), number=self.kwargs["release_number"], state=JobState.DONE)
        return release_file_response(release, file_name, request.headers.get("If-None-Match", ""))


class WeightsViewSet(mixins.ListModelMixin, ProjectViewSet):
    """Weights of a finished release, in its canonical order: by item, then by text."""

    queryset = ReleaseWeight.objects.all()
    serializer_class = WeightSerializer
    release: Release

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        lookup = {"reference_set__slug": kwargs["reference_set_slug"], "number": kwargs["release_number"]}
        of_project = Release.objects.filter(reference_set__project=self.project).select_related("reference_set")
        self.release = get_object_or_404(of_project, **lookup)

    def get_queryset(self) -> QuerySet[ReleaseWeight]:
        chosen = self.validated(WeightFilterSerializer, self.request.query_params)
        return weight_rows(self.release, WeightFilter(**chosen))

    @extend_schema(parameters=[WeightFilterSerializer])
    def list(self, request: Request, **kwargs: Any) -> Response:
        return super().list(request, **kwargs)
