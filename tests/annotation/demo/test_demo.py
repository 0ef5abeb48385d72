"""The demo data, compared with published numbers and with counts from the raw files."""

from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from django.db import connection, transaction

from annotation.demo import load as demo
from annotation.models import Campaign, Dataset, DatasetImport, Project, Rating, ResponseSource, User
from annotation.quality.selectors.rule_preview import rules_preview
from annotation.weighting.exclusion.registry import rules_from_data
from tests.demo.world import imported_demo


@pytest.fixture(scope="module")
def report(django_db_setup: None, django_db_blocker):  # type: ignore[no-untyped-def]
    """Import the demo once for all tests here, and roll it back afterwards."""
    with django_db_blocker.unblock(), transaction.atomic():
        report = imported_demo()
        connection.check_constraints()  # foreign keys are deferred, and there will be no commit
        yield report
        transaction.set_rollback(True)


@pytest.mark.django_db
@pytest.mark.usefixtures("report")
class TestDemo:
    def test_the_report_counts_what_was_imported(self, report: dict[str, dict[str, int]]) -> None:
        # The publisher's README and repository; empty cells, quote characters and doubles counted with awk and sort.
        dataset = report["dataset"]
        assert (dataset["items"], dataset["systems"], dataset["outputs"]) == (1000, 10, 10_000)
        assert (dataset["references"], dataset["items_without_references"]) == (35_161, 46)
        assert (dataset["responses"], dataset["identical_outputs"]) == (45_035, 31)
        assert dataset["quote_cells"] == 3588
        references, outputs = report["references"], report["outputs"]
        assert (references["judgements"], outputs["judgements"]) == (12_000, 21_000)
        assert references["byte_order_mark"] == 1
        assert references["repeated_judgements"] + outputs["repeated_judgements"] == 54
        assert references["repeated_differing"] + outputs["repeated_differing"] == 40
        assert (outputs["alias_judgements"], outputs["alias_outputs"]) == (3000, 1000)

    def test_the_imported_ratings_reproduce_the_published_means(self) -> None:
        """Source: dstc7-task2-human_evaluation.tsv, the organisers' own means: all 10,000 cells and the averages.

        Their reading: the mean of relevance and informativeness over the judgements of an item under a system's name,
        TeamCE's and TeamEC's taken together. Read per response instead, identical outputs would be pooled.
        """
        header, *rows = [
            line.split("\t") for line in demo.raw_file("dstc7-task2-human_evaluation.tsv").decode().splitlines()
        ]
        cells: dict[tuple[str, str], list[Fraction]] = defaultdict(list)
        ratings = Rating.objects.filter(campaign__imported=True).order_by()
        for item, system, value in ratings.values_list("response__item__external_id", "rated_as__name", "value"):
            cells[item, demo.ALIASES.get(system, system)].append(Fraction(value))
        means = {cell: sum(values) / len(values) for cell, values in cells.items()}
        assert len(means) == 10_000
        averages = {system: sum(means[row[0], system] for row in rows[:-1]) / 1000 for system in header[1:]}
        computed = [[row[0], *(_rounded(means[row[0], system]) for system in header[1:])] for row in rows[:-1]]
        assert computed == rows[:-1]
        assert rows[-1] == ["Average", *(_rounded(averages[system]) for system in header[1:])]

    def test_one_text_was_judged_under_the_names_of_both_systems(self) -> None:
        ours = {"TeamCE", "TeamEC"}
        outputs = ResponseSource.objects.filter(system__name__in=ours).values_list("response_id", "system__name")
        by_name = {name: {response for response, system in outputs if system == name} for name in ours}
        assert by_name["TeamCE"] == by_name["TeamEC"]
        assert len(by_name["TeamCE"]) == 1000

    def test_two_campaigns_can_be_tried_and_one_watched(self) -> None:
        live = Campaign.objects.filter(project__slug="demo", imported=False).order_by("name")
        units = {campaign.name: (campaign.state, campaign.units.count()) for campaign in live}
        # 25 items and three pairs of systems; 40 items and four systems.
        watched = units.pop("Watch it: simulated raters, with checks")
        assert watched == ("running", 20)
        assert units == {"Try it: pairs": ("running", 75), "Try it: single responses": ("running", 160)}

    def test_the_rules_of_the_simulated_campaign_find_the_spammer(self) -> None:
        campaign = Campaign.objects.get(name="Watch it: simulated raters, with checks")
        rules = campaign.rule_versions.get()
        assert rules.before_launch
        preview = rules_preview(campaign, rules_from_data(rules.rules))
        assert {verdict.rater.pseudonym for verdict in preview.verdicts} == {"Simulated Eve, who clicks"}
        assert campaign.check_answers.exists()

    def test_loading_the_demo_twice_changes_nothing(self) -> None:
        counts = [model.objects.count() for model in (Project, Dataset, Campaign, DatasetImport)]
        assert demo.demo_import(by=User.objects.get(username="demo-importer")) == {}
        assert [model.objects.count() for model in (Project, Dataset, Campaign, DatasetImport)] == counts


def _rounded(value: Fraction) -> str:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return str(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))
