"""Second factors of accounts: set up, asked for after the password, removed."""

from dataclasses import dataclass

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone

from annotation.accounts.one_time_codes import (
    address_for_apps,
    is_same,
    recovery_codes_new,
    secret_new,
    step_at,
    step_of_code,
)
from annotation.core.errors import AnnotationError
from annotation.core.races import refused_if_taken
from annotation.core.signing_in import attempt_count, attempt_uncount
from annotation.core.vault import SealBrokenError, Vault
from annotation.models import RecoveryCode, SecondFactor, User

PURPOSE = b"assay second factors 1"
SECRET, CODE = "secret", "code"  # names within what is sealed
PRODUCT = "Assay"
WRONG_CODE = "This code is wrong, too old, or was used before. The app shows a new one every 30 seconds."
SET_UP_ALREADY = "Your second factor is set up already."
UNREADABLE = (
    "The second factor cannot be read: the installation's secret key has changed since. An administrator can remove it."
)

log = structlog.get_logger("assay.accounts")


@dataclass(frozen=True)
class ShownCode:
    """A recovery code as its owner sees it."""

    text: str
    is_used: bool


def second_factor_of(user: User) -> SecondFactor | None:
    return SecondFactor.objects.filter(user=user).first()


# --- Set up and remove ------------------------------------------------------------------------------------------------


def secret_sealed_new() -> str:
    """Return a new secret, sealed: it waits in the session until a code shows that the app has it."""
    return vault().seal({SECRET: secret_new()})


def secret_opened(sealed: str) -> str:
    return _open(sealed, SECRET)


def app_address(user: User, sealed: str) -> str:
    """Return the address for the app, which names the account and the product."""
    return address_for_apps(secret_opened(sealed), account=user.get_username(), product=PRODUCT)


@transaction.atomic
def second_factor_set_up(*, user: User, sealed: str, code: str) -> SecondFactor:
    """Turn the second factor on, if the code shows that the app has the secret. Its code cannot be used again."""
    step = step_of_code(secret_opened(sealed), code, now=step_at(timezone.now()), after=0)
    if step is None:
        raise AnnotationError.at("code", "This is not the code of the app now. Check the time of your phone.")
    with refused_if_taken("annotation_secondfactor_user_id_key", AnnotationError(SET_UP_ALREADY)):
        factor = SecondFactor.objects.create(user=user, sealed=sealed, last_step=step)
    _recovery_codes_add(factor)
    log.info("second factor set up", account=user.get_username())
    return factor


@transaction.atomic
def second_factor_remove(*, user: User, by: str) -> bool:
    """Turn the second factor off; ``by`` says for the log who did. Return whether there was one."""
    removed, _ = SecondFactor.objects.filter(user=user).delete()
    if removed:
        log.warning("second factor removed", account=user.get_username(), by=by)
    return bool(removed)


# --- Recovery codes ---------------------------------------------------------------------------------------------------


def recovery_codes_of(factor: SecondFactor) -> list[ShownCode]:
    return [
        ShownCode(_open(each.sealed, CODE), is_used=each.used_at is not None) for each in factor.recovery_codes.all()
    ]


@transaction.atomic
def recovery_codes_replace(*, factor: SecondFactor) -> None:
    """Make new recovery codes; the former ones no longer work."""
    SecondFactor.objects.select_for_update().get(pk=factor.pk)
    factor.recovery_codes.all().delete()
    _recovery_codes_add(factor)
    log.info("recovery codes replaced", account=factor.user.get_username())


def _recovery_codes_add(factor: SecondFactor) -> None:
    sealing = vault()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(factor=factor, sealed=sealing.seal({CODE: code})) for code in recovery_codes_new()
    )


# --- Asked for --------------------------------------------------------------------------------------------------------


def second_factor_passed(request: HttpRequest, user: User, code: str) -> bool:
    """Use up a code of the app, or a recovery code. Return whether it was right.

    A wrong one counts like a wrong password, towards the same limits: 429 above them.
    """
    attempt_count(request, user.get_username())
    factor = second_factor_of(user)
    if factor is None:
        return False
    used = _app_code_use(factor, code) or _recovery_code_use(factor, code)
    if used:
        attempt_uncount(request, user.get_username())
    else:
        log.warning("wrong code", account=user.get_username())
    return used


def _app_code_use(factor: SecondFactor, code: str) -> bool:
    secret = secret_opened(factor.sealed)
    step = step_of_code(secret, code, now=step_at(timezone.now()), after=factor.last_step)
    if step is None:
        return False
    # Of two requests with the same code one moves the step.
    return bool(SecondFactor.objects.filter(pk=factor.pk, last_step__lt=step).update(last_step=step))


def _recovery_code_use(factor: SecondFactor, code: str) -> bool:
    for each in factor.recovery_codes.filter(used_at=None):
        if is_same(_open(each.sealed, CODE), code):
            used = bool(factor.recovery_codes.filter(pk=each.pk, used_at=None).update(used_at=Now()))
            if used:
                log.info("recovery code used", account=factor.user.get_username())
            return used
    return False


def vault() -> Vault:
    return Vault([settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS], purpose=PURPOSE)


def _open(sealed: str, name: str) -> str:
    try:
        return vault().open(sealed)[name]
    except SealBrokenError as error:
        raise AnnotationError(UNREADABLE) from error
