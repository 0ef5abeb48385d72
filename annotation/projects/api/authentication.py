"""Who sends a request, by the API token in it."""

from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from annotation.models import ApiToken, User
from annotation.projects.services.api_tokens import api_token_digest, api_token_used


class HashedTokenAuthentication(TokenAuthentication):
    """``Authorization: Token …``, found by its hash. An expired or revoked token is as unknown as an invented one."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        token = ApiToken.objects.live().select_related("user").filter(digest=api_token_digest(key)).first()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("Invalid token: unknown, expired or revoked.")
        api_token_used(token=token)
        return token.user, token
