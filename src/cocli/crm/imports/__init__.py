"""Files of other programs as observations: text → rows → places. No store here; what becomes of them is `app.imports`.

- `decoding`: bytes → text, whatever wrote them.
- `rows`: what every reader hands out; `tables` (CSV), `cards` (vCard), `placemarks` (KML) are the readers.
- `fields`: by which names a column is recognised; `mapping`: which column is which field of a file.
- `values`: a cell as a number, a country, an address; `observing`: a row as a place.
- `contributions`: what the rows make of the prospects.
"""
