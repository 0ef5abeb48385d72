"""Check whether a draft can be launched: every mistake at once, each tied to its field."""

import re

from annotation.campaigns.design.questionnaire import Questionnaire
from annotation.campaigns.design.writing import Writing
from annotation.campaigns.fields.kinds import problems_in
from annotation.campaigns.fields.table import CAMPAIGN, CampaignDraft
from annotation.campaigns.presentations import COMPARING, PRESENTATIONS, Single
from annotation.campaigns.services.criteria import validate_criteria
from annotation.campaigns.services.prepared import design_read, validate_prepared
from annotation.campaigns.services.problems import FieldProblems, refusal
from annotation.datasets.selectors.datasets import splits_of
from annotation.models import Campaign, Project, SourceKind, Target

TO_FILL_IN = re.compile(r"\[[^\[\]\n]{3,80}\](?!\()")  # square brackets, but for those of a link


def draft_validate(project: Project, draft: CampaignDraft, *, campaign: Campaign | None = None) -> None:
    """Raise ``AnnotationError`` with every problem. ``campaign`` is the campaign that the draft replaces, if any."""
    if problems := draft_problems(project, draft, campaign=campaign):
        raise refusal(problems)


def draft_problems(project: Project, draft: CampaignDraft, *, campaign: Campaign | None = None) -> FieldProblems:
    problems = FieldProblems()
    if draft.dataset.project_id != project.pk and not project.is_sandbox:
        problems.refuse("dataset", f"The data set {draft.dataset.name!r} does not belong to this project.")
    _validate_name(project, draft, campaign, problems)
    for name, problem in problems_in(draft, CAMPAIGN):
        problems.refuse(name, problem)
    _validate_what(draft, problems)
    _validate_pairs(draft, problems)
    _validate_raters(draft, problems)
    if draft.criteria or not draft.writing:
        validate_criteria(draft.criteria, draft.presentation, draft.dataset, problems)
    _validate_writing(draft, problems)
    validate_prepared(draft, problems)
    design_read("questions", Questionnaire, draft, problems)
    return problems


def launch_problems(campaign: Campaign, draft: CampaignDraft) -> FieldProblems:
    """Return what prevents a launch: the problems of the draft, and what only raters must never see."""
    problems = draft_problems(campaign.project, draft, campaign=campaign)
    if not campaign.project.is_sandbox and (left := TO_FILL_IN.findall(draft.consent)):
        found = f"{', '.join(left[:4])}{', …' if len(left) > 4 else ''}"
        problems.refuse("consent", f"The consent text has square brackets to fill in: {found}. Replace or delete them.")
    return problems


def _validate_name(project: Project, draft: CampaignDraft, campaign: Campaign | None, problems: FieldProblems) -> None:
    if not draft.name.strip():
        problems.refuse("name", "Found nothing; accepted: a name.")
    others = Campaign.objects.filter(project=project, name=draft.name).exclude(pk=campaign.pk if campaign else 0)
    if others.exists():
        problems.refuse("name", name_taken(draft.name))


def name_taken(name: str) -> str:
    return f"This project has a campaign named {name!r} already; choose another name."


def _validate_what(draft: CampaignDraft, problems: FieldProblems) -> None:
    if foreign := [system.name for system in draft.systems if system.dataset_id != draft.dataset.pk]:
        problems.refuse("systems", f"{', '.join(foreign)}: not a system of the data set {draft.dataset.name!r}.")
    if draft.target == Target.CHOSEN and not draft.systems:
        problems.refuse("systems", "Found none; choose the systems whose outputs to rate.")
    _validate_list(draft, problems)
    kind = PRESENTATIONS.get(draft.presentation)
    if kind is not None and draft.target in kind.refused_targets:
        problems.refuse("presentation", kind.refused_targets[draft.target])
    if kind is not None and kind.compares_systems and draft.target == Target.CHOSEN and len(set(draft.systems)) == 1:
        problems.refuse("systems", f"Found only {draft.systems[0].name}; a pair needs two systems.")
    known_kinds = SourceKind.of_references()
    if unknown := [kind for kind in draft.reference_kinds if kind not in known_kinds]:
        problems.refuse("reference_kinds", f"Found {', '.join(unknown)}; accepted: {', '.join(known_kinds)}.")
    elif draft.reference_kinds and draft.target != Target.REFERENCES:
        kinds = ", ".join(draft.reference_kinds)
        problems.refuse("reference_kinds", f"Found {kinds}; accepted: none, since the target is not “references”.")
    if draft.split and draft.split not in (splits := splits_of(draft.dataset)):
        accepted = ", ".join(splits) or "nothing: its items have no splits"
        problems.refuse("split", f"Found {draft.split!r}; accepted: {accepted}.")


def _validate_writing(draft: CampaignDraft, problems: FieldProblems) -> None:
    writing = design_read("writing", Writing, draft, problems)
    if not writing.asks:
        return
    if draft.presentation != Single.key:
        problems.refuse("writing.asks", "Raters write about one response at a time; accepted: that presentation.")
    if writing.hides_text and draft.criteria:
        problems.refuse("writing.asks", "Raters who write a reference see no response to rate; accepted: no criteria.")
    if draft.quality or draft.qualification:
        problems.refuse("writing.asks", "Found checks, training or a test; accepted: none where raters write.")


def _validate_list(draft: CampaignDraft, problems: FieldProblems) -> None:
    listed = draft.response_list
    if draft.target == Target.LISTED and listed is None:
        problems.refuse("response_list", "Found none; accepted: the list of the responses to rate.")
    elif draft.target != Target.LISTED and listed is not None:
        problems.refuse("response_list", f"Found {listed.name!r}; accepted: none, since the target is not “listed”.")
    elif listed is not None and listed.dataset_id != draft.dataset.pk:
        problems.refuse("response_list", f"The list {listed.name!r} is not one of the data set {draft.dataset.name!r}.")


def _validate_pairs(draft: CampaignDraft, problems: FieldProblems) -> None:
    if not draft.pairs:
        return
    if draft.presentation not in COMPARING:
        problems.refuse("pairs", "Found pairs of systems; accepted only if two responses are shown side by side.")
        return
    rated = draft.systems if draft.target == Target.CHOSEN else draft.dataset.systems.all()
    known = sorted(system.name for system in rated)
    earlier: set[frozenset[str]] = set()
    for number, pair in enumerate(draft.pairs, start=1):
        if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
            problems.refuse("pairs", f"Pair {number}: found {list(pair)!r}; accepted: the names of two systems.")
            continue
        if missing := [name for name in pair if name not in known]:
            problems.refuse("pairs", f"Pair {number}: found {missing[0]!r}; accepted: {', '.join(known) or 'none'}.")
        if frozenset(pair) in earlier:
            problems.refuse("pairs", f"Pair {number}: {pair[0]} and {pair[1]} are paired twice.")
        earlier.add(frozenset(pair))


def _validate_raters(draft: CampaignDraft, problems: FieldProblems) -> None:
    most = draft.max_units_per_rater
    if most is not None and draft.min_units_per_rater > most:
        problems.refuse(
            "min_units_per_rater",
            f"Found {draft.min_units_per_rater}; accepted: up to the most that a rater may do, {most}.",
        )
    low, high = draft.lease_min_seconds, draft.lease_max_seconds
    if (low is None) != (high is None):
        missing = "lease_min_seconds" if low is None else "lease_max_seconds"
        problems.refuse(missing, "Found nothing; an adaptive lease has both ends, a fixed one neither.")
    elif low is not None and high is not None:
        if high < low:
            problems.refuse("lease_max_seconds", f"Found {high}; accepted: {low}, the shortest, or more.")
        elif not low <= draft.lease_seconds <= high:
            problems.refuse(
                "lease_seconds", f"Found {draft.lease_seconds}; accepted: within its bounds, {low} to {high}."
            )
