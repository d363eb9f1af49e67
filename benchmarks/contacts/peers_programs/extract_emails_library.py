"""The extractors of the package `extract-emails`, on a page that was fetched already."""

import importlib

from benchmarks.contacts.peers_programs.lines import found, serve


def find(html: str, _: str) -> dict[str, object]:
    extractors = importlib.import_module("extract_emails.data_extractors")
    return found(sorted(extractors.EmailExtractor().get_data(html)))


if __name__ == "__main__":
    serve(find)
