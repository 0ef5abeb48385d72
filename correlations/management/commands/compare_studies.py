"""Print studies side by side."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError

from annotation.management.base import AssayCommand, project_by_slug
from correlations.management.comparing import comparison_lines
from correlations.selectors import compared_words as words
from correlations.selectors.compared import compared_studies, finished_studies
from correlations.stats.coefficients.registry import COEFFICIENTS


class Command(AssayCommand):
    help = "Compare finished studies: the same metrics on several data sets, or with other settings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("studies", nargs="+", type=int, help="ids of two or more finished studies")
        parser.add_argument(
            "--coefficient", choices=list(COEFFICIENTS), help="by default the first study's leading one"
        )
        parser.add_argument("--json", action="store_true", help="print the whole comparison as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_by_slug(options["project"])
        known = finished_studies(project).in_bulk(options["studies"])
        missing = [pk for pk in options["studies"] if pk not in known]
        if missing or len(set(options["studies"])) < 2:
            accepted = ", ".join(f"{pk}" for pk in finished_studies(project).values_list("pk", flat=True)) or "none"
            found = missing[0] if missing else options["studies"][0]
            raise CommandError(f"studies: found {found}; accepted: two or more of {accepted}")
        compared = compared_studies([known[pk] for pk in dict.fromkeys(options["studies"])], options["coefficient"])
        if compared is None:
            raise CommandError("--coefficient: found none that all these studies have")
        if options["json"]:
            self.stdout.write(json.dumps(words.plain(compared), ensure_ascii=False))
            return
        for line in comparison_lines(compared):
            self.stdout.write(line)
