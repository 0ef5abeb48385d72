"""The direct link: raters come by themselves, under a name or none. There is nobody to ask and nobody to pay."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from annotation.recruitment.providers.base import Arrival, Completion, CompletionCode, Outcome, Provider
from annotation.recruitment.providers.codes import code_for


class Direct(Provider):
    key: ClassVar[str] = "direct"
    label: ClassVar[str] = "Direct link"
    sends_raters: ClassVar[bool] = False

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        return None

    def entry_url(self, url: str) -> str:
        return url

    def completion(self, arrival: Arrival, outcome: Outcome, codes: Sequence[CompletionCode]) -> Completion:
        return Completion(code=code_for(codes, outcome))
