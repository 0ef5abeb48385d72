"""The files of a study's report: what each holds, and that it needs nothing else."""

import io
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from django.core.cache import cache
from django.db import transaction
from django.template.defaultfilters import filesizeformat
from django.urls import reverse

from annotation.core.charts import render
from annotation.core.numbers import decimals
from annotation.models import Membership, Project, Role, System, User
from correlations.charts.forest import ForestRow, forest_plot
from correlations.documents import latex
from correlations.documents.model import Chart, Document, Grid
from correlations.documents.pdf import pdf_document
from correlations.models import Study
from correlations.results.report import sha256_of
from correlations.selectors.documents import study_document
from correlations.selectors.printed import printed_report
from correlations.selectors.reports import row_references
from correlations.selectors.worth import IN_PLACE_OF, stand_in_candidates
from correlations.services.execution import study_execute
from correlations.services.reports import FILES, report_file, report_sizes
from correlations.services.studies import study_create
from tests.metrics.world import World, make_world
from tests.snapshots import PROJECT_ID

pytestmark = pytest.mark.django_db
SMALL = {"sweeps": True, "assignments": 3, "bootstrap": 4, "unit_size": 4, "subsets": ["original", "all"]}
FOREIGN = "Quill_猫 & co"
OTHER_SCRIPTS = "猫 測試 かな 한국어 Кошки Γάτες חתול قطة बिल्ली বিড়াল பூனை แมว"
#: What lets a page load something, or lead somewhere.
ADDRESSES = ("src", "href", "xlink:href", "data", "action", "poster", "srcset", "background", "cite")


@dataclass(frozen=True)
class Reported:
    study: Study
    printed: Document
    files: dict[str, bytes]


@pytest.fixture(scope="module", autouse=True)
def reported(django_db_setup: None, django_db_blocker) -> Iterator[Reported]:  # type: ignore[no-untyped-def]
    """Make one study and its files for all tests here, and roll it back afterwards."""
    with django_db_blocker.unblock(), transaction.atomic():
        world = make_world(Project.objects.create(pk=PROJECT_ID, name="Chit-chat", slug="chit-chat"))
        System.objects.filter(pk=world.systems["Quill"].pk).update(name=FOREIGN)
        systems = ["Echo", "Parrot", FOREIGN]
        study = computed(world, "Do cats agree? 50% <b>", metrics=["bleu", "delta_bleu"], systems=systems)
        result = study.read_result()
        files = {ending: report_file(study, result, ending) for ending in FILES}
        yield Reported(study, printed_report(study, result, study_document(study, result)), files)
        transaction.set_rollback(True)


def computed(world: World, name: str, **changes: object) -> Study:
    specification = world.specification(**SMALL, **changes)
    study, _ = study_create(project=world.project, name=name, specification=specification, by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.result, study.error
    return study


@pytest.fixture
def study(reported: Reported) -> Study:
    return reported.study


@pytest.fixture
def printed(reported: Reported) -> Document:
    return reported.printed


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ADDRESSES]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_document_holds_every_part_and_every_number_of_the_table(study: Study, printed: Document) -> None:
    assert [section.title for section in printed.sections] == [
        "Correlation with human ratings",
        "Is one metric better than another?",
        "How far do raters agree with each other?",
        "Does the metric rank systems as raters do?",
        "Can a metric stand in for raters?",
        "By system and by output",
        "Other thresholds, unit sizes and orders of n-grams",
        "Circularity",
        "Items left out",
        "Methods",
        "How to compute it again",
    ]
    kinds = [block.kind for block in printed.sections[0].blocks]
    assert kinds == ["chart", "paragraph", "grid", "grid"]  # the picture first, the rest of what there is to say below
    grids = {grid.name: grid for grid in printed.grids()}
    assert all(len(row) == len(grid.columns) for grid in grids.values() for row in grid.rows)
    in_order = sorted(study.result["rows"], key=lambda row: -row["rho"]["value"])  # as the chart has them
    by_page = [each.row for each in stand_in_candidates(study.read_result(), IN_PLACE_OF)]
    assert [cells[:2] for cells in grids["stand-in"].rows] == [(row.label, row_references(row)) for row in by_page]
    for name in ("correlation-kendall", "ranking", "systems", "outputs"):
        assert [cells[:2] for cells in grids[name].rows] == [cells[:2] for cells in grids["correlation-spearman"].rows]
    closest = in_order[0]["label"]
    assert closest in grids["comparisons"].rows[0][0].split(" – "), "its comparisons come first"
    assert not [name for name in grids if name.startswith("system-ranges")], "of three systems they say nothing"
    levels = next(section for section in printed.sections if section.title == "By system and by output")
    said = [block.text for block in levels.blocks if block.kind == "paragraph"]
    assert "The study’s headline asks a third thing: which of two systems is better on" in said[0]
    assert said[1].startswith("Other systems could give any agreement: over 3 systems the 95% intervals of ρ, r and τ")
    specification = next(block for block in printed.blocks() if block.kind == "code" and block.columns == 2)
    assert json.loads(specification.text) == study_document(study, study.read_result()).specification
    assert grids["correlation-spearman"].best == 0
    for row, cells in zip(in_order, grids["correlation-spearman"].rows, strict=True):
        low, high = row["rho"]["over_items"]
        assert cells[2:4] == (decimals(row["rho"]["value"], 3), f"[{decimals(low)}, {decimals(high)}]")
        assert cells[-2:] == (str(row["n_observations"]), str(row["items"]))
    compared = study.result["comparisons"]
    assert len(grids["comparisons"].rows) == len(compared)
    best = max(study.result["rows"], key=lambda row: row["rho"]["value"])
    assert printed.lead[0].endswith(" with the raters, the highest.")
    assert f": Spearman’s ρ = {best['rho']['value']:.2f} [" in printed.lead[0]
    assert printed.lead[1].startswith("95% interval in brackets, for the difference of two systems on ")
    assert [chart.name for chart in printed.charts()] == ["forest", "systems", "threshold", "unit_size", "order"]


def test_the_html_file_reads_nothing_from_anywhere(reported: Reported) -> None:
    study, printed, text = reported.study, reported.printed, reported.files["html"].decode()
    page = Page(text)

    assert [address for address in page.addresses if not address.startswith("#")] == []
    assert not {"script", "link", "iframe", "img", "object", "embed"} & set(page.tags)
    assert re.findall(r"(?:@import|url\((?!#)|https?://(?!www\.w3\.org/))[^)\"]{0,40}", text) == []
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.count("svg") == 2 * len(printed.charts())  # light and dark
    for point in re.findall(r"url\(#([^)]+)\)", text):
        assert point in page.ids
    words = " ".join(page.words)
    assert "Do cats agree? 50% <b>" in words
    assert FOREIGN in words
    assert study.signature in words
    for grid in printed.grids():
        assert all(cell in words for row in grid.rows for cell in row)


def pdf_text(content: bytes, folder: Path) -> str:
    path = folder / "report.pdf"
    path.write_bytes(content)
    return subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True, text=True).stdout


def test_the_pdf_is_the_same_again_and_holds_the_table(reported: Reported, tmp_path: Path) -> None:
    study, printed, content = reported.study, reported.printed, reported.files["pdf"]
    assert content.startswith(b"%PDF-")
    assert content == report_file(study, study.read_result(), "pdf")
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext, of Debian's poppler-utils, is not installed: the text of the PDF was not read")
    text = pdf_text(content, tmp_path)
    assert "Do cats agree? 50% <b>" in text
    assert study.signature in text
    for row in printed.grids()[0].rows:
        assert all(cell in text for cell in row[2:])


@pytest.mark.skipif(not shutil.which("pdftoppm"), reason="no pdftoppm: Debian's poppler-utils has one")
def test_no_page_but_the_last_leaves_a_third_empty(reported: Reported, tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(reported.files["pdf"])
    draw = ["pdftoppm", "-r", "25", "-gray", tmp_path / "report.pdf", tmp_path / "page"]
    subprocess.run(draw, check=True, capture_output=True)
    *pages, _ = sorted(tmp_path.glob("page-*.pgm"))

    for path in pages:
        _, size, _, pixels = path.read_bytes().split(b"\n", 3)
        width, height = map(int, size.split())
        inked = (np.frombuffer(pixels, np.uint8).reshape(height, width) < 200).any(axis=1)
        top, foot = round(height * 20 / 297), round(height * 275 / 297)  # the margins of the page
        last = inked[:foot].nonzero()[0].max()
        assert (foot - last) / (foot - top) < 1 / 3, path.name
    assert len(pages) > 2


def test_names_in_other_scripts_have_their_letters_in_pdf_and_charts(tmp_path: Path) -> None:
    """Without a glyph a letter is drawn as an empty box, and no font of its script is in the file."""
    spec = forest_plot([ForestRow(word, "", "Spearman’s ρ", 0.5) for word in OTHER_SCRIPTS.split()], width=300)
    chart = Chart("forest", OTHER_SCRIPTS, OTHER_SCRIPTS, spec, spec)
    document = Document(OTHER_SCRIPTS, "", ("",), (), (), "")
    for content in (pdf_document(document, made_at=0), render(chart.light, "pdf")):
        if not shutil.which("pdffonts"):
            assert len(content) > 10_000
            continue
        path = tmp_path / "fonts.pdf"
        path.write_bytes(content)
        fonts = subprocess.run(["pdffonts", path], check=True, capture_output=True, text=True).stdout
        for script in ("SC", "KR", "Hebrew", "Arabic", "Devanagari", "Bengali", "Tamil", "Thai"):
            # Fonts of the computer may have simple scripts, too.
            assert f"NotoSans{script}" in fonts or script in ("Hebrew", "Arabic"), (script, fonts)


def test_the_latex_tables_are_those_of_the_report(reported: Reported) -> None:
    study, printed = reported.study, reported.printed
    with zipfile.ZipFile(io.BytesIO(reported.files["zip"])) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert {name for name in files if name.startswith("figures/")} == {
        f"figures/{chart.name}.pdf" for chart in printed.charts()
    }
    table = files["tables/correlation-spearman.tex"].decode()
    assert all(rule in table for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{Spearman's $\rho$"))
    body = table.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert body.count(r"\\") == len(study.result["rows"])
    report = files["report.tex"].decode()
    assert r"Do cats agree? 50\% \textless{}b\textgreater{}" in report
    assert r"\errmessage{Names in other scripts" in report  # 猫 needs XeLaTeX or LuaLaTeX


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex: Debian's texlive-latex-recommended has one")
def test_the_latex_compiles(reported: Reported, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(reported.files["zip"])) as archive:
        archive.extractall(tmp_path)
    for path in (tmp_path / "report.tex", *(tmp_path / "tables").iterdir()):  # as with names in Latin letters
        path.write_text(path.read_text().replace("猫", "x").replace(latex.NEEDS, ""))
    alone = [f"\\input{{tables/{path.name}}}" for path in sorted((tmp_path / "tables").iterdir())]
    packages = "\\usepackage{array,booktabs}"
    paper = ["\\documentclass{article}", packages, "\\begin{document}", *alone, "\\end{document}"]
    (tmp_path / "paper.tex").write_text("\n".join(paper))
    for name in ("report", "paper"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert ended.returncode == 0, ended.stdout.decode(errors="replace")[-2000:]
        assert (tmp_path / f"{name}.pdf").stat().st_size > 10_000
    overfull = re.findall(r"Overfull \\hbox \((\d+)", (tmp_path / "report.log").read_text(errors="replace"))
    assert not [points for points in map(int, overfull) if points > 60]


def test_long_tables_keep_their_notes_and_the_row_that_stands_out() -> None:
    grid = Grid("t", "A_b", (), (("x_1",), ("y",)), notes=("Undefined: 5%.",), best=1)
    table = latex.latex_table(grid)
    assert r"x\_1 \\" in table
    assert r"\textbf{y} \\" in table
    assert r"\par\footnotesize Undefined: 5\%." in table


def test_the_menu_says_what_each_file_is_and_how_large_once_it_was_made(reported: Reported, as_user) -> None:
    study = reported.study
    user = User.objects.create_user("vera-viewer")
    Membership.objects.create(project=study.project, user=user, role=Role.VIEWER)
    client = as_user(user)
    detail = reverse("correlations:study-detail", args=[study.project.slug, study.pk])
    cache.clear()
    page = client.get(detail).content.decode()
    assert report_sizes(study) == {}
    for ending, each in FILES.items():
        assert reverse("correlations:study-report", args=[study.project.slug, study.pk, ending]) in page
        assert each.purpose in page
    answer = client.get(reverse("correlations:study-report", args=[study.project.slug, study.pk, "json"]))
    assert (answer.content, answer.headers["Content-Type"]) == (reported.files["json"], "application/json")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert report_sizes(study) == {"json": len(reported.files["json"])}
    assert f"JSON, {filesizeformat(len(reported.files['json']))}" in client.get(detail).content.decode()
    unknown = reverse("correlations:study-report", args=[study.project.slug, study.pk, "docx"])
    assert client.get(unknown).status_code == 404


def test_the_json_report_names_its_own_hashes(reported: Reported) -> None:
    study, report = reported.study, json.loads(reported.files["json"])
    assert report["format"] == "assay-study-report/1"
    assert report["hashes"] == {name: sha256_of(report[name]) for name in ("specification", "result")}
    assert report["seed"] == study.specification["seed"]
    assert report["versions"].keys() == {"assay", "numpy"}
    assert {"named", "last_rating_id"} & report["specification"].keys() == set()
