"""Every field has a rule, and the page says the same as the code. Run as a program, this writes the page's tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocli.models.record import Record
from cocli.pipeline.merge.rules import EXCEPTIONS, GRADES, MEANING, PAIRS, RULES, SOURCES, MergeRule
from cocli.pipeline.sources.registry import sources

PAGE = Path(__file__).parents[3] / "docs" / "merging.md"
BEGIN, END = "<!-- rules -->", "<!-- end of rules -->"


def tables() -> str:
    return "\n".join([*_meanings(), *_fields(), *_sources()])


def _meanings() -> Iterator[str]:
    yield "| rule | what it does |\n| --- | --- |"
    for rule in MergeRule:
        yield f"| `{rule}` | {MEANING[rule]} |"
    yield ""


def _fields() -> Iterator[str]:
    for model, rules in RULES.items():
        yield f"### {model.__name__}\n\n| field | rule |\n| --- | --- |"
        pair = {name: other for one, two in PAIRS.get(model, ()) for name, other in ((one, two), (two, one))}
        for name, rule in rules.items():
            yield f"| `{name}` | {rule}{f', with `{pair[name]}`' if name in pair else ''} |"
        for name, grades in GRADES.get(model, {}).items():
            worst_first = ", ".join(f"`{value}` {grade}" for value, grade in grades.items())
            yield f"\nGrades of `{name}`: {worst_first}; any other value 1."
        yield ""


def _sources() -> Iterator[str]:
    yield "### Sources\n\n| source | counts | except for |\n| --- | --- | --- |"
    for source, quality in SOURCES.items():
        changed: dict[int, list[str]] = {}
        for model, fields in EXCEPTIONS.items():
            for name, exceptions in fields.items():
                if exceptions.get(source, quality) != quality:
                    changed.setdefault(exceptions[source], []).append(f"{model.__name__} `{name}`")
        words = "; ".join(f"{', '.join(names)}: {count}" for count, names in changed.items())
        yield f"| `{source}` | {quality} | {words} |"
    yield ""


def with_tables(page: str) -> str:
    head, rest = page.split(BEGIN, 1)
    return f"{head}{BEGIN}\n\n{tables()}\n{END}{rest.split(END, 1)[1]}"


@pytest.mark.parametrize("model", list(RULES), ids=lambda model: model.__name__)
def test_every_field_has_a_rule(model: type[Record]) -> None:
    assert list(RULES[model]) == list(model.model_fields)
    assert all(RULES[model][name] is MergeRule.SAME for name in model.key)
    paired = [name for name, rule in RULES[model].items() if rule is MergeRule.PAIRED]
    assert paired == [name for pair in PAIRS.get(model, ()) for name in pair]
    assert set(GRADES.get(model, {})) | set(EXCEPTIONS.get(model, {})) <= set(RULES[model])


def test_every_rule_is_used_and_explained() -> None:
    assert set(MEANING) == {rule for rules in RULES.values() for rule in rules.values()} == set(MergeRule)


def test_every_source_that_a_campaign_may_name_is_ranked() -> None:
    assert {name for source in sources() for name in (source.name, source.row_name)} <= set(SOURCES)


def test_the_page_shows_the_tables_of_the_code() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_tables(page), "run: .venv/bin/python tests/pipeline/merge/test_rules.py"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"wrote the tables of docs/{PAGE.name}\n")
