"""What a kind of notification says about itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Role

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """Something that members can be notified of.

    Attributes
    ----------
    key : str
        In the database and in webhooks.
    label, when : str
        For people: its name, and when and why it is sent, in one sentence.
    title, text : callable
        Facts to the subject of an e-mail, and to a sentence or two.
    link : callable
        Facts to the path of the page that says more.
    role : Role
        The least role that is notified: who may see the page.
    jobs : mapping
        Jobs whose end it is about, by the label of their model: facts of a job, or None if no one is notified.
    offered : bool
        Whether members choose it.
    """

    key: str
    label: str
    when: str
    title: Callable[[Facts], str]
    text: Callable[[Facts], str]
    link: Callable[[Facts], str]
    role: Role = Role.VIEWER
    jobs: Mapping[str, Callable[[Any], dict[str, Any] | None]] = field(default_factory=dict)
    offered: bool = True


def outcome_of(facts: Facts) -> str:
    """Return how a job ended, as the end of a sentence."""
    return f"failed: {facts['error'].rstrip('.')}" if facts["error"] else "is done"
