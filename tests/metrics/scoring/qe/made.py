"""A small made data set: restaurants, rated lower the more of the act is missing or said twice."""

import numpy as np

from metrics.scoring.qe.instances import Instance

NAMES = ("la ciccia", "chow", "spruce")
FOODS = ("thai", "french", "indian")
AREAS = ("mission", "soma", "haight")


def made_instances(count: int = 60, *, seed: int = 0) -> list[Instance]:
    rng = np.random.default_rng(seed)
    instances = []
    for number in range(count):
        name, food, area = (str(rng.choice(each)) for each in (NAMES, FOODS, AREAS))
        missing, repeated = int(rng.integers(3)), bool(rng.integers(2))
        words = [name, "serves", food, "food", "in", area][: 6 - 2 * missing]
        if repeated:
            words.insert(1, words[0].split()[0])
        reference = f"{name} in {area} serves {food} food"
        instances.append(
            Instance(
                f"inform(name='{name}',food={food},area={area})",
                " ".join(words) + ".",
                6.0 - 1.5 * missing - repeated,
                (reference,),
                ("hotels", "restaurants")[number % 2],
                ("first", "second")[number % 3 > 0],
            )
        )
    return instances
