"""Google Maps, read in a real browser (extra `browser`), and the parsers of what it received.

Asking, one page at a time:

- `reader`: `MapsReader`, a search at a tile or the page of a place, at its `pace`, and how far that got (`reach`).
- `session`: Chromium; `page_reading`: one page in it (`consent`, `received`, `search_url`), by its `manner`.
- `quality_book`: where the self-check is kept that all workers share.

Reading is a pure function of a saved document, so that it can be done again by a better version:

- `documents`: `list_document(…)` and `details_document(…)` make the intake document from bytes.
- `parse`: `parse(document) -> list[Place]`, all sources of one page merged by place id, JSON first.
- `verdicts`: `judge(document) -> Verdict`: list, single, empty, area, consent, limited_view, blocked, error or shell.
- `quality`: fill rates per field against a baseline; a drop is an alarm.
- `evaluate`: precision and recall per field over a folder of labelled captures.

One reader per form in which a place is said: `place_message` (the internal array), `answers` (JSON answers),
`init_state` (the state embedded in a page), `list_dom` (cards of the feed), `details_dom` (the panel of one place).
Each hands out `sighting.Sighting`s. What they share: `numbers`, `links`, `phones`, `tree`, `segments`.
"""
