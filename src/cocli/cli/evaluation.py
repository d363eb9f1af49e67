"""`cocli-eval KIND FOLDER`: how well a parser reads a folder of labelled captures. For those who change a parser."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from cocli.errors import CocliError
from cocli.exit_codes import ExitCode
from cocli.formats.safe_text import safe_text

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = """usage: cocli-eval KIND FOLDER [--json]

Precision and recall per field over a folder of captures with labels beside them.

kinds:
  maps    pages and answers of Google Maps (docs/google-maps.md)

example:
  cocli-eval maps captures/maps"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point. Ends with 1 where something was invented that no capture shows."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        print(USAGE)
        return ExitCode.OK if words else ExitCode.USAGE
    if words[0] != "maps":
        print(f"error: there is no kind called {words[0]!r}\n\n{USAGE}", file=sys.stderr)
        return ExitCode.USAGE
    try:
        from cocli.pipeline.sources.google_maps.evaluation import run

        text, code = run(words[1:])
    except CocliError as error:
        return _report(error, as_json="--json" in words)
    print(safe_text(text))
    return code


def _report(error: CocliError, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"error": error.as_dict()}), file=sys.stderr)
    else:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        print(safe_text(f"error: {error.message}{hint}"), file=sys.stderr)
    return int(error.exit_code)


if __name__ == "__main__":
    sys.exit(main())
