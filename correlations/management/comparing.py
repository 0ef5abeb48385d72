"""Studies side by side, as text."""

from collections.abc import Iterator

from correlations.management.studying import three_decimals
from correlations.selectors import compared_words as words
from correlations.selectors.compared import Compared


def comparison_lines(compared: Compared) -> Iterator[str]:
    """Yield a comparison as lines of text."""
    yield words.lead_sentences(compared)
    width = max((len(line.name) for line in compared.lines), default=0) + 2
    headings = [name[:16] for name in compared.names]
    headings += ["difference"] if compared.is_pair else []
    headings += ["pooled"] if compared.pools else []
    headings += ["rank"] if compared.ranked else []
    yield " " * width + "".join(f"{heading:>18}" for heading in headings)
    for line in compared.lines:
        numbers = [three_decimals(cell.value if cell else None) for cell in line.cells]
        if compared.is_pair:
            numbers.append("–" if line.difference is None else f"{line.difference.value:+z.3f}")
        if compared.pools:
            numbers.append(three_decimals(line.pooled.value if line.pooled and not line.pooled.reason else None))
        if compared.ranked:
            rank = compared.ranked.of(line)
            numbers.append("–" if rank is None else f"{rank[0]:.1f}")
        yield f"{line.name:<{width}}" + "".join(f"{number:>18}" for number in numbers)
    for sentence in (words.rank_note(compared), words.assumption(compared)):
        if sentence:
            yield sentence
