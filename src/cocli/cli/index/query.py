"""`cocli index query`: SQL over the indexes, as a table, JSON, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.index.options import AsOfOption, FreshOption, campaign_of_indexes
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.output import count_shown, size_shown
from cocli.errors import UsageError
from cocli.formats.safe_text import safe_line

if TYPE_CHECKING:
    from cocli.app.indexes.query import Query, QueryReport
    from cocli.cli.kit.output import Output
    from cocli.index.queries.query import QueryResult

app = typer.Typer()


@app.command(
    epilog=examples(
        'cocli index query "select city, count(*) from prospects group by 1 order by 2 desc" -c plumbers',
        'cocli index query "select p.name, email from prospects p join emails using (company_hash)" -c plumbers --csv',
        'cocli index query "select count(*) from prospects" -c plumbers --as-of 2026-11-15T12:00:00Z',
        'cocli index query "show tables" -c plumbers',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def query(
    call: Call,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT over the views.")],
    fresh: FreshOption = False,
    as_of: AsOfOption = None,
    derived: Annotated[
        bool, typer.Option("--derived", help="First renew the derived copies that are out of date.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV; what looks like a formula gets an apostrophe.")
    ] = False,
    raw: Annotated[bool, typer.Option("--raw", help="With --csv: every cell as it is.")] = False,
    parquet: Annotated[
        str | None, typer.Option("--parquet", metavar="FILE", help="Write a Parquet file.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Show at most N rows; 0 shows all.", min=0)] = 1000,
    skip_damaged: Annotated[bool, typer.Option("--skip-damaged", help="Leave damaged shards out, and say so.")] = False,
) -> None:
    """Query the indexes in SQL. Views: prospects, prospects_all, emails, domains, target_tiles, harvested_tiles,
    scraped_tiles, rolls, standings, changes, completions, and completions_QUEUE for each queue.

    Only the indexes that the query names are fetched, into the cache. A query can read nothing else: no files, no
    network. A prospect that was merged into another is in prospects_all only. A copy that `index consolidate` made is
    used while it is current.
    """
    from cocli.app.indexes.query import AsOf, QueryOptions, opened_query

    output = call.output
    if sum((output.as_json, as_csv, parquet is not None)) > 1:
        raise UsageError(reason="--json, --csv and --parquet exclude each other")
    if raw and not as_csv:
        raise UsageError(reason="--raw belongs to --csv")
    options = QueryOptions(fresh=fresh, as_of=AsOf.parse(as_of or []), derived=derived, skip_damaged=skip_damaged)
    with campaign_of_indexes(call) as indexes, opened_query(indexes, sql, options) as asked:
        if parquet is not None:
            _write_parquet(output, asked, parquet)
        elif as_csv:
            _print_csv(output, asked.result(), raw=raw)
        else:
            _show(output, asked, limit)
        report = asked.report
        if not output.as_json:
            _talk(output, report, indexes.options)


def _show(output: Output, asked: Query, limit: int) -> None:
    from cocli.app.indexes.values import plain_value

    result = asked.result()
    kinds = [column.type for column in result.columns]
    rows = list(islice(result.rows(), limit + 1 if limit else None))
    truncated = bool(limit and len(rows) > limit)
    cells = [
        [plain_value(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows[: limit or None]
    ]
    names = [column.name for column in result.columns]
    if output.as_json:
        output.document(_document(asked, result, [dict(zip(names, row, strict=True)) for row in cells], truncated))
        return
    output.table(names, cells, right=[column.name for column in result.columns if _is_number(column.type)])
    if truncated:
        output.talk(f"The first {limit:,} rows; there are more: --limit 0 shows all.")


def _document(asked: Query, result: QueryResult, rows: list[dict[str, Any]], truncated: bool) -> dict[str, Any]:
    campaign = asked.indexes.campaign
    return {
        "campaign": campaign.name if campaign else None,
        "versions": asked.report.versions,
        "columns": [{"name": column.name, "type": column.type} for column in result.columns],
        "rows": rows,
        "truncated": truncated,
        "unpacked": asked.report.unpacked,
        "damaged": asked.report.damaged,
        "rejected": asked.report.rejected,
    }


def _print_csv(output: Output, result: QueryResult, *, raw: bool) -> None:
    for line in _csv_lines(result, raw=raw):
        # On a terminal an escape sequence would be obeyed; in a file it is data like any other.
        output.stdout.write(safe_line(line.rstrip("\r\n")) + "\n" if output.stdout.isatty() else line)


def _csv_lines(result: QueryResult, *, raw: bool) -> Iterator[str]:
    from cocli.app.indexes.values import csv_cell

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([column.name if raw else csv_cell(column.name) for column in result.columns])
    for row in result.rows():
        yield text.getvalue()
        text.seek(0)
        text.truncate()
        writer.writerow([csv_cell(value, raw=raw) for value in row])
    yield text.getvalue()


def _write_parquet(output: Output, asked: Query, file: str) -> None:
    """The engine writes to a name, so it is given one of its own; the file that was asked for then appears whole."""
    from cocli.app.whole_file import absolute, whole_file

    with whole_file(file) as out, tempfile.TemporaryDirectory(prefix="cocli-") as folder:
        made = os.path.join(folder, "rows.parquet")
        count, size = asked.write_parquet(made), os.path.getsize(made)
        with open(made, "rb") as rows:
            shutil.copyfileobj(rows, out)
    path = absolute(file)
    output.line(path)
    output.talk(f"Wrote {count_shown(count, 'row')}, {size_shown(size)}.")


def _talk(output: Output, report: QueryReport, options: str) -> None:
    for damaged in report.damaged:
        output.talk(f"Left out: {damaged}")
    if report.rejected:
        output.talk(f"Left out: {count_shown(report.rejected, 'row')} that wait to be packed and cannot be read.")
        output.hint(f"cocli index check{options}")
    never = [name for name, version in report.versions.items() if not version and not report.unpacked.get(name)]
    if never:
        output.talk(f"Nothing is packed yet in: {', '.join(never)}.")
        output.hint(f"cocli index compact{options}")


def _is_number(kind: str) -> bool:
    return kind.startswith(("BIGINT", "DOUBLE", "INTEGER", "HUGEINT", "DECIMAL", "FLOAT", "UBIGINT", "SMALLINT"))
