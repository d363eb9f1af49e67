"""How deployments are shown: one line a host, or one JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.deploy.steps import HostOutcome
    from cocli.cli.kit.output import Output
    from cocli.errors import CocliError


def show_outcomes(output: Output, outcomes: Sequence[HostOutcome]) -> None:
    """All of them; with an exit code that says whether all went well."""
    if output.as_json:
        output.document({"ok": all(outcome.is_well for outcome in outcomes), "hosts": [*map(_document, outcomes)]})
    else:
        rows = [
            (one_host.host, one_host.outcome, one_host.build, one_host.before, _seconds(one_host), _words(one_host))
            for one_host in outcomes
        ]
        output.table(("host", "outcome", "build", "before", "seconds", "what to know"), rows, right=("seconds",))
        for outcome in outcomes:
            if outcome.problem is not None and outcome.problem.hint:
                output.hint(f"{outcome.host}: {outcome.problem.hint}")
    failed = [outcome.problem for outcome in outcomes if outcome.problem is not None]
    if failed:
        raise typer.Exit(exit_code_of(failed))


def exit_code_of(problems: Sequence[CocliError]) -> int:
    """That of the problem if there is one kind of it, else 1."""
    codes = {int(problem.exit_code) for problem in problems}
    return codes.pop() if len(codes) == 1 else int(ExitCode.FAILURE)


def _document(outcome: HostOutcome) -> dict[str, Any]:
    return {
        "host": outcome.host,
        "outcome": outcome.outcome,
        "build": outcome.build,
        "before": outcome.before,
        "seconds": outcome.seconds,
        "notes": outcome.notes,
        "problem": None if outcome.problem is None else outcome.problem.as_dict(),
    }


def _seconds(outcome: HostOutcome) -> str:
    return f"{sum(outcome.seconds.values()):.1f}"


def _words(outcome: HostOutcome) -> str:
    if outcome.problem is not None:
        return outcome.problem.message
    return "; ".join(outcome.notes)


def show_answers(output: Output, answers: Mapping[str, Any], document: Mapping[str, Any]) -> None:
    """The JSON document, or nothing but the problems; ends with their code."""
    problems = {host: answer for host, answer in answers.items() if not isinstance(answer, dict)}
    if output.as_json:
        told = {host: {"problem": problem.as_dict()} for host, problem in problems.items()}
        output.document({"ok": not problems, "hosts": {**document, **told}})
    else:
        for problem in problems.values():
            output.line(problem.message)
            if problem.hint:
                output.hint(problem.hint)
    if problems:
        raise typer.Exit(exit_code_of(list(problems.values())))
