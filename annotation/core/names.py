"""Names that people give, and the addresses made of them."""

from django.utils.text import slugify

from annotation.core.errors import AnnotationError

NAME_CHARACTERS = 120
SLUG_CHARACTERS = 60


def check_length(name: str) -> None:
    """Refuse a name that is too long."""
    if len(name) > NAME_CHARACTERS:
        raise AnnotationError.at("name", f"Name: found {len(name)} characters; accepted: up to {NAME_CHARACTERS}.")


def slug_of(name: str, *, reserved: tuple[str, ...] = ()) -> str:
    """Return the address of what has this name; refuse a name without a letter or digit, and reserved ones."""
    check_length(name)
    slug = slugify(name)[:SLUG_CHARACTERS].strip("-")
    if not slug or slug in reserved:
        other = f", other than {' or '.join(f'“{word}”' for word in reserved)}" if reserved else ""
        accepted = f"a name with at least one letter or digit (a to z, 0 to 9){other}"
        raise AnnotationError.at("name", f"Name: found {name!r}; accepted: {accepted}.")
    return slug
