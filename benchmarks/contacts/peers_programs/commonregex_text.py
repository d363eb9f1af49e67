"""The expressions of `commonregex` over the text of a page."""

import importlib
import re

from benchmarks.contacts.peers_programs.lines import found, serve


def find(html: str, _: str) -> dict[str, object]:
    text = re.sub(r"(?is)<script.*?</script>|<style.*?</style>|<[^>]+>", " ", html)
    parsed = importlib.import_module("commonregex").CommonRegex(text)
    return {**found(parsed.emails, parsed.phones), "addresses": parsed.street_addresses}


if __name__ == "__main__":
    serve(find)
