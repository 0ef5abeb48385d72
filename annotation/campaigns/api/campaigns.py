"""The API of campaigns: drafts, copies, launch to close, progress."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse

from annotation.campaigns.design.templates import ALL_TEMPLATES
from annotation.campaigns.fields.kinds import Field, Whole
from annotation.campaigns.fields.table import CAMPAIGN, CRITERION, LONG, LONGEST_NAME, CampaignDraft, CriterionDraft
from annotation.campaigns.selectors import campaigns_of
from annotation.campaigns.services.copies import campaign_clone, campaign_import
from annotation.campaigns.services.documents import campaign_export
from annotation.campaigns.services.lifecycle import campaign_close, campaign_launch, campaign_pause, campaign_resume
from annotation.campaigns.services.starting import campaign_start
from annotation.campaigns.services.writing import campaign_create, campaign_update
from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.api import AnswerSerializer, ProjectViewSet, ReadViewSet, Strict, find_named, one_named
from annotation.models import Campaign, Criterion


def _described(table: Mapping[str, Field]) -> dict[str, dict[str, Any]]:
    """Return each field's help and limits, as a serializer takes them."""
    return {
        name: {"help_text": field.help}
        | ({"min_value": field.low, "max_value": field.high} if isinstance(field, Whole) else {})
        for name, field in table.items()
    }


DESCRIBED, DESCRIBED_CRITERION = _described(CAMPAIGN), _described(CRITERION)
COUNTS = ("n_units", "n_done", "n_wanted", "n_raters")
TIMES = ("created_at", "launched_at", "closed_at")
CONFIDENTIAL = [name for name, field in CAMPAIGN.items() if field.confidential]


# --- Requests and answers ---------------------------------------------------------------------------------------------


class CriterionSerializer(Strict, serializers.ModelSerializer[Criterion]):
    labels = serializers.ListField(child=serializers.CharField(), required=False, help_text=CRITERION["labels"].help)

    class Meta:
        model = Criterion
        fields = tuple(CRITERION)
        extra_kwargs = DESCRIBED_CRITERION


class CampaignDraftSerializer(Strict, serializers.ModelSerializer[Campaign]):
    dataset = serializers.SlugField(help_text="Slug of the data set.")
    systems = serializers.ListField(child=serializers.CharField(), required=False, help_text=CAMPAIGN["systems"].help)
    response_list = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, help_text=f"Its id. {CAMPAIGN['response_list'].help}"
    )
    criteria = CriterionSerializer(many=True)
    pairs = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2),
        required=False,
        help_text=CAMPAIGN["pairs"].help,
    )
    writing = serializers.DictField(required=False, help_text=CAMPAIGN["writing"].help)
    questions = serializers.DictField(required=False, help_text=CAMPAIGN["questions"].help)
    qualification = serializers.DictField(required=False, help_text=CAMPAIGN["qualification"].help)
    quality = serializers.DictField(required=False, help_text=CAMPAIGN["quality"].help)

    class Meta:
        model = Campaign
        fields: tuple[str, ...] = tuple(CAMPAIGN)
        extra_kwargs = DESCRIBED


class DraftReplacementSerializer(CampaignDraftSerializer):
    draft_version = serializers.IntegerField(
        min_value=1, help_text="Of the draft that you read. If it has changed since, the answer is 409."
    )

    class Meta(CampaignDraftSerializer.Meta):
        fields = (*CAMPAIGN, "draft_version")


def optional_name(help_text: str) -> serializers.CharField:
    return serializers.CharField(max_length=LONGEST_NAME, required=False, help_text=help_text)


class CloneSerializer(Strict, serializers.Serializer[Any]):
    name = optional_name("If left out, the name of the original with a number.")
    dataset = serializers.SlugField(required=False, help_text="Slug of another data set of the project.")


class CampaignImportSerializer(Strict, serializers.Serializer[Any]):
    dataset = serializers.SlugField(help_text="Slug of the data set to rate.")
    campaign = serializers.DictField(help_text="The object that ``export`` returns.")
    name = optional_name("If left out, the name in the file.")


class CampaignStartSerializer(Strict, serializers.Serializer[Any]):
    dataset = serializers.SlugField(help_text="Slug of the data set to rate.")
    template = serializers.ChoiceField(choices=[(template.slug, template.aim) for template in ALL_TEMPLATES])
    name = optional_name("If left out, a name for raters that the template has.")
    consent = serializers.CharField(
        max_length=LONG, required=False, help_text="In place of the template's, which has square brackets to fill in."
    )


class CampaignSerializer(AnswerSerializer):
    dataset: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    systems: Any = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
    criteria = CriterionSerializer(many=True, read_only=True)
    n_units = serializers.IntegerField(read_only=True)
    n_done = serializers.IntegerField(
        read_only=True, help_text="Judgements of units that count; late judgements do not."
    )
    n_wanted = serializers.IntegerField(read_only=True, help_text="Units × ratings per unit.")
    n_raters = serializers.IntegerField(read_only=True, help_text="Raters with a judgement that counts.")
    rater_link = serializers.SerializerMethodField(
        help_text="The link for raters; only managers see it, from the launch on."
    )

    class Meta:
        model = Campaign
        fields = ("id", "state", "imported", "draft_version", *CAMPAIGN, *COUNTS, "rater_link", "design_hash", *TIMES)
        extra_kwargs = DESCRIBED

    def to_representation(self, campaign: Campaign) -> dict[str, Any]:
        values = super().to_representation(campaign)
        if not may_manage(self.context["view"].project):
            values |= dict.fromkeys(CONFIDENTIAL)
        return values

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_rater_link(self, campaign: Campaign) -> str | None:
        if campaign.imported or not campaign.design_hash or not may_manage(self.context["view"].project):
            return None
        return reverse("annotation:rater-landing", args=[campaign.link_token], request=self.context["request"])


# --- Endpoints --------------------------------------------------------------------------------------------------------


class CampaignsViewSet(ReadViewSet):
    queryset = Campaign.objects.all()
    serializer_class = CampaignSerializer
    ordering = "-pk"
    lookup_url_kwarg = "campaign_pk"

    def get_queryset(self) -> QuerySet[Campaign]:
        return campaigns_of(self.project).prefetch_related("systems", "criteria")

    def _draft(self, values: dict[str, Any]) -> CampaignDraft:
        dataset = self.dataset_named(values["dataset"])
        systems = find_named(dataset.systems.all(), values.pop("systems", ()), field="systems")
        criteria = [CriterionDraft(**criterion) for criterion in values.pop("criteria")]
        if listed := values.pop("response_list", None):
            listed = one_named(dataset.response_lists.all(), listed, field="response_list", by="pk")
        return CampaignDraft(
            **values | {"dataset": dataset, "systems": systems, "response_list": listed, "criteria": criteria}
        )

    @extend_schema(request=CampaignDraftSerializer, responses={201: CampaignSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Create a draft. Raters see nothing of it before the launch."""
        campaign = campaign_create(
            project=self.project, draft=self._draft(self.validated(CampaignDraftSerializer)), by=self.user
        )
        return self.answer(campaign, status.HTTP_201_CREATED)

    @extend_schema(request=DraftReplacementSerializer)
    def update(self, request: Request, **_: Any) -> ApiResponse:
        """Replace a draft: 409 if it was changed since you read it. A launched campaign's design is frozen."""
        campaign = self.get_object()
        values = self.validated(DraftReplacementSerializer)
        based_on = values.pop("draft_version")
        draft = self._draft(values)
        return self.answer(campaign_update(campaign=campaign, draft=draft, based_on=based_on, by=self.user))

    @extend_schema(request=CampaignStartSerializer, responses={201: CampaignSerializer})
    @action(detail=False, methods=["post"])
    def start(self, request: Request, **_: Any) -> ApiResponse:
        """Create a draft from a template."""
        values = self.validated(CampaignStartSerializer)
        values["dataset"] = self.dataset_named(values["dataset"])
        return self.answer(campaign_start(project=self.project, by=self.user, **values), status.HTTP_201_CREATED)

    @extend_schema(request=CloneSerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def clone(self, request: Request, **_: Any) -> ApiResponse:
        """Create a draft with this campaign's design, in whatever state it is, without the completion code."""
        values = self.validated(CloneSerializer)
        if "dataset" in values:
            values["dataset"] = self.dataset_named(values["dataset"])
        campaign = campaign_clone(campaign=self.get_object(), by=self.user, **values)
        return self.answer(campaign, status.HTTP_201_CREATED)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, url_path="export")
    def export_file(self, request: Request, **_: Any) -> ApiResponse:
        """Return the design as one JSON object, which ``import`` reads. Only managers get the checks and the test."""
        return ApiResponse(campaign_export(self.get_object(), with_answers=may_manage(self.project)))

    @extend_schema(request=CampaignImportSerializer, responses={201: CampaignSerializer})
    @action(detail=False, methods=["post"], url_path="import")
    def import_file(self, request: Request, **_: Any) -> ApiResponse:
        """Create a draft from an exported campaign. The error names everything that does not fit the data set."""
        values = self.validated(CampaignImportSerializer)
        dataset, document = self.dataset_named(values.pop("dataset")), values.pop("campaign")
        campaign = campaign_import(project=self.project, document=document, dataset=dataset, by=self.user, **values)
        return self.answer(campaign, status.HTTP_201_CREATED)

    def _change(self, change: Callable[..., Campaign]) -> ApiResponse:
        return self.answer(change(campaign=self.get_object(), by=self.user))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def launch(self, request: Request, **_: Any) -> ApiResponse:
        """Plan the units, freeze and hash the design, and open the campaign for raters."""
        return self._change(campaign_launch)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, **_: Any) -> ApiResponse:
        """Hand out nothing more. Raters may still submit the items they have."""
        return self._change(campaign_pause)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, **_: Any) -> ApiResponse:
        """Hand out items again."""
        return self._change(campaign_resume)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def close(self, request: Request, **_: Any) -> ApiResponse:
        """Close the campaign for good: every later rating is refused."""
        return self._change(campaign_close)


class OfCampaign(ProjectViewSet):
    """Base of the views of what belongs to one campaign."""

    campaign: Campaign

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        campaigns = Campaign.objects.select_related("dataset")
        self.campaign = get_in_project_or_404(campaigns, self.project, pk=kwargs["campaign_pk"])
