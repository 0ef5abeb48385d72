"""The navigation of a project: every page has one place in it, and people see what they may open."""

import re

import pytest
from django.urls import reverse

from annotation.models import Role
from annotation.projects.navigation import SUBJECTS, TASKS
from tests.test_access import PAGES, ROLES

ENTRIES = [entry for task in TASKS for entry in task.entries]


def test_every_page_of_a_project_belongs_to_one_entry() -> None:
    homes = {name: [entry.label for entry in ENTRIES if name.startswith(entry.views)] for name in PAGES}
    assert {name: labels for name, labels in homes.items() if len(labels) != 1} == {}


def test_seven_tasks_say_what_they_are_for() -> None:
    assert len(TASKS) <= 7
    assert all(0 < len(task.purpose) <= 26 and task.entries for task in TASKS)


def test_the_first_list_of_a_task_is_open_to_everyone_and_no_entry_leads_to_a_refusal() -> None:
    assert {task.label: task.entries[0].role for task in TASKS} == {task.label: Role.VIEWER for task in TASKS}
    assert [(entry.label, entry.role) for entry in ENTRIES if entry.role != ROLES[entry.url_name][0]] == []


@pytest.mark.parametrize(("who", "hidden"), [("viewer", {"Provider accounts", "Settings"}), ("owner", set())])
def test_the_page_marks_the_task_and_the_list(request, as_user, project, who: str, hidden: set[str]) -> None:
    client = as_user(request.getfixturevalue(who))
    page = client.get(reverse("annotation:campaign-list", args=[project.slug])).content.decode()
    row = page.partition("lists-row")[2].partition("</nav>")[0]
    shown = {"Campaigns", "Results", "Lists", "Provider accounts"} - hidden
    assert set(re.findall(r">([A-Z][^<]+)</a>", row)) == shown
    assert re.findall(r'aria-current="page">([^<]+)</a>', row) == ["Campaigns"]
    assert re.findall(r'aria-current="true">([^<]+)</a>', page) == ["Rate", "Rate"]  # in the row, and in a phone's menu
    for task in TASKS:
        assert f'id="task-{task.label.lower()}">{task.purpose}</span>' in page


def test_the_overview_is_the_first_list_of_its_task(as_user, project, viewer) -> None:
    page = as_user(viewer).get(reverse("annotation:project-detail", args=[project.slug])).content.decode()
    row = page.partition("lists-row")[2].partition("</nav>")[0]
    assert re.findall(r">([A-Z][^<]+)</a>", row) == ["Overview", "Jobs"]
    assert 'aria-current="page">Overview</a>' in row


def test_the_tabs_of_a_subject_lead_to_open_pages_and_know_their_own() -> None:
    for entries in SUBJECTS.values():
        assert {ROLES[entry.url_name][0] for entry in entries} == {Role.VIEWER}
        of_one = {name: [entry.label for entry in entries if name.startswith(entry.views)] for name in PAGES}
        assert {name: labels for name, labels in of_one.items() if len(labels) > 1} == {}
        assert [entry.label for entry in entries if of_one[entry.url_name] != [entry.label]] == []
