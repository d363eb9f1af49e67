"""Edits of configuration files, over templates × ways to write × changes: what is wanted is there, the rest stays."""

from __future__ import annotations

import copy
import re
import tomllib
from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cocli.config.edit import apply_changes, parse_change, parse_unset
from cocli.config.file import ConfigFile, Scope, read_config
from cocli.config.template import TemplatePlace, campaign_template, user_template
from cocli.errors import ConfigError

HEADING = re.compile(r"# (\[[a-z_.]+\])")
SHOWN = re.compile(r"# ([a-z_-]+ = [^#\n]*)")
PLACE = {"name": "Y", "lat": 3.0, "lon": 4.0, "radius_miles": 5.0}
CHANGES: dict[str, tuple[tuple[str, ...], Any]] = {
    "fetch.rate=2.5": (("fetch", "rate"), 2.5),
    "fetch.robots=false": (("fetch", "robots"), False),
    "fetch.proxies+=http://p:1": (("fetch", "proxies"), ["http://p:1"]),
    "exclude.domains+=a.example": (("exclude", "domains"), ["a.example"]),
    "exclude.names+=Bob's # Pipes": (("exclude", "names"), ["Bob's # Pipes"]),
    "prospecting.queries+=zz": (("prospecting", "queries"), ["zz"]),
    "prospecting.goal=7": (("prospecting", "goal"), 7),
    'prospecting.locations+={name = "Y", lat = 3.0, lon = 4.0, radius_miles = 5.0}': (
        ("prospecting", "locations"),
        [PLACE],
    ),
    "campaign.company=Z": (("campaign", "company"), "Z"),
    "storage.region=x": (("storage", "region"), "x"),
    "queue.attempts=7": (("queue", "attempts"), 7),
    "workers.pi1.gm-list=2": (("workers", "pi1", "gm-list"), 2),
    "workers.raspberry.gm-list=2": (("workers", "raspberry", "gm-list"), 2),
    'workers."pi.local".enrichment=1': (("workers", "pi.local", "enrichment"), 1),
    "documents.edition=e2": (("documents", "edition"), "e2"),
    "cluster.id=c": (("cluster", "id"), "c"),
    "google_maps.pages_per_day=5": (("google_maps", "pages_per_day"), 5),
    "aws.region=r": (("aws", "region"), "r"),
}
UNSETS = ("fetch.rate", "exclude.names", "prospecting.goal", "campaign.company", "queue.attempts", "aws.region")


@st.composite
def files(draw: st.DrawFn) -> ConfigFile:
    """A template in which a person has opened sections, set keys, and written notes between the lines."""
    scope = draw(st.sampled_from(Scope))
    if scope is Scope.USER:
        text = user_template()
    else:
        places = [TemplatePlace(f"P{number}", 1.0, 2.0, 3.0) for number in range(draw(st.integers(0, 2)))]
        text = campaign_template("plumbers", draw(st.sampled_from([(), ("a",), ("a", "b # c")])), places)
    lines, opened = [], True
    for line in text.splitlines():
        kept = line
        if heading := HEADING.match(line):
            opened = draw(st.booleans())
            kept = line[2:] if opened else line
        elif line.startswith("["):
            opened = True
        elif SHOWN.match(line) and opened and draw(st.integers(0, 5)) == 0:
            kept = line[2:]
        lines.append(kept)
        if not heading and line == "" and draw(st.booleans()):
            lines.append(f'# note {draw(st.integers(0, 99))}: "quoted", [brackets] and = signs')
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    ending = draw(st.sampled_from(["", newline]))
    try:
        return read_config((newline.join(lines) + ending).encode(), "config.toml", scope)
    except ConfigError:
        assume(False)  # two settings that exclude each other were opened
        raise


def after(data: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """What a change makes of the data, told again in the simplest way."""
    from cocli.config.schema import settings as known_settings

    data = copy.deepcopy(data)
    *tables, name = path
    table = data
    for part in tables:
        table = table.setdefault(part, {})
    if isinstance(value, list):
        default = next(setting.default for setting in known_settings() if setting.path == path)
        value = [*table.get(name, default), *value]
    table[name] = value
    return data


def comments(text: str) -> Counter[str]:
    """Every comment. A heading that is opened loses its #, and what stands behind it stays."""
    found: Counter[str] = Counter()
    for line in text.splitlines():
        bare = re.sub(r'"[^"\n]*"', '""', line) if not line.lstrip().startswith("#") else line
        if "#" in bare and not HEADING.match(line):
            found[line[line.index("#") :] if bare is line else bare[bare.index("#") :]] += 1
    return found


def behind_headings(text: str) -> Counter[str]:
    return Counter(match[1] for line in text.splitlines() if (match := re.match(r"(?:# )?(\[[a-z_.]+\] *#.*)", line)))


def opened_everywhere(text: str) -> str:
    """The text as it is once a person has opened every section that is commented out."""
    there = {line.strip() for line in text.splitlines()}
    return "\n".join(
        line[2:] if (match := HEADING.match(line)) and match[1] not in there else line for line in text.splitlines()
    )


@settings(max_examples=150, deadline=None)
@given(files(), st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=5, unique=True))
def test_a_change_is_in_its_section_and_nothing_else_changed(file: ConfigFile, changes: list[str]) -> None:
    if file.scope is Scope.USER:
        changes = [change for change in changes if not change.startswith("prospecting")]
    expected = file.data
    for change in changes:
        expected = after(expected, *CHANGES[change])
    edited = apply_changes(file, [parse_change(change) for change in changes])
    assert edited.data == expected
    assert not comments(file.text) - comments(edited.text), "every comment stays"
    assert behind_headings(file.text) == behind_headings(edited.text)
    missing = Counter(file.text.splitlines()) - Counter(edited.text.splitlines())
    touched = {line for line in missing if not HEADING.match(line)}
    assert len(touched) <= len(changes), "only the lines of the settings changed"
    opened = tomllib.loads(opened_everywhere(edited.text))
    for change in changes:
        path, _ = CHANGES[change]
        assert at(opened, path) == at(edited.data, path), "it stays in its section when others are opened"


def at(data: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        data = data[part]
    return data


@settings(max_examples=80, deadline=None)
@given(files(), st.sampled_from(UNSETS), st.booleans())
def test_what_is_unset_goes_and_its_comment_stays(file: ConfigFile, key: str, noted: bool) -> None:
    section, name = key.split(".")
    if name not in file.data.get(section, {}):
        change = next(change for change in CHANGES if change.startswith(key))
        assume(section != "prospecting" or file.scope is Scope.CAMPAIGN)
        file = apply_changes(file, [parse_change(change)])
    if noted:
        lines = file.text.splitlines(keepends=True)
        number = file.line((section, name)) - 1
        lines[number] = f"{lines[number].rstrip()}  # why\n"
        file = read_config("".join(lines).encode(), file.name, file.scope)
    edited = apply_changes(file, [parse_unset(key)])
    assert name not in edited.data[section]
    assert not comments(file.text) - comments(edited.text)
    assert 0 <= len(file.text.splitlines()) - len(edited.text.splitlines()) <= int(not noted)


def changed(text: str, *changes: str) -> str:
    file = read_config(text.encode(), "config.toml", Scope.CAMPAIGN)
    return apply_changes(file, [parse_change(change) for change in changes]).text


def test_a_setting_comes_below_the_comment_that_shows_it() -> None:
    text = changed(campaign_template("plumbers"), "fetch.rate=2.5", "exclude.domains+=a.example")
    assert "\n[fetch]\n# rate = 1.0                     # requests per second to one site\nrate = 2.5\n" in text
    assert '\n[exclude]\n# domains = ["example.com"]\ndomains = ["a.example"]\n# names' in text


def test_a_heading_that_is_only_talked_about_is_none() -> None:
    text = '[campaign]\nname = "p"\n[prospecting]\narea = """\n# [fetch]\n"""\n# [fetch] is for later\n'
    assert changed(text, "fetch.rate=2.0").endswith("# [fetch] is for later\n\n[fetch]\nrate = 2.0\n")
    late = '[campaign]\nname = "p"\n# [fetch]\ntag = "late"\n'
    assert tomllib.loads(changed(late, "fetch.rate=2.0")) == {
        "campaign": {"name": "p", "tag": "late"},
        "fetch": {"rate": 2.0},
    }


@pytest.mark.parametrize("place", ['name = "A"\nlat = 1.0\nlon = 2.0  # here\n\n# [storage]\n# region = "x"\n'])
def test_one_more_place_comes_behind_the_last_one(place: str) -> None:
    text = f'[campaign]\nname = "p"\n[[prospecting.locations]]\n{place}'
    more = changed(text, 'prospecting.locations+={name = "B", lat = 3.0, lon = 4.0}')
    assert more.index('"B"') < more.index("# [storage]")
    assert "lon = 2.0  # here\n\n[[prospecting.locations]]\n" in more
