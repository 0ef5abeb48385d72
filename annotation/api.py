"""This app's endpoints, under /api/v1/."""

from rest_framework.routers import BaseRouter

from annotation.campaigns.api import campaigns
from annotation.campaigns.api import lists as api_lists
from annotation.datasets.api import datasets, imports, outputs
from annotation.demo import api as examples
from annotation.judgements import api as judgements_api
from annotation.mining import api as mining
from annotation.projects.api import projects
from annotation.quality import api as operations
from annotation.rating import api as rating_api
from annotation.references.browsing import api as browsing_api
from annotation.references.releases.api import references, weights_imports
from annotation.removal import api as removal
from annotation.results import api as results
from annotation.seeds.api import seeds
from annotation.seeds.api import selecting as seeds_selecting
from annotation.transfer import api as transfer

PROJECT = "projects/<slug:project_slug>"
DATASET = f"{PROJECT}/datasets/<slug:dataset_slug>"
CAMPAIGN = f"{PROJECT}/campaigns/<int:campaign_pk>"
REFERENCE_SET = f"{PROJECT}/reference-sets/<slug:reference_set_slug>"


def register(router: BaseRouter) -> None:
    router.register("projects", projects.ProjectsViewSet, "project")
    router.register("project-imports", transfer.ProjectImportsViewSet, "project-import")
    router.register("example-projects", examples.ExamplesViewSet, "example-project")
    router.register(PROJECT, transfer.ProjectExportViewSet, "whole-project")
    router.register(f"{PROJECT}/members", projects.MembersViewSet, "member")
    router.register(f"{PROJECT}/invitations", projects.InvitationsViewSet, "invitation")
    router.register(f"{PROJECT}/datasets", datasets.DatasetsViewSet, "dataset")
    router.register(DATASET, removal.DatasetRemovalViewSet, "removed-dataset")
    router.register(CAMPAIGN, removal.CampaignRemovalViewSet, "removed-campaign")
    router.register(f"{PROJECT}/deletions", removal.DeletionsViewSet, "deletion")
    router.register(f"{DATASET}/items", browsing_api.ItemsViewSet, "item")
    router.register(f"{DATASET}/outputs", outputs.OutputsViewSet, "dataset-output")
    router.register(f"{DATASET}/responses", datasets.ResponsesViewSet, "response")
    router.register(f"{PROJECT}/dataset-imports", imports.DatasetImportsViewSet, "dataset-import")
    router.register(f"{PROJECT}/rating-imports", judgements_api.RatingImportsViewSet, "rating-import")
    router.register(f"{PROJECT}/corpora", mining.CorporaViewSet, "corpus")
    router.register(f"{PROJECT}/mining-runs", mining.MiningRunsViewSet, "mining-run")
    router.register(f"{PROJECT}/mining-runs/<int:mining_run_pk>/candidates", mining.CandidatesViewSet, "candidate")
    router.register(f"{PROJECT}/campaigns", campaigns.CampaignsViewSet, "campaign")
    router.register(CAMPAIGN, operations.MonitorViewSet, "watched-campaign")
    router.register(CAMPAIGN, results.ResultsViewSet, "campaign-results")
    router.register(f"{CAMPAIGN}/ratings", rating_api.RatingsViewSet, "rating")
    router.register(f"{CAMPAIGN}/written", rating_api.WrittenTextsViewSet, "written-text")
    router.register(f"{CAMPAIGN}/amendments", operations.AmendmentsViewSet, "amendment")
    router.register(f"{CAMPAIGN}/decisions", operations.DecisionsViewSet, "decision")
    router.register(f"{CAMPAIGN}/rules", operations.RulesViewSet, "rules")
    router.register(f"{PROJECT}/reference-sets", references.ReferenceSetsViewSet, "reference-set")
    router.register(f"{REFERENCE_SET}/releases", references.ReleasesViewSet, "release")
    router.register(f"{REFERENCE_SET}/releases/<int:release_number>/weights", references.WeightsViewSet, "weight")
    router.register(f"{PROJECT}/weights-imports", weights_imports.WeightsImportsViewSet, "weights-import")
    router.register(f"{PROJECT}/response-lists", api_lists.ResponseListsViewSet, "response-list")
    router.register(
        f"{PROJECT}/response-lists/<int:list_pk>/responses", api_lists.ListedResponsesViewSet, "listed-response"
    )
    router.register(f"{PROJECT}/seed-samples", seeds.SeedSamplesViewSet, "seed-sample")
    router.register(f"{PROJECT}/seed-selectings", seeds_selecting.SeedSelectingsViewSet, "seed-selecting")
    router.register(f"{PROJECT}/seed-selections", seeds.SeedSelectionsViewSet, "seed-selection")
    router.register(f"{PROJECT}/seed-selections/<int:selection_pk>/members", seeds.SeedMembersViewSet, "seed-member")
