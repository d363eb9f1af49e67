"""The JSON schemas of the files, generated from their models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cocli.formats.json_records import SCHEMA_KEY
from cocli.models.web.cluster import WebMachines, WebQueues
from cocli.models.web.company import WebCompanies
from cocli.models.web.compare import WebCompare
from cocli.models.web.config import WebConfig
from cocli.models.web.coverage import WebCoverage
from cocli.models.web.dashboard import WebDashboard
from cocli.models.web.site import WebCampaigns, WebSite
from cocli.models.web.why import WebWhy

if TYPE_CHECKING:
    from cocli.models.record import Record

MODELS: dict[str, type[Record]] = {
    "site": WebSite,
    "campaigns": WebCampaigns,
    "dashboard": WebDashboard,
    "companies": WebCompanies,
    "why": WebWhy,
    "coverage": WebCoverage,
    "queues": WebQueues,
    "machines": WebMachines,
    "compare": WebCompare,
    "config": WebConfig,
}
"""Name of a schema below `data/schemas/` → the model of its file."""


def schema_document(model: type[Record]) -> dict[str, Any]:
    """Draft 2020-12, of what is written: no key is missing, and `schema` names the shape."""
    made = model.model_json_schema(mode="serialization")
    properties = {SCHEMA_KEY: {"const": model.schema_id}, **made.get("properties", {})}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": model.schema_id,
        **made,
        "properties": properties,
        "required": sorted({SCHEMA_KEY, *made.get("properties", {})}),
        "additionalProperties": False,
    }


def schema_bytes(name: str) -> bytes:
    return json.dumps(schema_document(MODELS[name]), sort_keys=True, separators=(",", ":")).encode() + b"\n"
