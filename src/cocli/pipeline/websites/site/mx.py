"""Does a domain take mail? One question to the name servers of this machine, by dnspython, with strict bounds.

    answer = await MailHosts(name_servers()).of("firm.com")

What cannot be found out is `unknown`, never an exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from dns.message import Message

SECONDS = 3.0
MAX_HOSTS = 20
_PAYLOAD = 1232
"""Bytes of an answer, which pass every network in one piece."""
_SERVERS = 3

MxState = Literal["mx", "no-mx", "null-mx", "no-domain", "unknown"]


@dataclass(frozen=True, slots=True)
class MxAnswer:
    """`null-mx`: the domain says that it takes no mail (RFC 7505). `no-mx`: it says nothing, and may take some."""

    state: MxState
    hosts: tuple[str, ...] = ()
    """The best first."""


def name_servers(path: str = "/etc/resolv.conf") -> list[tuple[str, int]]:
    """The name servers of this machine. Its search domains are not: a name is asked for as it stands."""
    from dns.exception import DNSException
    from dns.resolver import Resolver

    resolver = Resolver(configure=False)
    try:
        resolver.read_resolv_conf(path)
    except (DNSException, OSError, ValueError):  # a machine without this file, or with none in it: nobody to ask
        return []
    return [(str(server).partition("%")[0], 53) for server in resolver.nameservers][:_SERVERS]


class MailHosts:
    """Asks the name servers, one after the other, and remembers what they said while it lives."""

    def __init__(self, servers: list[tuple[str, int]], *, seconds: float = SECONDS) -> None:
        self._servers = servers
        self._seconds = seconds
        self._known: dict[str, MxAnswer] = {}

    async def of(self, domain: str) -> MxAnswer:
        answer = self._known.get(domain)
        if answer is None:
            answer = await self._ask(domain)
            if answer.state != "unknown":
                self._known[domain] = answer
        return answer

    async def _ask(self, domain: str) -> MxAnswer:
        # dnspython costs a start 0.3 s, and only those who ask for mail hosts need it.
        import dns.asyncquery
        import dns.exception
        import dns.message

        if not domain.strip(".") or not domain.isascii():
            return MxAnswer("unknown")
        try:
            query = dns.message.make_query(domain, "MX", use_edns=0, payload=_PAYLOAD)
        except (dns.exception.DNSException, ValueError):  # no name that could be asked for
            return MxAnswer("unknown")
        for host, port in self._servers:
            try:
                data = await dns.asyncquery.udp(
                    query, host, self._seconds, port, ignore_unexpected=True, ignore_errors=True
                )
            except (dns.exception.DNSException, OSError, EOFError, ValueError):  # no answer here: the next one is asked
                continue
            answer = _read(data)
            if answer is not None:
                return answer
        return MxAnswer("unknown")


def _read(message: Message) -> MxAnswer | None:
    """What an answer says; None for a server that could not tell."""
    from dns.rcode import NOERROR, NXDOMAIN
    from dns.rdatatype import MX

    if message.rcode() == NXDOMAIN:
        return MxAnswer("no-domain")
    if message.rcode() != NOERROR:
        return None
    records = [record for rrset in message.answer if rrset.rdtype == MX for record in rrset]
    ordered = sorted(records, key=lambda record: record.preference)
    names = [record.exchange.to_text(omit_final_dot=True).lower() for record in ordered]
    # The root is called "." or "", by whether its dot is left out; a backslash stands for a byte that no host name has.
    hosts = tuple(dict.fromkeys(name for name in names if name not in (".", "") and "\\" not in name))[:MAX_HOSTS]
    if hosts:
        return MxAnswer("mx", hosts)
    return MxAnswer("null-mx" if records else "no-mx")
