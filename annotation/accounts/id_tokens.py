"""Check the signature and the claims of an ID token.

References
----------
OpenID Connect Core 1.0, section 3.1.3.7: the steps of the validation.
"""

import hmac
from collections.abc import Mapping
from typing import Any

import jwt

from annotation.accounts.openid import OpenIdError

# Signatures that the provider alone can make. None needs a shared secret, and “none” is none of them.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
KINDS_OF_KEYS = {"RS": "RSA", "PS": "RSA", "ES": "EC"}
CLOCKS_APART = 60  # seconds
REQUIRED = ("iss", "sub", "aud", "exp", "iat", "nonce")
NOT_VALID = "The ID token is not valid: {}."


def key_of(token: str, published: Mapping[str, Any]) -> jwt.PyJWK | None:
    """Return the published key that the token says it is signed with, or None."""
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError as error:
        raise OpenIdError(NOT_VALID.format("it cannot be read")) from error
    algorithm, name = header.get("alg"), header.get("kid")
    if algorithm not in ALGORITHMS:
        raise OpenIdError(NOT_VALID.format("its signature is of no kind that is accepted"))
    keys = published.get("keys")
    fitting = [
        each
        for each in (keys if isinstance(keys, list) else [])
        if isinstance(each, dict)
        and each.get("kty") == KINDS_OF_KEYS[algorithm[:2]]
        and each.get("use", "sig") == "sig"
        and each.get("alg", algorithm) == algorithm
        and (name is None or each.get("kid") == name)
    ]
    if len(fitting) != 1:
        return None
    try:
        return jwt.PyJWK(fitting[0], algorithm=algorithm)
    except (jwt.PyJWTError, ValueError) as error:
        raise OpenIdError("The provider publishes a key that cannot be read.") from error


def checked_claims(token: str, key: jwt.PyJWK, *, issuer: str, client_id: str, nonce: str) -> dict[str, Any]:
    """Return the claims of a token that this provider signed, for this client and this attempt, and that is valid."""
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key.key,
            algorithms=[key.algorithm_name],
            audience=client_id,
            issuer=issuer,
            leeway=CLOCKS_APART,
            options={"require": list(REQUIRED)},
        )
    except (jwt.PyJWTError, ValueError) as error:
        raise OpenIdError(NOT_VALID.format(str(error).rstrip("."))) from error
    others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if others else client_id) != client_id:
        raise OpenIdError(NOT_VALID.format("it is for another client"))
    if not hmac.compare_digest(str(claims["nonce"]).encode(), nonce.encode()):
        raise OpenIdError(NOT_VALID.format("it belongs to another attempt"))
    return claims
