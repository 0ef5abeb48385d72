from annotation.urls import (
    account,
    audit,
    campaigns,
    datasets,
    monitoring,
    operations,
    projects,
    raters,
    records,
    references,
)

app_name = "annotation"
urlpatterns = [
    *account.urlpatterns,
    *projects.urlpatterns,
    *datasets.urlpatterns,
    *campaigns.urlpatterns,
    *monitoring.urlpatterns,
    *operations.urlpatterns,
    *audit.urlpatterns,
    *raters.urlpatterns,
    *records.urlpatterns,
    *references.urlpatterns,
]
