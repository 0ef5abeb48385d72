"""The documents that go with a record: the methods paragraph and the datasheet."""

from annotation.core.markdown import plain
from annotation.models import Campaign
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services.datasheet import sheet_json, sheet_markdown, sheet_of
from annotation.records.services.methods import methods_bibtex, methods_latex, methods_text


def record_documents(campaign: Campaign) -> dict[str, str]:
    """Return documents by file name; the facts are read once for all."""
    facts = campaign_facts(campaign)
    sheet = sheet_of(facts)
    methods = (
        f"# Methods\n\n{plain(methods_text(facts))}\n\n## LaTeX\n\n```latex\n{methods_latex(facts)}```\n\n"
        f"## BibTeX\n\n```bibtex\n{methods_bibtex(campaign)}```\n"
    )
    return {"methods.md": methods, "heds.md": sheet_markdown(sheet), "heds.json": sheet_json(sheet)}
