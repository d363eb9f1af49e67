"""New files of the CRM: what stands in them when they are made. From then on they are a person's."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cocli.formats import yaml_text
from cocli.formats.markdown import PROGRAM_KEY
from cocli.models.note import NoteFacts
from cocli.models.record import RecordPart, render_utc

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cocli.models.company import CompanyFacts

DraftValue = str | Sequence[str] | None
_PLAIN = re.compile(r"(?!(?:true|false|null)\Z)[a-z][\w.+-]*(?: [\w.+-]+)*", re.IGNORECASE | re.ASCII)
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def written(value: str) -> str:
    """A text as a person would write it in YAML: bare where nobody can misread it, else in quotes."""
    if _PLAIN.fullmatch(value):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def draft(values: Mapping[str, DraftValue], body: str = "", facts: RecordPart | None = None) -> bytes:
    """A file with these keys, in this order; those without a value are left out."""
    lines = [f"{name}: {_value(value)}\n" for name, value in values.items() if value not in (None, "", (), [])]
    if facts is not None:  # written as an update would write it, without taking apart what was just put together
        lines.append(yaml_text.block(PROGRAM_KEY, facts.model_dump(mode="json", exclude_none=True), "\n"))
    text = f"---\n{''.join(lines)}---\n"
    return (f"{text}\n{body.strip()}\n" if body.strip() else text).encode()


def new_company(
    *, tags: Sequence[str] = (), facts: CompanyFacts | None = None, values: Mapping[str, DraftValue] | None = None
) -> bytes:
    """`companies/{slug}/_index.md`. A person's own keys come first."""
    return draft({**(values or {}), "tags": tuple(tags)}, facts=facts)


def new_note(title: str, date: str, body: str, facts: NoteFacts, **values: Any) -> bytes:
    """A note or a meeting."""
    return draft({"title": title, "date": date, **values}, body, facts)


def new_moved_note(old: str, new: str, sentence: str, at: datetime) -> bytes:
    """Says that a prospect is known under another hash now. The same words whenever it is made."""
    facts = NoteFacts(source="matching", source_id=new, created_at=at)
    body = f"The prospect {old} turned out to be the same business as {new}. {sentence}"
    return new_note("Known under another hash", render_utc(at)[:10], body, facts)


def _value(value: DraftValue) -> str:
    if isinstance(value, str):
        return written(value)
    return f"[{', '.join(map(written, value or ()))}]"
