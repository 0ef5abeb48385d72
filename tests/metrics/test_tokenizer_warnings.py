"""A data set in Chinese whose language says English: its tokeniser is proposed, and another one is warned of."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Project, System
from metrics.models import ScoreRun
from metrics.selectors.scripts import tokenizer_warning
from metrics.services.runs import score_run_create, score_run_execute
from tests.annotation.worlds.rated import make_dataset, make_item, make_response
from tests.metrics.conversations import CHINESE, make_conversations

pytestmark = pytest.mark.django_db
WARNING = "The tokeniser “zh” separates them; “whitespace” does not."


def test_runs_and_studies_propose_the_tokeniser_and_warn_of_another(
    project: Project, manager, as_user, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = make_conversations(project, CHINESE)
    client = as_user(manager)
    new_run = client.get(reverse("metrics:run-create", args=[project.slug]), {"metric": "bleu"})
    assert new_run.context["form"]["tokenize"].initial == "zh"
    new_study = client.get(reverse("correlations:study-create", args=[project.slug]))
    assert new_study.context["form"]["tokenize"].initial == "zh"
    assert "so that a whole clause is one token" in new_study.content.decode()
    for tokenize, warned in (("whitespace", True), ("zh", False)):
        run, _ = score_run_create(
            project=project,
            release=talk.release,
            systems=list(System.objects.filter(dataset=talk.dataset)),
            metric="bleu",
            parameters={"tokenize": tokenize},
            by=None,
        )
        score_run_execute(run_id=run.pk)
        page = client.get(reverse("metrics:run-detail", args=[project.slug, run.number])).content.decode()
        assert (WARNING in page) is warned
        board = client.get(reverse("metrics:run-list", args=[project.slug])).content.decode()
        assert (f"{WARNING} Scores of such tokens say little." in board) is warned
        assert ("whitespace tokens): these texts are in Chinese characters" in board) is warned
    call_command("score", "--project", project.slug, "--metric", "bleu")
    assert WARNING not in capsys.readouterr().out
    assert ScoreRun.objects.latest("pk").parameters["tokenize"] == "zh"
    call_command("score", "--project", project.slug, "--metric", "bleu", "--tokenize", "whitespace")
    assert WARNING in capsys.readouterr().out


def test_references_that_are_tokenised_beside_outputs_that_are_not_are_warned_of(project: Project) -> None:
    dataset = make_dataset(project)
    for place in range(12):
        item = make_item(dataset, f"i{place}")
        make_response(item, f"Then go to {place}.", "A")
        make_response(item, f"Then walk to {place} .", "human")

    assert tokenizer_warning(dataset, "whitespace").startswith("References have spaces before their punctuation")
    assert tokenizer_warning(dataset, "13a") == ""
