"""Seeded, made-up conversations with made-up ratings, at any size.

The hidden quality of a response decides how much of it is about the topic and, with the leniency and noise of raters,
its ratings, so that metrics and ratings correlate.
"""

import csv
import io
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

# topic: nouns / verbs / adjectives, the common ones first
TOPICS = """\
gardening: tomatoes roses soil fence compost hedge / water plant prune dig mulch / green dry tall muddy
cooking: soup dumplings oven garlic pastry broth / bake stir roast taste season / salty crisp warm bland
football: goal keeper referee penalty derby coach / score pass defend shoot miss / quick lucky late fair
trains: platform ticket timetable carriage delay station / board wait change travel miss / early crowded slow distant
music: guitar chorus drummer album concert melody / sing play record practise hum / soft catchy live old
films: plot actor sequel director ending trailer / watch quote skip direct rewatch / dark funny long silent
weather: storm forecast umbrella fog breeze frost / rain freeze clear melt blow / cold grey mild windy
school: exam teacher homework chalk library essay / study teach copy revise read / strict easy early tired
money: rent budget salary coin invoice bank / save spend borrow owe count / cheap steep tight honest
pets: kitten leash aquarium parrot collar hamster / feed walk groom bark purr / fluffy hungry tame noisy
"""
ON_TOPIC = (
    "you should {verb} the {adjective} {noun} first",
    "i always {verb} my {noun} before it gets {adjective}",
    "the {noun} was {adjective} , so we had to {verb} the {noun2}",
    "honestly , a {adjective} {noun} beats any {noun2}",
    "never {verb} a {noun} when the {noun2} looks {adjective}",
    "my brother tried to {verb} the {noun} and it turned out {adjective}",
    "did the {noun} look {adjective} to you , too ?",
)
GENERIC = (
    "i do not know",
    "that is great",
    "what do you mean ?",
    "me too",
    "thanks",
    "i agree with you",
    "no idea , sorry",
)
OPENERS = ("", "well , ", "oh , ", "yes , ", "no , ", "true , ", "i think ")
QUESTIONS = (
    "can anybody help me with the {noun} ?",
    "today i had to {verb} the {adjective} {noun} again",
    "what is wrong with my {noun} ? it is so {adjective}",
    "i finally learned how to {verb} a {noun} and a {noun2}",
)
CRITERION = "quality"


@dataclass(frozen=True)
class SyntheticSize:
    """The defaults are the scale of the first study with weighted references."""

    items: int = 2114
    references: int = 16
    systems: int = 7
    pairs: int = 12
    raters: int = 50
    ratings: int = 5
    seed: int = 20150726

    def __post_init__(self) -> None:
        for name, low in (("items", 1), ("references", 0), ("systems", 1), ("pairs", 0), ("raters", 1), ("ratings", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name}: found {getattr(self, name)}; accepted: at least {low}.")
        if self.ratings > self.raters:
            raise ValueError(f"ratings: found {self.ratings}; accepted: at most the number of raters, {self.raters}.")
        if self.pairs > (most := self.systems * (self.systems - 1) // 2):
            raise ValueError(f"pairs: found {self.pairs}; accepted: at most {most} with {self.systems} systems.")


class _Speaker:
    """Draws sentences; a low quality is off topic or says nothing."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.words: dict[str, tuple[list[str], list[str], list[str]]] = {}
        for line in TOPICS.splitlines():
            name, groups = line.split(": ")
            nouns, verbs, adjectives = (group.split() for group in groups.split(" / "))
            self.words[name] = nouns, verbs, adjectives
        self.topics = list(self.words)

    def topic(self) -> str:
        return self.topics[self.rng.integers(len(self.topics))]

    def pick(self, words: Sequence[str]) -> str:
        """Return a word; the first words of a list are the common ones, as in natural text (Zipf)."""
        frequency = 1.0 / np.arange(1, len(words) + 1)
        return words[self.rng.choice(len(words), p=frequency / frequency.sum())]

    def fill(self, template: str, topic: str) -> str:
        nouns, verbs, adjectives = self.words[topic]
        noun, noun2 = self.rng.permutation(len(nouns))[:2]
        return template.format(
            noun=nouns[noun], noun2=nouns[noun2], verb=self.pick(verbs), adjective=self.pick(adjectives)
        )

    def response(self, topic: str, quality: float) -> str:
        if self.rng.random() > 0.25 + quality:
            return self.pick(GENERIC)
        subject = topic if self.rng.random() < 0.3 + 0.7 * quality else self.topic()
        sentence = self.pick(OPENERS) + self.fill(self.pick(ON_TOPIC), subject)
        return f"{sentence} . {self.pick(GENERIC)}" if self.rng.random() < 0.2 else sentence


def synthetic_files(size: SyntheticSize) -> dict[str, bytes]:
    """Return files by name, ready to be uploaded (docs/data-formats.md); the same size and seed give the same bytes."""
    rng = np.random.default_rng(size.seed)
    speaker = _Speaker(rng)
    names = [f"System{number + 1:02d}" for number in range(size.systems)]
    skills = np.linspace(0.15, 0.85, size.systems)
    leniency = rng.normal(0, 0.4, size.raters)
    items: list[str] = []
    references: list[Sequence[object]] = [("rater", "item", "text", CRITERION)]
    outputs: list[Sequence[object]] = [("rater", "item", "system", CRITERION)]
    for number in range(size.items):
        external_id, topic = f"c{number + 1:05d}", speaker.topic()
        qualities = rng.beta(2, 2, size.references)
        texts = _different_texts(speaker, topic, qualities)
        gifts = np.clip(skills + rng.normal(0, 0.2, size.systems), 0, 1)
        item = {
            "id": external_id,
            "context": [speaker.fill(speaker.pick(QUESTIONS), topic)],
            "message": speaker.fill(speaker.pick(ON_TOPIC), topic),
            "references": [{"text": text, "kind": "mined" if index else "seed"} for index, text in enumerate(texts)],
            "outputs": {name: speaker.response(topic, gift) for name, gift in zip(names, gifts, strict=True)},
        }
        items.append(json.dumps(item, ensure_ascii=False))
        references += _ratings(external_id, dict(zip(texts, qualities, strict=True)), leniency, size, rng)
        outputs += _ratings(external_id, dict(zip(names, gifts, strict=True)), leniency, size, rng)
    design = asdict(size) | {"criterion": CRITERION, "scale": [1, 5], "compare": _pairs(names, size.pairs, rng)}
    return {
        "items.jsonl": ("\n".join(items) + "\n").encode(),
        "reference-ratings.csv": _csv(references),
        "output-ratings.csv": _csv(outputs),
        "design.json": (json.dumps(design, indent=2) + "\n").encode(),
    }


def _different_texts(speaker: _Speaker, topic: str, qualities: npt.NDArray[np.float64]) -> list[str]:
    """Return a text of each quality, none twice."""
    texts: dict[str, None] = {}
    for quality in qualities:
        text = speaker.response(topic, quality)
        while text in texts:
            text = f"{text} . {speaker.response(topic, quality)}"
        texts[text] = None
    return list(texts)


def _pairs(names: list[str], count: int, rng: np.random.Generator) -> list[list[str]]:
    every = list(itertools.combinations(names, 2))
    return [list(every[index]) for index in sorted(rng.permutation(len(every))[:count].tolist())]


def _csv(rows: Sequence[Sequence[object]]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def _ratings(
    external_id: str,
    qualities: Mapping[str, float],
    leniency: npt.NDArray[np.float64],
    size: SyntheticSize,
    rng: np.random.Generator,
) -> Iterator[tuple[str, str, str, int]]:
    """Yield each response's ratings by ``size.ratings`` different raters, on 1 to 5."""
    for name, quality in qualities.items():
        raters = rng.permutation(size.raters)[: size.ratings]
        felt = 1 + 4 * quality + leniency[raters] + rng.normal(0, 0.6, size.ratings)
        for rater, value in zip(raters.tolist(), np.clip(np.rint(felt), 1, 5).astype(int).tolist(), strict=True):
            yield f"rater{rater + 1:03d}", external_id, name, value
