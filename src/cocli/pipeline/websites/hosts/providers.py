"""Mail domains that many share: those of mail providers, of website platforms and hosts, of public authorities."""

from __future__ import annotations

import re

from cocli.pipeline.websites.hosts.table import hosts_of, listed

_PUBLIC = re.compile(
    r"(?:^|\.)(?:gov|gouv|gob|gv|govt|admin|europa|bund|bayern|thueringen|nrw|sachsen|sachsen-anhalt|hessen|rlp|niedersachsen|saarland|"
    r"bremen|brandenburg|mvnet|bwl)(?:\.[a-z]{2,3}){0,2}$|datenschutz(?:zentrum|-?mv)?\.[a-z.]+$|privacy-?authority"
)


def is_freemail(registrable: str) -> bool:
    """A domain on which anybody can have a mailbox."""
    name, _, ending = registrable.partition(".")
    if registrable in hosts_of("freemail"):
        return True
    return f"{name}.*" in hosts_of("freemail") and f"*.{ending}" in hosts_of("freemail-ending")


def is_disposable(domain: str) -> bool:
    """A host of mailboxes that live for minutes, itself or below it."""
    return listed(domain, "disposable") is not None


def is_platform(registrable: str) -> bool:
    return registrable in hosts_of("platform")


def is_authority(domain: str, registrable: str) -> bool:
    """A public body, such as the one that watches over privacy."""
    authorities = hosts_of("authority")
    return registrable in authorities or domain in authorities or _PUBLIC.search(domain) is not None
