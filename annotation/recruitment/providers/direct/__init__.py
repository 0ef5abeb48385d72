"""The direct link: raters come by themselves, with or without a name; there is no provider to pay them."""

from collections.abc import Mapping, Sequence

from annotation.recruitment.providers.base import Arrival, Completion, CompletionCode, Outcome, Provider
from annotation.recruitment.providers.codes import code_for


class Direct(Provider):
    key = "direct"
    label = "Direct link"
    sends_raters = False

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        return None

    def entry_url(self, url: str) -> str:
        return url

    def completion(self, arrival: Arrival, outcome: Outcome, codes: Sequence[CompletionCode]) -> Completion:
        return Completion(code=code_for(codes, outcome))
