"""Lists of responses, and campaigns about them."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.reverse import reverse

from annotation.campaigns.api.campaigns import CampaignSerializer
from annotation.campaigns.selectors import campaigns_of
from annotation.campaigns.services.lists import campaign_for_list, response_list_create, response_list_delete
from annotation.core.access import get_in_project_or_404
from annotation.core.api import ProjectViewSet, ReadViewSet, Strict, find_named
from annotation.datasets.api.datasets import ResponseSerializer
from annotation.datasets.selectors.lists import response_lists_of, responses_named
from annotation.models import (
    Campaign,
    Response,
    ResponseList,
    ResponseSource,
)


class ResponseListSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    origin = serializers.DictField(read_only=True, help_text="What chose them.")
    size = serializers.IntegerField(read_only=True, help_text="Number of its responses.")
    n_items = serializers.IntegerField(read_only=True, help_text="Of how many items they are.")
    campaigns = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
    created_by = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = ResponseList
        fields = ("id", "name", "dataset", "origin", "size", "n_items", "campaigns", "created_by", "created_at")
        read_only_fields = fields


class NamedResponseSerializer(Strict, serializers.Serializer):
    item = serializers.CharField(help_text="External id.")
    text_key = serializers.CharField(help_text="SHA-256, in hexadecimal, of the normalised text.")


class ResponseListRequestSerializer(Strict, serializers.ModelSerializer):
    dataset = serializers.SlugField(help_text="Slug of the data set.")
    responses = serializers.ListField(
        child=serializers.IntegerField(min_value=1), required=False, help_text="Ids of responses."
    )
    named = NamedResponseSerializer(many=True, required=False, help_text="Or by item and text, as files name them.")
    origin = serializers.DictField(required=False, help_text="What chose them.")

    class Meta:
        model = ResponseList
        fields = ("dataset", "name", "responses", "named", "origin")


class RateSerializer(Strict, serializers.Serializer):
    like = serializers.CharField(
        required=False, help_text="Name of the campaign to be like; of seeds, else the one they were rated in."
    )
    ratings_per_unit = serializers.IntegerField(default=2, min_value=1, max_value=100)
    name = serializers.CharField(max_length=120, required=False, help_text="Else the list's.")


class _Rating(ProjectViewSet):
    """Answers with the campaign that was drafted."""

    def drafted(self, campaign: Campaign) -> Answer:
        fresh = campaigns_of(self.project).prefetch_related("systems", "criteria").get(pk=campaign.pk)
        shown = CampaignSerializer(fresh, context=self.get_serializer_context()).data
        where = reverse("api:campaign-detail", args=[self.project.slug, campaign.pk], request=self.request)
        return Answer(shown, status=status.HTTP_201_CREATED, headers={"Location": where})

    def model(self, asked: dict[str, Any]) -> Campaign | None:
        name = asked.pop("like", None)
        return None if name is None else find_named(self.project.campaigns.all(), [name], field="like")[0]


class ResponseListsViewSet(_Rating, ReadViewSet):
    queryset = ResponseList.objects.all()
    serializer_class = ResponseListSerializer
    ordering = "-pk"
    lookup_url_kwarg = "list_pk"
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[ResponseList]:
        return response_lists_of(self.project).prefetch_related("campaigns")

    @extend_schema(request=ResponseListRequestSerializer, responses={201: ResponseListSerializer})
    def create(self, request: Request, **_: Any) -> Answer:
        """Responses chosen one by one. A list is never changed afterwards."""
        asked = self.asked(ResponseListRequestSerializer)
        (dataset,) = find_named(self.project.datasets.all(), [asked.pop("dataset")], field="dataset", by="slug")
        wanted = [(one["item"], one["text_key"]) for one in asked.pop("named", [])]
        known = responses_named(dataset, wanted)
        if missing := [name for name in wanted if name not in known]:
            item, key = missing[0]
            message = f"Found {item!r} with the text {key[:12]}…; accepted: responses of the data set {dataset.slug!r}."
            raise serializers.ValidationError({"named": [message]})
        chosen = [*asked.pop("responses", []), *(known[name] for name in wanted)]
        made = response_list_create(
            dataset=dataset, name=asked["name"], responses=chosen, origin=asked.get("origin", {}), by=request.user
        )
        return self.answer(made, status.HTTP_201_CREATED)

    def destroy(self, request: Request, **_: Any) -> Answer:
        """Only a list that no campaign asks about."""
        response_list_delete(response_list=self.get_object(), by=request.user)
        return Answer(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=RateSerializer, responses={201: CampaignSerializer})
    @action(detail=True, methods=["post"])
    def rate(self, request: Request, **_: Any) -> Answer:
        """A draft that asks about the list what another campaign asks."""
        asked = self.asked(RateSerializer)
        like = self.model(asked)
        if like is None:
            raise serializers.ValidationError({"like": ["Found none; name the campaign to be like."]})
        made = campaign_for_list(response_list=self.get_object(), like=like, by=request.user, **asked)
        return self.drafted(made)


class ListedResponsesViewSet(mixins.ListModelMixin, ProjectViewSet):
    """The responses of one list, with where each came from."""

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
