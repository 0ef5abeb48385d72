"""Every page of a project for every role: a page without a declared role fails here.

Only the project exists, so these tests show that the role is checked before any lookup. The API's
routes are walked in tests/api/test_access.py.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import pytest
from django.db import transaction
from django.template import engines, loader
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLResolver

from annotation.models import Project, Role, User

# The roles that GET and POST need at least (None: the method is refused), and their pages.
LEAST: dict[tuple[Role | None, Role | None], str] = {
    (None, Role.MANAGER): (
        "annotation:campaign-close annotation:campaign-dry-run-cancel annotation:campaign-dry-run-delete "
        "annotation:campaign-dry-run-retry annotation:campaign-launch annotation:campaign-pause "
        "annotation:campaign-rater-decide annotation:campaign-recruitment-act "
        "annotation:campaign-recruitment-places annotation:campaign-recruitment-review annotation:campaign-resume "
        "annotation:campaign-screen-remove annotation:corpus-cancel annotation:corpus-delete "
        "annotation:corpus-retry annotation:dataset-import-ask annotation:dataset-import-cancel "
        "annotation:dataset-import-discard annotation:dataset-import-example annotation:dataset-import-map "
        "annotation:mining-run-cancel "
        "annotation:mining-run-delete annotation:mining-run-near annotation:mining-run-rate "
        "annotation:mining-run-retry annotation:mining-run-store annotation:provider-account-messages "
        "annotation:provider-account-remove annotation:provider-account-test annotation:rating-import-cancel "
        "annotation:rating-import-confirm annotation:rating-import-discard annotation:rating-import-read-again "
        "annotation:reference-set-add-campaign annotation:reference-set-equal annotation:release-cancel "
        "annotation:release-create "
        "annotation:release-figures-retry annotation:release-restore annotation:release-retry "
        "annotation:response-list-delete annotation:seed-rate annotation:seed-selecting-cancel "
        "annotation:seed-unselect annotation:weights-import-cancel correlations:parameter-study-cancel "
        "correlations:parameter-study-retry correlations:study-cancel correlations:study-retry "
        "correlations:study-sensitivity-create correlations:study-verify correlations:study-joint-create "
        "correlations:study-joint-verify "
        "correlations:parameter-study-verify "
        "correlations:study-verification-cancel "
        "correlations:study-verification-retry metrics:model-cancel "
        "metrics:model-delete metrics:model-retry metrics:run-cancel metrics:run-retry "
    ),
    (None, Role.OWNER): (
        "annotation:invitation-create annotation:invitation-revoke annotation:project-members-change "
        "annotation:project-members-remove "
    ),
    (Role.MANAGER, None): ("annotation:campaign-edit annotation:provider-accounts "),
    (Role.OWNER, None): ("annotation:project-export annotation:project-archive "),
    (Role.MANAGER, Role.MANAGER): (
        "annotation:campaign-clone annotation:campaign-create annotation:campaign-import "
        "annotation:campaign-operation annotation:campaign-quality-apply annotation:campaign-quality-rules "
        "annotation:campaign-recruitment-batch annotation:campaign-recruitment-bonus "
        "annotation:campaign-recruitment-create annotation:campaign-recruitment-edit annotation:campaign-screen "
        "annotation:campaign-screen-lines annotation:campaign-screen-new annotation:campaign-step "
        "annotation:corpus-create annotation:corpus-from-dataset annotation:dataset-edit annotation:dataset-import "
        "annotation:dataset-outputs "
        "annotation:mining-run-create annotation:provider-account annotation:provider-account-connect "
        "annotation:rating-import annotation:reference-set-create annotation:reference-set-edit "
        "annotation:reference-set-import annotation:release-attention-send annotation:release-deprecate "
        "annotation:response-list-rate annotation:seed-sample annotation:seed-select "
        "correlations:parameter-study-create correlations:study-create correlations:study-from-specification "
        "correlations:study-joint-start correlations:run-scale metrics:model-create metrics:run-create "
        "metrics:run-import "
    ),
    (Role.OWNER, Role.OWNER): (
        "annotation:project-delete annotation:project-edit annotation:rater-erase annotation:rater-held "
        "annotation:dataset-delete annotation:campaign-delete "
    ),
    (Role.VIEWER, None): (
        "annotation:campaign-record-amendments annotation:campaign-results annotation:results "
        "annotation:results-chart annotation:results-download annotation:results-items "
        "annotation:campaign-agreement-download annotation:campaign-audit annotation:campaign-chart "
        "annotation:campaign-compare annotation:campaign-design annotation:campaign-detail "
        "annotation:campaign-drift-download annotation:campaign-dry-run annotation:campaign-dry-run-chart "
        "annotation:campaign-dry-run-compare annotation:campaign-dry-run-download "
        "annotation:campaign-enough-download annotation:campaign-export annotation:campaign-list "
        "annotation:campaign-monitor-fragment annotation:campaign-places-download annotation:campaign-preview "
        "annotation:campaign-quality annotation:campaign-rater annotation:campaign-raters "
        "annotation:campaign-raters-chart annotation:campaign-ratings annotation:campaign-record-download "
        "annotation:campaign-record-methods annotation:campaign-record-table annotation:campaign-records "
        "annotation:campaign-recruitment annotation:campaign-recruitments annotation:corpus-detail "
        "annotation:corpus-list annotation:dataset-detail annotation:dataset-download annotation:dataset-export "
        "annotation:dataset-import-detail annotation:dataset-list annotation:item-detail "
        "annotation:mining-run-candidates annotation:mining-run-detail annotation:mining-run-download "
        "annotation:project-audit annotation:project-detail annotation:project-jobs annotation:rating-import-detail "
        "annotation:reference-set-detail annotation:reference-set-list annotation:release-attention "
        "annotation:release-browse annotation:release-browse-table annotation:release-chart "
        "annotation:release-compare annotation:release-compare-chart annotation:release-compare-download "
        "annotation:release-detail annotation:release-download annotation:release-file annotation:release-guard "
        "annotation:release-influence annotation:release-influence-chart annotation:release-sensitivity "
        "annotation:release-sensitivity-chart annotation:response-detail annotation:response-list-detail "
        "annotation:response-list-list annotation:response-ratings-download annotation:response-weights-download "
        "annotation:seed-chart annotation:seed-detail annotation:seed-list annotation:seed-selecting "
        "annotation:deletion-detail annotation:weights-import-detail correlations:parameter-study-list "
        "correlations:parameter-study-list-download correlations:response-uses correlations:study-list "
        "correlations:study-list-download metrics:model-list metrics:release-item metrics:response-matches "
        "metrics:run-export metrics:run-list metrics:run-list-download metrics:run-metrics "
        "metrics:run-compare metrics:run-leaderboard-download "
        "correlations:parameter-study-detail correlations:parameter-study-report "
        "correlations:parameter-study-download "
        "correlations:parameter-study-figure correlations:parameter-study-figure-download correlations:study-detail "
        "correlations:study-download correlations:study-figure correlations:study-figure-download "
        "correlations:study-row correlations:study-levels correlations:study-significance correlations:study-stand-in "
        "correlations:study-sensitivity "
        "correlations:campaign-helped correlations:campaign-helped-download "
        "correlations:study-compare correlations:study-compare-download correlations:study-compare-chart "
        "correlations:study-report correlations:study-specification correlations:study-verification-detail "
        "correlations:study-joint-detail correlations:study-joint-report "
        "metrics:model-detail metrics:model-download metrics:model-overlap-download "
        "metrics:model-learning metrics:model-learning-download "
        "metrics:model-spectrum metrics:model-spectrum-download metrics:run-comparisons metrics:run-detail "
        "metrics:run-disagreements metrics:run-download metrics:run-figure metrics:run-figure-download "
        "metrics:run-scores-figure metrics:run-scores-figure-download metrics:run-segment "
        "metrics:run-segment-download metrics:run-system-detail metrics:run-system-download "
    ),
    (Role.VIEWER, Role.MANAGER): (
        "annotation:campaign-dry-runs annotation:campaign-record-datasheet annotation:campaign-written "
        "correlations:study-verification-list "
    ),
    (Role.VIEWER, Role.OWNER): ("annotation:project-members "),
    (None, Role.VIEWER): "annotation:project-notifications-secret annotation:project-notifications-test ",
    (Role.VIEWER, Role.VIEWER): (
        "annotation:campaign-preview-frame annotation:project-notifications metrics:playground "
    ),
}
ROLES = {name: least for least, names in LEAST.items() for name in names.split()}
VALUES = {"IntConverter": 1, "SlugConverter": "x", "StringConverter": "csv"}


def pages(
    resolver: URLResolver, namespace: str = "", outer: Mapping[str, object] = MappingProxyType({})
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield every URL name with a value for each parameter; ``outer`` holds those of enclosing resolvers."""
    for entry in resolver.url_patterns:
        converters = entry.pattern.converters
        parts = {**outer, **{name: VALUES.get(type(converter).__name__, "x") for name, converter in converters.items()}}
        if isinstance(entry, URLResolver):
            yield from pages(entry, f"{entry.namespace}:" if entry.namespace else namespace, parts)
        else:
            yield f"{namespace}{entry.name}", parts


PAGES = {
    name: parts | {"project_slug": "chit-chat"}
    for name, parts in pages(get_resolver())
    if "project_slug" in parts and not name.startswith("api:")
}


def is_right(client: Client, role: Role | None, least: Role | None, method: str, address: str) -> bool:
    """Return whether the response is right for a member of ``role`` (None: an outsider or anonymous visitor)."""
    point = transaction.savepoint()
    answer = getattr(client, method)(address)
    transaction.savepoint_rollback(point)
    if role is None:
        signs_in = "_auth_user_id" not in client.session and "/accounts/login/" in answer.get("Location", "")
        no_member = answer.status_code == 404 and answer.context["exception"] == "No such project."
        return signs_in or no_member or (least is None and answer.status_code == 405)
    if least is None:
        return answer.status_code == 405
    if role.rank < least.rank:
        return answer.status_code == 403
    return answer.status_code not in (403, 405) and answer.status_code < 500


@pytest.fixture
def _shortened_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render the page of a refusal once in a test, afterwards its reason alone: hundreds are the same."""
    get_template, rendered = loader.get_template, set()
    reason = engines["django"].from_string("{{ exception }}")

    def first_or_reason(name: str, using: str | None = None) -> object:
        if name in rendered:
            return reason
        rendered.update({name} & {"403.html", "404.html"})
        return get_template(name, using)

    monkeypatch.setattr(loader, "get_template", first_or_reason)


@pytest.mark.parametrize("who", ["visitor", "outsider", "viewer", "manager", "owner"])
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.django_db
@pytest.mark.usefixtures("_shortened_refusals")
def test_pages_are_open_to_the_declared_roles_only(
    who: str,
    method: str,
    project: Project,
    request: pytest.FixtureRequest,
    as_user: Callable[[User], Client],
) -> None:
    role = Role(who) if who in Role.values else None
    client = Client() if who == "visitor" else as_user(request.getfixturevalue(who))
    client.raise_request_exception = False
    undeclared = PAGES.keys() - ROLES.keys()
    assert not undeclared, "Declare the least role of these pages in LEAST."
    wrong = [
        name
        for name, values in PAGES.items()
        if not is_right(client, role, ROLES[name][method == "post"], method, reverse(name, kwargs=values))
    ]
    assert wrong == []


def test_every_declared_page_exists() -> None:
    assert ROLES.keys() - PAGES.keys() == set()
