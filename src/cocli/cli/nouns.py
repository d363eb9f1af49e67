"""The table of nouns. Plain data, because `cocli --help` is made from it before anything is imported."""

NOUNS = (
    ("init", "cocli.cli.init", "Set up this machine: data home and user file"),
    ("campaign", "cocli.cli.campaign", "Make, show, edit and remove campaigns"),
    ("config", "cocli.cli.config", "Show what is configured, and who said so"),
    ("doctor", "cocli.cli.doctor", "Check configuration, store, clock, disk, browser and extras"),
    ("locate", "cocli.cli.locate", "Print where a thing lives"),
    ("queue", "cocli.cli.queue", "Look into the queues: status, ls, show, put, release, recover, sideline, purge"),
    ("index", "cocli.cli.index", "Ask the indexes in SQL, pack them, look after them"),
    ("documents", "cocli.cli.documents", "Keep the pages behind every value: save, check, replay, compare, serve"),
    ("fz", "cocli.cli.fz", "Find a company or a prospect by a few letters"),
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
