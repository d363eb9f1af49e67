"""Nonsense gets a status: never a stack trace, a hang or a service that is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.documents.proto.generated import repository_pb2
from cocli.service.documents.grpc import ERROR_HEADER, SERVICE

METHODS = list(repository_pb2.DESCRIPTOR.services_by_name["DocumentRepository"].methods)
FUZZED = settings(
    max_examples=effort(20),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
EXPECTED = {"INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED", "DATA_LOSS"}

ENDLESS = {"Watch"}
"""Streams that the caller ends."""
ODD_TEXTS = st.one_of(
    st.sampled_from(
        ["", " ", "a|b", "..", "../x", "a" * 300, "a" * 3000, "☕", "\x00", "intake", "main", "%2e", "{", "[]"]
    ),
    st.text(max_size=30),
    st.just("0" * 64),
)
_STRATEGIES: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.TYPE_STRING: ODD_TEXTS,
    FieldDescriptor.TYPE_BYTES: st.binary(max_size=100),
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_DOUBLE: st.floats(),
    FieldDescriptor.TYPE_UINT32: st.one_of(st.integers(0, 1000), st.integers(0, 2**32 - 1)),
    FieldDescriptor.TYPE_UINT64: st.one_of(st.integers(0, 1000), st.integers(0, 2**64 - 1)),
    FieldDescriptor.TYPE_INT32: st.one_of(st.integers(-10, 10**9), st.integers(-(2**31), 2**31 - 1)),
    FieldDescriptor.TYPE_INT64: st.one_of(st.integers(-10, 10**10), st.integers(-(2**63), 2**63 - 1)),
    FieldDescriptor.TYPE_ENUM: st.integers(0, 9),
}


def messages(descriptor: Descriptor) -> st.SearchStrategy[Message]:
    return st.builds(lambda values: _filled(descriptor, values), _fields(descriptor))


def _fields(descriptor: Descriptor) -> st.SearchStrategy[dict[str, Any]]:
    chosen: dict[str, st.SearchStrategy[Any]] = {}
    for field in descriptor.fields:
        if field.message_type is not None:
            one = st.deferred(lambda inner=field.message_type: messages(inner))  # type: ignore[misc]
        else:
            one = _STRATEGIES[field.type]
        chosen[field.name] = st.lists(one, max_size=3) if field.is_repeated else one
    return st.fixed_dictionaries({}, optional=chosen)


def _filled(descriptor: Descriptor, values: dict[str, Any]) -> Message:
    message = GetMessageClass(descriptor)()
    for name, value in values.items():
        if isinstance(value, list):
            getattr(message, name).extend(value)
        elif isinstance(value, Message):
            getattr(message, name).CopyFrom(value)
        else:
            setattr(message, name, value)
    return message


@pytest.fixture(scope="module")
def call(service: Any) -> Iterator[Any]:
    token = service.token("fuzz")
    with grpc.insecure_channel(service.grpc) as channel:

        def ask(method: str, data: bytes, streaming: bool) -> str:
            """The status of one call; whatever is told of a failure has the agreed form."""
            kind = channel.unary_stream if streaming else channel.unary_unary
            try:
                answer: Any = kind(f"/{SERVICE}/{method}", None, None)(
                    data, metadata=(("authorization", f"Bearer {token}"),), timeout=20
                )
                if method in ENDLESS:
                    next(answer)
                    answer.cancel()
                elif streaming:
                    list(answer)
            except grpc.RpcError as error:
                failed: Any = error
            else:
                return "OK"
            envelope = json.loads(dict(failed.trailing_metadata())[ERROR_HEADER])
            assert set(envelope) == {"code", "message", "hint", "retryable", "details"}
            assert "Traceback" not in str(failed.details())
            return str(failed.code().name)

        yield ask
    assert service.process.poll() is None
    assert "Traceback" not in (service.home / "log").read_text()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_random_bytes_get_a_status(method: Any, call: Any) -> None:
    @FUZZED
    @given(st.binary(max_size=200))
    def ask(data: bytes) -> None:
        assert call(method.name, data, method.server_streaming) in EXPECTED | {"OK"}

    ask()
    assert call(method.name, b"\xff" * 10, method.server_streaming) == "INVALID_ARGUMENT"


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_random_fields_get_a_status(method: Any, call: Any) -> None:
    @FUZZED
    @given(messages(method.input_type))
    def ask(message: Message) -> None:
        assert call(method.name, message.SerializeToString(), method.server_streaming) in EXPECTED | {"OK"}

    ask()


def documents_of_someone() -> st.SearchStrategy[Message]:
    """Documents that are nearly right: so that more than their identity is looked at."""
    descriptor = repository_pb2.SaveRequest.DESCRIPTOR

    def nearly(message: Any, place: tuple[str, str]) -> Message:
        message.document.doc_id = "a document"
        message.document.ownership.account_id = ""
        message.document.ownership.connector_id = "c"
        message.document.ownership.datasource_id = "d"
        message.document.state.address, message.document.state.cluster = place
        return message  # type: ignore[no-any-return]

    return st.builds(nearly, messages(descriptor), st.sampled_from([("d", ""), ("node", "main")]))


@settings(FUZZED, max_examples=effort(60))
@given(documents_of_someone())
def test_documents_that_are_nearly_right(call: Any, message: Message) -> None:
    assert call("Save", message.SerializeToString(), False) in EXPECTED | {"OK"}


@pytest.mark.parametrize(
    "json_text", ["[" * 100_000, "{" * 5000, '"x"', "NaN", '{"a": NaN}', '{"a": "\\ud800"}', "1" * 9999]
)
def test_data_that_is_no_object(call: Any, json_text: str) -> None:
    message = repository_pb2.SaveRequest()
    message.document.doc_id = "data"
    message.document.ownership.connector_id = "c"
    message.document.ownership.datasource_id = message.document.state.address = "d"
    message.document.data.add(node="n", json=json_text)
    assert call("Save", message.SerializeToString(), False) == "INVALID_ARGUMENT"


def test_what_was_saved_by_all_this_is_whole(service: Any, call: Any) -> None:
    import subprocess
    import sys

    report = subprocess.run(
        [sys.executable, "-m", "cocli", "documents", "fsck", "--all", "--deep", "--json"],
        env={"HOME": str(service.home), "COCLI_DATA_HOME": str(service.home / "data")},
        capture_output=True,
        text=True,
    )
    assert report.returncode == 0, report.stdout + report.stderr
    assert json.loads(report.stdout)["findings"] == []
