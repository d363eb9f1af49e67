"""`make demo`: the main job, offline, in a folder of its own; prints what it did, and its figures as one JSON line."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.app.campaign import list_campaigns, new_campaign
from cocli.app.documents import Upload, opened_documents, states_of, upload
from cocli.app.documents_care import Check, fsck
from cocli.app.documents_jobs import ReplayWish, compare, plan
from cocli.app.documents_jobs import run as run_replay
from cocli.app.index import campaign_indexes
from cocli.app.index_backfill import backfill
from cocli.app.index_care import compact_index, verify_index
from cocli.app.index_query import AsOf, QueryOptions, opened_query
from cocli.app.index_status import index_history
from cocli.app.store_browser import disk_usage
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.config.template import Place
from cocli.formats import usv
from cocli.identities import company_hash
from cocli.index.writing import IndexWriter
from cocli.models.completion import Ok
from cocli.models.prospect import Prospect
from cocli.paths import ProspectKey
from cocli.queue.base import AckOutcome, NewTask
from cocli.queue.opening import get_queue
from cocli.store import Put
from cocli.store.probe import probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.documents import Documents
    from cocli.documents.catalog.job_rows import Job
    from cocli.queue.base import Queue
    from cocli.store import Store

CAMPAIGN = "springfield-plumbers"
_MARKER = ".cocli-demo"
_PROSPECTS = 200
_STREETS = ("Main St", "Oak Ave", "O'Reilly Blvd", "Rue de l’Église", "Nº 7 “Plaza”")


def main(arguments: list[str]) -> int:
    """Run the demo in the folder that is named (`.demo` otherwise)."""
    folder = os.path.abspath(arguments[0] if arguments else ".demo")
    try:
        _fresh_folder(folder)
    except OSError as error:
        print(f"error: {error.strerror}: {folder}", file=sys.stderr)
        return 1
    started = time.perf_counter()
    figures = run(folder, say=print)
    figures["demo.seconds"] = round(time.perf_counter() - started, 3)
    print(json.dumps(figures))
    return 0


def run(folder: str, say: Callable[[str], None]) -> dict[str, float]:
    """Create a campaign, write and read records, work off a queue, ask an index, replay pages, and check the store."""
    environ = {
        "HOME": folder,
        "COCLI_DATA_HOME": folder,
        "COCLI_CONFIG": os.path.join(folder, "config.toml"),
        "COCLI_CACHE_HOME": os.path.join(folder, "cache#"),  # a name that is no key, so the store does not see it
        "COCLI_STATE_HOME": os.path.join(folder, "state#"),
    }
    with open_workspace(environ, Flags()) as workspace:
        _create(workspace, say)
        prospects = _prospects(_PROSPECTS)
        written = _write(workspace.store, prospects, say)
        _read_back(workspace.store, prospects, say)
        completed = _work(workspace, prospects, say)
        packed = _index(workspace, prospects, say)
        documents = _documents(workspace, say)
        _look(workspace, say)
        checks = _check_store(workspace.store, say)
    program = os.path.relpath(os.path.join(os.path.dirname(sys.executable), "cocli"))
    say(f"\nLook at it yourself:\n  COCLI_DATA_HOME={folder} {program} store ls campaigns/{CAMPAIGN}/")
    return {
        "demo.prospects": len(prospects),
        "demo.bytes": written,
        "demo.tasks_completed": completed,
        "demo.rows_packed": packed,
        "demo.states_compared": documents,
        "demo.store_checks": checks,
    }


def _fresh_folder(folder: str) -> None:
    """An empty folder. What is there is removed only if an earlier demo made it."""
    if os.path.lexists(folder) and not os.path.isfile(os.path.join(folder, _MARKER)):
        if not os.path.isdir(folder) or os.listdir(folder):
            raise FileExistsError(17, "this is not a demo folder, so it is left alone", folder)
    elif os.path.isdir(folder):
        shutil.rmtree(folder)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, _MARKER), "w", encoding="utf-8") as marker:
        marker.write("Made by `make demo`, which removes this folder when it runs again.\n")


def _create(workspace: Workspace, say: Callable[[str], None]) -> None:
    place = Place("Springfield", 39.80, -89.65, 25.0)
    created = new_campaign(workspace, CAMPAIGN, ["plumber", "emergency plumber"], [place])
    say(f"Created the campaign {CAMPAIGN}:\n  {created.path}")


def _prospects(count: int) -> list[Prospect]:
    """Businesses of a town that does not exist, with the characters that real names have."""
    now = datetime.now(UTC).replace(microsecond=0)
    return [
        Prospect(
            company_hash=company_hash(f"domain:plumber-{number}.example"),
            slug=f"plumber-{number}",
            name=f"Plumber № {number} & Söhne 🔧\nopen \\ late",
            phone_e164=f"+1217555{number:04d}",
            domain=f"plumber-{number}.example",
            street=f"{number} {_STREETS[number % len(_STREETS)]}",
            city="Springfield",
            country="US",
            lat=39.80,
            lon=-89.65,
            all_emails=(f"info@plumber-{number}.example",),
            campaign=CAMPAIGN,
            phrases=("plumber",),
            first_seen=now,
            updated_at=now,
            sources=("demo",),
        )
        for number in range(count)
    ]


def _key(prospect: Prospect) -> str:
    return str(ProspectKey(CAMPAIGN, prospect.company_hash))


def _write(store: Store, prospects: list[Prospect], say: Callable[[str], None]) -> int:
    puts = [Put(_key(prospect), usv.render(Prospect, [prospect]), if_absent=True) for prospect in prospects]
    for answer in store.put_many(puts):
        if isinstance(answer, Exception):
            raise answer
    size = sum(len(put.data) for put in puts)
    say(f"Wrote {len(puts)} prospects as USV, one object each ({size:,} bytes), for example:\n  {puts[0].key}")
    return size


def _read_back(store: Store, prospects: list[Prospect], say: Callable[[str], None]) -> None:
    for prospect, answer in zip(prospects, store.get_many(map(_key, prospects)), strict=True):
        if isinstance(answer, Exception):
            raise answer
        if usv.read_one(Prospect, answer.data, file=answer.key) != prospect:
            raise AssertionError(f"{answer.key} did not come back as it was written")
    say(f"Read all {len(prospects)} back: every field is as it was, quotes, line breaks and emoji included.")


def _work(workspace: Workspace, prospects: list[Prospect], say: Callable[[str], None]) -> int:
    """A task per website; one worker gives some back half-way, another finishes. Nothing is done twice."""
    campaign = workspace.campaign(CAMPAIGN)
    config = campaign.settings.model()
    stops, finishes = (get_queue(config, campaign.store, "enrichment", worker=name) for name in ("pi-1", "pi-2"))
    tasks = [NewTask(f"{prospect.slug}.example", {"name": prospect.name}) for prospect in prospects]
    put, again = stops.put_many(tasks), stops.put_many(tasks)
    say(f"Queued {put.queued} websites for enrichment; putting them again queued {again.queued}.")
    accepted = [_end_one(stops) for _ in range(50)]
    for claim in [stops.claim() for _ in range(3)]:
        if claim is not None:
            stops.release(claim)
    stops.close()
    while (outcome := _end_one(finishes)) is not None:
        accepted.append(outcome)
    finishes.close()
    stats = finishes.stats()
    if stats.completed != put.queued or accepted.count(AckOutcome.COMPLETED) != put.queued or stats.pending:
        raise AssertionError(f"the queue lost or repeated something: {stats}")
    say(f"Worker pi-1 ended 50 and gave 3 back; pi-2 ended the rest: {stats.completed} completed, each once.")
    return stats.completed


def _end_one(queue: Queue) -> AckOutcome | None:
    claim = queue.claim()
    return queue.ack(claim, Ok(result={"demo": True})) if claim is not None else None


_CITIES = "select city, count(*) as prospects, count(phone_e164) as phones from prospects group by 1 order by 2 desc"


def _index(workspace: Workspace, prospects: list[Prospect], say: Callable[[str], None]) -> int:
    """The loose records become a version, a batch of changes the next one; both can be asked in SQL."""
    indexes = campaign_indexes(workspace, CAMPAIGN)
    ref = indexes.ref("prospects")
    first = compact_index(indexes, ref)
    say(f"Packed {first.added} prospects into version {first.version}: {first.shards_written} shard(s), sorted by key.")
    found = backfill(indexes, dry_run=False)
    for name in ("emails", "domains"):
        compact_index(indexes, indexes.ref(name))
    say(f"Filled the indexes of e-mails ({found.emails}) and domains ({found.domains}) from them.")
    moved = [one.with_changes(city="Shelbyville", updated_at=datetime.now(UTC)) for one in prospects[:50]]
    IndexWriter(indexes.open(ref)).append(moved)
    second = compact_index(indexes, ref)
    say(f"A batch of {len(moved)} changes made version {second.version}, in which {second.changed} records differ.")
    for moment in (AsOf(number=first.version), AsOf()):
        with opened_query(indexes, _CITIES, QueryOptions(as_of=moment)) as query:
            rows = list(query.result().rows())
            say(f"  version {query.report.versions['prospects']}: {', '.join(f'{row[0]} {row[1]}' for row in rows)}")
    for version in index_history(indexes, ref):
        say(f"  history: version {version.version}, {version.rows} rows, manifest {version.manifest[:12]}…")
    if (second.rows, second.changed) != (len(prospects), len(moved)) or not verify_index(indexes, ref).ok:
        raise AssertionError(f"the index lost something: {second}")
    return second.rows


_PAGE = '<title>Plumber {number}</title><p>Call +1 217 555 01{number:02d}</p><a href="mailto:{mail}">write</a>'
_PAGES = 20


def _documents(workspace: Workspace, say: Callable[[str], None]) -> int:
    """Pages are saved once however often they come in, read by two clusters, and the results compared."""
    with opened_documents(workspace, CAMPAIGN) as documents:
        outcomes = Counter(upload(documents, _page(number)).outcome for number in (*range(_PAGES), *range(_PAGES)))
        say(f"Saved {outcomes['created']} pages as they came in; saving them again: {outcomes['unchanged']} unchanged.")
        first = _replayed(documents, ReplayWish(cluster="main"))
        again = _replayed(documents, ReplayWish(cluster="main"))
        say(f"Read {first.done} of them in the cluster main; reading them again: {again.skipped} had nothing new.")
        changed = upload(documents, _page(7, mail="new-address@plumber-7.com"))
        _replayed(documents, ReplayWish(cluster="staging"))
        say(
            f"Page 7 changed (version {changed.version}, the first one is kept); staging read everything, main did not."
        )
        for row in states_of(documents, changed.reference.doc):
            say(f"  {row.cluster or 'intake'}/{row.address}: version {row.version}, {row.digest[:12]}…")
        found = compare(documents, "main", "staging")
        for field in (one for one in found.sorted_fields() if one.path == "/page/emails/*"):
            say(f"  compared: {field.path}: {field.same} same, {field.gained} gained, {field.lost} lost")
        if (found.documents, found.different, first.done, again.skipped) != (_PAGES, 1, _PAGES, _PAGES):
            raise AssertionError(f"the documents are not as they should be: {found}")
        if not fsck(documents, Check(deep=True)).clean:
            raise AssertionError("store and catalogue of the documents do not agree")
        return found.documents


def _page(number: int, mail: str | None = None) -> Upload:
    text = _PAGE.format(number=number, mail=mail or f"office@plumber-{number}.com")
    uri = f"https://plumber-{number}.com/"
    return Upload(text.encode(), doc=uri, connector="demo", uri=uri, mime_type="text/html")


def _replayed(documents: Documents, wish: ReplayWish) -> Job:
    return run_replay(documents, plan(documents, wish).job, wish)


def _look(workspace: Workspace, say: Callable[[str], None]) -> None:
    for campaign in list_campaigns(workspace):
        say(f"Campaign {campaign.name}: {', '.join(campaign.queries)}; {campaign.places} place")
    for usage in disk_usage(workspace.store, f"campaigns/{CAMPAIGN}"):
        name = usage.key or "config.toml"
        say(f"  {name}: {usage.contents.objects} object(s), {usage.contents.bytes:,} bytes")


def _check_store(store: Store, say: Callable[[str], None]) -> int:
    report = probe(store)
    say(f"The store keeps its promises: {'yes' if report.safe else 'NO'}")
    for check in report.checks:
        say(f"  {'ok ' if check.ok else 'BAD'} {check.name}: {check.detail}")
        if not check.ok:
            raise AssertionError(f"the store failed: {check.name}: {check.detail}")
    return len(report.checks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
