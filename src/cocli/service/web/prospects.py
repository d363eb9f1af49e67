"""Prospects with filters and paging, and exactly this view as a file."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from cocli.app.web.prospects.fields import cells_of, chosen_fields
from cocli.app.web.prospects.view import View
from cocli.app.web.view_export import export_view, view_rows
from cocli.errors import UsageError
from cocli.service.web.access import Role
from cocli.service.web.moments import moment_of
from cocli.service.web.routes import WebRoute, answer
from cocli.service.web.wishes import ExportWish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.web.site import DataSite
    from cocli.app.web.view_export import ExportedView
    from cocli.service.web.routes import WebCall

_MOST_ROWS = 1000
_FILTERS = {
    "q": "words", "city": "a town; may be repeated", "category": "a category", "tag": "a tag; all are needed",
    "status": "what people wrote", "source": "a source", "has": "a field that is filled", "lacks": "… that is not",
    "min_rating": "at least", "sort": "best, name, city, rating, reviews or updated", "desc": "1: the other way round",
    "as_of": "as they were at this time, or at the end of this day",
}  # fmt: skip


class ProspectRoutes:
    """The list for programs; pages search in the browser."""

    def __init__(self, site: DataSite) -> None:
        self._site = site

    def routes(self) -> Sequence[WebRoute]:
        paging = {"limit": "rows, at most 1,000", "after": "where the page before ended"}
        return (
            WebRoute(
                "GET", "/api/{campaign}/prospects", Role.VIEWER, self.rows, "Prospects with filters and paging",
                query=_FILTERS | paging,
            ),
            WebRoute(
                "GET", "/api/{campaign}/export", Role.VIEWER, self.export, "Exactly this view as a file",
                query={"format": "as in cocli export"} | _FILTERS, answers="*/*",
            ),
            WebRoute(
                "POST", "/api/{campaign}/export", Role.VIEWER, self.export_some, "A selection as a file",
                takes=ExportWish, max_body=8 << 20, answers="*/*",
            ),
        )  # fmt: skip

    def rows(self, call: WebCall) -> Response:
        view, limit, start = _view(call.request.url.query), _limit(call), _start(call.asked("after"))
        rows = view_rows(self._site, call.campaign, view, as_of=moment_of(call, self._site))
        names = chosen_fields()
        page = rows[start : start + limit]
        after = _cursor(start + limit) if start + limit < len(rows) else None
        documents: list[dict[str, Any]] = [
            {"company_hash": row.company_hash, **dict(zip(names, cells_of(row, names), strict=True))} for row in page
        ]
        return answer({"total": len(rows), "rows": documents, "after": after})

    def export(self, call: WebCall) -> Response:
        view = _view(call.request.url.query)
        moment = moment_of(call, self._site)
        return _file(export_view(self._site, call.campaign, view, call.asked("format", "csv"), as_of=moment))

    def export_some(self, call: WebCall) -> Response:
        wish = call.body(ExportWish)
        made = export_view(self._site, call.campaign, View.parse(wish.query), wish.format, wish.company_hashes)
        return _file(made)


def _view(query: str) -> View:
    return View.parse(query)


def _file(made: ExportedView) -> Response:
    headers = {
        "Content-Disposition": f'attachment; filename="{made.name}"',
        "X-Cocli-Rows": str(made.rows),
        "X-Cocli-Command": made.command.encode("ascii", "replace").decode(),
    }
    return Response(made.data, media_type=made.content_type, headers=headers)


def _limit(call: WebCall) -> int:
    return call.number("limit", most=_MOST_ROWS, what="rows")


def _cursor(start: int) -> str:
    return base64.urlsafe_b64encode(f"from:{start}".encode()).decode().rstrip("=")


def _start(text: str) -> int:
    if not text:
        return 0
    try:
        name, _, number = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().partition(":")
    except ValueError:
        name, number = "", ""
    if name != "from" or not number.isdecimal() or len(number) > 9:
        raise UsageError(reason="after= is not where a page ended", hint="Send what the page before answered.")
    return int(number)
