"""The result in the formats of other programs: businesses in, bytes out, one after the other.

- `cells`: texts made harmless: for spreadsheets, for every file.
- `row`: one business as it is handed on: the record, and what a person wrote about it.
- `columns`: what a row says, by the name of the column; presets of columns.
- `tables`, `table_formats`: any table in a format that the file's ending names: `write_table`.
- `xlsx`, `csv_files`, `json_files`, `parquet`: a table in one format each.
- `geojson`, `kml`, `vcard`: businesses in one format each.
- `kinds`: which formats there are.

Which prospects are exported, and where the file goes, is `cocli.app.results.exports`.
"""
