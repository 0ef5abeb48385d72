"""The demo: one real data set through the whole loop."""

import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import CommandError
from django.core.management.base import BaseCommand
from django.db import transaction

from annotation.models import Dataset, JobState, Membership, Project, ReferenceSet, Release, Role, User
from annotation.services import demo as demo_data
from annotation.services import reference_sets, releases
from config.checks import DEMO_PASSWORD
from correlations.models import Study
from correlations.services import demo as demo_study
from correlations.services import studies


class Command(BaseCommand):
    help = (
        "Create the demo project: accounts, the DSTC7 data set and its 33,000 judgements, two live campaigns, a "
        "weighted reference set, score runs and a finished study. Each step that is already there is left alone, so an "
        "interrupted load goes on where it stopped. Refused in production, because the accounts' password is public."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--without-study", action="store_true", help="stop after the weights")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("The demo is for `make run`. Set ASSAY_DEMO=1 to load it all the same.")
        manager = self.accounts()
        project = Project.objects.get(slug="demo")
        if not project.datasets.filter(slug="dstc7").exists():
            self.step("33,000 judgements and 35,161 references", lambda: demo_data.demo_import(by=manager))
        release = self.release(project, manager)
        if not options["without_study"]:
            self.study(project, release, manager)

    def step(self, what: str, work: Any) -> Any:
        self.stdout.write(f"Demo: {what} ...", ending=" ")
        self.stdout.flush()
        began = time.perf_counter()
        result = work()
        self.stdout.write(f"{time.perf_counter() - began:.1f} s")
        return result

    @transaction.atomic
    def accounts(self) -> User:
        project, _ = Project.objects.get_or_create(
            slug="demo",
            defaults={
                "name": "Demo: DSTC7 conversations",
                "description": "1,000 conversations, 10 systems, 33,000 judgements by 317 judges: the whole loop.",
            },
        )
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

    def release(self, project: Project, manager: User) -> Release:
        reference_set = ReferenceSet.objects.filter(project=project, slug="dstc7-references").first()
        if reference_set is None:
            dataset = Dataset.objects.get(project=project, slug="dstc7")
            reference_set = reference_sets.reference_set_create(
                project=project,
                dataset=dataset,
                name="DSTC7 references",
                description="The rated outputs of Human, TeamB, TeamF and Random; Human's is the original.",
                campaigns=list(project.campaigns.filter(name="Reference ratings")),
                source_systems=["Human", "TeamB", "TeamF", "Random"],
                original_systems=["Human"],
            )
        release = reference_set.releases.filter(state=JobState.DONE).order_by("number").first()
        if release is None:
            release = reference_set.releases.first() or releases.release_create(
                reference_set=reference_set, method="linear", by=manager
            )
            self.step("weights", lambda: releases.release_build(release_id=release.pk))
            release.refresh_from_db()
            if release.state != JobState.DONE:
                raise CommandError(f"The demo's release did not finish: {release.error}")
        return release

    def study(self, project: Project, release: Release, manager: User) -> None:
        specification = demo_study.demo_study_specification()
        study: Study = studies.study_create(
            project=project,
            release=release,
            campaigns=list(project.campaigns.filter(name="Output ratings")),
            name="Which metric can be trusted on DSTC7?",
            specification=specification,
            by=manager,
        )
        if study.state != JobState.DONE:
            self.step("study over 1,000 assignments", lambda: studies.study_execute(study_id=study.pk))
            study.refresh_from_db()
            if study.state != JobState.DONE:
                raise CommandError(f"The demo's study did not finish: {study.error}")
