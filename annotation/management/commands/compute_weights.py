"""Weigh the references of a set and store the result as its next release."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import AssayCommand, check_done, json_list, progress_bar, project_by_slug, row_by_name
from annotation.models import Project, ReferenceSet, Release
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import TEXT_KINDS, reference_set_create
from annotation.weighting.schemes import DEFAULT_SCHEME, SCHEMES

EPILOG = """\
examples:
  The next release of a reference set that is there:
    manage.py compute_weights --project demo --reference-set dstc7-references

  A new set: outputs of two systems, weighed by one campaign, Human being the original:
    manage.py compute_weights --project demo --dataset dstc7 --name "Rated references" \\
      --campaign "Reference ratings" --source Human --source TeamB --original Human

  Medians, without some raters, as JSON for a script:
    manage.py compute_weights --project demo --reference-set dstc7-references \\
      --method median --rules rules.json --json

  rules.json holds a list of exclusion rules:
    [{"rule": "exclude_raters", "version": 1, "raters": ["R7", "R12"]},
     {"rule": "min_seconds_per_rating", "version": 1, "seconds": 1.5}]
"""


class Command(AssayCommand):
    help = __doc__
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--reference-set", metavar="SLUG", help="release this set; or describe a new one:")
        parser.add_argument("--dataset", metavar="SLUG", help="data set of the new reference set")
        parser.add_argument("--name", help="name of the new reference set")
        parser.add_argument("--campaign", action="append", default=[], metavar="NAME", help="rated in; repeatable")
        parser.add_argument(
            "--source",
            action="append",
            default=[],
            metavar="SYSTEM|KIND",
            help="what is a reference: outputs of a system, or a kind of source (seed, mined, ...); repeatable",
        )
        parser.add_argument(
            "--original", action="append", default=[], metavar="SYSTEM|KIND", help="which sources are the original"
        )
        parser.add_argument(
            "--method", choices=list(SCHEMES), default=DEFAULT_SCHEME, help="weighting scheme (%(default)s)"
        )
        parser.add_argument("--criterion", action="append", metavar="NAME", help="average over these only; repeatable")
        parser.add_argument("--rules", type=Path, metavar="FILE", help="JSON list of exclusion rules")
        parser.add_argument(
            "--with-excluded",
            action="store_true",
            help="count the ratings of raters excluded in the campaigns, too; else a rule is added that names them",
        )
        parser.add_argument("--json", action="store_true", help="print the release and its report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_by_slug(options["project"])
        parameters = {"criteria": options["criterion"]} if options["criterion"] else {}
        release = release_create(
            reference_set=_reference_set(project, options),
            method=options["method"],
            parameters=parameters,
            exclusion_rules=json_list(options["rules"], option="--rules"),
            with_excluded=options["with_excluded"],
        )
        with progress_bar(quiet=options["verbosity"] == 0) as progress:
            release_build(release_id=release.pk, progress=progress)
        check_done(release)
        self._print(release, as_json=options["json"])

    def _print(self, release: Release, *, as_json: bool) -> None:
        report = release.report
        if as_json:
            names = ("number", "method", "parameters", "exclusion_rules", "signature", "content_hash", "report")
            record = {name: getattr(release, name) for name in names}
            self.print_json({"reference_set": release.reference_set.slug, **record})
            return
        references, items, ratings = report["references"], report["items"], report["ratings"]
        left_out = ratings["read"] - ratings["kept"]
        self.stdout.write(f"{release.reference_set} v{release.number}, {release.signature}")
        self.stdout.write(
            f"  {references['weighted']} of {references['all']} references weighted: {references['positive']} "
            f"positive, {references['zero']} zero, {references['negative']} negative"
        )
        self.stdout.write(
            f"  {ratings['kept']} ratings by {ratings['raters']} raters used, {left_out} left out by rules"
        )
        self.stdout.write(f"  {items['without_positive']} of {items['with_weight']} items have no positive weight")
        self.stdout.write(f"  sha256 {release.content_hash}")


def _reference_set(project: Project, options: dict[str, Any]) -> ReferenceSet:
    if options["reference_set"]:
        existing: ReferenceSet = row_by_name(project.reference_sets, "--reference-set", options["reference_set"])
        return existing
    if not options["dataset"]:
        raise CommandError("Give --reference-set, or --dataset, --name, --campaign and --source for a new one.")
    dataset = row_by_name(project.datasets, "--dataset", options["dataset"])
    campaigns = [row_by_name(project.campaigns, "--campaign", name, field="name") for name in options["campaign"]]
    return reference_set_create(
        dataset=dataset,
        name=options["name"] or f"{dataset.name} references",
        campaigns=campaigns,
        source_kinds=[source for source in options["source"] if source in TEXT_KINDS],
        source_systems=[source for source in options["source"] if source not in TEXT_KINDS],
        original_kinds=[source for source in options["original"] if source in TEXT_KINDS],
        original_systems=[source for source in options["original"] if source not in TEXT_KINDS],
    )
