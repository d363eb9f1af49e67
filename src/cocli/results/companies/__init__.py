"""Companies, people, notes and meetings as Markdown files that a person edits.

A program owns one front-matter key of a file, `cocli:`. Everything else is a person's: it is never rewritten, only
added to where a person asks for it (a tag), and every write is conditional on what was read.

- `pages`: the companies of a store, read; how one is found.
- `facts`: what a page says of a prospect.
- `refresh`: makes and refreshes pages from prospects.
- `tags`: adds and takes away a tag without touching anything else.
- `writing`: conditional writes, and names that are not taken yet.
- `drafts`: new files: companies, people, notes, meetings.
- `entries`: notes and meetings, read; `times`: when a meeting is.
- `imports/`: rows of other programs' files as observations.
"""
