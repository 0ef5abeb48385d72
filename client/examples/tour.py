"""One small data set through the whole loop: texts, ratings, weights, scores, a study.

python client/examples/tour.py http://127.0.0.1:8000 manager assay-demo

Run from the root of a checkout: the files are in demo/examples.
"""

from __future__ import annotations

import sys

from assay_client import Assay, Project

CRITERIA = ("relevance", "informativeness")
# How two people rated the references of three items, from 1 to 5: the text, relevance and informativeness.
REFERENCES = [
    ("1", "I did. What a strike.", (5, 4), (5, 5)),
    ("1", "Then you saw the goal!", (1, 1), (2, 1)),
    ("2", "Hiking, if the rain stops.", (5, 5), (4, 4)),
    ("3", "How old is your starter?", (4, 4), (5, 4)),
]
BLEU = {"max_order": 2, "tokenize": "13a", "lowercase": True}


def import_texts_and_ratings(project: Project) -> None:
    texts = project.import_dataset("demo/examples/dataset.jsonl", name="Small talk").wait()
    print("Imported:", texts["report"]["counts"])
    judgements = [
        {"rater": rater, "item": item, "text": text, "ratings": dict(zip(CRITERIA, values, strict=True))}
        for item, text, *ratings in REFERENCES
        for rater, values in zip(("dora", "emil"), ratings, strict=True)
    ]
    project.import_ratings("small-talk", name="References", judgements=judgements).wait()
    outputs = {"scale_min": 1, "scale_max": 5}
    imported = project.import_ratings(
        "small-talk", name="Outputs", file="demo/examples/ratings.csv", options=outputs
    ).wait()
    for criterion in project.results(imported["campaign"])["criteria"]:
        print(f"{criterion['criterion']}:", criterion["sentence"])


def build_weights(project: Project) -> None:
    human, original = ["human", "seed", "parrot"], ["human", "seed"]
    gold = {"dataset": "small-talk", "name": "Gold", "campaigns": ["References"]}
    project.post("reference-sets/", {**gold, "source_kinds": human, "original_kinds": original})
    release = project.build_release("gold", method="linear").wait()
    for reference in release.rows("weights/", low=0):
        print(f"{reference['weight']:+.3f}  {reference['text']}")


def score_and_study(project: Project) -> None:
    systems = ["SystemA", "SystemB"]
    run = project.score("delta_bleu", release="gold/v1", systems=systems, parameters=BLEU, subset="all").wait()
    for row in run.rows("scores/"):
        print(f"ΔBLEU of {row['system']}: {row['score']:.3f}")
    # Three items are far too few for a study; each is a unit here, so that there is a correlation to compute.
    ratings = {"release": "gold/v1", "campaigns": ["Outputs"], "systems": systems, "metrics": ["sbleu", "delta_bleu"]}
    small = {"unit_size": 1, "assignments": 20, "bootstrap": 50, "sweeps": False}
    study = project.start_study("Can we trust them?", ratings | small).wait()
    for row in study.get("table/"):
        rho = row["rho"]
        print(f"{row['label']}, {row['subset']}:", rho["reason"] if rho["value"] is None else f"ρ = {rho['value']:.2f}")


def main(url: str, username: str, password: str) -> None:
    with Assay.sign_in(url, username, password, name="Tour") as assay:
        project = assay.create_project("Python tour")
        import_texts_and_ratings(project)
        build_weights(project)
        score_and_study(project)


if __name__ == "__main__":
    main(*sys.argv[1:])
