"""What a campaign has and lacks, in figures.

- `figures`: one question to the indexes, and what its rows say.
- `funnel`: the way from the plan to an address; the trend from report to report.
- `page`, `trend_line`, `templates/`: the figures as one HTML page.

Who asks, and where the report is kept, is `cocli.app.results.report`.
"""
