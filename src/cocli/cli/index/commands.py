"""`cocli index`: status, get, history, diff; and, from its neighbours, check, query and all that changes.

`verify` and `audit` are older names of parts of `check`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.index import changes as index_changes
from cocli.cli.index import check as index_check
from cocli.cli.index import query as index_query
from cocli.cli.index import upkeep as index_upkeep
from cocli.cli.index.options import (
    AsOfOption,
    FreshOption,
    IndexArgument,
    OptionalIndexArgument,
    campaign_of_indexes,
    chosen_indexes,
)
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, command_group, examples, shared
from cocli.cli.kit.output import count_shown
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.cli.kit.output import Output
    from cocli.index.care.audit import AuditReport
    from cocli.index.diff import Difference

app = command_group("Look into the indexes, query them in SQL, pack, check and repair them.")


@app.command(epilog=examples("cocli index status -c plumbers", "cocli index status prospects -c plumbers --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def status(call: Call, index: OptionalIndexArgument = None) -> None:
    """Show every index: rows, version and its age, shards, what waits to be packed, what is damaged."""
    from cocli.app.indexes.status import index_status
    from cocli.cli.index.views import show_status, status_document

    output = call.output
    with campaign_of_indexes(call) as indexes:
        statuses = [index_status(indexes, ref) for ref in indexes.chosen(index)]
        if output.as_json:
            output.document({"campaign": _name(indexes), "indexes": [status_document(status) for status in statuses]})
            return
        show_status(output, statuses)
        broken = next((status for status in statuses if status.problem or status.damaged), None)
        if broken is not None:
            output.hint(f"cocli index check {broken.index}{indexes.options}")
        elif any(status.unpacked for status in statuses):
            output.hint(f"cocli index compact{indexes.options}")


@app.command(
    epilog=examples(
        "cocli index get prospects ChIJyUzh2kXqwoARUtNFG8VjnYQ -c plumbers",
        "cocli index get emails info@example.com -c plumbers --fresh",
        "cocli index get scraped-tiles 39.8_-89.7/plumber/overture",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def get(
    call: Call,
    index: IndexArgument,
    name: Annotated[
        str, typer.Argument(metavar="KEY", help="A hash, place id, domain, address, task id, or TILE/PHRASE.")
    ],
    fresh: FreshOption = False,
    as_of: AsOfOption = None,
) -> None:
    """Show one record. Three requests at most, one when it is in the cache."""
    from cocli.app.indexes.lookup import look_up
    from cocli.app.indexes.query import AsOf
    from cocli.cli.index.views import show_record

    output = call.output
    with chosen_indexes(call) as indexes:
        ref = indexes.ref(index)
        record, version = look_up(indexes, ref, name, fresh=fresh, as_of=AsOf.parse(as_of or []))
        if output.as_json:
            document = {"index": ref.name, "campaign": ref.campaign, "version": version}
            output.document({**document, "record": record.model_dump(mode="json"), "extras": dict(record.extras)})
            return
        show_record(output, record)


@app.command(epilog=examples("cocli index history prospects -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def history(
    call: Call,
    index: IndexArgument,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many at most; 0 is all.", min=0)] = 20,
) -> None:
    """List the versions of an index that are kept, newest first. Each of them can be read with --as-of."""
    from cocli.app.indexes.status import index_history
    from cocli.cli.index.views import show_history

    output = call.output
    with chosen_indexes(call) as indexes:
        ref = indexes.ref(index)
        found = list(islice(index_history(indexes, ref), limit + 1 if limit else None))
        truncated, versions = bool(limit and len(found) > limit), found[: limit or None]
        if output.as_json:
            document = {"index": ref.name, "campaign": ref.campaign, "truncated": truncated}
            output.document({**document, "versions": [asdict(version) for version in versions]})
            return
        if not versions:
            output.talk("Nothing was packed yet.")
            output.hint(f"cocli index compact {ref.name}{indexes.options}")
            return
        show_history(output, versions)
        if truncated:
            output.talk(f"The last {limit}; there are more: --limit 0 lists all.")
        if len(versions) > 1:
            output.hint(f"cocli index diff {ref.name} {versions[1].version}{indexes.options}")


@app.command(
    epilog=examples("cocli index diff prospects 11 -c plumbers", "cocli index diff prospects 11 14 -c plumbers --json")
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def diff(
    call: Call,
    index: IndexArgument,
    old: Annotated[int, typer.Argument(metavar="OLD", help="A version.", min=1)],
    new: Annotated[
        int | None, typer.Argument(metavar="NEW", help="A later version.", min=1, show_default="the current one")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many at most; 0 is all.", min=0)] = 100,
) -> None:
    """Show what changed between two versions: records added, removed and changed, field by field."""
    from cocli.app.indexes.lookup import differences
    from cocli.cli.index.views import show_differences

    output = call.output
    with chosen_indexes(call) as indexes:
        ref = indexes.ref(index)
        before, after, found = differences(indexes, ref, old, new)
        counts: Counter[str] = Counter(added=0, removed=0, changed=0)
        kept: list[Difference[Any]] = []
        for difference in found:
            counts[difference.kind] += 1
            if not limit or len(kept) < limit:
                kept.append(difference)
        truncated = sum(counts.values()) > len(kept)
    if output.as_json:
        document = {"index": ref.name, "campaign": ref.campaign, "old": before, "new": after, "counts": dict(counts)}
        shown = [_difference(difference) for difference in kept]
        output.document({**document, "differences": shown, "truncated": truncated})
        return
    show_differences(output, kept)
    output.talk(
        f"Version {before} to {after}: {counts['added']:,} added, {counts['removed']:,} removed, "
        f"{counts['changed']:,} changed."
    )
    if truncated:
        output.talk(f"The first {limit}; --limit 0 shows all.")


@app.command(
    hidden=True,
    epilog=examples("cocli index check -c plumbers", "cocli index check prospects -c plumbers --version 12"),
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def verify(
    call: Call,
    index: OptionalIndexArgument = None,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", help="An earlier version.", min=1, show_default="the current one"),
    ] = None,
) -> None:
    """Read all files of a version, and compare them with their names and the manifest. Exits with 8 on damage."""
    from cocli.app.indexes.care import verify_index
    from cocli.cli.index.views import verified_document
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with chosen_indexes(call) as indexes, ProgressLine(output, "shards read") as progress:
        reports = [(ref, verify_index(indexes, ref, version, progress)) for ref in indexes.chosen(index)]
    ok = all(report.ok for _, report in reports)
    if output.as_json:
        rows = [verified_document(ref.name, report) for ref, report in reports]
        output.document({"campaign": _name(indexes), "ok": ok, "indexes": rows})
    else:
        cells = [
            (
                ref.name,
                outcome.version,
                outcome.rows,
                outcome.shards,
                "ok" if outcome.ok else count_shown(len(outcome.problems), "problem"),
            )
            for ref, outcome in reports
        ]
        output.table(("index", "version", "rows", "shards", "state"), cells, right=("version", "rows", "shards"))
        for ref, report in reports:
            for problem in report.problems:
                output.line(f"{ref.name}: {problem}")
        if not ok:
            broken = next(ref.name for ref, report in reports if not report.ok)
            output.hint(f"cocli index check {broken}{indexes.options} --fix")
    if not ok:
        raise typer.Exit(ExitCode.DATA)


@app.command(
    hidden=True, epilog=examples("cocli index check -c plumbers", "cocli index check prospects -c plumbers --json")
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def audit(call: Call, index: OptionalIndexArgument = None) -> None:
    """Read every record, packed or not, and count what is wrong with it. Exits with 8 if anything is.

    damaged: files that cannot be read. malformed: rows that do not fit. duplicate: keys or place ids that occur twice.
    foreign: records of another campaign. mismatched: ids that do not belong together. misplaced: records in the wrong
    shard or folder. stale: loose files that nobody packed for a week. stranger: files that cocli did not write.
    """
    from cocli.app.indexes.care import audit_index
    from cocli.cli.index.views import audited_document, show_audit
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with chosen_indexes(call) as indexes, ProgressLine(output, "rows read") as progress:
        reports = [(ref.name, audit_index(indexes, ref, progress)) for ref in indexes.chosen(index)]
    ok = all(report.ok for _, report in reports)
    if output.as_json:
        rows = [audited_document(name, report) for name, report in reports]
        output.document({"campaign": _name(indexes), "ok": ok, "indexes": rows})
    else:
        show_audit(output, reports)
        _audit_hint(output, reports, indexes)
    if not ok:
        raise typer.Exit(ExitCode.DATA)


def _audit_hint(output: Output, reports: list[tuple[str, AuditReport]], indexes: Indexes) -> None:
    found = {str(finding): name for name, report in reports for finding in report.counts}
    if "damaged" in found:
        output.hint(f"cocli index check {found['damaged']}{indexes.options} --fix")
    elif "foreign" in found:
        output.hint(f"cocli index purge --foreign-campaign{indexes.options} --dry-run")
    elif "stale" in found:
        output.hint(f"cocli index compact{indexes.options}")


def _name(indexes: Indexes) -> str | None:
    return indexes.campaign.name if indexes.campaign else None


def _difference(one: Difference[Any]) -> dict[str, Any]:
    record = one.new if one.new is not None else one.old
    return {
        "key": one.key,
        "kind": one.kind,
        "fields": {name: [_plain(value) for value in pair] for name, pair in one.fields.items()},
        "record": record.model_dump(mode="json") if record is not None and one.kind != "changed" else None,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


app.add_typer(index_check.app)
app.add_typer(index_query.app)
app.add_typer(index_changes.app)
app.add_typer(index_upkeep.app)
