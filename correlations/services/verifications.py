"""Verifications as jobs: requested on a page or by the API, computed by a worker, kept as history."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.core.jobs import Claim, job_run
from annotation.core.progress import Progress, noop
from annotation.models import JobState, Project, User
from correlations.errors import StudyRefused
from correlations.models import JointStudy, ParameterStudy, Study, StudyVerification
from correlations.results.differences import shown
from correlations.results.report import ReportError, read_report
from correlations.selectors.compared import Compared
from correlations.selectors.documents import stored_document
from correlations.selectors.joint import joint_document
from correlations.services.joint_verification import report_verify
from correlations.services.verification import Verification

UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


@transaction.atomic
def study_verification_create(*, study: Study | ParameterStudy, by: User | None) -> tuple[StudyVerification, bool]:
    """Return a verification of a finished study's stored result, and whether it is new: one at a time.

    The caller enqueues the task of a new one.
    """
    state = type(study).objects.select_for_update().get(pk=study.pk).state
    if waiting := study.verifications.filter(state__in=UNFINISHED).first():
        return waiting, False
    if state != JobState.DONE:
        found = JobState(state).label.lower()
        raise StudyRefused.of("study", f"found one that is {found}; accepted: a study that is done")
    named = {"project": study.project, "name": study.name, "signature": study.signature}
    of = {StudyVerification.field_of(type(study)): study}
    return StudyVerification.objects.create(**named, **of, requested_by=by), True


def report_verification_create(*, project: Project, report: Any, by: User | None) -> StudyVerification:
    """Return a new verification of a report, which may be of another installation. The caller enqueues its task."""
    try:
        document = read_report(report)
    except ReportError as error:
        raise StudyRefused.of("report", str(error)) from error
    return StudyVerification.objects.create(
        project=project,
        name=document.name[:120],
        signature=document.signature[:64],
        report=report,
        requested_by=by,
    )


@transaction.atomic
def joint_verification_create(
    *, joint: JointStudy, compared: Compared, by: User | None
) -> tuple[StudyVerification, bool]:
    """Return a verification of the report over several data sets, and whether it is new: one at a time.

    The caller enqueues the task of a new one.
    """
    JointStudy.objects.select_for_update().get(pk=joint.pk)
    same = joint.project.study_verifications.filter(signature=joint.signature, requested_by=by)
    if waiting := same.filter(state__in=UNFINISHED).first():
        return waiting, False
    report = joint_document(joint, compared).to_json()
    return report_verification_create(project=joint.project, report=report, by=by), True


def verification_execute(*, verification_id: int, progress: Progress = noop) -> None:
    """Claim the verification, compute its study again and store what differs; safe to run twice."""
    job_run(StudyVerification, verification_id, _verify, progress=progress)


def _verify(verification: StudyVerification, claim: Claim) -> None:
    study = verification.stored_study
    document = read_report(verification.report) if study is None else stored_document(study)
    found = report_verify(document, verification.project, progress=claim.progress)
    claim.finish(outcome=_stored(found), report=None)


def _stored(found: Verification) -> Mapping[str, Any]:
    """Return an outcome without the long values, such as a row that one side lacks."""
    plain = found.as_dict()
    shortened = [
        {"path": each.path, "then": _shortened(each.then), "now": _shortened(each.now)} for each in found.differences
    ]
    return plain | {"differences": shortened}


def _shortened(value: Any) -> Any:
    return value if isinstance(value, int | float | None) else shown(value)
