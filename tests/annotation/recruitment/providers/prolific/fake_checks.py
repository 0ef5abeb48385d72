"""What Prolific refuses in a study: missing fields, rewards too low, codes and filters that it does not know."""

from typing import Any

CODE_TYPES = {
    "COMPLETED",
    "FAILED_ATTENTION_CHECK",
    "FOLLOW_UP_STUDY",
    "GIVE_BONUS",
    "INCOMPATIBLE_DEVICE",
    "NO_CONSENT",
    "OTHER",
    "FIXED_SCREENOUT",
}
ACTIONS = {
    "AUTOMATICALLY_APPROVE": (),
    "MANUALLY_REVIEW": (),
    "REQUEST_RETURN": ("return_reason",),
    "FIXED_SCREEN_OUT_PAYMENT": ("fixed_screen_out_reward", "slots"),
    "ADD_TO_PARTICIPANT_GROUP": ("participant_group",),
}
FILTERS: list[dict[str, Any]] = [
    {"filter_id": "approval_rate", "title": "Approval rate", "type": "range", "min": 0, "max": 100},
    {"filter_id": "approval_numbers", "title": "Number of previous submissions", "type": "range", "min": 0},
    {
        "filter_id": "fluent-languages",
        "title": "Fluent languages",
        "type": "select",
        "choices": {"19": "English", "32": "German"},
    },
    {
        "filter_id": "current-country-of-residence",
        "title": "Current country of residence",
        "type": "select",
        "choices": {"0": "United Kingdom", "1": "United States"},
    },
    {"filter_id": "previous_studies_blocklist", "title": "Exclude from other studies", "type": "select"},
    {"filter_id": "custom_blocklist", "title": "Custom blocklist", "type": "select"},
]
LEAST_PER_HOUR = 600  # pence


def study_problems(data: dict[str, Any]) -> dict[str, list[str]]:
    problems = {
        name: ["This field is required."]
        for name in ("name", "description", "external_study_url", "prolific_id_option", "completion_codes", "reward")
        if not data.get(name)
    }
    for name in ("total_available_places", "estimated_completion_time"):
        if not isinstance(data.get(name), int) or data[name] < 1:
            problems[name] = ["Ensure this value is greater than or equal to 1."]
    if not problems and (not isinstance(data["reward"], int) or _per_hour(data) < LEAST_PER_HOUR):
        problems["reward"] = ["The reward per hour is below the minimum of £6.00."]
    if problem := _code_problems(data.get("completion_codes") or []):
        problems["completion_codes"] = problem
    if problem := _filter_problems(data.get("filters") or []):
        problems["filters"] = problem
    return problems


def _per_hour(data: dict[str, Any]) -> float:
    return float(data["reward"] * 60 / data["estimated_completion_time"])


def _code_problems(codes: list[dict[str, Any]]) -> list[str]:
    problems = []
    if len({code.get("code") for code in codes}) < len(codes):
        problems.append("Each code must be unique within a study.")
    for code in codes:
        if code.get("code_type") not in CODE_TYPES:
            problems.append(f'"{code.get("code_type")}" is not a valid choice.')
        names = [action.get("action") for action in code.get("actions", [])]
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= set(names):
            problems.append("Automatic approval and manual review cannot be used together.")
        for action in code.get("actions", []):
            missing = [name for name in ACTIONS.get(action.get("action"), ("action",)) if not action.get(name)]
            if missing:
                problems.append(f"{action.get('action')} needs {', '.join(missing)}.")
    return problems


def _filter_problems(filters: list[dict[str, Any]]) -> list[str]:
    kinds = {known["filter_id"]: known["type"] for known in FILTERS}
    problems = []
    for wanted in filters:
        kind = kinds.get(wanted.get("filter_id", ""))
        if kind is None:
            problems.append(f'Unknown filter "{wanted.get("filter_id")}".')
        elif not wanted.get("selected_range" if kind == "range" else "selected_values"):
            problems.append(f'Filter "{wanted["filter_id"]}" selects nothing.')
    return problems
