"""The result in the formats of other programs: prospects in, bytes out, one after the other.

- `cells`: texts made harmless: for spreadsheets, for every file.
- `columns`: what a row says of a prospect, by the name of the column.
- `csv_files`: CSV for programs, CSV for spreadsheets, CSV in the shape of HubSpot.
- `geojson`, `kml`, `vcard`, `parquet`: one format each.
- `kinds`: which formats there are.

Which prospects are exported, and where the file goes, is `cocli.app.results.exports`.
"""
