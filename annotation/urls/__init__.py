from annotation.urls import account, campaigns, datasets, monitoring, projects, raters, records, references

app_name = "annotation"
urlpatterns = [
    *account.urlpatterns,
    *projects.urlpatterns,
    *datasets.urlpatterns,
    *campaigns.urlpatterns,
    *monitoring.urlpatterns,
    *raters.urlpatterns,
    *records.urlpatterns,
    *references.urlpatterns,
]
