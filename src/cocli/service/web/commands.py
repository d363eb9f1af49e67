"""The machines from the browser: commands, queues, tiles, editions, reports."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.mission import DEFAULT_AGE, queue_mission
from cocli.app.documents.promotion import PromotionOptions, promote
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.care import TaskCare
from cocli.app.queues.queues import check_queue, look_up, opened_queue, pending_on_store
from cocli.app.results.report import make_report
from cocli.app.web.changes import ChangeOutcome, ChangeWish, follow_changes, send_changes, who_listens
from cocli.app.web.compare import make_compare
from cocli.app.web.config import role_of
from cocli.app.web.task_timeline import task_timeline
from cocli.errors import CocliError
from cocli.formats import json_records
from cocli.models.record import render_utc
from cocli.service.web.access import ROLES, Role
from cocli.service.web.routes import WebRoute, answer
from cocli.service.web.wishes import Basket, PromoteWish, RecoverWish, SidelineWish, TileWish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from cocli.app.web.site import DataSite
    from cocli.service.web.files import WebFiles
    from cocli.service.web.routes import WebCall


class MachineRoutes:
    """What moves machines."""

    def __init__(self, site: DataSite, files: WebFiles) -> None:
        self._site = site
        self._files = files

    def routes(self) -> Sequence[WebRoute]:
        base, queue = "/api/{campaign}", "/api/{campaign}/queues/{queue}"
        return (
            WebRoute("POST", f"{base}/commands", Role.EDITOR, self.send, "Send a basket of commands", takes=Basket),
            WebRoute(
                "GET", f"{base}/commands", Role.VIEWER, self.follow, "What became of commands",
                query={"ids": "their ids, with commas; without, the last fifty"},
            ),
            WebRoute("POST", f"{base}/report", Role.EDITOR, self.report, "Count a new report here"),
            WebRoute("POST", f"{base}/tiles", Role.EDITOR, self.tiles, "Queue tiles", takes=TileWish),
            WebRoute("GET", f"{queue}/tasks/{{task_id:path}}", Role.VIEWER, self.task, "The timeline of a task"),
            WebRoute("POST", f"{queue}/recover", Role.ADMIN, self.recover, "Bring tasks back", takes=RecoverWish),
            WebRoute("POST", f"{queue}/sideline", Role.ADMIN, self.sideline, "Set tasks aside", takes=SidelineWish),
            WebRoute(
                "GET", f"{base}/compare", Role.VIEWER, self.compare, "Two editions of the parsers side by side",
                query={"left": "an edition", "right": "another one"},
            ),
            WebRoute("POST", f"{base}/promote", Role.ADMIN, self.promote, "Live by an edition", takes=PromoteWish),
        )  # fmt: skip

    # --- commands

    def send(self, call: WebCall) -> Response:
        campaign = self._site.workspace.campaign(call.campaign)
        role = call.principal.role_in(call.campaign)
        outcomes = []
        for wish in call.body(Basket).commands:
            change = ChangeWish(wish.text, wish.host)
            needed = ROLES[role_of((wish.text.split() or [""])[0])]
            if role < needed:
                reason = f"it needs the role {needed.word}, and yours is {role.word}"
                outcomes.append(ChangeOutcome(change, "refused", reason=reason))
            else:
                outcomes += send_changes(campaign, [change], call.principal.name)
        self._files.forget()
        document = {
            "results": [_told(outcome, call.campaign) for outcome in outcomes],
            "listeners": who_listens(campaign),
        }
        return answer(document, 202)

    def follow(self, call: WebCall) -> Response:
        ids = {name for name in call.asked("ids").split(",") if name}
        rows = follow_changes(self._site.workspace.campaign(call.campaign), ids)
        return answer({"commands": [row.model_dump(mode="json") for row in rows]})

    def report(self, call: WebCall) -> Response:
        made = make_report(self._site.workspace, call.campaign)
        self._files.forget()
        document = {"at": render_utc(made.report.at), "problem": made.problem}
        return answer({**document, "command": f"cocli report -c {call.campaign}", "undo": None})

    def tiles(self, call: WebCall) -> Response:
        wish = call.body(TileWish)
        indexes = campaign_indexes(self._site.workspace, call.campaign)
        campaign = self._site.workspace.campaign(call.campaign)
        age = timedelta(0) if wish.again else DEFAULT_AGE
        queued = queue_mission(indexes, campaign, age=age, tiles=frozenset(wish.tiles))
        self._files.forget()
        command = f"cocli campaign plan {call.campaign} --queue"
        return answer({"queued": queued.queued, "outcomes": queued.outcomes, "command": command, "undo": None}, 202)

    # --- queues

    def task(self, call: WebCall) -> Response:
        campaign = self._site.workspace.campaign(call.campaign)
        check_queue(campaign, call.params["queue"])
        return answer(task_timeline(look_up(campaign, call.params["queue"], call.params["task_id"])))

    def recover(self, call: WebCall) -> Response:
        wish, name = call.body(RecoverWish), call.params["queue"]
        campaign = self._site.workspace.campaign(call.campaign)
        check_queue(campaign, name)
        with opened_queue(campaign, name) as queue:
            found = queue.recover(category=wish.category, task_ids=wish.task_ids)
        self._files.forget()
        recovered = [recovery.task_id for recovery in found if recovery.outcome == "recovered"]
        aimed = f" --category {wish.category}" if wish.category else ""
        undo = (
            _undo("POST", f"/api/{call.campaign}/queues/{name}/sideline", {"task_ids": recovered})
            if recovered
            else None
        )
        return answer(
            {
                "recovered": len(recovered),
                "outcomes": [asdict(recovery) for recovery in found[:1000]],
                "command": f"cocli queue recover {name}{aimed} -c {call.campaign}",
                "undo": undo,
            }
        )

    def sideline(self, call: WebCall) -> Response:
        wish, name = call.body(SidelineWish), call.params["queue"]
        campaign = self._site.workspace.campaign(call.campaign)
        check_queue(campaign, name)
        care, done, refused = TaskCare(pending_on_store(campaign, name, "set tasks aside")), [], []
        for task_id in wish.task_ids:
            try:
                care.sideline(task_id, wish.reason)
                done.append(task_id)
            except CocliError as error:  # told with the others: one that is in work does not stop the rest
                refused.append({"task_id": task_id, "reason": error.message})
        self._files.forget()
        undo = _undo("POST", f"/api/{call.campaign}/queues/{name}/recover", {"task_ids": done}) if done else None
        command = f"cocli queue sideline {name} {' '.join(done[:3])} -c {call.campaign}"
        return answer({"sidelined": len(done), "refused": refused, "command": command, "undo": undo})

    # --- editions

    def compare(self, call: WebCall) -> Response:
        made = make_compare(self._site, call.campaign, call.asked("left") or None, call.asked("right") or None)
        return answer(json.loads(json_records.render(made)))

    def promote(self, call: WebCall) -> Response:
        edition = call.body(PromoteWish).edition
        done = promote(self._site.workspace, call.campaign, edition, PromotionOptions(), lambda _: None)
        self._files.forget()
        undo = _undo("POST", f"/api/{call.campaign}/promote", {"edition": done.former})
        command = f"cocli documents promote {edition} -c {call.campaign}"
        return answer({"edition": done.edition, "former": done.former, "command": command, "undo": undo})


def _told(outcome: ChangeOutcome, campaign: str) -> dict[str, Any]:
    undo = None
    if outcome.undo is not None:
        body = {"commands": [{"text": outcome.undo, "host": outcome.wish.host}]}
        undo = {**_undo("POST", f"/api/{campaign}/commands", body), "text": outcome.undo}
    return {
        "text": outcome.wish.text,
        "host": outcome.wish.host,
        "state": outcome.state,
        "sent": [{"id": sent.id, "target": sent.target, "text": sent.text} for sent in outcome.sent],
        "reason": outcome.reason,
        "hint": outcome.hint,
        "command": outcome.command,
        "undo": undo,
    }


def _undo(method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"method": method, "path": path, "body": body}
