"""`cocli index check`: whether indexes are sound, and with `--fix` what makes them so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.index.options import OptionalIndexArgument, chosen_indexes
from cocli.cli.index.views import audited_document, repaired_document, show_repaired, verified_document
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, DRY_RUN, JSON, QUIET, STORE, examples, shared
from cocli.errors import IndexDamaged
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Progress
    from cocli.cli.kit.output import Output
    from cocli.index.care.audit import AuditReport
    from cocli.index.care.repair import RepairReport
    from cocli.index.care.verification import VerifyReport
    from cocli.keys.paths import IndexRef

app = typer.Typer()


@dataclass(slots=True)
class CheckedIndex:
    """What was found in one index."""

    name: str
    files: VerifyReport
    records: AuditReport | None
    repair: RepairReport | None = None

    @property
    def ok(self) -> bool:
        return self.files.ok and (self.records is None or self.records.ok) and not (self.repair and self.repair.lost)


@app.command(
    epilog=examples(
        "cocli index check -c plumbers",
        "cocli index check prospects -c plumbers --fix",
        "cocli index check prospects -c plumbers --version 12",
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def check(
    call: Call,
    index: OptionalIndexArgument = None,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what is damaged.")] = False,
    files_only: Annotated[
        bool, typer.Option("--files", help="Only compare the packed files with their names and the manifest.")
    ] = False,
    version: Annotated[
        int | None,
        typer.Option(
            "--version", metavar="N", help="The files of an earlier version.", min=1, show_default="the current one"
        ),
    ] = None,
) -> None:
    """Read all files and records of an index, and say what is wrong. Exits with 8 if anything is.

    damaged: files that cannot be read. malformed: rows that do not fit. duplicate: keys or place ids that occur twice.
    foreign: records of another campaign. mismatched: ids that do not belong together. misplaced: records in the wrong
    shard or folder. stale: loose files that nobody packed for a week. stranger: files that cocli did not write.

    --fix puts back a lost or damaged LATEST and damaged shards: from this machine's cache, from earlier versions, from
    what is left of a file. Rows that cannot be found are reported. Where nothing is damaged, nothing is written.
    """
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with chosen_indexes(call) as indexes, ProgressLine(output, "rows read") as progress:
        found = []
        for ref in indexes.chosen(index):
            checked = _check(indexes, ref, version, files_only=files_only, progress=progress)
            if fix and not call.dry_run:
                checked = _fixed(indexes, ref, checked, files_only=files_only)
            found.append(checked)
    ok = all(checked.ok for checked in found)
    if output.as_json:
        name = indexes.campaign.name if indexes.campaign else None
        output.document({"campaign": name, "ok": ok, "indexes": [_document(checked) for checked in found]})
    else:
        _show(output, found)
        _hint(output, found, indexes, fixed=fix and not call.dry_run)
    if not ok:
        raise typer.Exit(ExitCode.DATA)


def _check(
    indexes: Indexes, ref: IndexRef, version: int | None, *, files_only: bool, progress: Progress
) -> CheckedIndex:
    from cocli.app.indexes.care import audit_index, verify_index

    files = verify_index(indexes, ref, version)
    records = None
    if not files_only and version is None:
        try:
            records = audit_index(indexes, ref, progress)
        except IndexDamaged:
            if files.ok:  # else the damage is reported with the files
                raise
    return CheckedIndex(ref.name, files, records)


def _fixed(indexes: Indexes, ref: IndexRef, checked: CheckedIndex, *, files_only: bool) -> CheckedIndex:
    """The index after its repair, looked at again; as it was if no file is damaged."""
    from cocli.app.indexes.care import repair_index
    from cocli.app.workspace import no_progress

    if checked.files.ok:
        return checked
    repair = repair_index(indexes, ref)
    again = _check(indexes, ref, None, files_only=files_only, progress=no_progress)
    again.repair = repair
    return again


def _document(checked: CheckedIndex) -> dict[str, Any]:
    records: dict[str, Any] = {"counts": {}, "examples": {}}
    if checked.records is not None:
        audited = audited_document(checked.name, checked.records)
        records = {name: audited[name] for name in records}
    repair = None if checked.repair is None else repaired_document(checked.repair)
    return {**verified_document(checked.name, checked.files), **records, "ok": checked.ok, "repair": repair}


def _show(output: Output, found: list[CheckedIndex]) -> None:
    rows = [
        (checked.name, checked.files.version or "", f"{checked.files.rows:,}", checked.files.shards, _words(checked))
        for checked in found
    ]
    output.table(("index", "version", "rows", "shards", "found"), rows, right=("version", "rows", "shards"))
    for checked in found:
        for problem in checked.files.problems:
            output.line(f"{checked.name}: {problem}")
        examples = checked.records.examples.items() if checked.records is not None else ()
        for finding, some in examples:
            for example in some:
                output.line(f"{checked.name}: {finding}: {example.where}: {example.detail}")
        if checked.repair is not None:
            output.talk(f"{checked.name} was repaired.")
            show_repaired(output, checked.repair)


def _words(checked: CheckedIndex) -> str:
    """The audit reads through the cache, so that what only the store has damaged is found by the files alone."""
    counts = {str(finding): count for finding, count in checked.records.counts.items()} if checked.records else {}
    if not checked.files.ok:
        counts.setdefault("damaged", len(checked.files.problems))
    return ", ".join(f"{finding} {count:,}" for finding, count in counts.items()) or "ok"


def _hint(output: Output, found: list[CheckedIndex], indexes: Indexes, *, fixed: bool) -> None:
    damaged = [checked.name for checked in found if not checked.files.ok]
    findings = {str(finding) for checked in found if checked.records for finding in checked.records.counts}
    if damaged and not fixed:
        output.hint(f"cocli index check {damaged[0]}{indexes.options} --fix")
    elif "foreign" in findings:
        output.hint(f"cocli index purge --foreign-campaign{indexes.options} --dry-run")
    elif "stale" in findings:
        output.hint(f"cocli index compact{indexes.options}")
