"""The command that plays a campaign through."""

import logging

import pytest
from django.test import Client

from annotation.management.commands.dry_run import without_request_lines


@pytest.mark.django_db
def test_the_requests_of_simulated_raters_are_not_printed(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        with without_request_lines():
            client.get("/help/")
        assert [record for record in caplog.records if record.name == "assay.request"] == []
        client.get("/help/")
        assert len([record for record in caplog.records if record.name == "assay.request"]) == 1
