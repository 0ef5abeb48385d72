"""The columns of a file of scores as the page that imports them shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.core.numbers import counted
from metrics.services.score_imports import ScorePreview
from metrics.services.score_options import ImportOptions

IMPORT_ONE, IMPORT_SEVERAL = "Import {}’s scores", "Import {} columns of scores"  # of a button, which a script keeps up
IMPORT_NONE = "Tick a column to import"


@dataclass(frozen=True)
class ShownColumn:
    """A column: its number in the form, whether it is imported, and under which name."""

    number: int
    preview: ScorePreview
    is_taken: bool
    name: str

    @property
    def is_open(self) -> bool:
        """Return whether its scale must be looked at."""
        return self.is_taken and self.preview.scale.is_unknown_points


@dataclass(frozen=True)
class ShownColumns:
    """All columns of a file, those to import first.

    Attributes
    ----------
    columns : sequence of ShownColumn
    unused_name : str
        A name that was entered for one metric, where there are several.
    """

    columns: Sequence[ShownColumn]
    unused_name: str = ""

    @classmethod
    def of(cls, previews: Sequence[ScorePreview], options: ImportOptions, seen: Sequence[str]) -> "ShownColumns":
        """Arrange the previews. Raters' columns that no page has offered so far are not imported."""
        if len(previews) == 1:
            return cls([ShownColumn(1, previews[0], True, previews[0].metric.scorer)])

        def is_taken(preview: ScorePreview) -> bool:
            return preview.column not in options.skip and (not preview.of_rater or preview.column in seen)

        ordered = sorted(previews, key=lambda preview: (not is_taken(preview), bool(preview.of_rater)))
        taken = {preview.column for preview in ordered if is_taken(preview)}
        names = dict(options.shown_names)
        if options.name and len(taken) == 1:
            names.update(dict.fromkeys(taken, options.name))
        columns = [
            ShownColumn(number, preview, is_taken(preview), names.get(preview.column) or preview.column)
            for number, preview in enumerate(ordered, start=1)
        ]
        return cls(columns, options.name if len(taken) != 1 else "")

    def named(self, names: Mapping[str, str]) -> "ShownColumns":
        """Return them with these names, by column."""
        columns = [replace(shown, name=names.get(shown.preview.column) or shown.name) for shown in self.columns]
        return replace(self, columns=columns)

    @property
    def first(self) -> ScorePreview:
        return self.columns[0].preview

    @property
    def are_several(self) -> bool:
        return len(self.columns) > 1

    @property
    def taken(self) -> list[ShownColumn]:
        return [shown for shown in self.columns if shown.is_taken]

    @property
    def left(self) -> list[ShownColumn]:
        return [shown for shown in self.columns if not shown.is_taken]

    @property
    def raters(self) -> list[ShownColumn]:
        return [shown for shown in self.columns if shown.preview.of_rater]

    @property
    def reasons(self) -> str:
        """Return by what columns are taken for raters', each reason once, with its columns if there are several."""
        columns: dict[str, list[str]] = {}
        for shown in self.raters:
            columns.setdefault(shown.preview.of_rater, []).append(shown.preview.column)
        if len(columns) == 1:
            return next(iter(columns))
        return " and ".join(f"{reason} ({', '.join(names)})" for reason, names in columns.items())

    @property
    def counts(self) -> str:
        """Return ``1 column of scores and 3 columns of raters``."""
        if not self.are_several:
            return "1 column, which looks like a rater’s" if self.raters else "1 column of scores"
        n_raters = len([shown for shown in self.raters if not shown.is_taken])
        n_scores = len(self.columns) - n_raters
        counts = counted(n_scores, "column") + " of scores" if n_scores else "no column of scores"
        return counts + (f" and {counted(n_raters, 'column')} of raters" if n_raters else "")

    @property
    def import_label(self) -> str:
        """Return what the button imports: ``Import gpt4_judge’s scores``, ``Import 2 columns of scores``."""
        taken = list(dict.fromkeys(shown.preview.column for shown in self.taken))
        if len(taken) == 1:
            return IMPORT_ONE.format(taken[0])
        return IMPORT_SEVERAL.format(len(taken)) if taken else IMPORT_NONE

    @property
    def import_words(self) -> dict[str, str]:
        """Return the button's words by how many columns are ticked, for the script that keeps them up to date."""
        return {"none": IMPORT_NONE, "one": IMPORT_ONE, "several": IMPORT_SEVERAL}
