"""The address of a page: one spelling per page, and whether two addresses belong to one site. No requests."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from cocli.errors import UsageError
from cocli.pipeline.websites.hosts.elsewhere import shared_host
from cocli.pipeline.websites.page.suffixes import registrable
from cocli.pipeline.websites.page.wordlist import words

MAX_URL = 2_000
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = "%/:@!$&'()*+,;=~-._"
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?#;]*", re.IGNORECASE)
_PLAIN = re.compile(r"https?://(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}/(?:[A-Za-z0-9_.~-]+/)*[A-Za-z0-9_.~-]*\Z")
"""An address in its one spelling, as most links have it: nothing to escape, to leave out or to put in lower case."""
_SLASHES = re.compile(r"/{2,}")
_INDEX = re.compile(r"/(?:index|default|home)\.(?:html?|php\d?|aspx?|jsp|cfm|cgi)\Z", re.IGNORECASE)
_SESSION = words(
    """
    phpsessid jsessionid sessionid session_id sid aspsessionid cfid cftoken zenid oscsid s_id sess token nonce _t
    timestamp
    """
)
_TRACKING = words(
    """
    gclid fbclid msclkid dclid yclid gbraid wbraid mc_cid mc_eid igshid ref referrer source _ga _gl hsctatracking
    trk campaign_id y_source
    """
)


def canonical_url(address: str) -> str | None:
    """One spelling per page, without fragment, session and tracking; None for what is no page of the web."""
    if len(address) > MAX_URL:
        return None
    if _PLAIN.match(address):
        return address
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname, parts.port
    except ValueError:  # such as http://[x or a port that is no number: leads nowhere
        return None
    scheme = parts.scheme.lower()
    host = _ascii(host.rstrip(".")) if host else None
    if scheme not in _DEFAULT_PORTS or not host or parts.username is not None:
        return None
    where = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        where = f"{where}:{port}"
    path = _escaped(_SLASHES.sub("/", _PATH_SESSION.sub("", parts.path))) or "/"
    return urlunsplit((scheme, where, path, _query(parts.query), ""))


def page_key(url: str) -> str:
    """What is equal for the spellings under which servers usually give out one page."""
    parts = urlsplit(url)
    path = (_INDEX.sub("/", parts.path).rstrip("/") or "/").lower()
    query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=50)))
    return f"{parts.netloc.lower().removeprefix('www.')}{path}?{query}"


def site_of_url(url: str) -> str:
    """Whose page it is: the registrable domain; the host itself where many share that domain, or nobody has it."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # not an address: nobody's
        return ""
    if shared_host(url):
        return host
    return registrable(host) or parts.netloc.lower()


def root_of(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, "/", "", ""))


def is_root(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def other_spellings(url: str) -> list[str]:
    """Where a site may answer if it does not here: the other scheme, with or without `www`."""
    parts = urlsplit(url)
    if parts.port is not None:
        return []  # somebody meant exactly this server
    host = parts.netloc
    scheme = "http" if parts.scheme == "https" else "https"
    bare = registrable(parts.hostname or "")
    hosts = [host]
    if bare is not None and host in (bare, f"www.{bare}"):
        hosts.append(bare if host != bare else f"www.{bare}")
    every = [
        urlunsplit((protocol, name, parts.path, parts.query, ""))
        for name in hosts
        for protocol in (parts.scheme, scheme)
    ]
    return every[1:]


def given_url(text: str) -> str:
    """The address that a person or a record means: `firm.com` is `https://firm.com/`."""
    text = text.strip()
    address = text if "://" in text[:12] else f"https://{text.removeprefix('//')}"
    url = canonical_url(address)
    host = urlsplit(url).hostname or "" if url else ""
    if url is None or len(text.split()) > 1 or not ("." in host or ":" in host):
        raise UsageError(
            reason=f'"{text[:200]}" is not the address of a website',
            hint="Write a domain or an address, such as example.com or https://example.com/contact",
        )
    return url


def _ascii(host: str) -> str | None:
    host = host.lower()
    if host.isascii():
        return host
    import idna  # a table of 200 kB: only for the names that need it

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except UnicodeError:  # no name that can be registered
        return None


def _escaped(text: str) -> str:
    return quote(_BAD_ESCAPE.sub("%25", text), safe=_SAFE, errors="replace")


def _query(query: str) -> str:
    """What is left when sessions and tracking are gone. The order stays: some servers mind it."""
    kept = []
    for part in query.split("&")[:50]:
        name = part.partition("=")[0].lower()
        if part and name not in _SESSION and name not in _TRACKING and not name.startswith("utm_"):
            kept.append(_escaped(part.replace("/", "%2F") if "://" in part else part))
    return "&".join(kept)
