"""The API token of an account: exchanged for username and password, and revoked."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.authtoken.serializers import AuthTokenSerializer
from rest_framework.parsers import FormParser
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.views import APIView

from annotation.core.api import user_of
from annotation.core.json_bodies import StrictJSONParser
from annotation.projects.services.api_tokens import api_token_get_or_create, api_token_revoke


class CredentialsSerializer(AuthTokenSerializer):
    """DRF's own check, without its placeholders for a form."""


class TokenSerializer(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Send it as `Authorization: Token <token>`.")


class TokenView(APIView):
    parser_classes = (FormParser, StrictJSONParser)

    def get_permissions(self) -> list[Any]:
        return [AllowAny() if self.request.method == "POST" else IsAuthenticated()]

    @extend_schema(
        operation_id="token_create", request=CredentialsSerializer, responses={200: TokenSerializer}, auth=[]
    )
    def post(self, request: Request) -> ApiResponse:
        """Exchange username and password for the account's token. Wrong passwords are limited."""
        credentials = CredentialsSerializer(data=request.data, context={"request": request})
        credentials.is_valid(raise_exception=True)
        token = api_token_get_or_create(user=credentials.validated_data["user"])
        return ApiResponse({"token": token.key})

    @extend_schema(operation_id="token_revoke", responses={204: None})
    def delete(self, request: Request) -> ApiResponse:
        """Revoke the account's token."""
        api_token_revoke(user=user_of(request))
        return ApiResponse(status=status.HTTP_204_NO_CONTENT)
