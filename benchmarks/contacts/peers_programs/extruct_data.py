"""What `extruct` reads of the data that a page marks up for machines: JSON-LD, microdata, RDFa."""

import importlib
from collections.abc import Iterator

from benchmarks.contacts.peers_programs.lines import found, serve

_KEYS = {"email": "emails", "telephone": "phones", "sameAs": "socials"}


def find(html: str, url: str) -> dict[str, object]:
    said: dict[str, list[str]] = {"emails": [], "phones": [], "socials": []}
    addresses: list[dict[str, object]] = []
    data = importlib.import_module("extruct").extract(
        html, base_url=url, syntaxes=["json-ld", "microdata"], errors="ignore"
    )
    for key, value in _walk(data):
        if key == "address" and isinstance(value, dict):
            inner = value.get("properties", value)
            addresses.append({name: inner.get(name) for name in ("streetAddress", "postalCode", "addressLocality")})
        elif key in _KEYS:
            said[_KEYS[key]] += [
                str(entry).removeprefix("mailto:") for entry in (value if isinstance(value, list) else [value])
            ]
    return {**found(said["emails"], said["phones"], said["socials"]), "addresses": addresses}


def _walk(data: object) -> Iterator[tuple[str, object]]:
    if isinstance(data, list):
        for entry in data:
            yield from _walk(entry)
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key, value
            yield from _walk(value)


if __name__ == "__main__":
    serve(find)
