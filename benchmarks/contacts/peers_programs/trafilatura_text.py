"""The main text that `trafilatura` extracts, links included, and the expressions over it."""

import importlib

from benchmarks.contacts.peers_programs.lines import EMAIL, PHONE, SOCIAL, found, serve


def find(html: str, _: str) -> dict[str, object]:
    text = importlib.import_module("trafilatura").extract(html, include_links=True, favor_recall=True) or ""
    return found(EMAIL.findall(text), PHONE.findall(text), SOCIAL.findall(text))


if __name__ == "__main__":
    serve(find)
