"""What a store can do for browsers beside holding objects: say what an object is, and give links to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from cocli.store.base import Store


@runtime_checkable
class WebStore(Protocol):
    """A store that answers browsers by itself."""

    def put_typed(self, key: str, data: bytes, content_type: str, headers: Mapping[str, str] | None = None) -> str:
        """Write an object that a browser shows as what it is, and asks for again each time unless `headers`
        (`Cache-Control`, `Content-Disposition`) say otherwise. Returns its etag."""
        ...

    def signed_link(self, key: str, valid: timedelta) -> str:
        """A link with which anybody can read the object for some time. It is a secret."""
        ...

    def public_link(self, key: str) -> str:
        """The link to the object, for those who may read it."""
        ...

    def public_status(self, key: str) -> int:
        """What somebody without credentials is answered: 200 where everybody may read the object; 0 for no answer."""
        ...


def web_store(store: Store) -> WebStore | None:
    """The store itself, or the one inside it, if browsers can ask it."""
    found: object = store
    while found is not None:
        if isinstance(found, WebStore):
            return found
        found = getattr(found, "inner", None)
    return None
