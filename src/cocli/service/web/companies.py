"""Companies from the browser: looked at, edited in place, noted, tagged, excluded."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import exclude_company
from cocli.app.companies.notes import add_note, change_note, zone_of
from cocli.app.companies.removal import remove_entry
from cocli.app.companies.splitting import parts_of, split_prospect
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.web.companies import find_company, make_company
from cocli.app.web.edits import NO_PAGE, CompanyChange, EditConflict, edit_company, page_for, tag_companies
from cocli.errors import Conflict, EtagRequired, NotFound
from cocli.results.companies.entries import notes
from cocli.service.statuses import told
from cocli.service.web.access import Role
from cocli.service.web.routes import WebRoute, answer
from cocli.service.web.wishes import CompanyPatch, ExcludeWish, NewNote, NoteText, SplitWish, TagWish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from cocli.app.web.edits import EditedCompany
    from cocli.app.web.site import DataSite
    from cocli.models.note import Note
    from cocli.results.companies.entries import CompanyEntry
    from cocli.service.web.files import WebFiles
    from cocli.service.web.routes import WebCall


class CompanyRoutes:
    """What people write about companies."""

    def __init__(self, site: DataSite, files: WebFiles) -> None:
        self._site = site
        self._files = files

    def routes(self) -> Sequence[WebRoute]:
        base = "/api/{campaign}/companies/{company_hash}"
        note = f"{base}/notes/{{name}}"
        return (
            WebRoute("GET", base, Role.VIEWER, self.show, "One company, as it is now"),
            WebRoute("PATCH", base, Role.EDITOR, self.edit, "Change what people say of it", takes=CompanyPatch),
            WebRoute("POST", f"{base}/notes", Role.EDITOR, self.add_note, "Write a note", takes=NewNote),
            WebRoute("PUT", note, Role.EDITOR, self.change_note, "Change a note", takes=NoteText),
            WebRoute("DELETE", note, Role.EDITOR, self.remove_note, "Remove a note"),
            WebRoute("GET", f"{base}/parts", Role.VIEWER, self.parts, "What it was put together from"),
            WebRoute(
                "POST", f"{base}/split", Role.EDITOR, self.split, "Make a part a business of its own", takes=SplitWish
            ),
            WebRoute("POST", f"{base}/exclude", Role.EDITOR, self.exclude, "Exclude it", takes=ExcludeWish),
            WebRoute("POST", "/api/{campaign}/tags", Role.EDITOR, self.tag, "Tag a selection", takes=TagWish),
        )

    def show(self, call: WebCall) -> Response:
        made = make_company(self._site, call.campaign, call.params["company_hash"])
        headers = {"ETag": f'"{made.etag}"'} if made.etag else {}
        return answer(made.model_dump(mode="json"), headers=headers)

    # --- the page

    def edit(self, call: WebCall) -> Response:
        wish = call.body(CompanyPatch)
        if call.etag is None:
            raise EtagRequired
        change = CompanyChange(wish.set, wish.body, wish.add_tags, wish.remove_tags)
        done = edit_company(self._site, call.campaign, call.params["company_hash"], change, call.etag)
        self._files.forget()
        if isinstance(done, EditConflict):
            theirs = done.theirs.model_dump(mode="json")
            error = told(Conflict(key="the company's page")) | {
                "message": "Somebody else has changed this company.",
                "hint": "Look at both, and send yours again with the new etag.",
            }
            document = {"error": error, "yours": wish.model_dump(mode="json"), "theirs": theirs}
            return answer(document, 412, {"ETag": f'"{done.theirs.etag or NO_PAGE}"'})
        return _edited(call, done)

    def tag(self, call: WebCall) -> Response:
        wish = call.body(TagWish)
        changed, refused = tag_companies(
            self._site, call.campaign, wish.company_hashes, add=wish.add, remove=wish.remove
        )
        self._files.forget()
        first = wish.company_hashes[0]
        command = f"cocli company tag {first} {shlex.join(wish.add)} -c {call.campaign}"
        body = {"company_hashes": wish.company_hashes, "add": wish.remove, "remove": wish.add}
        undo = {"method": "POST", "path": f"/api/{call.campaign}/tags", "body": body}
        return answer({"changed": changed, "refused": refused, "command": command, "undo": undo})

    def exclude(self, call: WebCall) -> Response:
        wish, company = call.body(ExcludeWish), call.params["company_hash"]
        page = page_for(self._site, call.campaign, company)
        done = exclude_company(self._site.workspace, page.slug, call.campaign, by=wish.by, undo=wish.undo)
        self._files.forget()
        options = f" --by {wish.by}" if wish.by else ""
        command = f"cocli company exclude {page.slug} -c {call.campaign}{options}{' --undo' if wish.undo else ''}"
        path = f"/api/{call.campaign}/companies/{company}/exclude"
        undo = {"method": "POST", "path": path, "body": {"by": wish.by, "undo": not wish.undo}}
        return answer({**asdict(done), "command": command, "undo": undo})

    # --- merged records

    def parts(self, call: WebCall) -> Response:
        company = self._hash_of(call)
        found = parts_of(self._site.workspace, call.campaign, company)
        command = f"cocli company split {company} -c {call.campaign} --dry-run"
        document = {"company_hash": company, "name": found.whole.name, "problems": found.problems, "command": command}
        return answer({**document, "parts": [part.told() for part in found.parts]})

    def split(self, call: WebCall) -> Response:
        """Nothing undoes it: it is kept as what a person said, wherever the records go (decision 0045)."""
        company, part = self._hash_of(call), call.body(SplitWish).part
        done = split_prospect(self._site.workspace, call.campaign, company, part)
        self._files.forget()
        told = {"company_hash": done.part.company_hash, "name": done.part.name}
        command = f"cocli company split {company} {part} -c {call.campaign} --yes"
        return answer(
            {"company_hash": company, "name": done.whole.name, "part": told, "command": command, "undo": None}
        )

    def _hash_of(self, call: WebCall) -> str:
        """The company that is meant: a hash that was merged leads to the one that it was merged into."""
        return find_company(
            campaign_indexes(self._site.workspace, call.campaign), call.params["company_hash"]
        ).company_hash

    # --- notes

    def add_note(self, call: WebCall) -> Response:
        wish, company = call.body(NewNote), call.params["company_hash"]
        store = campaign_indexes(self._site.workspace, call.campaign).store
        page = page_for(self._site, call.campaign, company)
        zone = zone_of(self._site.workspace, call.campaign)[1]
        added = add_note(store, page.slug, wish.text, zone, title=wish.title, tags=wish.tags)
        self._files.forget()
        name = added.key.rpartition("/")[2].removesuffix(".md")
        undo = {"method": "DELETE", "path": f"/api/{call.campaign}/companies/{company}/notes/{name}", "body": None}
        command = f"cocli note add {page.slug} {shlex.quote(wish.text)} -c {call.campaign}"
        return answer({"name": name, "etag": store.get(added.key).etag, "command": command, "undo": undo}, 201)

    def change_note(self, call: WebCall) -> Response:
        wish, entry = call.body(NoteText), self._note(call)
        store = campaign_indexes(self._site.workspace, call.campaign).store
        if call.etag != entry.etag:
            return _note_conflict(wish.text, entry)
        try:
            change_note(store, entry, wish.text)
        except Conflict:  # in between: both are shown
            return _note_conflict(wish.text, self._note(call))
        self._files.forget()
        command = f"cocli note edit {entry.slug} {entry.name} --text {shlex.quote(wish.text)} -c {call.campaign}"
        undo = {"method": "PUT", "path": call.request.url.path, "body": {"text": entry.body}}
        return answer({"name": entry.name, "etag": self._note(call).etag, "command": command, "undo": undo})

    def remove_note(self, call: WebCall) -> Response:
        entry = self._note(call)
        if call.etag is not None and call.etag != entry.etag:
            return _note_conflict("", entry)
        remove_entry(campaign_indexes(self._site.workspace, call.campaign).store, entry)
        self._files.forget()
        command = f"cocli note rm {entry.slug} {entry.name} --yes -c {call.campaign}"
        path = call.request.url.path.rpartition("/")[0]
        undo = {"method": "POST", "path": path, "body": {"text": entry.body, "title": None, "tags": []}}
        return answer({"name": entry.name, "command": command, "undo": undo})

    def _note(self, call: WebCall) -> CompanyEntry[Note]:
        indexes = campaign_indexes(self._site.workspace, call.campaign)
        company, name = call.params["company_hash"], call.params["name"]
        find_company(indexes, company)
        page = page_for(self._site, call.campaign, company)
        for entry in notes(indexes.store, page.slug):
            if entry.name == name:
                return entry
        raise NotFound(key=f"note {name} of {page.slug}")


def _edited(call: WebCall, done: EditedCompany) -> Response:
    change: dict[str, Any] = {
        "set": dict(done.undo.values),
        "add_tags": list(done.undo.add_tags),
        "remove_tags": list(done.undo.remove_tags),
    }
    if done.undo.body is not None:
        change["body"] = done.undo.body
    etag = done.company.etag or NO_PAGE
    undo = {"method": "PATCH", "path": call.request.url.path, "body": change, "if_match": f'"{etag}"'}
    document = {
        "company": done.company.model_dump(mode="json"),
        "etag": etag,
        "changed": done.changed,
        "command": done.command,
        "undo": undo,
    }
    return answer(document, headers={"ETag": f'"{etag}"'})


def _note_conflict(yours: str, theirs: CompanyEntry[Note]) -> Response:
    error = told(Conflict(key=theirs.name)) | {
        "message": "Somebody else has changed this note.",
        "hint": "Look at both, and send yours again with the new etag.",
    }
    known = {"name": theirs.name, "text": theirs.body, "etag": theirs.etag}
    return answer({"error": error, "yours": {"text": yours}, "theirs": known}, 412, {"ETag": f'"{theirs.etag}"'})
