"""Messages of the gRPC service as JSON, and what that JSON looks like: HTTP tells the same in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor

from cocli.models.record import render_utc

if TYPE_CHECKING:
    from google.protobuf.message import Message

_TIMESTAMP = "google.protobuf.Timestamp"
_INTEGERS = {
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_INT64,
}


def as_json(message: Message) -> dict[str, Any]:
    """Every field under its own name; numbers are numbers, times are texts, and what is not set is null."""
    return {field.name: _value(message, field) for field in message.DESCRIPTOR.fields}


def _value(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [_single(item, field) for item in value]
    if field.type == FieldDescriptor.TYPE_MESSAGE and not message.HasField(field.name):
        return None
    return _single(value, field)


def _single(value: Any, field: Any) -> Any:
    if field.type == FieldDescriptor.TYPE_ENUM:
        return field.enum_type.values_by_number[value].name
    if field.type != FieldDescriptor.TYPE_MESSAGE:
        return value
    if field.message_type.full_name == _TIMESTAMP:
        from datetime import UTC

        return render_utc(value.ToDatetime(UTC))
    return as_json(value)


def schema_of(descriptor: Any, schemas: dict[str, Any]) -> dict[str, str]:
    """A reference to the schema of a message; it and those that it contains are added to `schemas`."""
    name = descriptor.name
    if name not in schemas:
        schemas[name] = {}  # it may contain itself
        properties = {field.name: _field_schema(field, schemas) for field in descriptor.fields}
        schemas[name] = {"type": "object", "required": list(properties), "properties": properties}
    return {"$ref": f"#/components/schemas/{name}"}


def _field_schema(field: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    single = _single_schema(field, schemas)
    if field.is_repeated:
        return {"type": "array", "items": single}
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return {"anyOf": [single, {"type": "null"}]}
    return single


def _single_schema(field: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        if field.message_type.full_name == _TIMESTAMP:
            return {"type": "string", "format": "date-time"}
        return schema_of(field.message_type, schemas)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return {"type": "string", "enum": [value.name for value in field.enum_type.values]}
    if field.type in _INTEGERS:
        return {"type": "integer"}
    if field.type == FieldDescriptor.TYPE_BOOL:
        return {"type": "boolean"}
    if field.type == FieldDescriptor.TYPE_DOUBLE:
        return {"type": "number"}
    return {"type": "string"}
