"""Time travel: the moment that somebody asks for, and the figures and the map of then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import Response

from cocli.app.freshness.changes import changes_document, check_kinds, read_changes
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.indexes.query import parse_time
from cocli.app.web.coverage import make_coverage
from cocli.app.web.dashboard import make_dashboard, past_dashboard
from cocli.app.web.data_file import GEOJSON, record_file
from cocli.service.web.access import Role
from cocli.service.web.routes import WebRoute, answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.app.web.data_file import DataFile
    from cocli.app.web.site import DataSite
    from cocli.service.web.routes import WebCall

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
MOST_CHANGES = 500
AS_OF = "as it was at this time, or at the end of this day"


def moment_of(call: WebCall, site: DataSite) -> datetime | None:
    """The time of `as_of=`; a day means its end. None for now, and for what is yet to come."""
    text = call.asked("as_of")
    if not text:
        return None
    if _DAY.fullmatch(text):
        text = f"{text}T23:59:59Z"
    moment = parse_time(text, "as_of=")
    return moment if moment < site.now() else None


class PastRoutes:
    """What `data/` has of now, of any time that the indexes keep."""

    def __init__(self, site: DataSite) -> None:
        self._site = site

    def routes(self) -> Sequence[WebRoute]:
        query = {"as_of": AS_OF}
        return (
            WebRoute(
                "GET", "/api/{campaign}/dashboard", Role.VIEWER, self.dashboard, "The figures as they were",
                query=query,
            ),
            WebRoute(
                "GET", "/api/{campaign}/coverage", Role.VIEWER, self.coverage, "The coverage as it was",
                query=query, answers=GEOJSON,
            ),
            WebRoute(
                "GET", "/api/{campaign}/changes", Role.VIEWER, self.changes, "What changed, with both values",
                query={
                    "since": "only changes found since this time",
                    "kind": "one kind, or several with commas",
                    "limit": "the newest so many, at most 500, the newest first; all kinds are counted",
                },
            ),
        )  # fmt: skip

    def dashboard(self, call: WebCall) -> Response:
        moment = moment_of(call, self._site)
        if moment is None:
            made = make_dashboard(self._site, call.campaign)
        else:
            made = past_dashboard(self._site, call.campaign, moment)
        return _file(record_file("dashboard.json", made))

    def changes(self, call: WebCall) -> Response:
        since, kinds = call.asked("since"), call.asked("kind")
        moment = parse_time(since, "since=") if since else None
        wanted = check_kinds(kinds.split(",")) if kinds else frozenset[str]()
        indexes = campaign_indexes(self._site.workspace, call.campaign)
        if not call.asked("limit"):
            found = read_changes(indexes, since=moment, kinds=wanted)
            return answer(changes_document(call.campaign, since or None, found))
        limit = call.number("limit", most=MOST_CHANGES, what="changes")
        found = read_changes(indexes, since=moment)  # all, so that every kind is counted
        chosen = [told for told in found.changes if not wanted or told.change.kind in wanted]
        found.changes = chosen[: -limit - 1 : -1]
        document = changes_document(call.campaign, since or None, found)
        return answer(document | {"left_out": len(chosen) - len(found.changes)})

    def coverage(self, call: WebCall) -> Response:
        made = make_coverage(self._site, call.campaign, moment_of(call, self._site))
        return _file(record_file("coverage.geojson", made, GEOJSON))


def _file(file: DataFile) -> Response:
    return Response(file.data, media_type=file.content_type, headers={"ETag": file.etag, "Cache-Control": "no-cache"})
