"""Codes against the table of RFC 6238, appendix B: its last six digits, of which an app shows no more."""

import base64
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from annotation.accounts.one_time_codes import (
    RECOVERY_CODES,
    address_for_apps,
    code_of_step,
    is_same,
    recovery_codes_new,
    secret_new,
    step_at,
    step_of_code,
)

SECRET = base64.b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    assert code_of_step(SECRET, step_at(datetime.fromtimestamp(seconds, UTC))) == code


def test_a_code_counts_for_a_step_around_now_and_only_after_the_last_used() -> None:
    code = code_of_step(SECRET, 1000)
    found = [step_of_code(SECRET, code, now=now, after=0) for now in (998, 999, 1000, 1001, 1002)]
    assert found == [None, 1000, 1000, 1000, None]
    assert step_of_code(SECRET, code, now=1000, after=1000) is None
    assert step_of_code(SECRET, f"{code[:3]} {code[3:]}", now=1000, after=999) == 1000


def test_what_an_app_reads_names_account_and_product() -> None:
    address = urlsplit(address_for_apps(SECRET, account="ada", product="Assay"))
    assert (address.scheme, address.netloc, address.path) == ("otpauth", "totp", "/Assay:ada")
    assert parse_qs(address.query)["secret"] == [SECRET]


def test_secrets_and_recovery_codes_are_random_and_codes_are_read_as_people_type_them() -> None:
    assert len(base64.b32decode(secret_new())) == 20
    assert secret_new() != secret_new()
    codes = recovery_codes_new()
    assert len(set(codes)) == RECOVERY_CODES
    assert is_same("abcde23456", " ABCDE-23456 ")
    assert not is_same("abcde23456", "abcde2345ü")
