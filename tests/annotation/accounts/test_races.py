"""Two requests at the same moment: a code counts once, and a person gets one account."""

import pytest
from pytest_django import Settings

from annotation.accounts.services import second_factors as services
from annotation.accounts.services.single_sign_on import Person, single_sign_on_user
from annotation.models import User
from tests.annotation.accounts.conftest import Phone
from tests.races import race


@pytest.mark.django_db(transaction=True)
def test_a_code_counts_once_and_a_person_gets_one_account(manager: User, phone: Phone, settings: Settings) -> None:
    sealed = services.secret_sealed_new()
    phone.key = services.secret_opened(sealed)
    factor = services.second_factor_set_up(user=manager, sealed=sealed, code=phone.code())
    phone.wait()
    assert race(*[lambda: services._app_code_use(factor, phone.code())] * 2) == (True, False)
    code = services.recovery_codes_of(factor)[0].text
    assert race(*[lambda: services._recovery_code_use(factor, code)] * 2) == (True, False)

    settings.OIDC_NEW_ACCOUNTS = "all"
    ada = Person("https://campus.example", "a-1815", email="ada@campus.example", name="ada")
    first, second = race(*[lambda: single_sign_on_user(person=ada, invited=False)] * 2)
    assert first == second
    namesake = Person("https://campus.example", "b-1815", email="ada@lab.example", name="ada")
    assert single_sign_on_user(person=namesake, invited=False).username == "ada-2"
