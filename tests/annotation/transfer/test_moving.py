"""A project leaves as an archive, enters as another project, and is the same by every hash."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from pytest_django import Settings

from annotation.models import (
    Campaign,
    CampaignState,
    JobState,
    Presentation,
    Project,
    ProjectImport,
    Rater,
    RaterIdentity,
    Release,
    Slot,
    User,
)
from annotation.references.releases.services.releases import release_build, release_create
from annotation.transfer import registry
from annotation.transfer.services.export import MANIFEST, project_chunks
from annotation.transfer.services.imports import project_import_create, project_import_execute
from correlations.models import Study
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from metrics.models import ScoreRun
from metrics.services.runs import score_run_create
from metrics.subsets import Subset
from tests.api.world import STUDY, build_world
from tests.snapshots import recalled_world


@pytest.fixture
def world(db: None) -> tuple[Project, User, Mapping[str, Any]]:
    people, known = recalled_world("api", build_world)
    return Project.objects.get(slug="lab"), people["owner"], known


def exported(project: Project) -> bytes:
    return b"".join(project_chunks(project))


def imported(content: bytes, by: User, name: str = "") -> ProjectImport:
    job = project_import_create(by=by, filename="lab.zip", content=content, name=name)
    project_import_execute(import_id=job.pk)
    job.refresh_from_db()
    return job


def files(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def test_a_project_is_the_same_after_it_was_moved(world: tuple[Project, User, Mapping[str, Any]]) -> None:
    project, owner, _ = world
    archive = exported(project)
    job = imported(archive, owner)
    assert job.state == JobState.DONE, (job.error, job.report)
    kinds = {row["kind"] for row in job.report["hashes"]}
    assert kinds >= {"data set", "ratings", "release", "score run", "study", "parameter study", "amendments"}
    assert [row for row in job.report["hashes"] if not row["equal"]] == []
    copy = job.project
    assert copy is not None
    assert copy.memberships.get().user == owner

    states = set(copy.campaigns.values_list("state", flat=True))
    assert states <= {CampaignState.CLOSED, CampaignState.DRAFT}
    filled = Slot.objects.filter(campaign__project=copy, state="done")
    assert filled.exists()
    assert not filled.exclude(token__in=Presentation.objects.filter(campaign__project=copy).values("token")).exists()

    # What left again is what came, but for campaigns, which are closed now.
    before, after = files(archive), files(exported(copy))
    differing = {name for name in before if before[name] != after[name] and name.startswith("tables/")}
    assert differing <= {
        "tables/annotation.campaign.jsonl",
        "tables/annotation.slot.jsonl",
        "tables/annotation.presentation.jsonl",
    }
    assert {row["kind"] for row in job.report["missing"]} >= {"corpus"}


def test_weights_scores_and_studies_are_computed_again_to_the_same_hashes(
    world: tuple[Project, User, Mapping[str, Any]],
) -> None:
    project, owner, _ = world
    copy = imported(exported(project), owner, "Moved").project
    assert copy is not None
    old = Release.objects.get(reference_set__project=project, reference_set__slug="gold", number=1)
    gold = copy.reference_sets.get(slug="gold")
    rules = [rule for rule in old.exclusion_rules if rule["rule"] != "exclude_extra"]
    again = release_create(
        reference_set=gold, method=old.method, parameters=old.parameters, exclusion_rules=rules, by=owner
    )
    release_build(release_id=again.pk)
    again.refresh_from_db()
    assert (again.state, again.content_hash) == (JobState.DONE, old.content_hash), again.error

    run = ScoreRun.objects.filter(project=copy, release__isnull=False, state=JobState.DONE).first()
    assert run is not None
    same, created = score_run_create(
        project=copy,
        release=run.release,
        systems=list(run.systems.all()),
        metric=run.metric,
        parameters=run.parameters,
        subset=Subset.from_mapping(run.subset),
        by=owner,
    )
    assert (same.pk, created) == (run.pk, False)  # the signature is made of content

    further = [
        study_create(project=each, name="New on both", specification={**STUDY, "seed": 7}, by=owner)[0]
        for each in (project, copy)
    ]
    assert further[0].signature == further[1].signature  # though every id is another
    assert further[0].specification["last_rating_id"] != further[1].specification["last_rating_id"]
    study = Study.objects.get(project=copy, name="Study 1")
    assert study.signature == Study.objects.get(project=project, name="Study 1").signature
    asked = {**STUDY, "seed": study.specification["seed"]}
    known, created = study_create(project=copy, name="Once more", specification=asked, by=owner)
    assert (known.pk, created) == (study.pk, False)
    result = study.result
    Study.objects.filter(pk=study.pk).update(state=JobState.QUEUED, finished_at=None, result=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.result is not None
    assert result is not None
    assert study.result | {"seconds": None} == result | {"seconds": None}


def test_nothing_secret_travels(world: tuple[Project, User, Mapping[str, Any]]) -> None:
    project, owner, _ = world
    User.objects.filter(pk=owner.pk).update(email="olga@example.org")
    Campaign.objects.filter(project=project).update(completion_code="C0DE-5ECRET")
    rater = Rater.objects.filter(project=project).first()
    assert rater is not None
    Rater.objects.filter(pk=rater.pk).update(pseudonym="Marta Meier")
    RaterIdentity.objects.update_or_create(
        rater=rater,
        defaults={"project": project, "provider": "prolific", "external_id": "5f3c0ffee0ddba11deadbeef"},
    )
    content = b"\n".join(files(exported(project)).values()).decode()
    secrets = [
        "olga@example.org",
        "C0DE-5ECRET",
        "Marta Meier",
        "5f3c0ffee0ddba11deadbeef",
        *(f'"{name}"' for name in User.objects.values_list("username", flat=True)),
        *map(str, Rater.objects.filter(project=project).values_list("access_token", flat=True)),
        *map(str, project.campaigns.values_list("link_token", flat=True)),
        *map(str, Presentation.objects.filter(campaign__project=project).values_list("token", flat=True)),
    ]
    assert [secret for secret in secrets if secret in content] == []
    assert "consented_at" not in content
    assert '"named-' in content


def test_an_installation_with_another_key_gets_stand_ins_and_no_identity(
    world: tuple[Project, User, Mapping[str, Any]], settings: Settings
) -> None:
    project, owner, _ = world
    stand_in, known, *_ = Rater.objects.filter(project=project)
    RaterIdentity.objects.filter(project=project).delete()
    RaterIdentity.objects.create(rater=stand_in, project=project, provider="aggregate", external_id="median")
    RaterIdentity.objects.create(rater=known, project=project, provider="prolific", external_id="5f3c0ffee0ddba11")
    members = files(exported(project))
    name = "tables/annotation.rateridentity.jsonl"
    (line,) = members[name].splitlines()
    row = json.loads(line)
    assert row.keys() == {"rater", "provider", "local_id"}
    settings.SECRET_KEY = "the key of another installation" * 2
    earlier = {"rater": row["rater"], "provider": "aggregate", "external_id": "median", "session": ""}
    for content in (row, earlier):
        replace_member(members, name, json.dumps(content).encode() + b"\n")
        job = imported(zipped(members), owner, name=f"Moved {len(content)}")
        assert job.state == JobState.DONE, job.error
        (moved,) = RaterIdentity.objects.filter(project=job.project)
        assert (moved.external_id, moved.sealed, moved.rater.pseudonym) == ("median", "", stand_in.pseudonym)


def test_every_table_and_every_column_is_declared() -> None:
    """A new table travels or stays, with a reason; JSON that names rows is rewritten."""
    declared = registry.labels() | registry.STAYS.keys() | {"annotation.project"}
    paths = registry.paths_to_project()
    assert {model._meta.label_lower for model in paths} <= declared
    for table in registry.TABLES:
        assert table.left_out.keys() <= {each.name for each in table.model._meta.concrete_fields}, table.label
        for column in table.columns:
            assert not isinstance(column, models.UUIDField), f"{table.label}.{column.name} may be a token"
            if column.is_relation:
                assert column.related_model._meta.label_lower in registry.labels()
        for column in table.others:
            is_set = column.null or column.has_default() or column.name in table.fixed or column.empty_strings_allowed
            assert is_set or column.related_model is Project, f"{table.label}.{column.name}"
    assert apps.get_model("annotation", "AuditEntry")._meta.label_lower in registry.STAYS


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda members: members.pop("tables/annotation.item.jsonl"), "each file once"),
        (lambda members: members.update({"other.txt": b"x"}), "not in the manifest"),
        (lambda members: members.update({"README.md": b"changed"}), "SHA-256"),
        (lambda members: members.update({MANIFEST: b"[]"}), "assay-project/1"),
        (lambda members: members.update({MANIFEST: b'{"format": "assay-project/1"}'}), "an object"),
    ],
)
def test_a_damaged_archive_is_refused_and_leaves_nothing(
    world: tuple[Project, User, Mapping[str, Any]], damage: Any, said: str
) -> None:
    project, owner, _ = world
    members = files(exported(project))
    damage(members)
    before = Project.objects.count()
    job = imported(zipped(members), owner)
    assert job.state == JobState.FAILED
    assert said in job.error
    assert Project.objects.count() == before


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        ("annotation.item", {"position": "first"}, "a whole number"),
        ("annotation.item", {"dataset": 99}, "a line of annotation.dataset"),
        ("annotation.item", {"colour": "red"}, "an unknown column"),
        ("annotation.item", {"external_id": "x" * 201}, "at most 200 characters"),
        ("annotation.item", {"message": "a\x00b"}, "NUL"),
        ("annotation.item", {"position": 1}, "item_position_once_per_dataset"),
        ("annotation.criterion", {"scale_max": 0, "scale_min": 0}, "criterion_scale_has_two_points"),
        ("annotation.campaign", {"state": "haunted"}, "one of"),
        ("metrics.scoreshard", {"valid": "AAA="}, "arrays of different shapes"),
        ("correlations.study", {"result": {"version": 0}}, "found version 0"),
    ],
)
def test_rows_that_assay_does_not_write_are_refused_with_file_line_and_column(
    world: tuple[Project, User, Mapping[str, Any]], table: str, change: dict[str, Any], said: str
) -> None:
    project, owner, _ = world
    members = files(exported(project))
    name = f"tables/{table}.jsonl"
    first, *others = members[name].splitlines(keepends=True)
    replace_member(members, name, json.dumps(json.loads(first) | change).encode() + b"\n" + b"".join(others))
    job = imported(zipped(members), owner)
    assert job.state == JobState.FAILED
    assert said in job.error, job.error
    assert not Project.objects.filter(name=project.name).exclude(pk=project.pk).exists()


def test_a_line_that_is_not_utf_8_is_refused_with_file_line_and_byte(
    world: tuple[Project, User, Mapping[str, Any]],
) -> None:
    project, owner, _ = world
    members = files(exported(project))
    replace_member(members, "tables/annotation.item.jsonl", b'{"message": "\xff"}\n')
    job = imported(zipped(members), owner)
    assert job.state == JobState.FAILED
    assert "tables/annotation.item.jsonl" in job.error
    assert "line 1, field encoding: found byte 0xFF at byte 14 of the line" in job.error


def replace_member(members: dict[str, bytes], name: str, content: bytes) -> None:
    """Replace a file of an archive, and its hash in the manifest."""
    manifest = json.loads(members[MANIFEST])
    manifest["files"][name]["sha256"] = hashlib.sha256(content).hexdigest()
    members |= {name: content, MANIFEST: json.dumps(manifest).encode()}
