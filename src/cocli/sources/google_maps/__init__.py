"""Google Maps, read from what a browser received: the parsers. Driving the browser is not here.

Everything is a pure function of a saved document, so it can be run again by a better version:

- `documents`: `list_document(…)` and `details_document(…)` make the intake document from bytes.
- `parse`: `parse(document) -> list[Place]`, all sources of one page merged by place id, JSON first.
- `verdicts`: `judge(document) -> Verdict`: list, single, area, consent, limited_view, blocked, error or shell.
- `quality`: fill rates per field against a baseline; a drop is an alarm.
- `evaluate`: precision and recall per field over a folder of labelled captures.

One reader per form in which a place is said: `place_message` (the internal array), `answers` (JSON answers),
`init_state` (the state embedded in a page), `list_dom` (cards of the feed), `details_dom` (the panel of one place).
Each hands out `sighting.Sighting`s. What they share: `numbers`, `links`, `phones`, `tree`, `segments`.
"""
