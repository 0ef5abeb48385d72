from django.urls import URLPattern, path

from annotation.dry_runs import views as dry_runs

ALL = "p/<slug:project_slug>/campaigns/<int:pk>/dry-runs/"
ONE = f"{ALL}<int:number>/"

urlpatterns: list[URLPattern] = [
    path(ALL, dry_runs.campaign_dry_runs, name="campaign-dry-runs"),
    path(f"{ALL}compare/", dry_runs.campaign_dry_run_compare, name="campaign-dry-run-compare"),
    path(ONE, dry_runs.campaign_dry_run, name="campaign-dry-run"),
    path(f"{ONE}cancel/", dry_runs.campaign_dry_run_cancel, name="campaign-dry-run-cancel"),
    path(f"{ONE}retry/", dry_runs.campaign_dry_run_retry, name="campaign-dry-run-retry"),
    path(f"{ONE}delete/", dry_runs.campaign_dry_run_delete, name="campaign-dry-run-delete"),
    path(f"{ONE}result.json", dry_runs.campaign_dry_run_download, name="campaign-dry-run-download"),
    path(f"{ONE}charts/<slug:name>.<str:file_format>", dry_runs.campaign_dry_run_chart, name="campaign-dry-run-chart"),
]
