from annotation.campaigns import urls as campaigns
from annotation.datasets import urls as datasets
from annotation.dry_runs import urls as dry_runs
from annotation.mining import urls as mining
from annotation.projects.urls import account, audit, projects
from annotation.quality.urls import monitoring, operations
from annotation.quality.urls import raters as quality
from annotation.rating import urls as raters
from annotation.records import urls as records
from annotation.recruitment import urls as recruitment
from annotation.references import urls as references
from annotation.references.weighing import urls as weighing
from annotation.seeds import urls as seeds

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
    *mining.urlpatterns,
    *seeds.urlpatterns,
    *weighing.urlpatterns,
]
