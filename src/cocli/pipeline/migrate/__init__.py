"""Reading what older versions of this system wrote, and moving it into today's indexes. Nothing else reads it.

In the order of the data: `pieces` (bytes → pieces) and `assembly` (pieces → whole records), `repairs` (one field),
`reader` (a file of any older format → `row.OldRow`), one module per layout with its table of columns, `sources`
(a folder → its files), `conversion` (a file → records), and `plan` and `migration`, which are the doors.

docs/migrate.md says what each column means and where it goes.
"""
