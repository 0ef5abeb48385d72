"""A test, sent by a button."""

from django.urls import reverse

from annotation.notifications.kinds.base import Kind

TRIAL = Kind(
    key="test",
    label="Test",
    when="Sent by a button, to see whether notifications arrive.",
    title=lambda facts: f"Test from {facts['name']}",
    text=lambda facts: f"This is a test: notifications of the project {facts['name']} arrive here.",
    link=lambda facts: reverse("annotation:project-notifications", args=[facts["project"]]),
    offered=False,
)
