"""The demo: one real data set through the whole loop."""

import time
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management import CommandError
from django.core.management.base import BaseCommand
from django.db import transaction

from annotation.core import jobs
from annotation.datasets.services.report import report_rows
from annotation.demo import load as demo_data
from annotation.demo import restaurants
from annotation.models import (
    CampaignState,
    Dataset,
    Job,
    JobState,
    Membership,
    Project,
    ReferenceSet,
    Role,
    System,
    User,
)
from annotation.references.releases.services import releases
from annotation.references.sets import services as reference_sets
from config.checks import DEMO_PASSWORD
from correlations.services import demo as demo_study
from correlations.services import execution, parameter_execution, parameter_studies, studies
from correlations.services.restaurants import restaurants_next
from correlations.tasks import execute, restaurants_advance
from metrics.scoring.registry import METRICS
from metrics.services import demo as demo_metrics
from metrics.services import training
from metrics.services.runs import score_run_execute


class Command(BaseCommand):
    help = (
        "Create the demo's two projects: accounts, the DSTC7 data set and its 33,000 judgements, two live campaigns, a "
        "weighted reference set, trained models, score runs, a finished study and one of a metric's parameters. Each "
        "step that is already there is left alone, so an interrupted load goes on where it stopped. Refused in "
        "production, because the accounts' password is public."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--without-study", action="store_true", help="stop after the weights")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("The demo is for `make run`. Set ASSAY_DEMO=1 to load it all the same.")
        manager = self.accounts()
        project = demo_data.demo_project()
        if not project.campaigns.filter(state=CampaignState.RUNNING).exists():
            self.step("35,161 references and 33,000 judgements", lambda: self.import_raw(manager))
        self.release(project, manager)
        self.models(project, manager)
        self.scores(project, manager)
        if not options["without_study"]:
            self.studies(project, manager)
            self.queued_studies(project, manager)
        self.restaurants(manager, with_study=not options["without_study"])

    def import_raw(self, manager: User) -> None:
        """Import, and say what was found in the files."""
        for part, counts in demo_data.demo_import(by=manager).items():
            self.stdout.write(f"\n  {part}")
            for what, count in report_rows(counts):
                self.stdout.write(f"  {count:>8,} {what}")
        self.stdout.write(" ", ending=" ")

    def step(self, what: str, work: Callable[[], object]) -> None:
        self.stdout.write(f"Demo: {what} ...", ending=" ")
        self.stdout.flush()
        began = time.perf_counter()
        work()
        self.stdout.write(f"{time.perf_counter() - began:.1f} s")

    @transaction.atomic
    def accounts(self) -> User:
        project = demo_data.demo_project()
        people: dict[str, User] = {}
        for username, role in (("manager", Role.OWNER), ("viewer", Role.VIEWER)):
            user, created = User.objects.get_or_create(username=username, defaults={"is_staff": role == Role.OWNER})
            if created:
                user.is_superuser = role == Role.OWNER
                user.set_password(DEMO_PASSWORD)
                user.save()
            Membership.objects.get_or_create(project=project, user=user, defaults={"role": role})
            people[username] = user
        return people["manager"]

    def release(self, project: Project, manager: User) -> None:
        reference_set = ReferenceSet.objects.filter(project=project, slug="dstc7-references").first()
        if reference_set is None:
            reference_set = reference_sets.reference_set_create(
                dataset=Dataset.objects.get(project=project, slug="dstc7"),
                name="DSTC7 references",
                description="The rated outputs of Human, TeamB, TeamF and Random; Human's is the original.",
                campaigns=list(project.campaigns.filter(name=demo_data.REFERENCE_CAMPAIGN)),
                source_systems=["Human", "TeamB", "TeamF", "Random"],
                original_systems=["Human"],
            )
        if reference_set.releases.filter(state=JobState.DONE).exists():
            return
        release = reference_set.releases.first() or releases.release_create(reference_set=reference_set, by=manager)
        self.run(release, "weights", lambda: releases.release_build(release_id=release.pk))

    def models(self, project: Project, manager: User) -> None:
        dataset = Dataset.objects.get(project=project, slug=demo_data.DATASET_SLUG)
        for model in demo_metrics.demo_models(project=project, dataset=dataset, by=manager):
            self.run(model, str(model), partial(training.model_execute, model_id=model.pk))

    def scores(self, project: Project, manager: User) -> None:
        release = ReferenceSet.objects.get(project=project, slug="dstc7-references").releases.latest("number")
        systems = list(System.objects.filter(dataset__project=project, name__in=demo_data.SCORED_SYSTEMS))
        for run in demo_metrics.demo_runs(project=project, release=release, systems=systems, by=manager):
            self.run(run, f"scores by {METRICS[run.metric].label}", partial(score_run_execute, run_id=run.pk))

    def studies(self, project: Project, manager: User) -> None:
        study, _ = studies.study_create(
            project=project,
            name="Which metric can be trusted on DSTC7?",
            specification=demo_study.demo_study_specification(),
            by=manager,
        )
        self.run(study, "study over 1,000 assignments", partial(execution.study_execute, study_id=study.pk))
        of_parameters, _ = parameter_studies.parameter_study_create(
            project=project,
            name="How should AM-FM be set on DSTC7?",
            specification=demo_study.demo_parameter_study_specification(),
            by=manager,
        )
        work = partial(parameter_execution.parameter_study_execute, study_id=of_parameters.pk)
        self.run(of_parameters, "study of AM-FM's parameters", work)

    def queued_studies(self, project: Project, manager: User) -> None:
        """Create the studies that a worker computes, so that the first page need not wait for them."""
        judge = demo_study.demo_judge(
            dataset=Dataset.objects.get(project=project, slug=demo_data.DATASET_SLUG), by=manager
        )
        specifications = {
            demo_study.JUDGE_STUDY: demo_study.demo_judge_study_specification(judge),
            demo_study.SENSITIVITY_STUDY: demo_study.demo_sensitivity_study_specification(),
        }
        for name, specification in specifications.items():
            study, _ = studies.study_create(project=project, name=name, specification=specification, by=manager)
            if study.state == JobState.QUEUED:
                execute.delay(study.pk)

    def restaurants(self, manager: User, *, with_study: bool) -> None:
        """Load the second project; a worker trains on its ratings, so that the first page need not wait for it."""
        if not Project.objects.filter(slug=restaurants.PROJECT_SLUG, campaigns__isnull=False).exists():
            self.step("2,460 outputs of restaurants and hotels", lambda: self.import_restaurants(manager))
        project = Project.objects.get(slug=restaurants.PROJECT_SLUG)
        for job in (*project.trained_models.defer("content"), *project.studies.defer("result")):
            if job.state == JobState.RUNNING:  # by a worker that was stopped
                jobs.job_abandon(job)
        if with_study and restaurants_next(by=manager) is not None:
            restaurants_advance.delay(manager.pk)

    @transaction.atomic
    def import_restaurants(self, manager: User) -> None:
        restaurants.restaurants_import(by=manager)
        dataset = Dataset.objects.get(project__slug=restaurants.PROJECT_SLUG)
        Membership.objects.create(project=dataset.project, user=User.objects.get(username="viewer"), role=Role.VIEWER)
        table = restaurants.published_table(demo_metrics.PUBLISHED)
        demo_metrics.published_scores(dataset=dataset, table=table, by=manager)

    def run(self, job: Job, what: str, work: Callable[[], None]) -> None:
        """Do a job here and now, unless it is done; one that an interrupted load left behind is started over."""
        if job.state == JobState.DONE:
            return
        jobs.job_abandon(job)
        self.step(what, work)
        job.refresh_from_db()
        if job.state != JobState.DONE:
            raise CommandError(f"The demo's {what} did not finish ({job.state}): {job.error}")
