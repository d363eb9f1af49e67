"""The table of nouns. Plain data, because `cocli --help` is made from it before anything is imported."""

NOUNS = (
    ("init", "cocli.cli.init", "Set up this machine: data home and user file"),
    (
        "campaign",
        "cocli.cli.campaign.commands",
        "Make, show, edit and remove campaigns; plan them, see what is covered",
    ),
    ("demo", "cocli.cli.demo", "See the whole job on a made-up town, offline, in about a minute"),
    ("config", "cocli.cli.config", "Show the settings, and where each value comes from"),
    ("doctor", "cocli.cli.doctor", "Check configuration, store, clock, disk, browser and extras"),
    ("locate", "cocli.cli.locate", "Print where something is stored"),
    (
        "queue",
        "cocli.cli.queue.commands",
        "Look into the queues: status, ls, show, put, release, recover, sideline, purge",
    ),
    ("worker", "cocli.cli.machines.worker", "Work off a queue: gm-list, gm-details or enrichment"),
    ("supervisor", "cocli.cli.machines.supervisor", "Run the workers that the campaign configures for this machine"),
    ("command", "cocli.cli.machines.command", "Tell the supervisors what to do: send, ls, show"),
    (
        "cluster",
        "cocli.cli.machines.cluster",
        "See the machines of a campaign, and what is wrong with them: status, top",
    ),
    ("index", "cocli.cli.index.commands", "Query the indexes in SQL, pack, check and repair them"),
    (
        "documents",
        "cocli.cli.documents.commands",
        "Keep the pages behind every value: save, check, replay, compare, serve",
    ),
    ("enrich", "cocli.cli.websites.enrich", "Read websites once, and show how to reach the businesses behind them"),
    ("enrichment", "cocli.cli.websites.enrichment", "Read websites for other machines: serve"),
    ("source", "cocli.cli.source.commands", "Add files of open places, load them, see what a phrase finds in them"),
    ("company", "cocli.cli.companies.company", "The companies of the result: ls, show, open, tag, exclude, refresh"),
    ("person", "cocli.cli.companies.person", "The people you talk to: ls, show, new, open"),
    ("note", "cocli.cli.companies.note", "Notes about companies: add, ls"),
    ("meeting", "cocli.cli.companies.meeting", "Meetings with companies: add, ls, next"),
    ("report", "cocli.cli.report", "What a campaign has and lacks: figures, a page with a map"),
    ("why", "cocli.cli.why", "Where a value came from: each observation, and the document behind it"),
    ("export", "cocli.cli.export", "Write prospects as CSV, Parquet, GeoJSON, KML, vCard or for HubSpot"),
    ("import", "cocli.cli.import_", "Bring in businesses from CSV, vCard or KML"),
    ("fz", "cocli.cli.fz.commands", "Find a company or a prospect by a few letters"),
    (
        "sync",
        "cocli.cli.sync.commands",
        "Sync the data home with the bucket: push, pull, both, status, resolve",
    ),
    ("smart-sync", "cocli.cli.sync.smart_sync", "Sync what this machine needs now: configuration, indexes, companies"),
    ("store", "cocli.cli.store", "Look into the store: ls, cat, put, rm, du"),
    ("completion", "cocli.cli.completion", "Print the completion script of a shell"),
)
"""Name, module, one line of help: in the order in which a newcomer needs them."""

_OVERVIEW = """\
Usage: cocli NOUN VERB [OPTIONS]

  Find every business of a kind in a territory, find out how to reach each
  one, and keep the result as plain files.

Commands:
{commands}

Options:
  --version   Show the version
  -h, --help  Show help; also after every command: cocli campaign new --help

Example:
  cocli init
  cocli campaign new plumbers --query plumber --location "Springfield,39.80,-89.65"
  cocli doctor
"""


def overview() -> str:
    """What `cocli --help` prints."""
    width = max(len(name) for name, _, _ in NOUNS)
    return _OVERVIEW.format(commands="\n".join(f"  {name.ljust(width)}  {text}" for name, _, text in NOUNS))
