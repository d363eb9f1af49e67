"""From the text of an address to a target that can be asked: http and https, no credentials, hosts in one spelling.

An address is read as browsers read it, because that is how whoever wrote it has tried it: backslashes are slashes, IDN
becomes `xn--`, and `0x7f.1`, `2130706433` and `0177.1` are all 127.0.0.1. Four numbers with zeros before them are
refused, since programs disagree about them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urljoin

import httpx2

from cocli.pipeline.websites.fetch.outcome import Reason
from cocli.pipeline.websites.fetch.signals import Refusal

MAX_URL = 4096
DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}):")
_HOST = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\Z")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PLAIN = re.compile(
    r"(https?)://((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})((?=/)(?:/(?!\.)[A-Za-z0-9_.~-]+)*/?)\Z"
)
"""An address in its normal form, as nearly all are: nothing to decode, to resolve or to doubt."""
_MAX_HOST = 253
_MAX_PORT = 65_535
_SHOWN = 200

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked, and whom."""

    url: str
    """In its normal form, without a fragment."""
    scheme: str
    host: str
    """A name in ASCII without a dot at its end, or an address without brackets."""
    port: int
    path: str
    """With the query."""
    address: Address | None = None
    """Where the host is one."""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def netloc(self) -> str:
        """As in the Host header."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        if self.port == DEFAULT_PORTS[self.scheme]:
            return host
        return f"{host}:{self.port}"


def parse_url(text: str, *, base: str | None = None) -> Target:
    """The target of an address; with a base, of what a redirect or a link of that page says."""
    plain = _PLAIN.match(text) if base is None and len(text) <= _SHOWN else None
    if plain is not None:
        scheme, host, path = plain.groups()
        return Target(text, scheme, host, DEFAULT_PORTS[scheme], path)
    text = text.strip(" \t\r\n\f")
    shown = _CONTROL.sub("?", text[:_SHOWN])
    if len(text) > MAX_URL or _CONTROL.search(text):
        raise Refusal(Reason.URL, "too long, or with control characters", shown)
    parsed = _parsed(_absolute(text, base, shown), shown)
    if parsed.userinfo:
        raise Refusal(Reason.CREDENTIALS, "there are credentials in the address", parsed.host)
    host, address = _host(parsed.raw_host.decode("ascii"), shown)
    port = parsed.port if parsed.port is not None else DEFAULT_PORTS[parsed.scheme]
    if not 0 < port <= _MAX_PORT:
        raise Refusal(Reason.PORT, f"{port} is no port", shown)
    path = parsed.raw_path.decode("ascii").replace("|", "%7C")  # as it is meant; and an id of a document has no bar
    target = Target("", parsed.scheme, host, port, path, address)
    return Target(f"{parsed.scheme}://{target.netloc}{path}", parsed.scheme, host, port, path, address)


def _absolute(text: str, base: str | None, shown: str) -> str:
    head, mark, query = text.partition("?")
    text = head.replace("\\", "/") + mark + query
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in DEFAULT_PORTS:
        raise Refusal(Reason.SCHEME, f"{scheme[1].lower()} is not read, only http and https", shown)
    if base is None:
        if not scheme:
            raise Refusal(Reason.URL, "it does not begin with http:// or https://", shown)
        return text
    try:
        return urljoin(base, text)
    except ValueError as error:
        raise Refusal(Reason.URL, str(error), shown) from error


def _parsed(text: str, shown: str) -> httpx2.URL:
    try:
        parsed = httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise Refusal(Reason.URL, str(error)[:_SHOWN], shown) from error
    if not parsed.raw_host:
        raise Refusal(Reason.URL, "it has no host", shown)
    return parsed


def _host(raw: str, shown: str) -> tuple[str, Address | None]:
    if ":" in raw:
        try:
            address = IPv6Address(raw)
        except ValueError as error:
            raise Refusal(Reason.URL, f"{raw} is no address", shown) from error
        if address.scope_id is not None:
            raise Refusal(Reason.URL, f"{raw} names an interface of a machine", shown)
        return str(address), address
    host = raw.lower().removesuffix(".")
    if len(host) > _MAX_HOST or not _HOST.match(host):
        raise Refusal(Reason.URL, "it has no host of letters, digits, dots and dashes", shown)
    if not _NUMBER.match(host.rpartition(".")[2]):
        return host, None
    number = _ipv4(host.split("."))
    if number is None:
        raise Refusal(Reason.URL, f"{host} ends in a number, but is no address", shown)
    return str(number), number


def _ipv4(parts: list[str]) -> IPv4Address | None:
    """`1.2.3.4`, but also fewer parts, of which the last fills the rest, and octal and hexadecimal ones."""
    numbers = [_number(part) for part in parts]
    if len(numbers) > 4 or any(number is None for number in numbers):
        return None
    *heads, last = (number for number in numbers if number is not None)
    if any(head > 255 for head in heads) or last >= 256 ** (4 - len(heads)):
        return None
    return IPv4Address(sum(head << (24 - 8 * place) for place, head in enumerate(heads)) + last)


def _number(part: str) -> int | None:
    if not _NUMBER.match(part):
        return None
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    try:
        if part.startswith("0"):
            return int(part, 8)
        return int(part)
    except ValueError:  # 08 and 09 are no octal numbers, and so no addresses
        return None
