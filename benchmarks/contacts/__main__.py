"""`python -m benchmarks.contacts [FOLDER]`: a table of all ways to find contacts, a table of forms, a line of JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.contacts.peers import PEERS
from benchmarks.contacts.scorer import Score, score
from benchmarks.contacts.truth import KINDS, read_truth

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contacts", description="Score contacts found on pages.")
    parser.add_argument("folder", nargs="?", type=Path, default=HERE, help="a folder with truth.jsonl (default: ours)")
    parser.add_argument("--no-peers", action="store_true", help="only our own extractors")
    parser.add_argument("--slips", action="store_true", help="say on stderr what was missed and what was wrong")
    parser.add_argument("--only", help="only pages whose file name contains this text")
    options = parser.parse_args(arguments)
    pages = [page for page in read_truth(options.folder) if not options.only or options.only in page.path.name]
    names = ["cocli"] if options.no_peers else list(PEERS)
    scores = {name: score(pages, PEERS[name], name_values=options.slips) for name in names}
    if options.slips:
        print(*scores["cocli"].slips, sep="\n", file=sys.stderr)
    print(table(scores))
    print(forms_table(scores["cocli"]))
    print(json.dumps({"pages": len(pages), **{name: as_dict(one) for name, one in scores.items()}}))
    return 0


def as_dict(one: Score) -> dict[str, object]:
    figures: dict[str, object] = {
        kind: {
            "precision": round(tally.precision, 4),
            "recall": round(tally.recall, 4),
            "f1": round(tally.f1, 4),
            "junk": tally.junk,
        }
        for kind, tally in one.tallies.items()
    }
    return {
        **figures,
        "forms_recovered": round(one.forms_recovered, 4),
        "negatives_reported": one.negatives_reported,
        "negatives": one.negatives_total,
    }


def table(scores: dict[str, Score]) -> str:
    rows: list[tuple[str, ...]] = [("", "kind", "precision", "recall", "F1", "right", "missed", "wrong", "junk")]
    for name, one in scores.items():
        for kind in KINDS:
            tally = one.tallies[kind]
            shares = (f"{share:.3f}" for share in (tally.precision, tally.recall, tally.f1))
            counts = (str(count) for count in (tally.right, tally.missed, tally.wrong, tally.junk))
            rows.append((name, kind, *shares, *counts))
    lines = _aligned(rows)
    for name, one in scores.items():
        if one.forms_total or one.negatives_total:
            forms = f"{sum(one.forms.values())} of {sum(one.forms_total.values())} pages with a form recovered"
            lines.append(f"{name}: {forms}, {one.negatives_reported} of {one.negatives_total} negatives reported")
    return "\n".join(lines)


def forms_table(one: Score) -> str:
    rows: list[tuple[str, ...]] = [
        (form, f"{one.forms[form]} of {total}") for form, total in sorted(one.forms_total.items())
    ]
    return "\n".join(_aligned([("form", "recovered"), *rows])) if rows else ""


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
