"""Files of other programs as observations: text → rows → places. No store here; what becomes of them is
`pipeline.merge.contributions`.

- `decoding`: bytes → text, whatever wrote them.
- `rows`: what every reader hands out; `tables` (CSV), `cards` (vCard), `placemarks` (KML) are the readers.
- `fields`: by which names a column is recognised; `mapping`: which column is which field of a file.
- `values`: a cell as a number, a country, an address; `observation`: a row as a place.
"""

IMPORT = "import"
"""The name of this source in origins."""
