"""Amounts of money that a provider can pay."""

from decimal import Decimal

from annotation.recruitment.providers.errors import ProviderError


def is_payable(amount: Decimal) -> bool:
    """Return whether an amount is above 0 and has at most two decimals."""
    return amount.is_finite() and amount > 0 and amount * 100 == (amount * 100).to_integral_value()


def require_amount(amount: Decimal, *, field: str) -> None:
    if not is_payable(amount):
        raise ProviderError.at(field, f"Found {amount}; accepted: an amount above 0 with at most two decimals.")
