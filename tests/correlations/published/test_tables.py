"""What papers print is computed again from published data; the printed numbers stand in the tables themselves."""

import pytest
from django.test import Client
from django.urls import reverse

from correlations.published import delta_bleu, dialogue_metrics, quality_estimation
from correlations.published.registry import TABLES
from correlations.published.table import Cell, Line, PublishedTable


def test_intervals_of_galley_et_al_2015_table_2_follow_to_the_last_printed_digit():
    assert max(cell.difference for cell in delta_bleu.TABLE.cells) < 0.001
    assert len(delta_bleu.TABLE.cells) == 36


def test_correlations_of_d_haro_et_al_2019_table_1_follow_from_its_scores():
    assert len(dialogue_metrics.TABLE.lines) == 9
    for r, p in (line.cells for line in dialogue_metrics.TABLE.lines):
        assert r.difference < 5e-4
        assert p.difference < 2e-3  # r is rounded, which changes p
    assert dialogue_metrics.TABLE.lines[-1].note == "r = 0.42 without S_20"


def test_rows_of_metrics_of_dusek_et_al_2017_table_3_follow_from_the_published_scores():
    constant, *metrics = quality_estimation.TABLE.lines
    assert [cell.difference < 0.002 for cell in constant.cells if cell] == [True, True]
    for line in metrics:
        r, rho, *errors = line.cells
        assert max(r.difference, rho.difference) < 0.005, line.name
        if line.name != "METEOR":  # its published scores are not those that the paper computed
            assert max(error.difference for error in errors) < 0.002, line.name


def test_a_table_says_how_far_it_is_from_the_printed_one():
    def table(*cells: Cell | None) -> PublishedTable:
        return PublishedTable("k", "T", "P", "D", "L", "", ("a", "b"), lambda: [Line("x", cells)])

    assert table(Cell(0.12, 0.1249, 2), None).agreement == "All 1 numbers are the printed ones."
    off = table(Cell(0.12, 0.15, 2), Cell(0.5, 0.501, 2))
    assert off.agreement == (
        "All 2 numbers lie within 0.03 of the printed ones (farthest: x); 1 are the same to the last digit."
    )


@pytest.mark.django_db
def test_the_page_sets_printed_beside_computed_without_an_account(client: Client):
    page = client.get(reverse("help-published")).content.decode()
    for table in TABLES:
        assert table.title in page
        assert table.agreement in page
    assert "r = 0.42 without S_20" in page
    assert reverse("help-published") in client.get(reverse("help")).content.decode()
