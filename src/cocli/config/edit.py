"""Changes to a configuration file that keep its comments and its order."""

from __future__ import annotations

import copy
import re
import tomllib
from dataclasses import dataclass
from enum import Enum
from typing import Any

from cocli.config.file import ConfigFile, read_config
from cocli.config.lines import join_key, split_key
from cocli.config.rewriting import changed_value, with_new_element, with_new_value, without_value
from cocli.config.schema import settings
from cocli.config.values import value_from_text
from cocli.errors import ConfigError, UsageError

_CHANGE = re.compile(r"(?P<key>(?:\"[^\"]*\"|'[^']*'|[^=\"'])+?)\s*(?P<operator>\+=|-=|=)(?P<value>.*)", re.DOTALL)


class Operator(Enum):
    SET = "="
    APPEND = "+="
    REMOVE = "-="
    UNSET = "unset"


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One thing to change: set a value, add to a list, take from a list, or go back to the default."""

    path: tuple[str, ...]
    operator: Operator
    value: Any = None

    def __str__(self) -> str:
        return join_key(self.path)


def parse_change(text: str) -> ConfigChange:
    """`fetch.rate=2`, `prospecting.queries+=plumber`, `exclude.domains-=example.com`."""
    match = _CHANGE.fullmatch(text)
    if not match:
        raise UsageError(reason=f'"{text}" is not a change', hint="Write KEY=VALUE, KEY+=VALUE or KEY-=VALUE.")
    path = _key(match["key"])
    operator = Operator(match["operator"])
    element = operator is not Operator.SET
    return ConfigChange(path, operator, value_from_text(path, match["value"].strip(), where="--set", element=element))


def parse_setting(key: str, text: str) -> ConfigChange:
    """A key and its value, given as two words."""
    path = _key(key)
    return ConfigChange(path, Operator.SET, value_from_text(path, text, where=key))


def parse_unset(key: str) -> ConfigChange:
    return ConfigChange(_key(key), Operator.UNSET)


def apply_changes(file: ConfigFile, changes: list[ConfigChange], *, campaign: str | None = None) -> ConfigFile:
    """The file with the changes made and checked. The given file stays as it is."""
    text, expected = file.text, copy.deepcopy(file.data)
    for change in changes:
        _apply(expected, change, commented=False)
        edited = _rewritten(text, change, expected)
        if edited is None:
            raise ConfigError(
                reason=f"{file.name}: {change} cannot be changed without rewriting the file",
                hint="Change it in an editor: cocli campaign edit",
            )
        text = edited
    return read_config(text.encode("utf-8"), file.name, file.scope, campaign=campaign)


def _rewritten(text: str, change: ConfigChange, expected: dict[str, Any]) -> str | None:
    """The text with one change made; None unless it then says exactly what is expected, and nothing else."""
    from tomlkit.exceptions import TOMLKitError  # only edits need it

    for way in (_in_its_place, _by_the_library):
        try:
            edited = way(text, change)
            if tomllib.loads(edited) == expected:
                return edited
        except (TOMLKitError, ValueError, TypeError, LookupError, AttributeError):
            continue  # it met a way of writing that it cannot change
    return None  # the file is left to its owner


def _in_its_place(text: str, change: ConfigChange) -> str:
    """The line of the setting is changed, added or removed; the other lines stay as they are."""
    if change.operator is Operator.UNSET:
        edited = without_value(text, change.path)
    elif change.operator is Operator.SET:
        edited = changed_value(text, change.path, lambda table, name: _set(table, name, change.value))
        edited = with_new_value(text, change.path, change.value) if edited is None else edited
    elif change.operator is Operator.APPEND:
        edited = _with_element(text, change)
    else:
        edited = changed_value(text, change.path, lambda table, name: table[name].remove(change.value))
    if edited is None:
        raise LookupError(str(change))
    return edited


def _with_element(text: str, change: ConfigChange) -> str:
    def append(table: Any, name: str) -> None:
        table[name].append(_new_item(change.value, table[name], commented=True))

    edited = changed_value(text, change.path, append)
    if edited is None and isinstance(change.value, dict):
        edited = with_new_element(text, change.path, change.value)
    if edited is not None:
        return edited
    return with_new_value(text, change.path, [*_default_list(change.path), change.value])


def _set(table: Any, name: str, value: Any) -> None:
    table[name] = value


def _by_the_library(text: str, change: ConfigChange) -> str:
    import tomlkit

    document = tomlkit.parse(text.removesuffix("\n") + "\n")
    _apply(document, change, commented=True)
    return tomlkit.dumps(document)


def _key(dotted: str) -> tuple[str, ...]:
    try:
        return split_key(dotted)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(reason=f'"{dotted}" is not the name of a setting') from error


def _apply(document: Any, change: ConfigChange, *, commented: bool) -> None:
    """Make one change, in a tomlkit document or in the plain data that the document must then equal."""
    *tables, name = change.path
    table = document
    for part in tables:
        if part not in table:
            if change.operator in (Operator.UNSET, Operator.REMOVE):
                raise UsageError(reason=f"{change} is not set")
            table[part] = _new_table(commented)
        table = table[part]
    if change.operator is Operator.SET:
        table[name] = change.value
    elif change.operator is Operator.APPEND:
        if name not in table:
            table[name] = _default_list(change.path)
        if change.value in table[name]:
            raise UsageError(reason=f"{change} has {change.value!r} already")
        table[name].append(_new_item(change.value, table[name], commented))
    else:
        _take_away(table, name, change)


def _default_list(path: tuple[str, ...]) -> list[Any]:
    """What a list that is not in the file holds all the same: adding to it must not take that away."""
    default = next((setting.default for setting in settings() if setting.path == path), None)
    return list(default) if isinstance(default, tuple) else []


def _take_away(table: Any, name: str, change: ConfigChange) -> None:
    if name not in table:
        raise UsageError(reason=f"{change} is not set")
    if change.operator is Operator.UNSET:
        del table[name]
        return
    if change.value not in table[name]:
        raise UsageError(reason=f"{change} does not have {change.value!r}")
    table[name].remove(change.value)


def _new_table(commented: bool) -> Any:
    if not commented:
        return {}
    import tomlkit

    return tomlkit.table()


def _new_item(value: Any, beside: Any, commented: bool) -> Any:
    """An element for a list, written as its neighbours are: `[[tables]]`, or inline."""
    if not (commented and isinstance(value, dict)):
        return value
    import tomlkit
    from tomlkit.items import AoT

    item = tomlkit.table() if isinstance(beside, AoT) else tomlkit.inline_table()
    item.update(value)
    if isinstance(beside, AoT):
        item.add(tomlkit.nl())
    return item
