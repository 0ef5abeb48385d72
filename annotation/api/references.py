"""Reference sets, their releases, and every weight of a release."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import get_in_project_or_404
from annotation.api.base import JOB_FIELDS, JobSerializer, JobViewSet, ProjectViewSet, ReadViewSet, Strict, find_named
from annotation.api.datasets import SourceSerializer
from annotation.models import ReferenceSet, Release, ReleaseWeight, SourceKind
from annotation.selectors.browsing import WeightFilter, weight_rows
from annotation.selectors.releases import reference_sets, release_name, releases
from annotation.services.reference_sets import reference_set_create
from annotation.services.releases import release_create
from annotation.tasks import release_build
from annotation.weighting import SCHEME_NAMES

CHOSEN = ("source_kinds", "source_systems", "original_kinds", "original_systems")

# --- What is asked and shown ------------------------------------------------------------------------------------------


def names(help_text: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), required=False, help_text=help_text)


class ReferenceSetRequestSerializer(Strict, serializers.ModelSerializer):
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


class ReferenceSetSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaigns = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
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


class ReleaseRequestSerializer(Strict, serializers.Serializer):
    method = serializers.ChoiceField(choices=list(SCHEME_NAMES), default="linear")
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

    class Meta:
        model = Release
        fields = (
            "number", "name", *JOB_FIELDS, "method", "parameters", "exclusion_rules", "signature", "content_hash",
            "report",
        )  # fmt: skip
        read_only_fields = fields

    def get_name(self, release: Release) -> str:
        return release_name(release)


class WeightSerializer(serializers.ModelSerializer):
    item = serializers.SlugRelatedField(slug_field="external_id", read_only=True)
    text = serializers.CharField(source="response.text", read_only=True)
    sources = SourceSerializer(source="response.sources", many=True, read_only=True)

    class Meta:
        model = ReleaseWeight
        fields = (
            "item", "response", "text", "sources", "weight", "rating_mean", "n_ratings", "standard_error", "low",
            "high", "is_original",
        )  # fmt: skip
        read_only_fields = fields


class WeightFilterSerializer(serializers.Serializer):
    low = serializers.FloatField(required=False, help_text="Weights of at least this.")
    high = serializers.FloatField(required=False, help_text="Weights of at most this.")
    source = serializers.CharField(required=False, help_text="A kind of source, or the name of a system.")
    min_ratings = serializers.IntegerField(required=False)
    no_positive = serializers.BooleanField(
        required=False, default=False, help_text="Only of items without a positive weight."
    )
    text = serializers.CharField(required=False, help_text="In the response or its item's message.")


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
        asked = self.asked(ReferenceSetRequestSerializer)
        (dataset,) = find_named(self.project.datasets.all(), [asked.pop("dataset")], field="dataset", by="slug")
        campaigns = find_named(self.project.campaigns.all(), asked.pop("campaigns"), field="campaigns")
        made = reference_set_create(project=self.project, dataset=dataset, campaigns=campaigns, **asked)
        return self.answer(made, status.HTTP_201_CREATED)


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
        asked = self.asked(ReleaseRequestSerializer)
        release = release_create(reference_set=self.reference_set, by=request.user, **asked)
        self.start(release)
        return self.answer(release, status.HTTP_201_CREATED)


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
        chosen = self.asked(WeightFilterSerializer, self.request.query_params)
        return weight_rows(self.release, WeightFilter(**chosen))

    @extend_schema(parameters=[WeightFilterSerializer])
    def list(self, request: Request, **kwargs: Any) -> Response:
        return super().list(request, **kwargs)
