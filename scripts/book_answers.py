"""The pages of the picture book on which a person begins, brings data, and reads who is better and what to trust."""

from __future__ import annotations

from scripts.book_shots import Shot

BEGINNING, DATA, ANSWERS = "Beginning", "Data", "Who is better"
STUDYING, PUBLISHED, PEOPLE = "How far to trust a metric", "Published tables", "Members, notices, help"
AREAS = (BEGINNING, DATA, ANSWERS, STUDYING, PUBLISHED, PEOPLE)

ANSWERED = [
    Shot(BEGINNING, "projects", "Projects", "Those that one is a member of.", "projects"),
    Shot(BEGINNING, "project", "A project’s front page", "Newest findings, what runs, the next step.", "demo"),
    Shot(BEGINNING, "project-new", "A new project", "Empty, or with an example to try.", "project-new"),
    Shot(BEGINNING, "examples", "Example projects", "One for each aim, in one click.", "examples"),
    Shot(DATA, "datasets", "Data sets", "What is rated and scored.", "demo", "datasets/"),
    Shot(DATA, "dataset", "A data set", "Items, systems, sources, and what uses it.", "dataset"),
    Shot(DATA, "dataset-import", "New data set", "A file in one’s own format.", "demo", "imports/new/"),
    Shot(DATA, "dataset-outputs", "Further outputs", "Of a system that came later.", "dataset", "outputs/add/"),
    Shot(DATA, "one-item", "An item", "Its context, and all that was said to it.", "one-item"),
    Shot(ANSWERS, "campaign-results", "Results of a campaign", "Which system raters prefer.", "campaign-results"),
    Shot(ANSWERS, "results", "Results of campaigns", "Taken together.", "demo", "results/"),
    Shot(
        ANSWERS,
        "helped",
        "With the help of a metric",
        "Narrower intervals from scores of what was not rated.",
        "campaign-results",
        "with-metric/",
    ),
    Shot(ANSWERS, "scores", "Scores", "Systems by metrics: who is first, by how much.", "demo", "runs/"),
    Shot(STUDYING, "studies", "Studies", "Each with its finding.", "demo", "studies/"),
    Shot(STUDYING, "study-new", "New study", "Which metrics, against whose ratings.", "study-new"),
    Shot(STUDYING, "study", "A study", "What agrees with raters, and how sure that is.", "study"),
    Shot(STUDYING, "study-levels", "By system and by output", "Each level with its ceiling.", "study", "levels/"),
    Shot(STUDYING, "study-metrics", "Metric against metric", "What cannot be told apart.", "study", "metrics/"),
    Shot(STUDYING, "study-stand-in", "Can a judge stand in?", "For raters, here.", "judge-study", "stand-in/"),
    Shot(STUDYING, "study-raters", "How many raters?", "The study with fewer ratings.", "study", "raters/"),
    Shot(STUDYING, "study-compare", "Studies side by side", "Pooled, and each alone.", "study-compare"),
    Shot(PUBLISHED, "published", "Published tables", "Computed anew from the papers’ data.", "published"),
    Shot(PEOPLE, "members", "Members", "Roles, and invitations by link.", "demo", "members/"),
    Shot(BEGINNING, "jobs", "Jobs", "What runs, waits and failed.", "demo", "jobs/"),
    Shot(PEOPLE, "sessions", "Sessions", "Where one is signed in.", "sessions"),
    Shot(PEOPLE, "tokens", "API tokens", "With name, expiry and last use.", "tokens"),
    Shot(PEOPLE, "notifications", "Notifications", "By e-mail and signed webhook.", "demo", "notifications/"),
    Shot(PEOPLE, "project-deletion", "Deleting a project", "What goes, said before.", "demo", "delete/"),
    Shot(PEOPLE, "help", "Help", "Read in the product, without a network.", "help"),
    Shot(PEOPLE, "glossary", "Glossary", "Each word that the pages use.", "glossary"),
]
