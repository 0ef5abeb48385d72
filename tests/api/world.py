"""At least two of everything the API lists, so that queries per row are noticed."""

import json
from collections.abc import Mapping
from typing import Any

from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.rules import rules_register
from annotation.campaigns.services.writing import campaign_create
from annotation.datasets.services import imports
from annotation.datasets.services.lists import response_list_create
from annotation.judgements.services import imports as rating_imports
from annotation.mining.services import corpora, runs
from annotation.models import (
    Campaign,
    DataDeletion,
    Dataset,
    JobState,
    Membership,
    MiningRun,
    Project,
    ReferenceSet,
    Role,
    SeedSelection,
    User,
    WrittenText,
)
from annotation.projects.services.invitations import invitation_create
from annotation.quality.services.decisions import rater_flag
from annotation.quality.services.operations import campaign_extend
from annotation.references.releases.services.imports import ImportOptions, weights_import_create
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from annotation.seeds.services.selecting import seeds_select_create
from annotation.seeds.services.selections import SelectionRules, seeds_select
from annotation.transfer.services.imports import project_import_create
from correlations.models import JointStudy, ParameterStudy, Study, StudyVerification
from correlations.services.execution import study_execute
from correlations.services.joint_studies import joint_study_create
from correlations.services.parameter_execution import parameter_study_execute
from correlations.services.parameter_studies import parameter_study_create
from correlations.services.studies import study_create
from correlations.services.verifications import study_verification_create, verification_execute
from metrics.models import ScoreRun
from metrics.services.model_rows import ModelRequest
from metrics.services.runs import score_run_create, score_run_execute
from metrics.services.training import model_train_on_dataset
from metrics.subsets import Subset
from tests.annotation.worlds.campaigns import join, rate_next

SYSTEMS = {"Alpha": "the cat sat down here {}", "Beta": "a dog ran off there {}", "Gamma": "nobody knows that {}"}
ITEMS = [
    {
        "id": f"i{n}",
        "message": f"Message {n}?",
        "references": [f"the cat ran off here {n}", f"nobody sat down {n}"],
        "outputs": {name: text.format(n) for name, text in SYSTEMS.items()},
    }
    for n in range(4)
]
STUDY = {
    "release": "gold/v1",
    "campaigns": ["Outputs"],
    "systems": list(SYSTEMS),
    "unit_size": 1,
    "assignments": 5,
    "bootstrap": 0,
    "sweeps": False,
}
JOINT = {
    "datasets": [
        {"release": "gold/v1", "campaigns": ["Outputs"], "systems": list(SYSTEMS)},
        {"campaigns": ["More outputs"], "systems": list(SYSTEMS)},
    ],
    "metrics": ["bleu"],
    "subsets": ["all"],
    "unit_size": 1,
    "assignments": 5,
    "bootstrap": 0,
    "sweeps": False,
}


def jsonl(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def judgements(rate_references: bool) -> list[dict[str, Any]]:
    """Return ratings of all references or all outputs by two raters."""
    return [
        {"rater": rater, "item": item["id"], "text": text, "ratings": {"quality": 1 + (position + shift + number) % 5}}
        for shift, rater in enumerate(("ann", "bob"))
        for number, item in enumerate(ITEMS)
        for position, text in enumerate(item["references"] if rate_references else item["outputs"].values())
    ]


def member(project: Project, username: str, role: Role) -> User:
    user = User.objects.create_user(username, password="password")
    Membership.objects.create(project=project, user=user, role=role)
    return user


def _dataset(project: Project, by: User, name: str) -> None:
    job = imports.dataset_import_create(project=project, by=by, name=name, filename="items.jsonl", content=jsonl(ITEMS))
    imports.dataset_import_execute(import_id=job.pk)


def _ratings(project: Project, by: User, name: str, rate_references: bool, *, dataset: str = "chats") -> Campaign:
    job = rating_imports.rating_import_create(
        dataset=project.datasets.get(slug=dataset),
        by=by,
        name=name,
        filename="ratings.jsonl",
        content=jsonl(judgements(rate_references)),
    )
    rating_imports.rating_import_execute(import_id=job.pk)
    return project.campaigns.get(name=name)


FAST = {"rule": "median_seconds_below", "version": 1, "action": "flag", "after": 1}
RULES = [FAST | {"seconds": 2}, FAST | {"seconds": 3}]


def _parameter_study(project: Project, by: User, seed: int) -> ParameterStudy:
    turned = {name: STUDY[name] for name in ("release", "campaigns", "systems", "bootstrap")}
    specification = {**turned, "metric": "bleu", "sweeps": [{"parameter": "max_order"}], "halves": 0, "seed": seed}
    study, _ = parameter_study_create(project=project, name=f"Orders {seed}", specification=specification, by=by)
    parameter_study_execute(study_id=study.pk)
    return study


def _watched(campaign: Campaign, by: User) -> None:
    """Add two ratings and texts, amendments, decisions and rule versions to a running campaign."""
    for seed, name in enumerate(("ann", "bob")):
        rater = join(campaign, name)
        campaign.participations.filter(rater=rater).update(order_seed=seed)  # drawn from ids, which other tests use up
        shown = rate_next(campaign, rater)
        WrittenText.objects.create(campaign=campaign, presentation=shown, rater=rater, text=f"{name} would say so.")
        rater_flag(campaign=campaign, rater=rater, reason="Looks odd.", by=by)
    for more in (1, 2):
        campaign_extend(campaign=campaign, ratings_per_unit=campaign.ratings_per_unit + more, by=by)
        rules_register(campaign=campaign, records=RULES[:more], by=by)


def _mined(project: Project, by: User) -> MiningRun:
    """Create two corpora, and two mining runs with the first of them."""
    dataset = project.datasets.get(slug="chats")
    for name in ("Pool", "More pool"):
        corpus = corpora.corpus_from_dataset(project=project, by=by, name=name, dataset=dataset, source_kinds=["human"])
        corpora.corpus_index(corpus_id=corpus.pk)
    for n in (1, 2):
        run = runs.mining_run_create(
            project=project,
            dataset=dataset,
            corpus=project.corpora.get(slug="pool"),
            specification={"n": n},
            seed_choice={"kind": "human"},
            by=by,
        )
        runs.mining_run_execute(run_id=run.pk)
    return run


def _selected(project: Project, by: User, name: str) -> SeedSelection:
    """Create a data set of three seeds rated 5, 4 and 2 by one rater, and select two."""
    seeds = [
        {"id": f"s{n}", "message": f"Seed {n}?", "references": [{"text": f"Yes {n}", "kind": "seed"}]} for n in range(3)
    ]
    dataset_import = imports.dataset_import_create(
        project=project, by=by, name=name, filename="items.jsonl", content=jsonl(seeds)
    )
    imports.dataset_import_execute(import_id=dataset_import.pk)
    dataset = project.datasets.get(name=name)
    rows = [
        {"rater": "ann", "item": f"s{n}", "text": f"Yes {n}", "ratings": {"quality": value}}
        for n, value in enumerate((5, 4, 2))
    ]
    job = rating_imports.rating_import_create(
        dataset=dataset, by=by, name=f"{name}, rated", filename="ratings.jsonl", content=jsonl(rows)
    )
    rating_imports.rating_import_execute(import_id=job.pk)
    campaigns = list(dataset.campaigns.all())
    rules = SelectionRules.of(dataset=dataset, campaigns=campaigns, threshold=4, shares={"dev": 1}, seed=1)
    return seeds_select(rules=rules, by=by)


def _waiting(project: Project, by: User, selection: SeedSelection) -> int:
    """Queue two imports of weights and two selections; return the id of one import."""
    for n in range(2):
        weights_import_create(
            dataset=project.datasets.get(slug="chats"),
            filename="w.csv",
            content=b"item,text,weight\n",
            options=ImportOptions(name=f"Theirs {n}"),
            by=by,
        )
        campaigns = list(selection.campaigns.all())
        rules = SelectionRules.of(
            dataset=selection.dataset, campaigns=campaigns, threshold=4, shares={"dev": 1}, seed=n
        )
        seeds_select_create(rules=rules, again=True, by=by)
    return int(project.weights_imports.values_list("pk", flat=True)[0])


def _deleted(project: Project, by: User) -> int:
    """Return the id of a deletion that is done."""
    done = {"state": JobState.DONE, "finished_at": "2026-01-01T00:00Z", "rows": ["1 data set"]}
    deletion = DataDeletion.objects.create(project=project, noun="data set", name="Gone", requested_by=by, **done)
    return int(deletion.pk)


def _models(project: Project, by: User) -> int:
    """Queue two models; return the id of one."""
    dataset = project.datasets.get(slug="chats")
    for kind in ("lsa", "vectors"):
        request = ModelRequest(project, by, f"Of {kind}", kind)
        model = model_train_on_dataset(request=request, dataset=dataset, texts=["messages"])
    return int(model.pk)


def _people(project: Project) -> dict[str, User]:
    """Return the users by role; all of them may look at a third project."""
    other_project = Project.objects.create(name="Other lab", slug="other-lab")
    people = {
        "owner": member(project, "olga", Role.OWNER),
        "manager": member(project, "max", Role.MANAGER),
        "viewer": member(project, "vera", Role.VIEWER),
        "outsider": member(other_project, "otto", Role.OWNER),
    }
    second = Project.objects.create(name="Third lab", slug="third-lab")
    for user in people.values():
        Membership.objects.create(project=second, user=user, role=Role.VIEWER)
    return people


def _released(dataset: Dataset, references: Campaign, by: User) -> ReferenceSet:
    """Release two reference sets by two methods each; return one."""
    for name in ("Gold", "Silver"):
        reference_set = reference_set_create(dataset=dataset, name=name, campaigns=[references], source_kinds=["human"])
        for method in ("linear", "median"):
            release = release_create(reference_set=reference_set, method=method, by=by)
            release_build(release_id=release.pk)
    return dataset.project.reference_sets.get(slug="gold")


def _scored(gold: ReferenceSet, by: User) -> ScoreRun:
    """Score by two metrics; return one run."""
    for metric in ("bleu", "delta_bleu"):
        run, _ = score_run_create(
            project=gold.project,
            release=gold.releases.get(number=1),
            systems=list(gold.dataset.systems.all()),
            metric=metric,
            parameters={},
            subset=Subset(),
            by=by,
        )
        score_run_execute(run_id=run.pk)
    return run


def _studied(project: Project, by: User) -> Study:
    """Compute two studies; return one."""
    for seed in (1, 2):
        study, _ = study_create(project=project, name=f"Study {seed}", specification={**STUDY, "seed": seed}, by=by)
        study_execute(study_id=study.pk)
    return study


def _joined(project: Project, by: User) -> JointStudy:
    """Compute two studies over two data sets; return one."""
    for seed in (3, 4):
        specification = JOINT | {"seed": seed}
        joint, new = joint_study_create(project=project, name=f"Both {seed}", specification=specification, by=by)
        for study in new:
            study_execute(study_id=study.pk)
    return joint


def _verified(study: Study, by: User) -> StudyVerification:
    verification, _ = study_verification_create(study=study, by=by)
    verification_execute(verification_id=verification.pk)
    return verification


def build_world() -> tuple[dict[str, User], Mapping[str, Any]]:
    """Return the users, and a value for every parameter of a URL."""
    project = Project.objects.create(name="Lab", slug="lab")
    people = _people(project)
    owner = people["owner"]
    _dataset(project, owner, "Chats")
    _dataset(project, owner, "More chats")
    references = _ratings(project, owner, "References", True)
    _ratings(project, owner, "Outputs", False)
    _ratings(project, owner, "More outputs", False, dataset="more-chats")
    dataset = project.datasets.get(slug="chats")
    draft = CampaignDraft(dataset=dataset, name="Live", seed=1, criteria=[CriterionDraft("quality", "How good?")])
    live = campaign_launch(campaign=campaign_create(project=project, draft=draft))
    _watched(live, owner)
    run_of_mining = _mined(project, owner)
    gold = _released(dataset, references, owner)
    run, study = _scored(gold, owner), _studied(project, owner)
    verifications = [_verified(study, owner) for _ in range(2)]
    parameter_studies = [_parameter_study(project, owner, seed) for seed in (1, 2)]
    selections = [_selected(project, owner, name) for name in ("Seeds", "More seeds")]
    item = dataset.items.get(external_id="i0")
    lists = [
        response_list_create(
            dataset=dataset,
            name=name,
            responses=[response.pk for response in item.responses.all()],
            origin={},
            by=owner,
        )
        for name in ("Unsure", "Tied")
    ]
    moved = [project_import_create(by=owner, filename=f"{n}.zip", content=b"PK") for n in range(2)]
    for role in (Role.VIEWER, Role.MANAGER):
        invitation, _ = invitation_create(project=project, by=owner, role=role)
    return people, {
        "project_slug": project.slug,
        "project_import_pk": moved[0].pk,
        "invitation_pk": invitation.pk,
        "username": "vera",
        "dataset_slug": dataset.slug,
        "item_pk": item.pk,
        "response_pk": item.responses.first().pk,
        "dataset_import_pk": project.dataset_imports.first().pk,
        "rating_import_pk": project.rating_imports.first().pk,
        "campaign_pk": live.pk,
        "imported_campaign_pk": references.pk,
        "amendment_number": 1,
        "decision_pk": live.decisions.first().pk,
        "rules_version": 1,
        "reference_set_slug": gold.slug,
        "release_number": 1,
        "file_name": "card.md",
        "score_run_pk": run.pk,
        "model_pk": _models(project, owner),
        "study_pk": study.pk,
        "parameter_study_pk": parameter_studies[0].pk,
        "joint_study_pk": _joined(project, owner).pk,
        "verification_pk": verifications[0].pk,
        "weights_import_pk": _waiting(project, owner, selections[0]),
        "seed_selecting_pk": project.seed_selectings.first().pk,
        "deletion_pk": _deleted(project, owner),
        "list_pk": lists[0].pk,
        "selection_pk": selections[0].pk,
        "corpus_slug": "pool",
        "mining_run_pk": run_of_mining.pk,
        "candidate_pk": run_of_mining.candidates.first().pk,
    }
