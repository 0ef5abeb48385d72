"""API tokens for programs: made for username and password, and revoked."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.authtoken.serializers import AuthTokenSerializer
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import FormParser
from rest_framework.permissions import AllowAny, BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse
from rest_framework.views import APIView

from annotation.core.api import user_of
from annotation.core.json_bodies import StrictJSONParser
from annotation.core.refusals import checked
from annotation.models import ApiToken, SecondFactor
from annotation.projects.services.api_tokens import api_token_create, api_token_revoke

DEFAULT_DAYS = 30
SECOND_FACTOR = "This account has a second factor: make a token under API tokens, in the menu of your account."
NO_SUCH_ACCOUNT = "Found no account with this username and password; accepted: those that you sign in with."


class CredentialsSerializer(AuthTokenSerializer):
    """DRF's own check, without its placeholders for a form."""

    name = serializers.CharField(max_length=80, default="Made with a password", help_text="Which program uses it.")
    expires_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text=f"Without it, in {DEFAULT_DAYS} days; null for never."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            values: dict[str, Any] = super().validate(attrs)
        except ValidationError as error:
            raise ValidationError(NO_SUCH_ACCOUNT, code="authorization") from error
        if SecondFactor.objects.filter(user=values["user"]).exists():
            raise ValidationError(SECOND_FACTOR, code="authorization")
        return values


class TokenSerializer(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Send it as `Authorization: Token <token>`. It is not shown again.")
    name = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)


class TokenView(APIView):
    parser_classes = (FormParser, StrictJSONParser)

    def get_permissions(self) -> list[BasePermission]:
        return [AllowAny() if self.request.method == "POST" else IsAuthenticated()]

    @extend_schema(
        operation_id="token_create",
        request=CredentialsSerializer,
        responses={200: TokenSerializer},
        auth=[],
    )
    def post(self, request: Request) -> ApiResponse:
        """Make a token for username and password. Wrong passwords are limited; a second factor refuses this way."""
        values = checked(CredentialsSerializer(data=request.data, context={"request": request}))
        expires_at = values.get("expires_at", timezone.now() + timedelta(days=DEFAULT_DAYS))
        row, token = api_token_create(user=values["user"], name=values["name"], expires_at=expires_at)
        return ApiResponse(TokenSerializer({"token": token, "name": row.name, "expires_at": row.expires_at}).data)

    @extend_schema(operation_id="token_revoke", responses={204: None})
    def delete(self, request: Request) -> ApiResponse:
        """Revoke the token that the request carries."""
        if not isinstance(request.auth, ApiToken):
            raise ValidationError("The request carries no token; accepted: “Authorization: Token …”.")
        api_token_revoke(user=user_of(request), pk=request.auth.pk)
        return ApiResponse(status=status.HTTP_204_NO_CONTENT)
