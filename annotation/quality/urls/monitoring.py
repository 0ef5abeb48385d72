from django.urls import URLPattern, path

from annotation.quality.views import monitoring

CAMPAIGN = "p/<slug:project_slug>/campaigns/<int:pk>/"

urlpatterns: list[URLPattern] = [
    path(f"{CAMPAIGN}monitor/", monitoring.campaign_monitor_fragment, name="campaign-monitor-fragment"),
    path(f"{CAMPAIGN}charts/<slug:name>.<str:file_format>", monitoring.campaign_chart, name="campaign-chart"),
    *(
        path(
            f"{CAMPAIGN}{name}.<str:file_format>",
            monitoring.campaign_table,
            {"name": name},
            name=f"campaign-{name}-download",
        )
        for name in monitoring.TABLES
    ),
]
