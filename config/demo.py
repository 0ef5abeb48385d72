"""The addresses of the demo, printed when all processes are up."""

from annotation.models import Campaign, CampaignState
from config.checks import DEMO_PASSWORD


def demo_banner(address: str) -> str:
    links = [
        f"  Rater link   {address}/r/{campaign.link_token}/   ({campaign.name})"
        for campaign in Campaign.objects.filter(project__slug="demo", state=CampaignState.RUNNING).order_by("id")
    ]
    return "\n".join(
        ["", f"  Assay        {address}/", f"  Manager      manager, password {DEMO_PASSWORD}", *links, ""]
    )
