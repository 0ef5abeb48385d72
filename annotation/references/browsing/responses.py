"""The HTTP response with a file of a release, for pages and the API."""

import re

from django.http import Http404, HttpResponseBase, HttpResponseNotModified, StreamingHttpResponse
from django.utils.http import content_disposition_header

from annotation.models import Release
from annotation.references.releases.files.kinds import FILES, file_chunks, file_fingerprint, file_name

HASH_HEADER = "Assay-Content-Hash"
TAGS = re.compile(r'(?:W/)?"([^"]*)"')


def release_file_response(release: Release, name: str, if_none_match: str = "") -> HttpResponseBase:
    """Return the file, streamed, or 304 if the If-None-Match header names the same bytes."""
    if name not in FILES:
        raise Http404(f"No file {name!r}; there are {', '.join(FILES)}.")
    tag = file_fingerprint(release, name)
    response: HttpResponseBase
    if if_none_match.strip() == "*" or tag in TAGS.findall(if_none_match):
        response = HttpResponseNotModified()
    else:
        response = StreamingHttpResponse(file_chunks(release, name), content_type=FILES[name].content_type)
        response["Content-Disposition"] = content_disposition_header(True, file_name(release, name))
    response["ETag"] = f'"{tag}"'
    response["Cache-Control"] = "private, no-cache"  # ask again: the bytes may have changed, and the right to see them
    response[HASH_HEADER] = release.content_hash
    return response
