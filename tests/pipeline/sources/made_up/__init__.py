"""A source that does not exist, as a contributor would add it: this folder, and one line that registers it.

A guild that keeps a list of its members: one file a tile, below the folder that GUILD_LIST names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.plan.estimate import Cost
from cocli.pipeline.sources.licence import Licence
from cocli.pipeline.sources.source import ListSource, Source, SourceRank

if TYPE_CHECKING:
    from cocli.documents import Document
    from cocli.keys.tile import Tile
    from cocli.models.place import Place
    from cocli.pipeline.sources.capture import Capture
    from cocli.pipeline.sources.opening import SourceOpening

NAME = "guild"


@dataclass(frozen=True, slots=True)
class Guild:
    folder: str
    account: str

    def read(self, tile: Tile, phrase: str) -> Capture:
        from datetime import UTC, datetime

        from cocli.documents import Blob, Document, DocumentSource
        from cocli.pipeline.sources.capture import Capture

        path = os.path.join(self.folder, f"{tile}.txt")
        members = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                members = file.read()
        about = DocumentSource(uri=path, mime_type="text/plain", fetched_at=datetime(2026, 1, 1, tzinfo=UTC))
        document = Document.intake(account=self.account, connector=NAME, doc=f"{tile}/{phrase}", source=about)
        return Capture(document.with_blob("members", Blob.of(members)), "exhausted")

    def close(self) -> None:
        """Nothing is held open."""


def _open(opening: SourceOpening) -> ListSource:
    return Guild(opening.environ["GUILD_LIST"], opening.account)


def _parse(document: Document) -> Sequence[Place]:
    from cocli.models.place import Place

    lines = document.blobs["members"].content.decode().splitlines()
    rows = [line.split("|") for line in lines]
    return [
        Place.checked(
            {
                "source": NAME,
                "source_id": number,
                "name": name,
                "website": website,
                "street": street,
                "observed_at": document.source.fetched_at,
            }
        )
        for number, name, street, website in rows
    ]


SOURCE = Source(
    name=NAME,
    title="The guild",
    licence=Licence("CC-BY-4.0", "The guild of plumbers", "https://guild.example/terms"),
    rank=SourceRank(50),
    identity="numbers of members",
    parse=_parse,
    open=_open,
    cost=Cost(requests=1, seconds=0.1),
)
