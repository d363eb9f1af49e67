"""Errors in the form that other languages expect of gRPC: `google.rpc.Status` with its details.

The messages are defined here in a pool of their own, field by field as the public definitions have them: only the
bytes matter, and a process that has the public package as well does not meet two definitions of one name.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, duration_pb2, message_factory

from cocli.errors import DataError, DocumentInvalid, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from google.protobuf.message import Message

    from cocli.errors import CocliError

DETAILS_HEADER = "grpc-status-details-bin"
_DOMAIN = "documents.cocli"
_TYPES = "type.googleapis.com/"
_Field = descriptor_pb2.FieldDescriptorProto
_RETRY_SECONDS = 1


def status_details(error: CocliError, envelope: Mapping[str, Any], number: int) -> bytes:
    """What is told of an error, as the value of `DETAILS_HEADER`. `number` is the status of gRPC."""
    details = envelope["details"]
    found = [
        _packed(
            "ErrorInfo",
            reason=str(envelope["code"]).upper(),
            domain=_DOMAIN,
            metadata={name: str(value) for name, value in details.items()},
        )
    ]
    if envelope["retryable"]:
        wait = details.get("wait", _RETRY_SECONDS)
        found.append(_packed("RetryInfo", retry_delay=timedelta(seconds=int(wait))))
    if isinstance(error, UsageError | DataError | DocumentInvalid):
        violation = _kinds()["BadRequest.FieldViolation"](field=_field(details), description=envelope["message"])
        found.append(_packed("BadRequest", field_violations=[violation]))
    status = _kinds()["Status"](code=number, message=str(envelope["message"]), details=found)
    return bytes(status.SerializeToString())


def read_details(data: bytes) -> dict[str, Message]:
    """The details of a status by their names: for those who check what was sent."""
    status: Any = _kinds()["Status"].FromString(data)
    found: dict[str, Message] = {}
    for packed in status.details:
        name = packed.type_url.rpartition(".")[2]
        found[name] = _kinds()[name].FromString(packed.value)
    return found


def _field(details: Mapping[str, Any]) -> str:
    """Which part of the request it was, where the error says so."""
    kind = details.get("kind") or details.get("field") or ""
    return str(kind).replace(" ", "_")


def _packed(name: str, **fields: Any) -> dict[str, object]:
    message = _kinds()[name](**fields)
    return {"type_url": f"{_TYPES}google.rpc.{name}", "value": message.SerializeToString()}


@cache
def _kinds() -> dict[str, Any]:
    pool = descriptor_pool.DescriptorPool()
    for module in (any_pb2, duration_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    file = descriptor_pb2.FileDescriptorProto(
        name="google/rpc/details.proto",
        package="google.rpc",
        syntax="proto3",
        dependency=["google/protobuf/any.proto", "google/protobuf/duration.proto"],
    )
    many, text = _Field.LABEL_REPEATED, _Field.TYPE_STRING
    _message(file, "Status", [("code", 1, _Field.TYPE_INT32), ("message", 2, text)])
    _add(file.message_type[0], "details", 3, ".google.protobuf.Any", label=many)
    info = _message(file, "ErrorInfo", [("reason", 1, text), ("domain", 2, text)])
    entry = info.nested_type.add(name="MetadataEntry")
    entry.options.map_entry = True
    _fields(entry, [("key", 1, text), ("value", 2, text)])
    _add(info, "metadata", 3, ".google.rpc.ErrorInfo.MetadataEntry", label=many)
    retry = _message(file, "RetryInfo", [])
    _add(retry, "retry_delay", 1, ".google.protobuf.Duration")
    bad = _message(file, "BadRequest", [])
    _fields(bad.nested_type.add(name="FieldViolation"), [("field", 1, text), ("description", 2, text)])
    _add(bad, "field_violations", 1, ".google.rpc.BadRequest.FieldViolation", label=many)
    pool.AddSerializedFile(file.SerializeToString())
    names = ("Status", "ErrorInfo", "RetryInfo", "BadRequest", "BadRequest.FieldViolation")
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"google.rpc.{name}")) for name in names}


def _message(
    file: descriptor_pb2.FileDescriptorProto, name: str, fields: Sequence[tuple[str, int, _Field.Type.ValueType]]
) -> descriptor_pb2.DescriptorProto:
    message = file.message_type.add(name=name)
    _fields(message, fields)
    return message


def _fields(message: descriptor_pb2.DescriptorProto, fields: Sequence[tuple[str, int, _Field.Type.ValueType]]) -> None:
    for name, number, kind in fields:
        message.field.add(name=name, number=number, type=kind, label=_Field.LABEL_OPTIONAL)


def _add(
    message: descriptor_pb2.DescriptorProto,
    name: str,
    number: int,
    kind: str,
    *,
    label: _Field.Label.ValueType = _Field.LABEL_OPTIONAL,
) -> None:
    message.field.add(name=name, number=number, type=_Field.TYPE_MESSAGE, type_name=kind, label=label)
