"""The API of lists of responses, and of the campaigns that rate them."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.reverse import reverse

from annotation.campaigns.api.campaigns import CampaignSerializer, optional_name
from annotation.campaigns.fields.table import MOST_RATINGS
from annotation.campaigns.selectors import campaigns_of
from annotation.campaigns.services.lists import campaign_for_list
from annotation.core.access import get_in_project_or_404
from annotation.core.api import AnswerSerializer, ProjectViewSet, ReadViewSet, Strict, one_named
from annotation.datasets.api.datasets import ResponseSerializer
from annotation.datasets.selectors.lists import response_lists_of, responses_named
from annotation.datasets.services.lists import response_list_create, response_list_delete
from annotation.models import Campaign, Response, ResponseList, ResponseSource


class ResponseListSerializer(AnswerSerializer):
    dataset: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    origin = serializers.DictField(read_only=True, help_text="How the responses were chosen.")
    size = serializers.IntegerField(read_only=True, help_text="Number of its responses.")
    n_items = serializers.IntegerField(read_only=True, help_text="Number of items that the responses belong to.")
    campaigns: Any = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
    created_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = ResponseList
        fields = ("id", "name", "dataset", "origin", "size", "n_items", "campaigns", "created_by", "created_at")


class NamedResponseSerializer(Strict, serializers.Serializer[Any]):
    item = serializers.CharField(help_text="External id.")
    text_key = serializers.CharField(help_text="SHA-256, in hexadecimal, of the normalised text.")


class ResponseListRequestSerializer(Strict, serializers.ModelSerializer[ResponseList]):
    dataset = serializers.SlugField(help_text="Slug of the data set.")
    responses = serializers.ListField(
        child=serializers.IntegerField(min_value=1), required=False, help_text="Ids of responses."
    )
    named = NamedResponseSerializer(many=True, required=False, help_text="Or by item and text, as in files.")
    origin = serializers.DictField(required=False, help_text="How the responses were chosen.")

    class Meta:
        model = ResponseList
        fields = ("dataset", "name", "responses", "named", "origin")


class RateSerializer(Strict, serializers.Serializer[Any]):
    like = serializers.CharField(
        required=False,
        help_text="Name of the campaign whose design is copied. For seeds: by default the one that rated them.",
    )
    ratings_per_unit = serializers.IntegerField(default=2, min_value=1, max_value=MOST_RATINGS)
    name = optional_name("If left out, the name of the list.")


class DraftingViewSet(ProjectViewSet):
    """Base of the views that draft a campaign and answer with it."""

    def drafted(self, campaign: Campaign) -> ApiResponse:
        fresh = campaigns_of(self.project).prefetch_related("systems", "criteria").get(pk=campaign.pk)
        data = CampaignSerializer(fresh, context=self.get_serializer_context()).data
        url = reverse("api:campaign-detail", args=[self.project.slug, campaign.pk], request=self.request)
        return ApiResponse(data, status=status.HTTP_201_CREATED, headers={"Location": url})

    def campaign_like(self, values: dict[str, Any]) -> Campaign | None:
        """Take the campaign whose design is copied out of the values; None if the request names none."""
        name = values.pop("like", None)
        return None if name is None else one_named(self.project.campaigns.all(), name, field="like")


class ResponseListsViewSet(DraftingViewSet, ReadViewSet):
    queryset = ResponseList.objects.all()
    serializer_class = ResponseListSerializer
    ordering = "-pk"
    lookup_url_kwarg = "list_pk"

    def get_queryset(self) -> QuerySet[ResponseList]:
        return response_lists_of(self.project).prefetch_related("campaigns")

    @extend_schema(request=ResponseListRequestSerializer, responses={201: ResponseListSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Create a list of chosen responses. A list is never changed afterwards."""
        values = self.validated(ResponseListRequestSerializer)
        dataset = self.dataset_named(values.pop("dataset"))
        names = [(name["item"], name["text_key"]) for name in values.pop("named", [])]
        known = responses_named(dataset, names)
        if missing := [name for name in names if name not in known]:
            item, key = missing[0]
            message = f"Found {item!r} with the text {key[:12]}…; accepted: responses of the data set {dataset.slug!r}."
            raise serializers.ValidationError({"named": [message]})
        chosen = [*values.pop("responses", []), *(known[name] for name in names)]
        response_list = response_list_create(
            dataset=dataset, name=values["name"], responses=chosen, origin=values.get("origin", {}), by=self.user
        )
        return self.answer(response_list, status.HTTP_201_CREATED)

    def destroy(self, request: Request, **_: Any) -> ApiResponse:
        """Delete the list, unless a campaign rates it."""
        response_list_delete(response_list=self.get_object(), by=self.user)
        return ApiResponse(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=RateSerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def rate(self, request: Request, **_: Any) -> ApiResponse:
        """Create a draft that rates the list with the design of another campaign."""
        values = self.validated(RateSerializer)
        like = self.campaign_like(values)
        if like is None:
            raise serializers.ValidationError(
                {"like": ["Found nothing; accepted: the name of the campaign whose design is copied."]}
            )
        campaign = campaign_for_list(response_list=self.get_object(), like=like, by=self.user, **values)
        return self.drafted(campaign)


class ListedResponsesViewSet(mixins.ListModelMixin, ProjectViewSet):
    """List the responses of a list with their sources."""

    queryset = Response.objects.all()
    serializer_class = ResponseSerializer
    response_list: ResponseList

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.response_list = get_in_project_or_404(ResponseList.objects.all(), self.project, pk=kwargs["list_pk"])

    def get_queryset(self) -> QuerySet[Response]:
        return self.response_list.responses.select_related("item").prefetch_related(
            Prefetch("sources", ResponseSource.objects.select_related("system"))
        )
