from annotation.accounts import urls as accounts
from annotation.campaigns import urls as campaigns
from annotation.datasets import urls as datasets
from annotation.demo import urls as demo
from annotation.dry_runs import urls as dry_runs
from annotation.judgements import urls as judgements
from annotation.mining import urls as mining
from annotation.notifications import urls as notifications
from annotation.overview import urls as overview
from annotation.projects import urls as projects
from annotation.quality import urls as quality
from annotation.rating import urls as rating
from annotation.records import urls as records
from annotation.recruitment import urls as recruitment
from annotation.references import urls as references
from annotation.removal import urls as removal
from annotation.results import urls as results
from annotation.seeds import urls as seeds
from annotation.transfer import urls as transfer

app_name = "annotation"
urlpatterns = [
    *demo.urlpatterns,
    *projects.urlpatterns,
    *accounts.urlpatterns,
    *notifications.urlpatterns,
    *transfer.urlpatterns,
    *removal.urlpatterns,
    *datasets.urlpatterns,
    *campaigns.urlpatterns,
    *rating.urlpatterns,
    *quality.urlpatterns,
    *recruitment.urlpatterns,
    *seeds.urlpatterns,
    *judgements.urlpatterns,
    *results.urlpatterns,
    *dry_runs.urlpatterns,
    *references.urlpatterns,
    *records.urlpatterns,
    *mining.urlpatterns,
    *overview.urlpatterns,
]
