"""Lists of responses, candidates drawn from a corpus, and selections of seeds with their members."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.reverse import reverse

from annotation.campaigns.api.campaigns import CampaignSerializer
from annotation.campaigns.api.lists import RateSerializer, _Rating
from annotation.core.access import get_in_project_or_404
from annotation.core.api import ProjectViewSet, ReadViewSet, Strict, find_named
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import (
    DatasetImport,
    JobState,
    SeedMember,
    SeedSelection,
)
from annotation.seeds.selectors import has_fallen, means_now, selections_of
from annotation.seeds.services.selecting import seeds_select_create
from annotation.seeds.services.selections import seeds_preview, seeds_rate_again, seeds_sample, seeds_unselect
from annotation.seeds.tasks import seeds_select_execute

# --- What is asked and shown ------------------------------------------------------------------------------------------


class SeedSampleSerializer(Strict, serializers.Serializer):
    corpus = serializers.SlugField(help_text="Slug of the corpus; its index is done.")
    name = serializers.CharField(max_length=120, help_text="Of the new data set.")
    n = serializers.IntegerField(min_value=1, help_text="Triples, drawn without replacement.")
    seed = serializers.IntegerField(default=20150726, min_value=0, max_value=2**63 - 1)
    normalisation = serializers.ChoiceField(choices=list(RULES), default=DEFAULT_RULE)
    hygiene = serializers.ListField(
        child=serializers.DictField(), required=False, help_text='Such as {"step": "length", "max_tokens": 50}.'
    )


class SeedSelectingAnswerSerializer(serializers.Serializer):
    seed_selecting = serializers.URLField(help_text="Poll it until its state is done; it then names the selection.")


class SeedSampleAnswerSerializer(serializers.Serializer):
    dataset_import = serializers.URLField(help_text="Poll it until its state is done; then it names the data set.")


class SeedsAskedSerializer(Strict, serializers.Serializer):
    dataset = serializers.SlugField(help_text="Slug of the data set.")
    campaigns = serializers.ListField(
        child=serializers.CharField(), help_text="Names of those the seeds were rated in."
    )
    threshold = serializers.FloatField(help_text="Least mean rating.")
    min_ratings = serializers.IntegerField(default=1, min_value=1, max_value=100)
    shares = serializers.DictField(
        child=serializers.FloatField(), help_text='Of each split, such as {"dev": 0.5, "test": 0.5}.'
    )


class SeedsSelectSerializer(SeedsAskedSerializer):
    seed = serializers.IntegerField(default=20150726, min_value=0, max_value=2**63 - 1)
    again = serializers.BooleanField(default=False, help_text="Replace a selection of which nothing came yet.")


class SeedPreviewSerializer(serializers.Serializer):
    candidates = serializers.IntegerField(help_text="Items with an original response.")
    rated = serializers.IntegerField(source="qualified", help_text="With as many ratings that count as asked for.")
    unrated = serializers.IntegerField()
    rated_less = serializers.IntegerField(help_text="Of the rated, with fewer ratings than their campaigns ask for.")
    too_few = serializers.IntegerField(help_text="Rated, but below the least number.")
    kept = serializers.IntegerField()
    kept_rated_less = serializers.IntegerField()
    splits = serializers.DictField(source="sizes", child=serializers.IntegerField())
    kept_at = serializers.SerializerMethodField(help_text="[threshold, seeds it would keep].")

    @extend_schema_field(serializers.ListField(child=serializers.ListField(child=serializers.FloatField())))
    def get_kept_at(self, preview: Any) -> list[list[float]]:
        return [[float(level), n] for level, n in preview.levels]


class SeedSelectionSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaigns = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
    shares = serializers.DictField(child=serializers.FloatField(), read_only=True)
    report = serializers.DictField(read_only=True)
    n_members = serializers.IntegerField(read_only=True)
    created_by = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = SeedSelection
        fields = (
            "id",
            "dataset",
            "campaigns",
            "threshold",
            "shares",
            "seed",
            "n_members",
            "report",
            "created_by",
            "created_at",
        )
        read_only_fields = fields


class SeedMemberSerializer(serializers.ModelSerializer):
    item = serializers.SlugRelatedField(slug_field="external_id", read_only=True)
    text = serializers.CharField(source="response.text", read_only=True)
    mean_now = serializers.SerializerMethodField(help_text="With every rating up to now; null where none counts.")
    ratings_now = serializers.SerializerMethodField()
    fell_below = serializers.SerializerMethodField(help_text="Its mean is below the threshold by now; it stays.")

    class Meta:
        model = SeedMember
        fields = (
            "item",
            "response",
            "text",
            "split",
            "rating_mean",
            "n_ratings",
            "mean_now",
            "ratings_now",
            "fell_below",
        )
        read_only_fields = fields

    def _now(self, member: SeedMember) -> Any:
        return self.context["view"].now.get(member.response_id)

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_mean_now(self, member: SeedMember) -> float | None:
        now = self._now(member)
        return float(now.value) if now else None

    def get_ratings_now(self, member: SeedMember) -> int:
        now = self._now(member)
        return now.n if now else 0

    def get_fell_below(self, member: SeedMember) -> bool:
        return has_fallen(self.context["view"].selection, self._now(member))


# --- Endpoints --------------------------------------------------------------------------------------------------------


class SeedSamplesViewSet(ProjectViewSet):
    queryset = DatasetImport.objects.none()
    serializer_class = SeedSampleAnswerSerializer

    @extend_schema(request=SeedSampleSerializer, responses={201: SeedSampleAnswerSerializer})
    def create(self, request: Request, **_: Any) -> Answer:
        """Triples of a corpus at random, as a new data set; a worker draws and stores them."""
        asked = self.asked(SeedSampleSerializer)
        done = self.project.corpora.filter(state=JobState.DONE)
        (corpus,) = find_named(done, [asked.pop("corpus")], field="corpus", by="slug")
        job = seeds_sample(corpus=corpus, by=request.user, **asked)
        dataset_import_execute.delay_on_commit(job.pk)
        where = reverse("api:dataset-import-detail", args=[self.project.slug, job.pk], request=request)
        return Answer({"dataset_import": where}, status=status.HTTP_201_CREATED, headers={"Location": where})


class SeedSelectionsViewSet(_Rating, ReadViewSet):
    queryset = SeedSelection.objects.all()
    serializer_class = SeedSelectionSerializer
    ordering = "-pk"
    lookup_url_kwarg = "selection_pk"
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[SeedSelection]:
        return selections_of(self.project)

    def _asked(self, serializer_class: type[serializers.Serializer]) -> dict[str, Any]:
        asked = self.asked(serializer_class)
        (dataset,) = find_named(self.project.datasets.all(), [asked["dataset"]], field="dataset", by="slug")
        campaigns = find_named(self.project.campaigns.all(), asked["campaigns"], field="campaigns")
        return asked | {"dataset": dataset, "campaigns": campaigns}

    @extend_schema(request=SeedsSelectSerializer, responses={202: SeedSelectingAnswerSerializer})
    def create(self, request: Request, **_: Any) -> Answer:
        """Keep the seeds with a mean of the threshold or more, and bin their items into splits; a worker does."""
        job = seeds_select_create(by=request.user, **self._asked(SeedsSelectSerializer))
        seeds_select_execute.delay_on_commit(job.pk)
        where = reverse("api:seed-selecting-detail", args=[self.project.slug, job.pk], request=request)
        return Answer({"seed_selecting": where}, status=status.HTTP_202_ACCEPTED, headers={"Location": where})

    @extend_schema(request=SeedsAskedSerializer, responses=SeedPreviewSerializer)
    @action(detail=False, methods=["post"])
    def preview(self, request: Request, **_: Any) -> Answer:
        """What selecting would keep, at this threshold and at others. Nothing is written."""
        return Answer(SeedPreviewSerializer(seeds_preview(**self._asked(SeedsAskedSerializer))).data)

    def destroy(self, request: Request, **_: Any) -> Answer:
        """Take a selection back, with its splits; as long as nothing was mined or rated for it."""
        seeds_unselect(selection=self.get_object(), by=request.user)
        return Answer(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=RateSerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def rate(self, request: Request, **_: Any) -> Answer:
        """A draft that asks for more ratings of every selected seed."""
        asked = self.asked(RateSerializer)
        like = self.model(asked)
        made = seeds_rate_again(selection=self.get_object(), like=like, by=request.user, **asked)
        return self.drafted(made)


class SeedMembersViewSet(mixins.ListModelMixin, ProjectViewSet):
    """The seeds of one selection, with their means when they were selected and now."""

    queryset = SeedMember.objects.all()
    serializer_class = SeedMemberSerializer
    selection: SeedSelection
    now: dict[int, Any]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        selections = SeedSelection.objects.select_related("dataset")
        self.selection = get_in_project_or_404(selections, self.project, pk=kwargs["selection_pk"])

    def get_queryset(self) -> QuerySet[SeedMember]:
        found = self.selection.members.select_related("item", "response")
        split = self.parameter("split")
        return found.filter(split=split) if split else found

    def paginate_queryset(self, queryset: QuerySet[SeedMember]) -> Any:
        page = super().paginate_queryset(queryset)
        self.now = means_now(self.selection, [member.response_id for member in page or []])
        return page

    @extend_schema(parameters=[OpenApiParameter("split", str, description="Only those of this split.")])
    def list(self, request: Request, **kwargs: Any) -> Answer:
        return super().list(request, **kwargs)
