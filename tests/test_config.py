"""Configuration: where values come from, how mistakes are named, and that edits keep what a person wrote."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cocli.app.workspace  # noqa: F401 - it offers the names of sources and providers
from cocli.config.edit import apply_changes, parse_change, parse_unset
from cocli.config.file import ConfigFile, Scope, read_config
from cocli.config.lines import join_key, key_lines, split_key
from cocli.config.places import data_home, user_file
from cocli.config.resolve import Flags, Rank, load_user_file, resolve, unknown_variables
from cocli.config.schema import Setting, problems, settings
from cocli.config.template import TemplatePlace, campaign_template, user_template
from cocli.config.values import value_from_text
from cocli.errors import ConfigError, ConfigSyntaxError, ConfigValueError, UsageError
from cocli.formats.secrets import MASK, mask
from cocli.models.campaign import WatchSection


def campaign_file(text: str, name: str = "c.toml", campaign: str | None = None) -> ConfigFile:
    return read_config(text.encode(), name, Scope.CAMPAIGN, campaign=campaign)


def user_config(text: str) -> ConfigFile:
    return read_config(text.encode(), "user.toml", Scope.USER)


MINIMAL = '[campaign]\nname = "plumbers"\n'


# --- lines -----------------------------------------------------------------------------------------------------------

TRICKY = '''\
# a comment with [brackets] and = signs
title.short = "a = b # no comment"
[server]   # the server
"quoted.key" = 1
multi = """
[not.a.table]
x = 1
"""
literal = \'\'\'
it\'s
\'\'\'
list = [
    1,  # one
    { a = 1, b = [2,
      3] },
]
[[item]]
name = "first"
[item.part]
n = 1
[[item]]
name = "second"
when = 2026-11-15 18:00:00Z
'''


def test_key_lines_point_at_the_line_of_the_key() -> None:
    lines = key_lines(TRICKY)
    rows = TRICKY.splitlines()
    assert rows[lines["title", "short"] - 1].startswith("title.short")
    assert rows[lines["server",] - 1].startswith("[server]")
    assert rows[lines["server", "quoted.key"] - 1].startswith('"quoted.key"')
    assert rows[lines["server", "list"] - 1].startswith("list")
    assert rows[lines["server", "list", 1, "a"] - 1].strip().startswith("{ a")
    assert rows[lines["server", "list", 1, "b", 1] - 1].strip().startswith("3]")
    assert rows[lines["item", 0, "part", "n"] - 1] == "n = 1"
    assert rows[lines["item", 1, "name"] - 1] == 'name = "second"'
    assert ("not", "a", "table") not in lines


_keys = st.text(alphabet="ab-_.\" é'", min_size=1, max_size=4)
_scalars = st.one_of(
    st.integers(-5, 5), st.booleans(), st.floats(-1, 1), st.text(max_size=8, alphabet="a#[]{}=\"'\\\n,")
)
_values = st.recursive(_scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3))


@given(st.dictionaries(_keys, _values, max_size=4))
def test_every_key_of_any_document_has_its_line(data: dict[str, Any]) -> None:
    import tomlkit

    text = tomlkit.dumps(data)
    parsed = tomllib.loads(text)
    lines = key_lines(text)
    missing = [path for path in _paths(parsed) if path not in lines]
    assert not missing, text
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in children:
        yield (*path, key)
        yield from _paths(inner, (*path, key))


@given(st.lists(st.text(min_size=1, max_size=5, alphabet="ab.\"'\\ -"), min_size=1, max_size=3))
def test_a_key_is_joined_and_split_again(parts: list[str]) -> None:
    assert split_key(join_key(tuple(parts))) == tuple(parts)


# --- one file: mistakes are named ------------------------------------------------------------------------------------


def mistake(text: str) -> ConfigValueError:
    with pytest.raises(ConfigValueError) as caught:
        campaign_file(text)
    return caught.value


def test_an_unknown_key_names_file_line_key_and_the_nearest_key() -> None:
    error = mistake(MINIMAL + "\n[prospecting]\n# what\nquerys = []\n")
    assert error.details["file"] == "c.toml"
    assert error.details["line"] == 6
    assert error.details["key"] == "prospecting.querys"
    assert "Did you mean prospecting.queries?" in str(error.hint)


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ("[campagn]\nx = 1\n", 1, "campagn", "not a known key"),
        (MINIMAL + "lease_seconds = 3\n", 3, "campaign.lease_seconds", "not a known key here"),
        (MINIMAL + '[fetch]\nrate = "fast"\n', 4, "fetch.rate", "expected a number, got a text"),
        (MINIMAL + "[fetch]\nrobots = 1\n", 4, "fetch.robots", "expected true or false, got a whole number"),
        (MINIMAL + '[prospecting]\nqueries = "a"\n', 4, "prospecting.queries", "expected a list ([…]), got a text"),
        (MINIMAL + "[prospecting]\nqueries = [\n 'a',\n 7,\n]\n", 6, "prospecting.queries[1]", "got a whole number"),
        (MINIMAL + "[[prospecting.locations]]\nname='x'\nlat=91\nlon=1\n", 5, "prospecting.locations[0].lat", "90"),
        (
            MINIMAL + "[queue]\nprovider = 'rabbit'\n",
            4,
            "queue.provider",
            "expected 'store', 'filesystem', 's3' or 'sqs'",
        ),
        (MINIMAL + "[workers.pi]\ngm-list = -1\n", 4, "workers.pi.gm-list", "greater than or equal to 0"),
        (MINIMAL + "[storage]\nurl = 'gopher://x'\n", 4, "storage.url", 'expected "local" or "s3://bucket/prefix"'),
        (MINIMAL + "[cluster]\nid = 'intake'\n", 3, "cluster", "may not be called intake"),
        ("[prospecting]\n", 1, "campaign", "is missing"),
        ("aws = 3\n" + MINIMAL, 1, "aws", "expected a table, got a whole number"),
        ("web = 3\n" + MINIMAL, 1, "web", "expected a table, got a whole number"),
        (MINIMAL + "[auth]\nprovider = 'token'\n", 4, "auth.provider", "expected 'link' or 'oidc'"),
        (MINIMAL + "[fetch]\nuser_agent = ''\n", 4, "fetch.user_agent", "one line of text"),
    ],
)
def test_a_value_that_does_not_fit_is_named(text: str, line: int, key: str, words: str) -> None:
    error = mistake(text)
    assert (error.details["line"], error.details["key"]) == (line, key)
    assert words in error.message


@pytest.mark.parametrize(
    ("text", "line", "key", "words", "hint"),
    [
        (
            MINIMAL + "[queue]\nprovider = 'kafka'\n",
            4,
            "queue.provider",
            "Kafka carries references between nodes ([documents] events), and no tasks",
            "Set queue.provider to one of: store, filesystem, s3, sqs.",
        ),
    ],
)
def test_what_does_not_work_yet_is_refused(text: str, line: int, key: str, words: str, hint: str) -> None:
    error = mistake(text)
    assert (error.details["line"], error.details["key"]) == (line, key)
    assert words in error.message
    assert hint in str(error.hint)


def test_a_list_saved_as_the_campaign_name_is_refused() -> None:
    assert "expected a text" in mistake('[campaign]\nname = ["a.com", "b.com"]\n').message


def test_a_misspelt_key_goes_before_the_key_that_is_missing_for_it() -> None:
    assert mistake('[campaign]\nnmae = "x"\n').details["key"] == "campaign.nmae"


def test_further_mistakes_are_counted() -> None:
    assert "(and 2 more)" in mistake(MINIMAL + "[fetch]\na=1\nb=2\nc=3\n").message


def test_no_setting_shows_a_person_a_regular_expression() -> None:
    for setting in settings():
        for bad in ("\x00", ["\x00"], {"\x00": {"\x00": 1}}):
            data: Any = bad
            for part in reversed(setting.path):
                data = {part: data}
            for problem in problems(data):
                assert "pattern" not in problem.reason, setting.name
                assert "\\x" not in problem.reason, setting.name


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"[campaign]\nname = \n", 2),
        (b"[campaign\n", 1),
        (b'[campaign]\nname = "x', 2),
        (b"a = 1\na = 2\n", 2),
        (b"[campaign]\n\nname = '\xff'\n", 3),
        (b"a = " + b"[" * 100_000, 1),
    ],
)
def test_broken_toml_names_file_and_line(content: bytes, line: int) -> None:
    with pytest.raises(ConfigSyntaxError) as caught:
        read_config(content, "c.toml", Scope.CAMPAIGN)
    assert (caught.value.details["file"], caught.value.details["line"]) == ("c.toml", line)


def test_a_file_copied_from_another_campaign_is_refused() -> None:
    with pytest.raises(ConfigValueError, match='is "plumbers", but this is the file of the campaign "roofers"'):
        campaign_file(MINIMAL, campaign="roofers")


@pytest.mark.parametrize("text", ['[campaign]\nname = "x"\n', "[prospecting]\nqueries = []\n"])
def test_the_user_file_cannot_set_an_ambient_campaign(text: str) -> None:
    with pytest.raises(ConfigValueError):
        user_config(text)


# --- templates -------------------------------------------------------------------------------------------------------


def uncommented(text: str) -> str:
    """Every setting of a template switched on."""
    return re.sub(r"(?m)^# (?=\[|\w+(?:-\w+)* = )", "", text)


def test_the_campaign_template_is_valid_and_says_what_was_asked() -> None:
    queries = ['a "quoted" one', "back\\slash", "ünïcode 🔧", "tab-free"]
    file = campaign_file(campaign_template("plumbers", queries, [TemplatePlace("São Paulo", -23.5, -46.6, 10.0)]))
    assert file.data["prospecting"]["queries"] == queries
    assert file.data["prospecting"]["locations"] == [
        {"name": "São Paulo", "lat": -23.5, "lon": -46.6, "radius_miles": 10.0}
    ]


def test_the_templates_show_every_setting() -> None:
    text = campaign_template("plumbers")
    shown = tomllib.loads(re.sub(r'(?m)^(locations_csv|area) = ".*"\n', "", uncommented(text)))
    assert not problems(shown)
    for setting in settings():
        if setting.path not in (("workers",), ("watch",), ("prospecting", "locations_csv"), ("prospecting", "area")):
            assert setting.path[-1] in shown[setting.path[0]], setting.name
    assert set(shown["watch"][0]) == set(WatchSection.model_fields)
    assert "locations_csv = " in text
    assert "area = " in text
    assert user_config(user_template()).data == {}
    user_config(uncommented(user_template()))


# --- layers ----------------------------------------------------------------------------------------------------------


def test_precedence_of_all_layers() -> None:
    """Every subset of the layers: the strongest that says something wins, and the origin says so."""
    user = user_config("[fetch]\nrate = 1.5\n")
    campaign = campaign_file(MINIMAL + "[fetch]\nrate = 2.5\n", name="store/c.toml")
    expected = {0: (1.0, "default"), 1: (1.5, "user.toml:2"), 2: (2.5, "store/c.toml:4"), 3: (3.5, "COCLI_FETCH_RATE")}
    for has_user, has_campaign, has_environment in itertools.product((False, True), repeat=3):
        environ = {"COCLI_FETCH_RATE": "3.5"} if has_environment else {}
        merged = resolve(environ, Flags(), user if has_user else None, campaign if has_campaign else None)
        strongest = 3 if has_environment else 2 if has_campaign else 1 if has_user else 0
        value = merged.values["fetch", "rate"]
        assert (value.value, str(value.origin)) == expected[strongest]


def test_the_store_is_chosen_in_order() -> None:
    environ = {"COCLI_DATA_HOME": "/data", "HOME": "/home/me"}
    user = user_config('[storage]\nurl = "s3://user"\nendpoint = "http://nas:8333"\n')
    campaign = campaign_file(MINIMAL + '[storage]\nurl = "s3://own/prefix"\nregion = "eu-west-1"\n')
    assert resolve(environ, Flags(), None, None).store.value == "/data"
    assert resolve(environ, Flags(), user, None).store.value == "s3://user?endpoint=http://nas:8333"
    both = resolve(environ, Flags(), user, campaign).store
    assert both.value == "s3://own/prefix?endpoint=http://nas:8333&region=eu-west-1"
    named = {**environ, "COCLI_STORE": "memory://"}
    assert resolve(named, Flags(), user, campaign).store.value == "memory://"
    flag = resolve(named, Flags(store="/flag"), user, campaign).store
    assert (flag.value, str(flag.origin), flag.origin.rank) == ("/flag", "--store", Rank.FLAG)


def test_workers_are_merged_machine_by_machine() -> None:
    user = user_config("[workers.pi1]\ngm-list = 1\n[workers.pi2]\ngm-list = 1\n")
    campaign = campaign_file(MINIMAL + "[workers.pi2]\ngm-list = 5\n")
    model = resolve({}, Flags(), user, campaign).model()
    assert model.workers == {"pi1": {"gm-list": 1}, "pi2": {"gm-list": 5}}
    model = resolve({"COCLI_WORKERS": "{pi3 = {enrichment = 2}}"}, Flags(), user, campaign).model()
    assert model.workers["pi3"] == {"enrichment": 2}


# One value per setting: as it is put into the environment.
EXAMPLES = {
    "campaign.name": "plumbers",
    "prospecting.queries": '["a", "b"]',
    "prospecting.locations": '[{name = "x", lat = 1.0, lon = 2.0}]',
    "prospecting.sources": '["openstreetmap"]',
    "exclude.domains": '["example.com"]',
    "exclude.names": '["Example"]',
    "exclude.place_ids": '["ChIJyUzh2kXqwoARUtNFG8VjnYQ"]',
    "storage.url": "s3://bucket",
    "queue.provider": "sqs",
    "cluster.hosts": '["pi1"]',
    "documents.catalog": "postgresql://cocli@db.example.com/cocli",
    "documents.prefix": "pages",
    "documents.max_message_bytes": "4096",
    "documents.max_connections": "128",
    "documents.max_connections_per_address": "128",
    "documents.max_waiting_events": "500",
    "fetch.robots": "false",
    "fetch.browser": "true",
    "fetch.mx": "true",
    "fetch.rate": "2.5",
    "fetch.per_address": "7",
    "fetch.address_rate": "2.5",
    "fetch.proxies": '["http://proxy:3128"]',
    "queue.paused": '["gm-list"]',
    "fetch.allow_networks": '["10.20.0.0/16"]',
    "watch": '[{name = "closed", kinds = ["closed"]}]',
    "refresh.every": "30d",
    "refresh.fetch": "never",
    "refresh.sources": '{google-maps = "14d"}',
    "refresh.stages": '{enrichment = "60d"}',
    "web.webhook_networks": '["10.20.0.0/16"]',
    "fetch.allow_ports": "[8081]",
    "fetch.timeout_seconds": "2.5",
    "fetch.max_page_bytes": "4096",
    "documents.events": "queue",
    "google_maps.url": "https://maps.example",
    "google_maps.pause_seconds": "2.5",
    "google_maps.tabs": "3",
    "google_maps.timeout_seconds": "2.5",
    "aws.account_id": "123456789012",
    "web.url": "https://dash.example",
    "web.allowed_hosts": '["dash.lan"]',
    "web.behind_proxy": "true",
    "web.session_hours": "2.5",
    "web.max_upload_bytes": "4096",
    "web.guard": "edge",
    "web.distribution": "E2EXAMPLE123",
    "documents.kafka_tls": "true",
    "documents.kafka_mechanism": "PLAIN",
    "auth.provider": "oidc",
    "auth.issuer": "https://id.example",
    "auth.scopes": '["openid"]',
    "auth.viewers": '["*"]',
    "auth.editors": '["ann@example.org"]',
    "auth.admins": '["root"]',
    "workers": "{pi1 = {gm-list = 1}}",
    **{
        f"retention.{kind}": "12mo"
        for kind in ("captures", "editions", "versions", "exports", "reports", "completed", "set_aside")
    },
    "retention.index_versions": "8w",
    "retention.bucket_versions": "90d",
    "retention.automatic": "true",
    "processing.recipients": '["our sales team"]',
}
NUMBERS = {
    *("prospecting.goal", "queue.lease_seconds", "queue.attempts", "fetch.concurrency"),
    *("google_maps.pages_per_day", "web.port", "refresh.budget", "refresh.closed_after"),
    *("documents.inline_limit", "documents.grpc_port", "documents.http_port", "documents.max_upload_bytes"),
    *("documents.account_requests_per_minute", "documents.account_bytes_per_minute", "documents.account_replays"),
    "documents.account_pace",
    "retention.keep_versions",
}
TOML_VALUES = {
    *(
        "fetch.robots",
        "fetch.browser",
        "fetch.mx",
        "fetch.rate",
        "fetch.per_address",
        "fetch.address_rate",
        "fetch.timeout_seconds",
        "fetch.max_page_bytes",
        "documents.max_message_bytes",
        "documents.max_connections",
        "documents.max_connections_per_address",
        "documents.max_waiting_events",
        "documents.kafka_tls",
    ),
    *("google_maps.pause_seconds", "google_maps.tabs", "google_maps.timeout_seconds"),
    *("web.behind_proxy", "web.session_hours", "web.max_upload_bytes", "retention.automatic"),
}


@pytest.mark.parametrize("setting", list(settings()), ids=lambda setting: setting.name)
def test_every_setting_has_a_variable_that_works(setting: Setting) -> None:
    text = "17" if setting.name in NUMBERS else EXAMPLES.get(setting.name, "Etc/UTC")
    is_toml = text[0] in "[{" or setting.name in NUMBERS | TOML_VALUES
    expected: Any = tomllib.loads(f"x = {text}")["x"] if is_toml else text
    found = resolve({setting.variable: text}, Flags(), None, None).values
    if setting.name == "workers":
        found, expected = {setting.path: found["workers", "pi1"]}, expected["pi1"]
    assert (found[setting.path].value, str(found[setting.path].origin)) == (expected, setting.variable)


def test_a_variable_that_does_not_fit_is_named() -> None:
    with pytest.raises(ConfigError, match=r"COCLI_FETCH_RATE: fetch\.rate: expected a number, got a text"):
        resolve({"COCLI_FETCH_RATE": "fast"}, Flags(), None, None)


def test_a_misspelt_variable_is_found() -> None:
    assert unknown_variables({"COCLI_FETHC_RATE": "1", "COCLI_STORE": "x"}) == [
        ("COCLI_FETHC_RATE", "COCLI_FETCH_RATE")
    ]


def test_variables_that_hold_secrets_are_known() -> None:
    named = ("KAFKA_PASSWORD", "KAFKA_PASSWORD_FILE", "MODULE_TOKEN", "MODULE_CA", "MCP_TOKEN")
    assert unknown_variables({f"COCLI_{name}": "x" for name in named}) == []


def test_places_follow_xdg() -> None:
    assert data_home({"HOME": "/h"}) == "/h/.local/share/cocli"
    assert data_home({"HOME": "/h", "XDG_DATA_HOME": "/x"}) == "/x/cocli"
    assert data_home({"HOME": "/h", "XDG_DATA_HOME": "relative"}) == "/h/.local/share/cocli"
    assert data_home({"HOME": "/h", "COCLI_DATA_HOME": "~/d"}) == "/h/d"
    assert user_file({"HOME": "/h"}) == "/h/.config/cocli/config.toml"
    assert user_file({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}) == "/x/cocli/config.toml"
    assert user_file({"HOME": "/h", "COCLI_CONFIG": "/c.toml"}) == "/c.toml"


def test_a_user_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert load_user_file({"COCLI_CONFIG": str(tmp_path / "none.toml")}) is None
    with pytest.raises(ConfigError, match="cannot be read"):
        load_user_file({"COCLI_CONFIG": str(tmp_path)})


def test_layers_that_contradict_each_other_are_named() -> None:
    campaign = campaign_file(MINIMAL + "[prospecting]\narea = 'a.kml'\n")
    with pytest.raises(ConfigError, match="do not fit together"):
        resolve({"COCLI_PROSPECTING_LOCATIONS_CSV": "x.csv"}, Flags(), None, campaign).model()


# --- secrets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "http://user:hunter2@proxy:3128",
        "http://hunter2@proxy",
        "s3://hunter2:hunter2@bucket/x",
        "https://x/?a=1&token=hunter2&b=2",
        "https://x/?X-Amz-Signature=hunter2",
        "http://u:p@hunter2@host/",
    ],
)
def test_credentials_in_addresses_are_masked(text: str) -> None:
    shown = mask(text)
    assert "hunter2" not in shown
    assert MASK in shown


@pytest.mark.parametrize("text", ["/srv/cocli", "s3://bucket/a@b?endpoint=http://nas:8333", "me@example.com"])
def test_what_is_no_secret_is_shown(text: str) -> None:
    assert mask(text) == text


# --- edits -----------------------------------------------------------------------------------------------------------

COMMENTED = """\
# mine
[campaign]   # who
name = "plumbers"  # the name

[prospecting]
queries = [
    "plumber",   # the obvious one
    # "roofer",
]

# how politely
[fetch]
rate = 1.0 # slow
"""


def edited(*changes: str, unset: tuple[str, ...] = ()) -> ConfigFile:
    all_changes = [*map(parse_change, changes), *map(parse_unset, unset)]
    return apply_changes(campaign_file(COMMENTED), all_changes, campaign="plumbers")


def test_adding_to_a_list_that_has_a_default_keeps_the_default() -> None:
    assert edited("prospecting.sources+=google-maps").data["prospecting"]["sources"] == ["overture", "google-maps"]


def test_an_edit_keeps_comments_and_order() -> None:
    result = edited("fetch.rate=2.5", "prospecting.queries+=emergency plumber")
    for comment in re.findall(r"#.*", COMMENTED):
        assert comment in result.text
    assert result.data["fetch"]["rate"] == 2.5
    assert result.data["prospecting"]["queries"] == ["plumber", "emergency plumber"]
    kept = [line for line in COMMENTED.splitlines() if "rate" not in line and '"plumber",' not in line]
    assert all(line in result.text for line in kept)


def test_edits_of_every_kind() -> None:
    result = edited(
        'workers."pi.local".gm-list=3',
        "exclude.domains+=example.com",
        "prospecting.locations+={name = 'x', lat = 1.0, lon = 2.0}",
        "prospecting.queries-=plumber",
        "documents.http_port=80",
        "campaign.company=123",
        "fetch.robots=false",
        unset=("fetch.rate",),
    )
    assert result.data["workers"] == {"pi.local": {"gm-list": 3}}
    assert result.data["exclude"]["domains"] == ["example.com"]
    assert result.data["prospecting"] == {"queries": [], "locations": [{"name": "x", "lat": 1.0, "lon": 2.0}]}
    assert result.data["campaign"]["company"] == "123"
    assert result.data["fetch"] == {"robots": False}


def test_places_written_as_tables_are_edited_as_tables() -> None:
    file = campaign_file(
        campaign_template("plumbers", [], [TemplatePlace("A", 1.0, 2.0, 3.0), TemplatePlace("B", 1.0, 2.0, 3.0)])
    )
    place = '{name = "C", lat = 3.0, lon = 4.0}'
    more = apply_changes(file, [parse_change(f"prospecting.locations+={place}")])
    assert [location["name"] for location in more.data["prospecting"]["locations"]] == ["A", "B", "C"]
    assert more.text.count("[[prospecting.locations]]") == 3
    assert "# Where: one of locations" in more.text
    gone = '{name = "A", lat = 1.0, lon = 2.0, radius_miles = 3.0}'
    less = apply_changes(more, [parse_change(f"prospecting.locations-={gone}")])
    assert [location["name"] for location in less.data["prospecting"]["locations"]] == ["B", "C"]
    none = apply_changes(less, [parse_unset("prospecting.locations")])
    assert "locations" not in none.data["prospecting"]


@pytest.mark.parametrize(
    "text",
    [
        'campaign = {name = "p"}\nfetch = {rate = 1.0}  # x\n',
        'campaign.name = "p"  # x\nfetch.rate = 1.0\n',
        '[campaign]\nname="p"\n[workers.a]\ngm-list=1\n[fetch]\nrate=1.0\n[workers.b]\ngm-list=2\n# x',
        '[campaign]\r\nname="p"\r\n[fetch]\r\nrate=1.0 # x\r\n',
        '[campaign]\nname="p"\n[prospecting]\nqueries=["a", # x\n "b"]\n',
        '[campaign]\nname="p" # x\n[[prospecting.locations]]\nname="x"\nlat=1.0\nlon=1.0',
        '[campaign] # x\nname="p"',
    ],
)
def test_every_way_of_writing_is_edited_or_left_alone(text: str) -> None:
    changes = ["fetch.rate=2.0", "workers.c.gm-list=5", "prospecting.queries+=z", "campaign.company=A"]
    changes.append("prospecting.locations+={name = 'n', lat = 1.0, lon = 2.0}")
    result = apply_changes(campaign_file(text), [parse_change(change) for change in changes])
    assert "# x" in result.text
    assert result.data["fetch"]["rate"] == 2.0
    assert result.data["prospecting"]["locations"][-1]["name"] == "n"


@pytest.mark.parametrize(
    "change",
    ["fetch.rat=1", "fetch.rate=fast", "fetch.rate=0", "prospecting.queries=x", "prospecting.locations+={name='x'}",
     "documents.http_port=99999", "fetch=1", "campaign.name=Not A Name", "campaign.timezone=Mars/Olympus",
     "campaign.timezone=America/Chicagoo", "fetch.proxies+=ftp://host:21", "fetch.proxies+=host:3128",
     "workers.pi.enrichment=1000000000", "prospecting.goal=0"],
)  # fmt: skip
def test_a_change_that_does_not_fit_is_refused(change: str) -> None:
    with pytest.raises(ConfigError):
        edited(change)


@pytest.mark.parametrize("change", ["fetch.rate", "=1", "a b c=1", "exclude.names-=x", "prospecting.queries+=plumber"])
def test_a_change_that_makes_no_sense_is_refused(change: str) -> None:
    with pytest.raises(UsageError):
        edited(change)


def test_a_required_value_cannot_be_unset() -> None:
    with pytest.raises(ConfigValueError, match="is missing"):
        edited(unset=("campaign.name",))


@given(st.text(max_size=20), st.sampled_from(["campaign.company", "prospecting.queries"]))
def test_any_text_that_is_set_comes_back_or_is_refused(value: str, key: str) -> None:
    operator = "+=" if key == "prospecting.queries" else "="
    try:
        result = edited(f"{key}{operator}{value}")
    except (ConfigError, UsageError):
        return
    section, name = key.split(".")
    found = result.data[section][name]
    assert (found[-1] if operator == "+=" else found) == value.strip()


def test_values_are_text_where_text_is_wanted() -> None:
    assert value_from_text(("campaign", "company"), "true", where="x") == "true"
    assert value_from_text(("fetch", "robots"), "true", where="x") is True
