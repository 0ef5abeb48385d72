"""The playground: every score of a typed hypothesis and weighted references, explained."""

import time
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods
from django_htmx.http import replace_url

from annotation.core.access import may_manage
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, project_view
from annotation.models import Project, Role
from metrics.forms.playground import MOST_REFERENCES, PlaygroundForm
from metrics.selectors.models import finished_models
from metrics.selectors.playground import Stored, play, stored_trial
from metrics.selectors.scripts import proposed_tokenizer
from metrics.services.scoring import model_store

BODY = "playground"  # the part of the page with form and result

EXAMPLES: list[tuple[str, str, str, str, list[tuple[str, str]], dict[str, str]]] = [
    (
        "Liked and disliked",
        "weights of both signs",
        "i do not know what you mean",
        "do you like my new song ?",
        [
            ("i do like it , it is beautiful", "0.9"),
            ("i know what you mean", "0.3"),
            ("i do not know", "-0.6"),
        ],
        {},
    ),
    ("Two references, two weights", "where the two formulas differ", "a a", "", [("a", "0.9"), ("a a", "0.5")], {}),
    (
        "Other words, same meaning",
        "where overlap finds nothing",
        "that movie was great",
        "how was the film ?",
        [
            ("it was a good film", "1"),
            ("i think it is one of the best movies", "0.8"),
        ],
        {},
    ),
    (
        "中文",
        "without spaces",
        "猫在屋顶上",
        "你的猫在哪里？",
        [("我的猫在屋顶上睡觉", "0.7"), ("我不知道", "-0.3")],
        {"tokenize": "zh"},
    ),
    (
        "العربية",
        "from right to left",
        "القطة ذهبت إلى New York",
        "أين ذهبت القطة ؟",
        [
            ("ذهبت القطة إلى New York أمس", "0.9"),
            ("لا أعرف شيئا", "-0.5"),
        ],
        {},
    ),
]


def _example_query(hypothesis: str, source: str, references: list[tuple[str, str]], others: dict[str, str]) -> str:
    pairs = [("h", hypothesis), *([("s", source)] if source else []), *others.items()]
    pairs += [("r", text) for text, _ in references] + [("w", weight) for _, weight in references]
    return urlencode(pairs)


@require_http_methods(["GET", "POST"])
@project_view(Role.VIEWER)
def playground(request: MemberRequest) -> HttpResponse:
    """Score typed texts. A short state is in the address, a long one is posted; nothing is stored."""
    began = time.perf_counter()
    project = request.project
    stored = _stored(request) if request.method == "GET" and "item" in request.GET else None
    sent = request.POST if request.method == "POST" else request.GET
    form = PlaygroundForm(_stored_data(stored, request.GET) if stored else sent, models=list(finished_models(project)))
    changes_rows = _change_rows(form, request.POST)
    form.is_valid()
    url, query = reverse("metrics:playground", args=[project.slug]), form.query()
    address = f"{url}?{query}" if query else url
    is_part = bool(request.htmx)
    requested = request.POST.get("ask", "")
    if request.method == "POST" and not (is_part or changes_rows or requested) and form.is_valid() and query:
        return redirect(address)
    context = _context(project, form, requested) | {
        "stored": stored,
        "address": request.build_absolute_uri(address) if query else "",
        "choose_query": f"{query}&reference=" if query else "",
        "unchosen_query": query,
        "language": stored.dataset.language if stored else "",
        "is_part": is_part,
    }
    if result := context["played"]:
        context["chosen"] = result.explanation.choose(whole_number(request, "reference"))
    context["took"] = round(1000 * (time.perf_counter() - began))
    if not is_part:
        return render(request, "metrics/playground.html", context, status=200 if form.is_valid() else 400)
    part = "body" if request.htmx.target == BODY else "result"
    response = render(request, f"metrics/playground_{part}.html", context)
    return replace_url(response, address)


def _context(project: Project, form: PlaygroundForm, requested: str) -> dict[str, Any]:
    is_blank = form.is_blank
    played = play(form.trial(requested=requested), model_store()) if form.is_valid() and not is_blank else None
    return {
        "project": project,
        "form": form,
        "text_fields": [form[name] for name in form.texts],
        "ngram_fields": [form[name] for name in form.ngram_fields],
        "model_fields": [form[name] for name in form.model_fields],
        "played": played,
        "is_blank": is_blank,
        "may_manage": may_manage(project),
        "examples": [
            {"name": name, "why": why, "query": _example_query(hypothesis, source, references, others)}
            for name, why, hypothesis, source, references, others in EXAMPLES
        ]
        if is_blank
        else [],
    }


def _change_rows(form: PlaygroundForm, sent: QueryDict) -> bool:
    if "add" in sent:
        form.add_row()
    elif "remove" in sent:
        form.remove_row(sent.get("remove", ""))
    return "add" in sent or "remove" in sent


def _stored(request: MemberRequest) -> Stored:
    ids = {name: whole_number(request, name) for name in ("item", "system", "response", "release")}
    stored = stored_trial(request.project, ids, most=MOST_REFERENCES)
    if stored is None:
        raise Http404("This project has no such item.")
    return stored


def _stored_data(stored: Stored, sent: QueryDict) -> QueryDict:
    """Return the form's data: stored texts, and the settings of the address."""
    settings = (*PlaygroundForm.ngram_fields, *PlaygroundForm.model_fields)
    data = QueryDict(mutable=True)
    data["h"], data["s"] = stored.hypothesis, stored.source
    data["tokenize"] = proposed_tokenizer(stored.dataset)
    data.update({name: sent.get(name, "") for name in settings if sent.get(name)})
    data.setlist("r", [text for text, _ in stored.references])
    data.setlist("w", [f"{weight:.12g}" for _, weight in stored.references])
    return data
