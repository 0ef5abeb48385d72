from annotation.urls import (
    account,
    audit,
    campaigns,
    datasets,
    dry_runs,
    monitoring,
    operations,
    projects,
    quality,
    raters,
    records,
    recruitment,
    references,
)

app_name = "annotation"
urlpatterns = [
    *account.urlpatterns,
    *projects.urlpatterns,
    *datasets.urlpatterns,
    *campaigns.urlpatterns,
    *dry_runs.urlpatterns,
    *monitoring.urlpatterns,
    *operations.urlpatterns,
    *audit.urlpatterns,
    *quality.urlpatterns,
    *raters.urlpatterns,
    *records.urlpatterns,
    *recruitment.urlpatterns,
    *references.urlpatterns,
]
