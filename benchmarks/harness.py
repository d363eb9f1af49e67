"""The form that every benchmark shares: progress on stderr, a table on stdout, one flat JSON object as the last line.

A benchmark is a module of this package with a docstring whose first line says what it measures, and

    def main(bench: Bench) -> None:
        bench.note("writing 1,000,000 rows")
        bench.measure("read_over_csv", 1.23, peer="csv module", peer_value=1, ratio=1.23, conditions="1,000,000 rows")

A package whose `__init__.py` has a `main` is one, too. A ratio named `…_over_peer` is our rate divided by the peer's
(higher is better), unless its name ends in `_cost`.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).parent
RESULTS = Path(".bench")
_NOT_BENCHMARKS = {"__init__", "__main__", "harness", "queue_contenders"}
_COLUMNS = ("measure", "here", "peer or limit", "ratio", "conditions")


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: what it is, ours, whom it is compared with."""

    name: str
    value: float
    unit: str = ""
    peer: str | None = None
    peer_value: float | None = None
    ratio: float | None = None
    conditions: str = ""

    def row(self) -> tuple[str, ...]:
        peer = " ".join(part for part in (self.peer, show_number(self.peer_value, self.unit)) if part)
        return (self.name, show_number(self.value, self.unit), peer, show_number(self.ratio), self.conditions)


@dataclass(slots=True)
class Bench:
    """What a benchmark is given: its name, the words after it on the command line, and where to put its figures."""

    name: str
    arguments: list[str] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    unmeasured: list[str] = field(default_factory=list)
    """Names of figures that there is nothing to measure of: the JSON line says null."""
    started: float = field(default_factory=time.perf_counter)

    def note(self, text: str) -> None:
        """Say what goes on, on stderr."""
        print(f"[{time.perf_counter() - self.started:6.1f} s] {text}", file=sys.stderr, flush=True)

    def measure(
        self,
        name: str,
        value: float,
        *,
        unit: str = "",
        peer: str | None = None,
        peer_value: float | None = None,
        ratio: float | None = None,
        conditions: str = "",
    ) -> None:
        """Record a figure: `value` is what the JSON line says under `{bench}.{name}`, or `{name}` if that has a dot."""
        if any(measure.name == name for measure in self.measures):
            raise ValueError(f"{self.name}.{name} was measured twice")
        self.measures.append(Measure(name, value, unit, peer, peer_value, ratio, conditions))

    def size(self, name: str, default: int) -> int:
        """How much to measure: `rows=1000` on the command line, else the environment's BENCH_ROWS, else the default."""
        for argument in self.arguments:
            key, equals, value = argument.partition("=")
            if equals and key == name:
                return int(value.replace("_", ""))
        return int(os.environ.get(f"BENCH_{name.upper()}", str(default)).replace("_", ""))

    def as_dict(self) -> dict[str, object]:
        names = {
            measure.name: measure.name if "." in measure.name else f"{self.name}.{measure.name}"
            for measure in self.measures
        }
        figures = {names[measure.name]: _rounded(measure.value) for measure in self.measures}
        return {"bench": self.name, **figures, **{f"{self.name}.{name}": None for name in self.unmeasured}}


def show_number(value: float | None, unit: str = "") -> str:
    """A figure for people: `1,234,567 rows/s`, `1.23`."""
    if value is None:
        return ""
    text = f"{value:,.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:.4g}"
    return f"{text} {unit}".rstrip()


def _rounded(value: float) -> float:
    return value if isinstance(value, int) else float(f"{value:.6g}")


def available() -> dict[str, str]:
    """Every benchmark and the first line of its docstring, without importing any of them."""
    found = {}
    for path in sorted(PACKAGE.glob("*.py")):
        if path.stem not in _NOT_BENCHMARKS and not path.stem.startswith("_"):
            found[path.stem] = _summary(ast.parse(path.read_text("utf-8")))
    for path in sorted(PACKAGE.glob("*/__init__.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.parent.name] = _summary(tree)
    return dict(sorted(found.items()))


def _summary(tree: ast.Module) -> str:
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def table(rows: list[tuple[str, ...]]) -> str:
    """Aligned columns with a heading."""
    rows = [_COLUMNS, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    rows.insert(1, tuple("-" * width for width in widths))
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def run(name: str, arguments: list[str], results: Path = RESULTS) -> Bench:
    """Run one benchmark, print its table and its JSON line, and keep that line in `.bench/NAME.json`."""
    bench = Bench(name, arguments)
    importlib.import_module(f"benchmarks.{name}").main(bench)
    bench.note("done")
    line = json.dumps(bench.as_dict(), allow_nan=False)
    results.mkdir(exist_ok=True)
    (results / f"{name}.json").write_text(line + "\n", "utf-8")
    print(table([measure.row() for measure in bench.measures]))
    print(line, flush=True)
    return bench
