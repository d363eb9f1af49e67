"""A campaign from the browser: bring a list or an area, start, watch, stop, and get the file."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from starlette.responses import Response

from cocli.app.web.kept.runs import RunOrder
from cocli.service.web.access import Role
from cocli.service.web.routes import WebRoute, answer
from cocli.service.web.wishes import RunWish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.app.web.kept.runs import RunBook
    from cocli.app.web.kept.uploads import UploadShelf
    from cocli.service.web.files import WebFiles
    from cocli.service.web.routes import WebCall


class RunRoutes:
    """Runs and uploads. A run may make campaigns, so it is for admins of the site."""

    def __init__(
        self, runs: RunBook, uploads: UploadShelf, files: WebFiles, clock: Callable[[], datetime], max_upload: int
    ) -> None:
        self._runs = runs
        self._uploads = uploads
        self._files = files
        self._clock = clock
        self._max_upload = max_upload

    def routes(self) -> Sequence[WebRoute]:
        run = "/api/runs/{id}"
        return (
            WebRoute(
                "POST", "/api/uploads", Role.ADMIN, self.upload, "Bring a list or an area", raw=True,
                max_body=self._max_upload, query={"name": "of the file, such as list.csv"},
            ),
            WebRoute("GET", "/api/runs", Role.ADMIN, self.all, "The runs of this server"),
            WebRoute("POST", "/api/runs", Role.ADMIN, self.start, "Start a run", takes=RunWish),
            WebRoute("GET", run, Role.ADMIN, self.show, "How a run goes"),
            WebRoute("POST", f"{run}/stop", Role.ADMIN, self.stop, "Ask a run to end"),
            WebRoute("GET", f"{run}/file", Role.ADMIN, self.file, "The enriched list", answers="text/csv"),
        )  # fmt: skip

    def upload(self, call: WebCall) -> Response:
        made = self._uploads.put(call.asked("name"), call.raw, self._clock())
        document = {"upload": made.id, **{name: value for name, value in asdict(made).items() if name != "id"}}
        return answer({**document, "command": None, "undo": None}, 201)

    def all(self, _call: WebCall) -> Response:
        return answer({"runs": self._runs.all()})

    def start(self, call: WebCall) -> Response:
        wish = call.body(RunWish)
        order = RunOrder(wish.campaign, wish.upload, wish.area, tuple(wish.queries), wish.goal, wish.sources)
        run = self._runs.start(order, call.principal.name)
        self._files.forget()
        undo = {"method": "POST", "path": f"/api/runs/{run['id']}/stop", "body": {}}
        return answer({"run": run["id"], **run, "undo": undo}, 202)

    def show(self, call: WebCall) -> Response:
        return answer(self._runs.show(call.params["id"]))

    def stop(self, call: WebCall) -> Response:
        run = self._runs.stop(call.params["id"])
        return answer({**run, "undo": None}, 202)

    def file(self, call: WebCall) -> Response:
        name, data = self._runs.file(call.params["id"])
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, media_type="text/csv; charset=utf-8", headers=headers)
