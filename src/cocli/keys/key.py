"""What all kinds of key share. The kinds themselves are `paths`.

    class TaskKey(Key):
        TEMPLATE: ClassVar[str] = "campaigns/{campaign}/queues/{queue}/pending/{shard}/{task_id}/task.json"

`paths.parse` knows every kind that is defined.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, FrozenInstanceError
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self, dataclass_transform

from cocli.errors import IdentityError, InvalidKey
from cocli.keys.codecs import TEXT
from cocli.keys.parts import MAX_KEY_BYTES

if TYPE_CHECKING:
    from cocli.keys.codecs import Codec


class _Shape:
    """The pattern of a kind of key, compiled when a key is first held against it: most commands need few of them."""

    def __get__(self, _key: object, kind: type[Key]) -> re.Pattern[str]:
        pieces = re.split(r"\{(\w+)\}", kind.TEMPLATE)
        pieces[::2] = [re.escape(text) for text in pieces[::2]]
        pieces[1::2] = [f"(?P<{name}>{kind.CODECS.get(name, TEXT).pattern})" for name in pieces[1::2]]
        pattern = re.compile("".join(pieces) + r"\Z")
        type.__setattr__(kind, "_pattern", pattern)
        return pattern


KINDS: list[type[Key]] = []
"""Every kind of key, in the order in which `parse` tries them."""


@dataclass_transform(frozen_default=True)
class Key:
    """A place in the namespace: fields, the template of its key, and how each field is written in it.

    A kind behaves like a frozen dataclass, but is not made by `dataclass`: thirty such decorations take as long as most
    commands take to start. What a kind needs is written once, here.
    """

    TEMPLATE: ClassVar[str] = ""
    CODECS: ClassVar[dict[str, Codec]] = {}
    """Fields that are not plain text."""
    IMMUTABLE: ClassVar[bool] = False
    """Written once, never changed: it can be cached for ever, and two copies never differ."""
    _codecs: ClassVar[dict[str, Codec]]
    _fields: ClassVar[dict[str, object]]
    """Every field, with its default."""
    _pattern: ClassVar[_Shape] = _Shape()

    def __init_subclass__(cls) -> None:
        cls._codecs = {name: cls.CODECS.get(name, TEXT) for name in re.findall(r"\{(\w+)\}", cls.TEMPLATE)}
        cls._fields = {name: vars(cls).get(name, MISSING) for name in cls.__annotations__ if name.islower()}
        if cls.TEMPLATE:
            KINDS.append(cls)

    def __init__(self, *values: Any, **named: Any) -> None:
        if named or len(values) != len(self._fields):
            values = self._completed(values, named)
        vars(self).update(zip(self._fields, values, strict=True))
        self.__post_init__()

    @classmethod
    def _completed(cls, values: tuple[object, ...], named: dict[str, object]) -> tuple[object, ...]:
        state = {**cls._fields, **dict(zip(cls._fields, values, strict=False)), **named}
        if len(values) + len(named) > len(cls._fields) or len(state) != len(cls._fields) or MISSING in state.values():
            raise TypeError(f"{cls.__name__} has the fields {', '.join(cls._fields)}")
        return tuple(state.values())

    def __post_init__(self) -> None:
        """For kinds of which a field follows from the others."""

    def __setattr__(self, name: str, _value: object) -> Never:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __str__(self) -> str:
        texts = {name: codec.encode(getattr(self, name)) for name, codec in self._codecs.items()}
        key = self.TEMPLATE.format_map(texts)
        if len(key) > MAX_KEY_BYTES:
            longest = max(texts.values(), key=len)
            reason = f"makes the key longer than {MAX_KEY_BYTES} bytes"
            raise InvalidKey(key=f"{key[:80]}…", part=f"{longest[:40]}…", reason=reason)
        return key

    @classmethod
    def fits(cls, key: str) -> bool:
        """Whether a key has this kind's outer shape; `parse` may still refuse it."""
        return cls._pattern.match(key) is not None

    @classmethod
    def parse(cls, key: str) -> Self:
        match = cls._pattern.match(key)
        if not match:
            raise InvalidKey(key=key[:200], part=key[:200], reason=f"is not of the form {cls.TEMPLATE}")
        try:
            parsed = cls(**{name: codec.decode(match[name]) for name, codec in cls._codecs.items()})
        except IdentityError as error:
            raise InvalidKey(key=key, part=str(error.details.get("text")), reason=error.message) from error
        if (expected := str(parsed)) != key:
            part = next(
                (mine for mine, other in zip(key.split("/"), expected.split("/"), strict=False) if mine != other),
                key,
            )
            raise InvalidKey(key=key, part=part, reason=f"does not follow from the rest: expected {expected}")
        return parsed
