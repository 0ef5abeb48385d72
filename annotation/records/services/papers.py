"""The documents that go with a record: the methods paragraph and the datasheet."""

from annotation.models import Campaign
from annotation.selectors.records.facts import campaign_facts
from annotation.services.records.datasheet import sheet_json, sheet_markdown, sheet_of
from annotation.services.records.methods import methods_bibtex, methods_latex, methods_text


def record_documents(campaign: Campaign) -> dict[str, str]:
    """By the name of the file; the facts are read once for all."""
    facts = campaign_facts(campaign)
    sheet = sheet_of(facts)
    methods = (
        f"# Methods\n\n{methods_text(facts)}\n\n## LaTeX\n\n```latex\n{methods_latex(facts)}```\n\n"
        f"## BibTeX\n\n```bibtex\n{methods_bibtex(campaign)}```\n"
    )
    return {"methods.md": methods, "heds.md": sheet_markdown(sheet), "heds.json": sheet_json(sheet)}
