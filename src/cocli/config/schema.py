"""Every setting: its name, its environment twin, its default, and what is said when a value does not fit."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from cocli.config.choices import choices, strangers
from cocli.config.lines import Path, join_key
from cocli.models.campaign import CampaignConfig

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

CAMPAIGN_VARIABLE = "CAMPAIGN_NAME"
STORE_VARIABLE = "COCLI_STORE"
BACKUP_VARIABLE = "COCLI_BACKUP"
_PREFIX = "COCLI_"


class Setting(NamedTuple):
    """One leaf of the schema. `workers` is one setting: its keys are the machines' names."""

    path: tuple[str, ...]
    field: FieldInfo

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        if self.path == ("campaign", "name"):
            return CAMPAIGN_VARIABLE
        return _PREFIX + "_".join(self.path).upper()

    @property
    def required(self) -> bool:
        return self.field.is_required()

    @property
    def default(self) -> object:
        return None if self.required else self.field.get_default(call_default_factory=True)


class SettingProblem(NamedTuple):
    """Something in a document that does not fit the schema."""

    path: Path
    reason: str
    hint: str | None = None
    missing: bool = False


def settings() -> Iterator[Setting]:
    """Every setting, in the order of the schema."""
    for section, field in CampaignConfig.model_fields.items():
        if model := section_model(section):
            for name, leaf in model.model_fields.items():
                yield Setting((section, name), leaf)
        else:
            yield Setting((section,), field)


def section_model(section: str) -> type[BaseModel] | None:
    """The model of a section; None for `workers`, whose keys are free."""
    annotation = CampaignConfig.model_fields[section].annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def problems(data: Mapping[str, Any]) -> list[SettingProblem]:
    """What is wrong with a document, in the schema's order."""
    refused = {path: problem for path, _ in _UNAVAILABLE_VALUES if (problem := _unavailable(path, data))}
    strange = {path: SettingProblem(path, reason) for path, reason in strangers(data)} | refused
    try:
        CampaignConfig.model_validate(data)
    except ValidationError as error:
        found = [_problem(detail, data) for detail in error.errors()]
        return [*(problem for problem in found if problem.path not in strange), *strange.values()]
    return list(strange.values())


def nearest(name: str, known: list[str]) -> str | None:
    """The known name that was probably meant."""
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(name: str, known: list[str], otherwise: str | None = None) -> str | None:
    """A hint that names what was probably meant; where nothing is near, the other hint."""
    meant = nearest(name, known)
    if meant is None:
        return otherwise
    return f"Did you mean: {meant}"


# --- what pydantic says → what a person reads ----------------------------------------------------------------------

_EXPECTED_TYPE = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": 'a text in quotes ("…")',
    "bool_type": "true or false",
    "tuple_type": "a list ([…])",
    "list_type": "a list ([…])",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}

_EXPECTED_SHAPE: dict[Path, str] = {
    ("campaign", "name"): "1 to 52 lower-case letters, digits and dashes, not starting or ending with a dash",
    ("campaign", "timezone"): "a time zone such as America/Chicago",
    ("fetch", "proxies"): "an address such as http://host:port",
    ("exclude", "domains"): "a domain such as example.com",
    ("exclude", "place_ids"): "a Google place id (ChIJ… or GhIJ…)",
    ("storage", "url"): '"local" or "s3://bucket/prefix" or a folder ("/srv/cocli", "~/cocli")',
    ("workers",): "the name of a queue such as gm-list",
    ("cluster", "id"): "a name without | and control characters",
    ("documents", "edition"): "a name without | and control characters",
    ("documents", "prefix"): "1 to 63 lower-case letters, digits, dots, dashes and underscores",
    ("aws", "account_id"): 'the 12 digits of an account, in quotes ("123456789012")',
}
_ONE_LINE = "one line of text, not blank"

_UNAVAILABLE_VALUES: dict[tuple[Path, object], str] = {
    (
        ("queue", "provider"),
        "kafka",
    ): "is refused: Kafka carries references between nodes ([documents] events), and no tasks",
}

_TOML_TYPES = {
    bool: "true/false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
}


def _problem(detail: ErrorDetails, data: Mapping[str, Any]) -> SettingProblem:
    path: Path = tuple(part for part in detail["loc"] if part != "[key]")
    kind = detail["type"]
    if unavailable := _unavailable(path, data):
        return unavailable
    if kind == "extra_forbidden":
        return _unknown(path)
    if kind == "missing":
        return SettingProblem(path, "is missing", missing=True)
    if kind in _EXPECTED_TYPE:
        got = _TOML_TYPES.get(type(_value_at(data, path)), "something else")
        return SettingProblem(path, f"expected {_EXPECTED_TYPE[kind]}, got {got}")
    if kind == "string_pattern_mismatch":
        return SettingProblem(path, f"expected {_expected_shape(path)}")
    if kind == "string_unicode":
        return SettingProblem(path, "the text contains a lone surrogate, which no UTF-8 file can hold")
    message = detail["msg"].removeprefix("Value error, ")
    if kind == "string_too_short":
        return SettingProblem(path, f"expected {_expected_shape(path)}")
    if kind in ("literal_error", "enum"):
        return SettingProblem(path, f"expected {message.removeprefix('Input should be ')}")
    return SettingProblem(path, message.replace("Input should be", "must be"))


def _unavailable(path: Path, data: Mapping[str, Any]) -> SettingProblem | None:
    """What is planned and does not work yet is refused in words of its own: it is no mistake in spelling."""
    value = _value_at(data, path)
    if isinstance(value, str) and (reason := _UNAVAILABLE_VALUES.get((path, value))):
        others = choices(tuple(map(str, path)))
        hint = f"Set {join_key(path)} to one of: {', '.join(others)}." if others else None
        return SettingProblem(path, reason, hint)
    return None


def _expected_shape(path: Path) -> str:
    return next((text for start, text in _EXPECTED_SHAPE.items() if path[: len(start)] == start), _ONE_LINE)


def _value_at(data: Any, path: Path) -> object:
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):  # the path may name a key that pydantic made up
            return None
    return data


def _unknown(path: Path) -> SettingProblem:
    name = str(path[-1])
    siblings = _siblings(path)
    if found := nearest(name, siblings):
        return SettingProblem(path, "is not a known key", f"Did you mean {join_key((*path[:-1], found))}?")
    elsewhere = [setting.name for setting in settings() if setting.path[-1] == name]
    if elsewhere:
        return SettingProblem(path, "is not a known key here", f"Did you mean {elsewhere[0]}?")
    return SettingProblem(path, "is not a known key", f"Known here: {', '.join(siblings)}.")


def _siblings(path: Path) -> list[str]:
    """The keys that are known beside this one."""
    model: Any = CampaignConfig
    for part in path[:-1]:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        inner = [
            item
            for item in getattr(annotation, "__args__", ())
            if isinstance(item, type) and issubclass(item, BaseModel)
        ]
        model = inner[0] if inner else annotation
    return list(model.model_fields)
