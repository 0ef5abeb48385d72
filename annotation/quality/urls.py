from django.urls import path

from annotation.quality.selectors.monitoring.tables import TABLES
from annotation.quality.views import monitoring, operations
from annotation.quality.views import raters as quality

CAMPAIGN = "p/<slug:project_slug>/campaigns/<int:pk>/"
RATER = f"{CAMPAIGN}raters/<int:rater>/"

urlpatterns = [
    path(f"{CAMPAIGN}monitor/", monitoring.campaign_monitor_fragment, name="campaign-monitor-fragment"),
    path(f"{CAMPAIGN}charts/<slug:name>.<str:file_format>", monitoring.campaign_chart, name="campaign-chart"),
    *(
        path(
            f"{CAMPAIGN}{name}.<str:file_format>",
            monitoring.campaign_table,
            {"name": name},
            name=f"campaign-{name}-download",
        )
        for name in TABLES
    ),
    path(f"{CAMPAIGN}change/<slug:operation>/", operations.campaign_operation, name="campaign-operation"),
    path(f"{CAMPAIGN}raters/", quality.campaign_raters, name="campaign-raters"),
    path(f"{CAMPAIGN}raters.<str:file_format>", quality.campaign_raters_chart, name="campaign-raters-chart"),
    path(RATER, quality.campaign_rater, name="campaign-rater"),
    path(f"{RATER}<slug:act>/", quality.campaign_rater_decide, name="campaign-rater-decide"),
    path(f"{CAMPAIGN}quality/", quality.campaign_quality, name="campaign-quality"),
    path(f"{CAMPAIGN}quality/rules/", quality.campaign_quality_rules, name="campaign-quality-rules"),
    path(f"{CAMPAIGN}quality/apply/<int:version>/", quality.campaign_quality_apply, name="campaign-quality-apply"),
]
