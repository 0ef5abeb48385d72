from django.urls import path

from annotation.references.browsing.views import items
from annotation.references.browsing.views import references as browsing
from annotation.references.releases.views import compare, downloads, imports, releases, responses
from annotation.references.sets import views as sets
from annotation.references.weighing.views import attention, awaiting, weighing

SET = "p/<slug:project_slug>/references/<slug:slug>/"
RELEASE = f"{SET}v<int:number>/"
RESPONSE = "p/<slug:project_slug>/responses/<int:pk>/"

urlpatterns = [
    path("p/<slug:project_slug>/references/", sets.reference_set_list, name="reference-set-list"),
    path("p/<slug:project_slug>/references/new/", sets.reference_set_create, name="reference-set-create"),
    path("p/<slug:project_slug>/references/import/", sets.reference_set_import, name="reference-set-import"),
    path("p/<slug:project_slug>/references/equal/", sets.reference_set_equal, name="reference-set-equal"),
    path(
        "p/<slug:project_slug>/weights-imports/<int:pk>/", imports.weights_import_detail, name="weights-import-detail"
    ),
    path(
        "p/<slug:project_slug>/weights-imports/<int:pk>/cancel/",
        imports.weights_import_cancel,
        name="weights-import-cancel",
    ),
    path(SET, sets.reference_set_detail, name="reference-set-detail"),
    path(f"{SET}edit/", sets.reference_set_edit, name="reference-set-edit"),
    path(f"{SET}campaigns/", sets.reference_set_add_campaign, name="reference-set-add-campaign"),
    path(f"{SET}release/", sets.release_create, name="release-create"),
    path(RELEASE, releases.release_detail, name="release-detail"),
    path(f"{RELEASE}browse/", browsing.release_browse, name="release-browse"),
    path(f"{RELEASE}browse/table.<str:file_format>", browsing.release_browse_table, name="release-browse-table"),
    path(f"{RELEASE}cancel/", releases.release_cancel, name="release-cancel"),
    path(f"{RELEASE}retry/", releases.release_retry, name="release-retry"),
    path(f"{RELEASE}deprecate/", releases.release_deprecate, name="release-deprecate"),
    path(f"{RELEASE}restore/", releases.release_restore, name="release-restore"),
    path(f"{RELEASE}compare/", compare.release_compare, name="release-compare"),
    path(
        f"{RELEASE}compare/<str:table>.<str:file_format>",
        compare.release_compare_download,
        name="release-compare-download",
    ),
    path(
        f"{RELEASE}compare/chart/<str:chart>.<str:file_format>",
        compare.release_compare_chart,
        name="release-compare-chart",
    ),
    path(f"{RELEASE}files/<str:name>", downloads.release_file, name="release-file"),
    path(f"{RELEASE}weights.<str:file_format>", downloads.release_download, name="release-download"),
    path(f"{RELEASE}distribution.<str:file_format>", browsing.release_chart, name="release-chart"),
    path(RESPONSE, responses.response_detail, name="response-detail"),
    path(f"{RESPONSE}ratings.<str:file_format>", responses.response_ratings_download, name="response-ratings-download"),
    path(f"{RESPONSE}weights.<str:file_format>", responses.response_weights_download, name="response-weights-download"),
    path("p/<slug:project_slug>/datasets/<slug:dataset_slug>/items/<int:pk>/", items.item_detail, name="item-detail"),
    path(f"{RELEASE}attention/", attention.release_attention, name="release-attention"),
    path(f"{RELEASE}attention/send-back/", attention.release_attention_send, name="release-attention-send"),
    path(f"{RELEASE}sensitivity/", weighing.release_sensitivity, name="release-sensitivity"),
    path(
        f"{RELEASE}sensitivity.<str:file_format>", weighing.release_sensitivity_chart, name="release-sensitivity-chart"
    ),
    path(f"{RELEASE}raters/", weighing.release_influence, name="release-influence"),
    path(f"{RELEASE}raters.<str:file_format>", weighing.release_influence_chart, name="release-influence-chart"),
    path(f"{RELEASE}figures/<int:pk>/retry/", awaiting.release_figures_retry, name="release-figures-retry"),
    path(f"{RELEASE}circularity/", weighing.release_guard, name="release-guard"),
]
