"""A comparison of two clusters as a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.documents.jobs import compare
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.documents.documents import Documents
    from cocli.documents.replay.compare import FieldSummary

_MAX_EXAMPLES = 100


def compare_message(documents: Documents, request: pb.CompareRequest) -> pb.CompareResponse:
    if request.examples > _MAX_EXAMPLES:
        raise UsageError(reason=f"there are up to {_MAX_EXAMPLES} examples per field, not {request.examples}")
    found = compare(
        documents,
        request.left_cluster,
        request.right_cluster,
        datasource=request.datasource or None,
        doc=request.doc_id or None,
        examples=request.examples,
    )
    return pb.CompareResponse(
        documents=found.documents,
        identical=found.identical,
        only_left=found.only_left,
        only_right=found.only_right,
        fields=map(_field, found.sorted_fields()),
    )


def _field(summary: FieldSummary) -> pb.FieldComparison:
    node, _, path = summary.path.removeprefix("/").partition("/")
    return pb.FieldComparison(
        node=node.replace("~1", "/").replace("~0", "~"),
        path=f"/{path}",
        same=summary.same,
        changed=summary.changed,
        gained=summary.gained,
        lost=summary.lost,
        examples=[
            pb.FieldExample(doc_id=example.doc, left=example.left or "", right=example.right or "")
            for example in summary.examples
        ],
    )
