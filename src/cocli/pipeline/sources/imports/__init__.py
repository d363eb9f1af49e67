"""Files of other programs as observations: text → rows → places. No store here; what becomes of them is
`pipeline.merge.contributions`.

- `decoding`: bytes → text, whatever wrote them.
- `rows`: what every reader hands out; `tables` (CSV), `cards` (vCard), `placemarks` (KML) are the readers.
- `fields`: by which names a column is recognised; `mapping`: which column is which field of a file.
- `values`: a cell as a number, a country, an address; `observation`: a row as a place.
"""

from __future__ import annotations

from cocli.pipeline.sources.licence import Licence
from cocli.pipeline.sources.source import Source, SourceRank

SOURCE = Source(
    name="import",
    title="imported files",
    licence=Licence("unknown", "whoever made the file; the person who brought it knows"),
    rank=SourceRank(20),
    identity="a hash of name and address, so that the same business has it in the next version of a file",
    # Which column is which was said when the file was brought: the file alone does not say it.
    parse=None,
)
IMPORT = SOURCE.name
"""The name of this source in origins."""
