"""Refusals of parameters, by name."""

from typing import NoReturn


class ParameterRefused(ValueError):
    """``field`` is a path, as in ``hygiene[1].min_tokens``; ``message`` says what was found and what is accepted."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message

    def inside(self, prefix: str) -> "ParameterRefused":
        """Return the refusal for a parameter inside another parameter."""
        return ParameterRefused(f"{prefix}.{self.field}" if self.field else prefix, self.message)


def refuse(field: str, found: object, accepted: str) -> NoReturn:
    raise ParameterRefused(field, f"found {found!r}; accepted: {accepted}.")


def check_whole(field: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        refuse(field, value, f"a whole number from {least:,} to {most:,}")


def check_number(field: str, value: object, least: float, most: float) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        refuse(field, value, f"a number from {least:g} to {most:g}")
