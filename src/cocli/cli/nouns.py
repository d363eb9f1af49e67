"""The table of nouns. Plain data, because `cocli --help` is made from it before anything is imported."""

GET, WORK, RUN, LOOK, SET_UP = "Get a list", "Work with it", "Run machines", "Look inside", "Set up"
GROUPS = (GET, WORK, RUN, LOOK, SET_UP)

NOUNS = (
    ("run", GET, "run", "From your list to the enriched list; or a campaign to its goal"),
    ("campaign", GET, "campaign.commands", "Make, edit and plan campaigns; see what is covered"),
    ("source", GET, "source.commands", "Add files of open places, and see what a phrase finds in them"),
    ("import", GET, "import_", "Bring in businesses from a spreadsheet, CSV, JSON, KML, vCard"),
    ("enrich", GET, "websites.enrich", "Read websites now, and show how to reach who is behind them"),
    ("company", WORK, "companies.company", "The companies of the result: ls, show, open, tag, exclude"),
    ("person", WORK, "companies.person", "The people you talk to: ls, show, new, open"),
    ("note", WORK, "companies.note", "Notes about companies: add, ls"),
    ("meeting", WORK, "companies.meeting", "Meetings with companies: add, ls, next"),
    ("find", WORK, "find.commands", "Find a company or a prospect by a few letters"),
    ("export", WORK, "export", "Write the list for Excel, HubSpot, maps; CSV, vCard, Parquet"),
    ("report", WORK, "report", "What a campaign has and lacks: figures, a page with a map"),
    ("web", WORK, "web.commands", "The dashboard in a browser: live, or published with deploy"),
    ("mcp", WORK, "mcp", "Tools for assistants, by the Model Context Protocol"),
    ("suppress", WORK, "left_alone.suppress", "Who is left alone: add, rm, list, check, import, export"),
    ("forget", WORK, "left_alone.forget", "Remove all that is held about somebody, for good"),
    ("subject-access", WORK, "left_alone.access", "All that is held about somebody, as one page"),
    ("why", WORK, "why", "Where a value came from: observations, and pages behind them"),
    ("worker", RUN, "machines.worker", "Work off a queue: gm-list, gm-details or enrichment"),
    ("supervisor", RUN, "machines.supervisor", "Run the workers that the campaign configures for this machine"),
    ("deploy", RUN, "deploy.commands", "Bring cocli to hosts by ssh: deploy, hotfix, rollback, status"),
    ("cluster", RUN, "machines.cluster", "See the machines of a campaign, and what is wrong with them"),
    ("remote", RUN, "machines.remote", "Tell the supervisors what to do: send, ls, show"),
    ("schedule", RUN, "schedule", "Run a campaign by itself: a timer of systemd or a line of cron"),
    ("sync", RUN, "sync.commands", "Sync with the bucket: push, pull, both, status, resolve"),
    ("backup", RUN, "backup.commands", "Snapshots in another store: create, ls, verify, restore, prune"),
    ("infra", RUN, "infra.commands", "What a campaign has on AWS: diff, deploy, outputs, check, user"),
    ("enrichment", RUN, "websites.enrichment", "Read websites for other machines: serve"),
    ("queue", LOOK, "queue.commands", "See what waits, and change it: status, ls, put, recover, purge"),
    ("index", LOOK, "index.commands", "Query the indexes in SQL, pack and check them"),
    ("documents", LOOK, "documents.commands", "The pages behind every value: save, replay, compare, serve"),
    ("register", LOOK, "register", "What is processed, where from, why, how long: for the record"),
    ("retention", LOOK, "retention", "How long things are kept: look, apply rules, see the proofs"),
    ("store", LOOK, "store", "Look into the store: ls, cat, put, rm, du"),
    ("doctor", LOOK, "doctor", "Check configuration, store, clock, disk, browser and extras"),
    ("self", LOOK, "self_", "Check this installation: every package, module and extra"),
    ("locate", LOOK, "locate", "Print where something is stored"),
    ("init", SET_UP, "init", "Set up this machine: data home and user file"),
    ("config", SET_UP, "config", "Show the settings and their origins; change your own defaults"),
    ("demo", SET_UP, "demo", "See the whole job on a made-up town, offline, in a minute"),
    ("completion", SET_UP, "completion", "Print the completion script of a shell"),
)  # fmt: skip
"""Name, group, module below `cocli.cli`, one line of help: in the order of the help."""

_OVERVIEW = """\
Usage: cocli NOUN VERB [OPTIONS]

  Find every business of a kind in a territory, find out how to reach each
  one, and keep the result as plain files.

{commands}
Options:
  --version          Show the version
  -h, --help         Show help; also after a command: cocli campaign new --help
  -v, --verbose      Show a log on stderr: what is done, for what; -vv: more
  --log-file FILE    Write the log into a file
  --log-format json  Write the log as lines of JSON
  --no-pager         Show long lists and help at once; COCLI_PAGER names a pager

Example:
  cocli init
  cocli campaign new plumbers --query plumber --location "Springfield, IL"
  cocli doctor
"""


def overview() -> str:
    """What `cocli --help` prints."""
    width = max(len(name) for name, _, _, _ in NOUNS)
    blocks = []
    for group in GROUPS:
        lines = [f"  {name.ljust(width)}  {text}\n" for name, place, _, text in NOUNS if place == group]
        blocks.append(f"{group}:\n{''.join(lines)}")
    return _OVERVIEW.format(commands="\n".join(blocks))
