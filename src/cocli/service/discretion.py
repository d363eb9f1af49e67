"""Who asked to be left alone reaches no program by this service, unless its token says that it may see everything.

A document that names them is refused as a whole: what was captured is evidence, and half of it would be none. Rows that
name them are left out of lists, and in every other answer a mark stands where they stood. A token with the scope `raw`
gets all as it lies in the store. Nothing is looked at while the list is empty, and never where something is saved.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Value

from cocli.app.documents.tokens import TokenScope
from cocli.app.left_alone.captures import names_somebody
from cocli.app.left_alone.matcher import SubjectMatcher
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.documents.proto.generated.document_pb2 import Blob
from cocli.errors import Withheld
from cocli.service.documents import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from google.protobuf.message import Message

    from cocli.app.documents.tokens import TokenCaller
    from cocli.documents.document import Blob as StoredBlob
    from cocli.documents.document import Document
    from cocli.models.document import PipeDoc
    from cocli.pipeline.suppression.stored import LeftAlone

OWN_WORDS = frozenset(
    {"Save", "SaveDocuments", "Upload", "BeginUpload", "GetUpload", "CancelUpload", "GetUsage", "Download"}
)
"""Methods whose answer says nothing but what the caller has just said; `Download` refuses before it begins."""
_METHODS = pb.DESCRIPTOR.services_by_name["DocumentRepository"].methods_by_name
_QUIET_SECONDS = 10.0
"""So long a list that was empty is taken to be empty still."""
_LARGEST = 64 * 1024 * 1024
_SEEN_AND_HEARD = ("image/", "video/", "audio/")
_REMEMBERED = 10_000


class Discretion:
    """Safe to share between threads. All but `is_needed` may ask the store: call it in a thread."""

    def __init__(self, left_alone: LeftAlone | None) -> None:
        self._left_alone = left_alone
        self._quiet_until = 0.0
        self._digest = ""
        self._matcher: SubjectMatcher | None = None
        self._known: dict[str, bool] = {}

    def is_needed(self, caller: TokenCaller) -> bool:
        """Whether anything is to be looked at for this caller. Costs nothing: for an event loop."""
        if self._left_alone is None or caller.may(TokenScope.RAW):
            return False
        return time.monotonic() >= self._quiet_until

    def _somebody(self) -> SubjectMatcher | None:
        if self._left_alone is None:
            return None
        listed = self._left_alone.listed()
        if not listed:
            self._quiet_until = time.monotonic() + _QUIET_SECONDS
            return None
        if self._matcher is None or listed.digest != self._digest:
            self._matcher, self._digest, self._known = SubjectMatcher(listed), listed.digest, {}
        return self._matcher

    # --- documents

    def check_blob(self, caller: TokenCaller, document: Document, blob: StoredBlob, pieces: Iterable[bytes]) -> None:
        """Refuse a blob that names somebody, also where only a part of it is asked for."""
        matcher = self._somebody() if self.is_needed(caller) else None
        if matcher is None:
            return
        if matcher.strong.finds(f"{document.doc} {document.source.uri or ''} {document.source.filename or ''}"):
            raise _withheld()
        if blob.mime_type.startswith(_SEEN_AND_HEARD):
            return  # nothing in it is read as a text
        if blob.size > _LARGEST:
            raise _withheld()  # it is too large to be looked through
        known, found = self._known, self._known.get(blob.sha256)
        if found is None:
            found = names_somebody(blob.mime_type, b"".join(pieces), matcher)
            if len(known) >= _REMEMBERED:
                known.clear()
            known[blob.sha256] = found
        if found:
            raise _withheld()

    # --- rows and messages

    def shown(self, caller: TokenCaller) -> Callable[[PipeDoc], bool]:
        """Whether a row may be told of."""
        matcher = self._somebody() if self.is_needed(caller) else None
        if matcher is None:
            return lambda _: True
        return lambda row: not matcher.strong.finds(f"{row.doc} {row.source_uri or ''} {row.filename or ''}")

    def marked(self, caller: TokenCaller, message: Message) -> Message:
        """The message with a mark wherever a text of it names somebody."""
        matcher = self._somebody() if self.is_needed(caller) else None
        if matcher is not None:
            _mark(message, matcher.full.text)
        return message

    async def answer(self, method: str, caller: TokenCaller, data: bytes) -> bytes:
        """What a method of the gRPC service answers, as it may be told; for an event loop."""
        if method in OWN_WORDS or not self.is_needed(caller):
            return data

        def work() -> bytes:
            matcher = self._somebody()
            if matcher is None:
                return data
            message: Message = GetMessageClass(_METHODS[method].output_type)()
            message.ParseFromString(data)
            if isinstance(message, pb.GetDocumentsResponse):
                _withhold_some(message, matcher)
            elif not isinstance(message, pb.GetResponse):
                _mark(message, matcher.full.text)
            elif _names(message, matcher):
                raise _withheld()
            return message.SerializeToString()

        return await asyncio.to_thread(work)


def _withheld() -> Withheld:
    return Withheld(scope=TokenScope.RAW.value)


def _withhold_some(message: pb.GetDocumentsResponse, matcher: SubjectMatcher) -> None:
    for result in message.results:
        if result.HasField("found") and _names(result.found, matcher):
            result.error.CopyFrom(messages.item_error(_withheld()))


def _names(message: Any, matcher: SubjectMatcher) -> bool:
    """Whether anything in a message names somebody: texts, names within them, and what blobs hold."""
    if isinstance(message, Blob):
        told = f"{message.name} {message.filename}"
        return matcher.strong.finds(told) or names_somebody(message.mime_type, message.data, matcher)
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_STRING:
            texts = value if field.is_repeated else (value,)
            if any(map(matcher.strong.finds, texts)):
                return True
        elif field.type == FieldDescriptor.TYPE_MESSAGE and any(_names(part, matcher) for part in _parts(field, value)):
            return True
    return False


def _parts(field: Any, value: Any) -> list[Any]:
    """The messages of a field; of a map with texts, the texts as one."""
    if not field.message_type.GetOptions().map_entry:
        return list(value) if field.is_repeated else [value]
    if field.message_type.fields_by_name["value"].type == FieldDescriptor.TYPE_MESSAGE:
        return [*value.values(), *(Value(string_value=name) for name in value)]
    return [Value(string_value=f"{name} {text}") for name, text in value.items()]


def _mark(message: Any, text: Callable[[str], str]) -> None:
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_STRING:
            marked = [text(item) for item in value] if field.is_repeated else text(value)
            if field.is_repeated:
                value[:] = marked
            else:
                setattr(message, field.name, marked)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            _mark_within(field, value, text)


def _mark_within(field: Any, value: Any, text: Callable[[str], str]) -> None:
    if field.message_type.GetOptions().map_entry:
        kind = field.message_type.fields_by_name["value"].type
        for name in list(value):
            if kind == FieldDescriptor.TYPE_MESSAGE:
                _mark(value[name], text)
            elif kind == FieldDescriptor.TYPE_STRING:
                value[name] = text(value[name])
    else:
        for item in value if field.is_repeated else (value,):
            _mark(item, text)
