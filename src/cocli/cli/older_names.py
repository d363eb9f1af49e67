"""The names that commands and options had before. They work as ever; help and completion show the new ones alone.

Plain data. A name in `RENAMED` is read as its new words, before the parser sees it. A command in `KEPT` is still there,
hidden, because it does less than the new one, or prints another JSON document: the table says what to use instead.
"""

RENAMED = (
    ("fz", "find"),
    ("command", "remote"),
    ("smart-sync", "sync"),
    ("campaign queue-scrapes", "campaign plan --queue"),
    ("worker search", "worker gm-list"),
)
KEPT = (
    ("campaign achieve-goal", "run"),
    ("campaign build-mission-index", "campaign plan"),
    ("campaign queue-mission", "campaign plan --queue"),
    ("campaign kml", "campaign coverage --kml"),
    ("campaign missing-emails", "campaign retry --without-email --dry-run"),
    ("campaign enqueue-batch", "campaign retry --sites"),
    ("campaign evaluate-batch", "campaign retry --result"),
    ("index verify", "index check"),
    ("index audit", "index check"),
    ("index repair", "index check --fix"),
)
OLDER_NAMES = (*RENAMED, *KEPT)
OPTIONS = {
    "documents": {"--cluster": "--edition", "--from-cluster": "--from-edition"},
    "campaign": {"--cluster": "--edition"},
}
"""By noun. An edition of the parsers was called a cluster once."""


def in_new_words(words: list[str]) -> list[str]:
    """A command line in the names of today."""
    for older, newer in RENAMED:
        count = older.count(" ") + 1
        if words[:count] == older.split():
            words = [*newer.split(), *words[count:]]
            break
    options = OPTIONS.get(words[0], {}) if words else {}
    if not options:
        return words
    parts = (word.partition("=") for word in words)
    return [f"{options.get(name, name)}{equals}{value}" for name, equals, value in parts]
