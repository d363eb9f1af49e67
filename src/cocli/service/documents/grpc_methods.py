"""The methods of `DocumentRepository` that are a question and an answer: what is asked, the use case, the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from google.protobuf.field_mask_pb2 import FieldMask

from cocli.app.documents.documents import complete_document, saved
from cocli.documents import codec
from cocli.documents.catalog.base import Cursor
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.documents.receipt import Receipt
from cocli.documents.save_order import Precondition, SaveOrder, row_etag
from cocli.errors import CocliError, DocumentInvalid, UsageError
from cocli.keys.identities import datasource_id
from cocli.service.documents import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from google.protobuf.message import Message

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.tokens import TokenCaller
    from cocli.documents.catalog.base import Kind
    from cocli.models.document import PipeDoc

M = TypeVar("M", bound="Message")
DEFAULT_PAGE = 100
MAX_PAGE = 10_000
MAX_ITEMS = 1_000
_KINDS: dict[str, Kind | None] = {"": None, "intake": "intake", "state": "state"}


# --- saving


def save_order(account: str, who: str, request: pb.SaveRequest) -> SaveOrder:
    """What is to be saved, for an account and in the name of who calls."""
    message = request.document
    owner, head = message.ownership, message.state
    if owner.account_id not in ("", account):
        raise DocumentInvalid(doc=message.doc_id[:80], reason="it names another account than the token")
    owner.account_id = account
    if not owner.datasource_id.strip() and owner.connector_id.strip():
        owner.datasource_id = datasource_id(account, owner.connector_id)
    if not head.address and not head.cluster:
        head.address = owner.datasource_id
    condition = Precondition(request.if_match or None, request.if_absent)
    return SaveOrder(codec.from_message(message), tuple(request.publish), who, condition)


def save(documents: Documents, caller: TokenCaller, request: pb.SaveRequest) -> pb.SaveResponse:
    order = complete_document(documents, save_order(caller.account, caller.who, request))
    return messages.save_message(saved(documents, order))


def save_documents(documents: Documents, caller: TokenCaller, request: pb.SaveDocumentsRequest) -> Message:
    check_items(request.requests)
    made = [_item(_order, documents, caller, wanted) for wanted in request.requests]
    saved = iter(documents.repository.carry_out([order for order in made if isinstance(order, SaveOrder)]))
    results = []
    for order in made:
        answer = order if isinstance(order, CocliError) else next(saved)
        if isinstance(answer, Receipt):
            results.append(pb.SaveResult(saved=messages.save_message(answer)))
        else:
            results.append(pb.SaveResult(error=messages.item_error(answer)))
    return pb.SaveDocumentsResponse(results=results)


def _order(documents: Documents, caller: TokenCaller, request: pb.SaveRequest) -> SaveOrder:
    return complete_document(documents, save_order(caller.account, caller.who, request))


def _item(action: Callable[..., SaveOrder], *arguments: object) -> SaveOrder | CocliError:
    try:
        return action(*arguments)
    except CocliError as error:
        return error


def check_items(items: Sequence[object]) -> None:
    if len(items) > MAX_ITEMS:
        raise UsageError(reason=f"there are up to {MAX_ITEMS:,} items in a request, not {len(items):,}")


# --- reading


def get(documents: Documents, caller: TokenCaller, request: pb.GetRequest) -> pb.GetResponse:
    repository, datasource = documents.repository, request.datasource or None
    row = repository.find(
        caller.account, request.doc_id, request.address, request.cluster or None, datasource=datasource
    )
    # The row is read first: if somebody replaces the state meanwhile, the etag is the older one and does not match.
    document = repository.current_of(row, blobs=request.blobs)
    answer = pb.GetResponse(document=codec.to_message(document), etag=row_etag(row))
    return pb.GetResponse(document=_masked(answer.document, request.read_mask), etag=answer.etag)


def get_by_reference(documents: Documents, caller: TokenCaller, request: pb.GetByReferenceRequest) -> pb.GetResponse:
    reference = messages.read_reference(caller.account, request.reference)
    document = documents.repository.get(caller.account, reference, blobs=request.blobs)
    return pb.GetResponse(document=_masked(codec.to_message(document), request.read_mask))


def get_documents(documents: Documents, caller: TokenCaller, request: pb.GetDocumentsRequest) -> Message:
    check_items(request.references)
    results, size, most = [], 0, documents.section.max_message_bytes
    for reference in request.references:
        wanted = pb.GetByReferenceRequest(reference=reference, blobs=request.blobs, read_mask=request.read_mask)
        try:
            found = get_by_reference(documents, caller, wanted)
        except CocliError as error:
            results.append(pb.GetResult(error=messages.item_error(error)))
            continue
        size += found.ByteSize()
        if size > most:  # an answer that cannot be sent is not made to its end
            raise UsageError(reason=f"these documents have more than {most:,} bytes", hint="Ask for fewer at a time.")
        results.append(pb.GetResult(found=found))
    return pb.GetDocumentsResponse(results=results)


def list_states(documents: Documents, caller: TokenCaller, request: pb.ListStatesRequest) -> Message:
    selection = messages.read_selection(request.selection, request.cluster)
    rows = documents.repository.states(caller.account, request.doc_id, cluster=selection, deleted=request.deleted)
    size, token = page_size(request.page_size), ""
    if request.page_token:
        after = Cursor.parse(request.page_token)
        rows = [row for row in rows if Cursor.behind(row).is_behind(after)]
    if len(rows) > size:
        rows = rows[:size]
        token = Cursor.behind(rows[-1]).token()
    shown = [_masked(messages.row_message(row), request.read_mask) for row in rows]
    return pb.ListStatesResponse(rows=shown, next_page_token=token)


def every_row(row: PipeDoc) -> bool:  # noqa: ARG001  the signature of a rule
    """For who may see everything."""
    return True


def list_documents(
    documents: Documents,
    caller: TokenCaller,
    request: pb.ListDocumentsRequest,
    is_shown: Callable[[PipeDoc], bool] = every_row,
) -> Message:
    return documents_page(documents, caller.account, request, is_shown)


def documents_page(
    documents: Documents,
    account: str,
    request: pb.ListDocumentsRequest,
    is_shown: Callable[[PipeDoc], bool] = every_row,
) -> Message:
    """A page of rows that are shown. Where it ends is told by the last of them, so nothing is said of the others."""
    if request.kind not in _KINDS:
        raise UsageError(reason=f'"{request.kind[:20]}" is no kind of state; there are intake and state')
    after = Cursor.parse(request.page_token) if request.page_token else None
    while True:
        page = documents.repository.documents(
            account,
            datasource=request.datasource or None,
            cluster=request.cluster or None,
            kind=_KINDS[request.kind],
            after=after,
            limit=page_size(request.page_size),
            deleted=request.deleted,
        )
        shown, after = [row for row in page.items if is_shown(row)], page.next
        if shown or after is None:
            break
    return pb.ListDocumentsResponse(
        rows=[_masked(messages.row_message(row), request.read_mask) for row in shown],
        next_page_token=Cursor.behind(shown[-1]).token() if after else "",
    )


def page_size(asked: int) -> int:
    if asked > MAX_PAGE:
        raise UsageError(reason=f"a page has 1 to {MAX_PAGE:,} rows, not {asked:,}")
    return asked or DEFAULT_PAGE


def _masked(message: M, mask: FieldMask) -> M:
    """Only the fields that were asked for; all of them where none is named."""
    if not mask.paths:
        return message
    checked = FieldMask(paths=mask.paths)
    if not checked.IsValidForDescriptor(message.DESCRIPTOR):  # type: ignore[arg-type]  # the stubs have two of them
        known = ", ".join(field.name for field in message.DESCRIPTOR.fields)
        raise UsageError(reason=f"the mask names a field that {message.DESCRIPTOR.name} does not have", hint=known)
    shown = type(message)()
    checked.MergeMessage(message, shown, replace_message_field=True, replace_repeated_field=True)
    return shown


# --- deleting


def delete(documents: Documents, caller: TokenCaller, request: pb.DeleteRequest) -> Message:
    selection = messages.read_selection(request.selection, request.cluster)
    done = documents.repository.delete(
        caller.account,
        request.doc_id,
        cluster=selection,
        by=caller.who,
        condition=Precondition(request.if_match or None),
    )
    return pb.DeleteResponse(rows=[messages.row_message(change.row) for change in done])


def restore(documents: Documents, caller: TokenCaller, request: pb.RestoreRequest) -> Message:
    selection = messages.read_selection(request.selection, request.cluster)
    done = documents.repository.restore(caller.account, request.doc_id, cluster=selection, by=caller.who)
    return pb.RestoreResponse(rows=[messages.row_message(change.row) for change in done])


def purge(documents: Documents, caller: TokenCaller, request: pb.PurgeRequest) -> Message:
    proofs = documents.repository.purge(caller.account, request.doc_id, by=caller.who, reason=request.reason)
    return pb.PurgeResponse(proofs=map(messages.proof_message, proofs))
