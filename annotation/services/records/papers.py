"""The documents that go with a record: the methods paragraph and the datasheet."""

from annotation.models import Campaign
from annotation.selectors.records.facts import campaign_facts
from annotation.services.records.datasheet import Sheet, sheet_json, sheet_markdown, sheet_of
from annotation.services.records.methods import methods_bibtex, methods_latex, methods_text


def _methods(campaign: Campaign) -> str:
    facts = campaign_facts(campaign)
    return (
        f"# Methods\n\n{methods_text(facts)}\n\n## LaTeX\n\n```latex\n{methods_latex(facts)}```\n\n"
        f"## BibTeX\n\n```bibtex\n{methods_bibtex(campaign)}```\n"
    )


def _sheet(campaign: Campaign) -> Sheet:
    return sheet_of(campaign_facts(campaign))


DOCUMENTS = (
    ("methods.md", _methods),
    ("heds.md", lambda campaign: sheet_markdown(_sheet(campaign))),
    ("heds.json", lambda campaign: sheet_json(_sheet(campaign))),
)
