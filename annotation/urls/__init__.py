from annotation.urls import account, campaigns, datasets, monitoring, projects, raters, references

app_name = "annotation"
urlpatterns = [
    *account.urlpatterns,
    *projects.urlpatterns,
    *datasets.urlpatterns,
    *campaigns.urlpatterns,
    *monitoring.urlpatterns,
    *raters.urlpatterns,
    *references.urlpatterns,
]
