"""Re-create static/vendor/ and the fonts of files from npm packages and the Vega bundle that vl-convert carries.

    .venv/bin/python scripts/vendor_static.py

Needs npm and the project's virtual environment. Running Assay does not need it: the result is committed.
Versions are pinned here, written to static/vendor/VERSIONS.md, and every licence lies beside its files.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import vl_convert
from fontTools.merge import Merger
from fontTools.ttLib import TTFont

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"
BOOTSTRAP, ICONS, HTMX = "5.3.8", "1.13.1", "2.0.11"
# By package: its version, and the subsets of its files. A browser loads only the subsets whose characters a page shows.
LATIN = ("latin-wght-normal", "latin-wght-italic", "latin-ext-wght-normal", "vietnamese-wght-normal")
EUROPE = (*LATIN, "greek-wght-normal", "cyrillic-wght-normal")
FONTS = {
    "source-sans-3": ("5.3.0", EUROPE),
    "source-serif-4": ("5.3.1", EUROPE),
    "noto-sans-arabic": ("5.3.0", ("arabic-wght-normal",)),
    "noto-naskh-arabic": ("5.3.0", ("arabic-wght-normal",)),
}
# Of files: scripts whose letters the fonts within typst and vl-convert do not have. By script, package and version.
PRINT = Path(__file__).resolve().parent.parent / "annotation" / "core" / "fonts"
PRINT_VERSION = "5.3.0"
PRINT_FONTS = {
    "noto-sans-sc": ("chinese-simplified", "Noto Sans SC"),
    "noto-sans-jp": ("japanese", "Noto Sans JP"),
    "noto-sans-kr": ("korean", "Noto Sans KR"),
    "noto-sans-arabic": ("arabic", "Noto Sans Arabic"),
    "noto-sans-hebrew": ("hebrew", "Noto Sans Hebrew"),
    "noto-sans-devanagari": ("devanagari", "Noto Sans Devanagari"),
    "noto-sans-bengali": ("bengali", "Noto Sans Bengali"),
    "noto-sans-tamil": ("tamil", "Noto Sans Tamil"),
    "noto-sans-thai": ("thai", "Noto Sans Thai"),
}
# The pages' own, so that a chart in a file looks as on its page; by weight, its name.
CHART_FONT, CHART_FAMILY = "source-sans-3", "Source Sans 3 Variable"
CHART_WEIGHTS = {400: "Regular", 600: "SemiBold"}
CHART_SUBSETS = ("latin", "latin-ext", "greek", "cyrillic")
FAMILY, STYLE, UNIQUE, FULL, POSTSCRIPT = 1, 2, 3, 4, 6  # names within a font
TYPOGRAPHIC_FAMILY, TYPOGRAPHIC_STYLE = 16, 17
SVG = "http://www.w3.org/2000/svg"

VEGA_EXPORTS = "window.vega = vega; window.vegaLite = vegaLite; window.vegaEmbed = vegaEmbed;"

ICON_NAMES = """
    arrow-clockwise arrow-down-short arrow-left arrow-right arrow-up-short arrow-up-right ban bar-chart-line
    book box-arrow-in-right box-arrow-right braces check-circle check-circle-fill check-lg chevron-down
    chevron-left chevron-right circle-half clipboard clipboard-check clipboard-data clock cloud-upload
    code-slash collection dash-circle database download exclamation-octagon exclamation-triangle eye
    file-earmark-arrow-down file-earmark-image file-earmark-pdf file-earmark-spreadsheet file-earmark-text
    filter folder2-open gear graph-up hourglass-split inbox info-circle key keyboard layers link-45deg list
    list-check lock moon pause-circle pencil people person-circle play-circle plus-lg question-circle rulers
    search shield-check sliders star stop-circle sun table trash upload x-circle x-lg
"""


def npm_unpack(package: str, into: Path) -> Path:
    """Download one npm package with npm itself (which checks its integrity hash) and return its folder."""
    command = ["npm", "pack", "--silent", package]
    packed = subprocess.run(command, cwd=into, check=True, capture_output=True, text=True)
    archive = into / packed.stdout.strip().splitlines()[-1]
    folder = into / archive.stem
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / "package"


def licences_in(package: Path) -> list[Path]:
    return [path for path in sorted(package.iterdir()) if path.name.upper().startswith(("LICENSE", "LICENCE"))]


def copy_without_source_map(source: Path, target: Path) -> None:
    """Copy a file without its source map, which is not shipped: hashed static storage refuses missing files."""
    text = source.read_text(encoding="utf-8")
    text = re.sub(r"^(/\*|//)# sourceMappingURL=\S+( \*/)?\s*$", "", text, flags=re.MULTILINE)
    target.write_text(text.rstrip() + "\n", encoding="utf-8")


def vendor_bootstrap(work: Path) -> None:
    package, out = npm_unpack(f"bootstrap@{BOOTSTRAP}", work), VENDOR / "bootstrap"
    out.mkdir()
    copy_without_source_map(package / "dist/css/bootstrap.min.css", out / "bootstrap.min.css")
    shutil.copy(licences_in(package)[0], out / "LICENSE")


def vendor_htmx(work: Path) -> None:
    package, out = npm_unpack(f"htmx.org@{HTMX}", work), VENDOR / "htmx"
    out.mkdir()
    copy_without_source_map(package / "dist/htmx.min.js", out / "htmx.min.js")
    shutil.copy(licences_in(package)[0], out / "LICENSE")


def vendor_icons(work: Path) -> None:
    """Write one sprite of the icons in templates: `<use href="icons.svg#play">`."""
    package, out = npm_unpack(f"bootstrap-icons@{ICONS}", work), VENDOR / "bootstrap-icons"
    out.mkdir()
    ET.register_namespace("", SVG)
    sprite = ET.Element(f"{{{SVG}}}svg")
    for name in ICON_NAMES.split():
        icon = ET.parse(package / "icons" / f"{name}.svg").getroot()
        symbol = ET.SubElement(sprite, f"{{{SVG}}}symbol", id=name, viewBox=icon.attrib["viewBox"])
        symbol.extend(icon)
    ET.indent(sprite)
    (out / "icons.svg").write_text(ET.tostring(sprite, encoding="unicode") + "\n", encoding="utf-8")
    shutil.copy(licences_in(package)[0], out / "LICENSE")


def vendor_fonts(work: Path) -> None:
    """Write the fonts' files and one stylesheet, a rule for each file with the characters that it holds."""
    out = VENDOR / "fonts"
    out.mkdir()
    rules = []
    for name, (version, subsets) in FONTS.items():
        package = npm_unpack(f"@fontsource-variable/{name}@{version}", work)
        written = "".join((package / f"wght{style}.css").read_text(encoding="utf-8") for style in styles_of(package))
        for subset in subsets:
            file = f"{name}-{subset}.woff2"
            rule = re.search(rf"@font-face {{[^}}]*{re.escape(file)}[^}}]*}}", written)
            if rule is None:
                raise LookupError(f"{name} {version} has no subset {subset}")
            rules.append(rule[0].replace("./files/", ""))
            shutil.copy(package / "files" / file, out / file)
        shutil.copy(licences_in(package)[0], out / f"LICENSE-{name}")
    (out / "fonts.css").write_text("\n\n".join(rules) + "\n", encoding="utf-8")


def vendor_print_fonts(work: Path) -> None:
    """Write a TrueType file for each script that the fonts of typesetters lack, named as its family."""
    shutil.rmtree(PRINT, ignore_errors=True)
    PRINT.mkdir()
    for name, (subset, family) in PRINT_FONTS.items():
        package = npm_unpack(f"@fontsource/{name}@{PRINT_VERSION}", work)
        font = TTFont(package / "files" / f"{name}-{subset}-400-normal.woff")
        font.flavor = None
        for record in font["name"].names:
            if record.nameID in (FAMILY, FULL, POSTSCRIPT):  # cut from a variable font, it is called Thin
                record.string = family.replace(" ", "") if record.nameID == POSTSCRIPT else family
        font.save(PRINT / f"{name}.ttf", reorderTables=None)
        shutil.copy(licences_in(package)[0], PRINT / f"LICENSE-{name}")


def vendor_chart_fonts(work: Path) -> None:
    """Write a TrueType file for each weight of the pages' font, its subsets merged, under the name that pages use."""
    package = npm_unpack(f"@fontsource/{CHART_FONT}@{PRINT_VERSION}", work)
    for weight, style in CHART_WEIGHTS.items():
        parts = []
        for subset in CHART_SUBSETS:
            part = TTFont(package / "files" / f"{CHART_FONT}-{subset}-{weight}-normal.woff")
            part.flavor = None
            parts.append(str(work / f"{subset}-{weight}.ttf"))
            part.save(parts[-1])
        font = Merger().merge(parts)
        names = {
            FAMILY: CHART_FAMILY if weight == min(CHART_WEIGHTS) else f"{CHART_FAMILY} {style}",
            STYLE: "Regular",
            UNIQUE: f"{CHART_FAMILY} {style}",
            FULL: f"{CHART_FAMILY} {style}",
            POSTSCRIPT: f"{CHART_FAMILY.replace(' ', '')}-{style}",
            TYPOGRAPHIC_FAMILY: CHART_FAMILY,
            TYPOGRAPHIC_STYLE: style,
        }
        for number, text in names.items():
            font["name"].setName(text, number, 3, 1, 0x409)
        font["OS/2"].usWeightClass = weight
        font.save(PRINT / f"{CHART_FONT}-{style.lower()}.ttf")
    shutil.copy(licences_in(package)[0], PRINT / f"LICENSE-{CHART_FONT}")


def styles_of(package: Path) -> list[str]:
    return [style for style in ("", "-italic") if (package / f"wght{style}.css").exists()]


def vendor_vega(work: Path) -> dict[str, str]:
    out = VENDOR / "vega"
    out.mkdir()
    (out / "vega.bundle.js").write_text(vl_convert.javascript_bundle(VEGA_EXPORTS).rstrip() + "\n", encoding="utf-8")
    versions = {
        "vega": vl_convert.get_vega_version(),
        "vega-lite": vl_convert.get_vegalite_versions()[-1],
        "vega-embed": vl_convert.get_vega_embed_version(),
    }
    packages = [f"{name}@{version}" for name, version in versions.items()]
    (out / "LICENSES").write_text(
        licences_of_tree([*packages, "lodash.debounce@4.0.8"], work / "tree"), encoding="utf-8"
    )
    return versions


def licences_of_tree(packages: list[str], folder: Path) -> str:
    """Return the licences of these packages and their dependencies, as a bundle holds no notices."""
    folder.mkdir()
    command = ["npm", "install", "--silent", "--ignore-scripts", "--no-save", "--omit=optional", *packages]
    subprocess.run(command, cwd=folder, check=True)
    holders: dict[str, list[str]] = {}
    for manifest in sorted((folder / "node_modules").glob("**/package.json")):
        about = json.loads(manifest.read_text(encoding="utf-8"))
        if "version" not in about or not (notices := licences_in(manifest.parent)):
            continue  # not a package's own manifest
        text = notices[0].read_text(encoding="utf-8").strip()
        holders.setdefault(text, []).append(f"{about['name']} {about['version']}")
    return "\n\n".join(f"{', '.join(names)}\n\n{text}\n\n{'-' * 80}" for text, names in holders.items()) + "\n"


def write_versions(vega: dict[str, str]) -> None:
    bundle = ", ".join(f"{name} {version}" for name, version in vega.items())
    rows = [
        ("bootstrap/", f"Bootstrap {BOOTSTRAP}", "MIT"),
        ("bootstrap-icons/icons.svg", f"Bootstrap Icons {ICONS} ({len(ICON_NAMES.split())} icons, one sprite)", "MIT"),
        ("htmx/", f"htmx {HTMX}", "0BSD"),
        ("fonts/", f"{', '.join(f'{name} {version}' for name, (version, _) in FONTS.items())}, variable", "OFL-1.1"),
        (
            "vega/vega.bundle.js",
            f"{bundle}, with the CSP-safe expression interpreter",
            "BSD-3-Clause, MIT, ISC and others: see LICENSES",
        ),
    ]
    lines = ["# Vendored files", "", "Made by `scripts/vendor_static.py`; do not edit by hand.", ""]
    lines += ["| Path | What | Licence |", "| --- | --- | --- |"]
    lines += [f"| `{path}` | {what} | {licence} |" for path, what, licence in rows]
    (VENDOR / "VERSIONS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    shutil.rmtree(VENDOR, ignore_errors=True)
    VENDOR.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as work:
        vendor_bootstrap(Path(work))
        vendor_htmx(Path(work))
        vendor_icons(Path(work))
        vendor_fonts(Path(work))
        vendor_print_fonts(Path(work))
        vendor_chart_fonts(Path(work))
        write_versions(vendor_vega(Path(work)))


if __name__ == "__main__":
    main()
