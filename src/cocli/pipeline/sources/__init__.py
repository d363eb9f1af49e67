"""Where businesses are found. A source reads one tile for one phrase and hands out a capture: the raw answer as an
intake document, and how far it got. What the answer says is read from the document by a pure function, so it can be
read again by a better one.

- `capture`: `Capture`, what every source hands out.
- `open_places/`: files of Overture, OpenStreetMap, Foursquare and AllThePlaces (the default).
- `google_maps/`: Google Maps in a real browser (opt-in).
"""
