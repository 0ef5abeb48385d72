"""The API of seeds: candidates drawn from a corpus, and selections with their members."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse

from annotation.campaigns.api.campaigns import CampaignSerializer
from annotation.campaigns.api.lists import DraftingViewSet, RateSerializer
from annotation.core.access import get_in_project_or_404
from annotation.core.api import AnswerSerializer, ProjectViewSet, ReadViewSet, Strict, find_named, one_named
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import Campaign, Dataset, DatasetImport, JobState, SeedMember, SeedSelection, User
from annotation.seeds.criteria import CRITERIA, LARGEST_SEED
from annotation.seeds.selectors import MemberNow, means_now, selections_of
from annotation.seeds.services.rating_again import seeds_rate_again
from annotation.seeds.services.sampling import seeds_sample
from annotation.seeds.services.selecting import seeds_select_create
from annotation.seeds.services.selections import SeedPreview, SelectionRules, seeds_preview, seeds_unselect
from annotation.seeds.tasks import seeds_select_execute

# --- Requests and answers ---------------------------------------------------------------------------------------------


class SeedSampleSerializer(Strict, serializers.Serializer[Any]):
    corpus = serializers.SlugField(help_text="Slug of a corpus whose index is done.")
    name = serializers.CharField(max_length=120, help_text="Name of the new data set.")
    n = serializers.IntegerField(min_value=1, help_text="Number of triples, drawn without replacement.")
    seed = serializers.IntegerField(default=20150726, min_value=0, max_value=LARGEST_SEED)
    normalisation = serializers.ChoiceField(choices=list(RULES), default=DEFAULT_RULE)
    hygiene = serializers.ListField(
        child=serializers.DictField(), required=False, help_text='Such as {"step": "length", "max_tokens": 50}.'
    )


class SeedSelectingAnswerSerializer(serializers.Serializer[Any]):
    seed_selecting = serializers.URLField(help_text="Poll it until its state is done; it then names the selection.")


class SeedSampleAnswerSerializer(serializers.Serializer[Any]):
    dataset_import = serializers.URLField(help_text="Poll it until its state is done; then it names the data set.")


class SelectionRulesSerializer(Strict, serializers.Serializer[Any]):
    dataset = serializers.SlugField(help_text="Slug of the data set.")
    campaigns = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the campaigns that rated the seeds."
    )
    threshold = serializers.FloatField(help_text="Lowest mean rating of a seed that is kept.")
    shares = serializers.DictField(
        child=serializers.FloatField(), help_text='Share of each split, such as {"dev": 0.5, "test": 0.5}.'
    )

    def get_fields(self) -> dict[str, Any]:
        criteria = {
            criterion.name: serializers.IntegerField(
                default=criterion.default,
                min_value=criterion.lowest,
                max_value=criterion.highest,
                help_text=criterion.help_text,
            )
            for criterion in CRITERIA.values()
        }
        return super().get_fields() | criteria


class SeedsSelectSerializer(SelectionRulesSerializer):
    seed = serializers.IntegerField(default=20150726, min_value=0, max_value=LARGEST_SEED)
    again = serializers.BooleanField(default=False, help_text="Replace an earlier selection that nothing uses yet.")


class SeedPreviewSerializer(serializers.Serializer[Any]):
    candidates = serializers.IntegerField(help_text="Items with an original response.")
    rated = serializers.IntegerField(
        source="qualified", help_text="Seeds with ratings that meet the criteria besides the mean."
    )
    unrated = serializers.IntegerField()
    rated_less = serializers.IntegerField(help_text="Rated seeds with fewer ratings than planned.")
    too_few = serializers.IntegerField(help_text="Seeds with ratings that fail a criterion besides the mean.")
    kept = serializers.IntegerField()
    kept_rated_less = serializers.IntegerField()
    splits = serializers.DictField(source="sizes", child=serializers.IntegerField())
    kept_at = serializers.SerializerMethodField(help_text="Pairs of a threshold and the number of seeds it would keep.")

    @extend_schema_field(serializers.ListField(child=serializers.ListField(child=serializers.FloatField())))
    def get_kept_at(self, preview: SeedPreview) -> list[list[float]]:
        return [[float(level), n] for level, n in preview.levels]


class SeedSelectionSerializer(AnswerSerializer):
    dataset = serializers.SlugRelatedField[Dataset](slug_field="slug", read_only=True)
    campaigns = serializers.SlugRelatedField[Campaign](slug_field="name", many=True, read_only=True)
    shares = serializers.DictField(child=serializers.FloatField(), read_only=True)
    report = serializers.DictField(read_only=True)
    n_members = serializers.IntegerField(read_only=True)
    created_by = serializers.SlugRelatedField[User](slug_field="username", read_only=True)

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


class SeedMemberSerializer(serializers.Serializer[Any]):
    item = serializers.CharField(source="member.item.external_id", read_only=True)
    response = serializers.IntegerField(source="member.response_id", read_only=True)
    text = serializers.CharField(source="member.response.text", read_only=True)
    split = serializers.CharField(source="member.split", read_only=True)
    rating_mean = serializers.FloatField(source="member.rating_mean", read_only=True)
    n_ratings = serializers.IntegerField(source="member.n_ratings", read_only=True)
    mean_now = serializers.FloatField(
        read_only=True, allow_null=True, help_text="Mean of all ratings up to now; null if none counts."
    )
    ratings_now = serializers.IntegerField(source="n_now", read_only=True)
    fell_below = serializers.BooleanField(
        source="has_fallen",
        read_only=True,
        help_text="Whether its mean is now below the threshold; the seed stays selected.",
    )


# --- Endpoints --------------------------------------------------------------------------------------------------------


class SeedSamplesViewSet(ProjectViewSet):
    queryset = DatasetImport.objects.none()
    serializer_class = SeedSampleAnswerSerializer

    @extend_schema(request=SeedSampleSerializer, responses={201: SeedSampleAnswerSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Draw random triples of a corpus as a new data set; a worker draws and stores them."""
        data = self.validated(SeedSampleSerializer)
        done = self.project.corpora.filter(state=JobState.DONE)
        corpus = one_named(done, data.pop("corpus"), field="corpus", by="slug")
        job = seeds_sample(corpus=corpus, by=self.user, **data)
        dataset_import_execute.delay_on_commit(job.pk)
        url = reverse("api:dataset-import-detail", args=[self.project.slug, job.pk], request=request)
        return ApiResponse({"dataset_import": url}, status=status.HTTP_201_CREATED, headers={"Location": url})


class SeedSelectionsViewSet(DraftingViewSet, ReadViewSet):
    queryset = SeedSelection.objects.all()
    serializer_class = SeedSelectionSerializer
    ordering = "-pk"
    lookup_url_kwarg = "selection_pk"

    def get_queryset(self) -> QuerySet[SeedSelection]:
        return selections_of(self.project)

    def _rules(self, values: dict[str, Any]) -> SelectionRules:
        dataset = self.dataset_named(values["dataset"])
        campaigns = find_named(self.project.campaigns.all(), values["campaigns"], field="campaigns")
        return SelectionRules.of(**values | {"dataset": dataset, "campaigns": campaigns})

    @extend_schema(request=SeedsSelectSerializer, responses={202: SeedSelectingAnswerSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Select the seeds with a mean at the threshold or above, and put their items into splits; a worker does it."""
        values = self.validated(SeedsSelectSerializer)
        again = values.pop("again")
        job = seeds_select_create(rules=self._rules(values), again=again, by=self.user)
        seeds_select_execute.delay_on_commit(job.pk)
        url = reverse("api:seed-selecting-detail", args=[self.project.slug, job.pk], request=request)
        return ApiResponse({"seed_selecting": url}, status=status.HTTP_202_ACCEPTED, headers={"Location": url})

    @extend_schema(request=SelectionRulesSerializer, responses=SeedPreviewSerializer)
    @action(detail=False, methods=["post"])
    def preview(self, request: Request, **_: Any) -> ApiResponse:
        """Show how many seeds this threshold and others would keep. Nothing is written."""
        preview = seeds_preview(self._rules(self.validated(SelectionRulesSerializer)))
        return ApiResponse(SeedPreviewSerializer(preview).data)

    def destroy(self, request: Request, **_: Any) -> ApiResponse:
        """Delete a selection and its splits, as long as nothing was mined or rated for it."""
        seeds_unselect(selection=self.get_object(), by=self.user)
        return ApiResponse(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=RateSerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def rate(self, request: Request, **_: Any) -> ApiResponse:
        """Create a draft campaign that collects more ratings of every selected seed."""
        data = self.validated(RateSerializer)
        like = self.campaign_like(data)
        campaign = seeds_rate_again(selection=self.get_object(), like=like, by=self.user, **data)
        return self.drafted(campaign)


@extend_schema_view(
    list=extend_schema(parameters=[OpenApiParameter("split", str, description="Only seeds of this split.")])
)
class SeedMembersViewSet(mixins.ListModelMixin, ProjectViewSet):
    """The seeds of a selection, with their means when they were selected and now."""

    queryset = SeedMember.objects.all()
    serializer_class = SeedMemberSerializer
    selection: SeedSelection

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        selections = SeedSelection.objects.select_related("dataset")
        self.selection = get_in_project_or_404(selections, self.project, pk=kwargs["selection_pk"])

    def get_queryset(self) -> QuerySet[SeedMember]:
        members = self.selection.members.select_related("item", "response")
        split = self.parameter("split")
        return members.filter(split=split) if split else members

    def paginate_queryset(self, queryset: Any) -> Any:
        members = super().paginate_queryset(queryset) or []
        now = means_now(self.selection, [member.response_id for member in members])
        return [MemberNow(member, now.get(member.response_id)) for member in members]
