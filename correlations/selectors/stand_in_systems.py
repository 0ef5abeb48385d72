"""By how much a judge differs from the raters, system by system, and whether it may be used to compare systems."""

from dataclasses import dataclass

from annotation.core.numbers import decimals
from correlations.selectors.worth import Candidate
from correlations.stats.worth import LEVEL
from metrics.templatetags.report import p_text

UNEVEN = 0.04  # of the raters' scale, by which a judge may favour one system over another before the page warns


@dataclass(frozen=True)
class SystemBias:
    """The judge's mean less the raters', by system, in points of the raters' scale; empty if its scale is unknown."""

    candidate: Candidate
    apart: dict[str, float]
    by_judge: dict[str, float]
    by_raters: dict[str, float]

    @classmethod
    def of(cls, candidate: Candidate) -> "SystemBias":
        judged, rated = {}, {}
        stand_in = candidate.stand_in
        if stand_in.scale == "ratings" or (stand_in.scale == "bounds" and stand_in.assumed is not None):
            for point in candidate.systems:
                if point.score is not None and point.rating is not None:
                    judged[point.system] = _on_raters_scale(candidate, point.score)
                    rated[point.system] = point.rating
        return cls(candidate, {system: judged[system] - rated[system] for system in judged}, judged, rated)

    @property
    def least(self) -> str:
        return min(self.apart, key=self.apart.__getitem__)

    @property
    def most(self) -> str:
        return max(self.apart, key=self.apart.__getitem__)

    @property
    def off(self) -> float:
        """Return by how many points the judge's difference of two systems is off the raters', at most."""
        return self.apart[self.most] - self.apart[self.least]

    @property
    def uneven(self) -> bool | None:
        """Return whether these are many points of the scale; None if its ends are not known, as in earlier results."""
        assumed = self.candidate.stand_in.assumed
        return None if assumed is None else self.off >= UNEVEN * (assumed.rating_high - assumed.rating_low)

    @property
    def off_in_words(self) -> str:
        """Return that number as the difference of the two that are printed beside it."""
        return f"{decimals(round(self.apart[self.most], 2) - round(self.apart[self.least], 2))} points"

    @property
    def other_first(self) -> str:
        """Return whose means are highest, if they are of two systems that both tell apart, as a sentence."""
        judges, raters = (max(side, key=side.__getitem__) for side in (self.by_judge, self.by_raters))
        sides = self.by_judge, self.by_raters
        assumed = self.candidate.stand_in.assumed
        span = 0.0 if assumed is None else assumed.rating_high - assumed.rating_low
        if any(abs(side[judges] - side[raters]) < max(UNEVEN * span, 0.005) for side in sides):
            return ""
        of_judge, of_raters = (
            f"{decimals(means[first])} for {first}, {decimals(means[second])} for {second}"
            for means, first, second in ((self.by_judge, judges, raters), (self.by_raters, raters, judges))
        )
        return f"By its means {judges} leads ({of_judge}), by the raters’ {raters} ({of_raters})."

    def in_words(self, *, may_compare: bool) -> str:
        """Return the sentences; a judge that is not shown to stand in for any rater is not offered for comparing."""
        if not self.apart:
            return _unknown(self.candidate)
        least, most = (f"{decimals(self.apart[each], plus=True)} for {each}" for each in (self.least, self.most))
        whose = "Its ratings" if self.candidate.stand_in.scale == "ratings" else "Its scores on the raters’ scale"
        if len(self.apart) == 1:
            return f"{whose} less the raters’ are {least}."
        text = f"{whose} less the raters’ are {least} to {most}.{self._by_chance}"
        if self.uneven and self.may_be_chance:
            text += f" Still its differences between systems are off by up to {self.off_in_words} on these outputs: "
            text += "rely on raters for them."
        elif self.uneven:
            text += " Rely on raters for differences between systems: the judge’s are off by up to "
            text += f"{self.off_in_words} on these outputs."
        elif self.uneven is not None:
            text += f" Its difference of any two systems is within {self.off_in_words} of theirs on these outputs"
            text += ": it may compare systems that lie farther apart." if may_compare else "."
        return f"{text} {self.other_first}".strip()

    @property
    def may_be_chance(self) -> bool:
        """Return whether systems may differ in this by chance alone; False if that is not tested."""
        p = self.candidate.stand_in.same_offset_p
        return p is not None and p > LEVEL

    @property
    def _by_chance(self) -> str:
        """Return whether the system that stands out most does so by more than chance, as a sentence; may be empty."""
        p = self.candidate.stand_in.same_offset_p
        if p is None:
            return ""
        what = "they differ" if len(self.apart) == 2 else "one of them lies so far from the others"
        verdict = "may be chance" if self.may_be_chance else "is more than chance"
        return f" That {what} {verdict} ({p_text(p)}, for other items and these raters)."

    @property
    def in_short(self) -> str:
        """Return one sentence for pages that lead to the answer."""
        if not self.apart:
            return _unknown(self.candidate)
        if len(self.apart) == 1 or self.uneven is None:
            return self.in_words(may_compare=False)
        least, most = (f"{decimals(self.apart[each], plus=True)} ({each})" for each in (self.least, self.most))
        if self.uneven:
            return f"Rely on raters for differences between systems: its means less theirs are {least} to {most}."
        return f"Its differences between systems are within {self.off_in_words} of the raters’."


def _on_raters_scale(candidate: Candidate, score: float) -> float:
    assumed = candidate.stand_in.assumed
    return score if assumed is None or candidate.stand_in.scale == "ratings" else assumed.placed(score)


def _unknown(candidate: Candidate) -> str:
    if candidate.stand_in.scale != "line":
        return ""
    why = "its scale is not known" if candidate.is_judge else "its scores are not on their scale"
    return f"Rely on raters for differences between systems: {why}, so that it may favour one unseen."
