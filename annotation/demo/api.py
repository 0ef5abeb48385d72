"""Endpoint that makes an example project."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.viewsets import GenericViewSet

from annotation.core.api import Strict, user_of
from annotation.core.refusals import checked
from annotation.demo.services import EXAMPLES, example_create
from annotation.models import Project


class ExampleRequestSerializer(Strict, serializers.Serializer[Any]):
    template = serializers.ChoiceField(choices=[(template.slug, template.aim) for template in EXAMPLES.values()])


class ExampleSerializer(serializers.Serializer[Any]):
    project = serializers.SlugField(source="project.slug", help_text="Slug of the new project; you are its owner.")
    campaign = serializers.IntegerField(source="pk", help_text="Id of the draft, which can be launched.")


class ExamplesViewSet(GenericViewSet[Project]):
    queryset = Project.objects.none()
    serializer_class = ExampleSerializer

    @extend_schema(request=ExampleRequestSerializer, responses={201: ExampleSerializer})
    def create(self, request: Request) -> ApiResponse:
        """Make a project of your own with a few published texts and the draft of an aim."""
        values = checked(ExampleRequestSerializer(data=request.data))
        campaign = example_create(by=user_of(request), **values)
        return ApiResponse(ExampleSerializer(campaign).data, status=status.HTTP_201_CREATED)
