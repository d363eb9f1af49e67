"""What the process beside the service does: replays, comparisons, long pages, documents that are released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.documents.jobs import ReplayOptions, forecast, job_of, plan, run
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.service.documents.comparison import compare_message
from cocli.service.documents.grpc_methods import documents_page
from cocli.service.documents.quarantine import release_message

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from cocli.app.documents.documents import Documents
    from cocli.documents.catalog.job_rows import Job


def _forecast(documents: Documents, stop: threading.Event, options: ReplayOptions) -> tuple[int, int]:  # noqa: ARG001
    found = forecast(documents, options)
    return found.documents, found.skipped


def _plan(documents: Documents, stop: threading.Event, options: ReplayOptions) -> Job:  # noqa: ARG001
    return plan(documents, options)


def _run(documents: Documents, stop: threading.Event, job: str, graph: str | None) -> Job:
    found = job_of(documents, job)
    return run(documents, job, ReplayOptions(graph=graph, edition=found.cluster), stop=stop)


def _compare(documents: Documents, stop: threading.Event, request: bytes) -> bytes:  # noqa: ARG001
    return compare_message(documents, pb.CompareRequest.FromString(request)).SerializeToString()


def _release(
    documents: Documents,
    stop: threading.Event,  # noqa: ARG001
    request: bytes,
    graph: str | None,
    by: str,
) -> bytes:
    return release_message(documents, pb.ReleaseQuarantineRequest.FromString(request), graph, by).SerializeToString()


def _list(documents: Documents, stop: threading.Event, request: bytes) -> bytes:  # noqa: ARG001
    page = documents_page(documents, documents.account, pb.ListDocumentsRequest.FromString(request))
    return page.SerializeToString()


TASKS: Mapping[str, Callable[..., object]] = {
    "forecast": _forecast,
    "plan": _plan,
    "run": _run,
    "compare": _compare,
    "release": _release,
    "list": _list,
}
