"""The tables of this app in an archive of a project, what is hashed, and what stays."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from django.utils import timezone

from annotation import models as m
from annotation.core.canonical import canonical_json
from annotation.datasets.services.export import dataset_hash
from annotation.rating.selectors.ratings import rating_log
from annotation.references.releases.selectors.releases import release_name
from annotation.references.releases.services.releases import stored_content_hash
from annotation.transfer import registry
from annotation.transfer.raters import hashes_of_raters
from annotation.transfer.registry import DERIVED, PERSONAL, Hashed, Renumber, Table

DONE = {"state": m.JobState.DONE.value}
RATING, CHECK_ANSWER = "annotation.rating", "annotation.checkanswer"
SECRET = "lets its holder rate"  # noqa: S105 - the reason why it stays
IDENTITY = "who a rater is elsewhere"

# --- Numbers within values ------------------------------------------------------------------------------------------


def _rules(value: Any, number: Renumber) -> Any:
    """Rewrite the ratings that exclusion rules name."""

    def rewritten(rule: Any) -> Any:
        if not isinstance(rule, dict) or not isinstance(rule.get("ratings"), list):
            return rule
        numbers = [int(each) for each in rule["ratings"] if str(each).isdecimal()]
        return rule | {"ratings": [new for old in numbers if (new := number(RATING, old)) is not None]}

    return [rewritten(rule) for rule in value] if isinstance(value, list) else value


def newest(**labels: str) -> registry.Translate:
    """Rewrite the number of the newest row under these keys; 0 is none."""

    def translate(value: Any, number: Renumber) -> Any:
        if not isinstance(value, dict):
            return value
        found = {key: value[key] for key in labels if isinstance(value.get(key), int)}
        return value | {key: number(labels[key], old) or 0 for key, old in found.items()}

    return translate


def _texts(value: Any, number: Renumber) -> Any:
    of_response = registry.within(response="annotation.response")
    return [of_response(text, number) for text in value] if isinstance(value, list) else value


IN_CAMPAIGNS = registry.each_within("campaigns", registry.within(id="annotation.campaign"))

# --- Rows that change on their way ----------------------------------------------------------------------------------


def _campaign_leaves(row: dict[str, Any]) -> None:
    """Take the account that imported the ratings out of the design, and hash the rest."""
    design = row["design"]
    if design and design.get("imported_by"):
        design = row["design"] = design | {"imported_by": ""}
        row["design_hash"] = hashlib.sha256(json.dumps(design, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _campaign_enters(row: dict[str, Any]) -> None:
    if row["state"] != m.CampaignState.DRAFT:
        row["state"] = m.CampaignState.CLOSED.value
        row["closed_at"] = row["closed_at"] or timezone.now()


def _slot_enters(row: dict[str, Any]) -> None:
    if row["state"] == m.SlotState.LEASED:
        row |= {"state": m.SlotState.OPEN.value, "rater": None, "expires_at": None}
    row["token"] = uuid4() if row["state"] == m.SlotState.DONE else None  # that of its presentation, once all are there


def _presentation_enters(row: dict[str, Any]) -> None:
    if row["outcome"] == m.PresentationOutcome.SHOWN:
        row |= {"outcome": m.PresentationOutcome.LAPSED.value, "ended_at": row["ended_at"] or timezone.now()}


def _release_leaves(row: dict[str, Any]) -> None:
    """Keep the rules as the published hash covers them: those that name ratings do so by other numbers elsewhere."""
    if any("ratings" in rule for rule in row["exclusion_rules"] if isinstance(rule, dict)):
        row["report"] = {"published_rules": row["exclusion_rules"], **row["report"]}


# --- Tables ---------------------------------------------------------------------------------------------------------

TABLES = [
    Table(m.Dataset, left_out={"content_hash": DERIVED}),
    Table(m.System),
    Table(m.Item),
    Table(m.Response),
    Table(m.ResponseSource),
    Table(m.SeedSelection, translate={"report": registry.in_turn(IN_CAMPAIGNS, newest(last_rating_id=RATING))}),
    Table(m.SeedMember),
    Table(m.ResponseList, translate={"origin": registry.within(selection="annotation.seedselection")}),
    Table(m.ResponseList.responses.through),
    Table(
        m.Campaign,
        left_out={"link_token": SECRET, "completion_code": "raters are paid for it"},
        leave=_campaign_leaves,
        enter=_campaign_enters,
    ),
    Table(m.Campaign.systems.through),
    Table(m.SeedSelection.campaigns.through),
    Table(m.Criterion),
    Table(m.Unit, translate={"systems": registry.every("annotation.system")}),
    Table(m.UnitResponse),
    Table(m.Rater, left_out={"access_token": SECRET}),
    Table(
        m.RaterIdentity,
        # Providers' ids stay: they are encrypted with this installation's key.
        where={"provider": m.RaterIdentity.AGGREGATE},
        left_out={"sealed": IDENTITY, "digest": IDENTITY, "session_digest": IDENTITY},
        formerly={"external_id": "local_id", "session": ""},
    ),
    Table(m.Participation, left_out={"consented_at": PERSONAL}),
    Table(m.RaterAnswer),
    Table(m.CheckUnit, translate={"texts": _texts}),
    Table(m.Slot, left_out={"token": SECRET}, enter=_slot_enters),
    Table(m.Presentation, left_out={"token": SECRET}, enter=_presentation_enters),
    Table(m.Rating),
    Table(m.CheckAnswer),
    Table(m.Comment),
    Table(m.WrittenText),
    Table(m.QualityRules, translate={"rules": _rules}, named=("rules",)),
    Table(m.RaterDecision, named=("evidence",)),
    Table(m.Amendment),
    Table(m.ReferenceSet),
    Table(m.ReferenceSet.campaigns.through),
    Table(
        m.Release,
        where=DONE,
        left_out=registry.job_left_out(),
        fixed=DONE,
        translate={
            "report": registry.in_turn(IN_CAMPAIGNS, newest(last_rating_id=RATING, last_check_answer_id=CHECK_ANSWER)),
            "exclusion_rules": _rules,
        },
        named=("exclusion_rules", "report"),
        leave=_release_leaves,
    ),
    Table(m.ReleaseWeight, where={"release__state": m.JobState.DONE.value}),
]
UPLOADED, CACHED = "a file as it was uploaded", "computed again when it is needed"
STAYS = {
    "annotation.auditentry": "names accounts and providers' ids; the new project has a log of its own",
    "annotation.datasheet": "its answers name people and their addresses",
    "annotation.answerdraft": "not sent",
    "annotation.membership": PERSONAL,
    "annotation.invitation": SECRET,
    "annotation.invitationuse": PERSONAL,
    "annotation.notificationsettings": PERSONAL,
    "annotation.notification": PERSONAL,
    "annotation.delivery": PERSONAL,
    "annotation.provideraccount": SECRET,
    "annotation.providerevent": "providers' ids",
    "annotation.recruitment": "providers' ids",
    "annotation.submission": "providers' ids",
    "annotation.datasetimport": UPLOADED,
    "annotation.ratingimport": UPLOADED,
    "annotation.weightsimport": UPLOADED,
    "annotation.keptfile": UPLOADED,
    "annotation.projectimport": UPLOADED,
    "annotation.datadeletion": registry.JOB,
    "annotation.releasefigures": CACHED,
    "annotation.campaignpace": CACHED,
    "annotation.campaignsnapshot": CACHED,
    "annotation.resultsnapshot": CACHED,
    "annotation.seedselecting": registry.JOB,
    "annotation.dryrun": "played on a copy that is gone",
    "annotation.corpus": "named with its hash: an index takes gigabytes",
    "annotation.miningrun": "of a corpus, which stays",
    "annotation.miningshard": "of a corpus, which stays",
    "annotation.minedcandidate": "of a corpus, which stays; those that were added are references",
}


# --- Hashes ---------------------------------------------------------------------------------------------------------


def _hashes(project: m.Project) -> Iterator[Hashed]:
    for dataset in project.datasets.order_by("slug"):
        yield Hashed("data set", dataset.name, dataset_hash(dataset))
    for campaign in project.campaigns.exclude(state=m.CampaignState.DRAFT).order_by("name"):
        yield Hashed("ratings", campaign.name, rating_log(campaign).digest)
        yield from hashes_of_raters(campaign)
        amendments = list(campaign.amendments.order_by("number").values_list("number", "kind", "data", "hash"))
        if amendments:
            digest = hashlib.sha256(canonical_json([list(each) for each in amendments])).hexdigest()
            yield Hashed("amendments", campaign.name, digest)
    releases = m.Release.objects.filter(reference_set__project=project, **DONE).select_related("reference_set")
    for release in releases.order_by("reference_set__slug", "number"):
        yield Hashed("release", release_name(release), stored_content_hash(release))


def _missing(project: m.Project) -> Iterator[tuple[str, str, str]]:
    for corpus in project.corpora.filter(**DONE).order_by("slug"):
        yield "corpus", corpus.name, corpus.content_hash


registry.register(tables=TABLES, hashes=[_hashes], missing=[_missing], stays=STAYS)
