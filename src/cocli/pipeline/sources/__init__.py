"""Where businesses are found. A source reads one tile for one phrase and hands out a capture: the raw answer as an
intake document, and how far it got. What the answer says is read from the document by a pure function, so it can be
read again by a better one.

- `registry`: all sources, by name. One folder each; its `__init__` holds its description, a `source.Source`.
- `source`, `licence`, `opening`, `download`: what a description is made of. `file_source`: one of a file of open data.
- `capture`: `Capture`, what every source hands out.
- `open_places/`: what the sources that are files have in common. `categories`: what a phrase means to each of them.
"""
