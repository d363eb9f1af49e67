"""The sites of the crawling benchmark, in a process of their own: `python -m benchmarks._enrich_sites SITES`.

Ordinary websites of the demo town, padded to what pages weigh, each host with a latency of its own between 20 and
200 ms. Prints one line of JSON with the port and the hosts, and serves until its input ends.
"""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import dataclass, replace

from benchmarks._enrich_pages import padded
from cocli.demo.town import build_town
from cocli.demo.town.builder import SMALLEST_SIZE
from cocli.demo.town.http_server import running
from cocli.demo.town.websites.replies import Reply, reply_to
from cocli.demo.town.websites.server import WebsiteServer

SEED = 1
FASTEST, SLOWEST = 0.020, 0.200


def latency(host: str) -> float:
    """The same for a host each time, evenly spread over hosts."""
    return FASTEST + (SLOWEST - FASTEST) * (zlib.crc32(host.encode()) % 1000) / 999


@dataclass(slots=True)
class PaddedServer(WebsiteServer):
    """Pages of ordinary weight, made anew for each request: what is measured is not this process."""

    def _reply(self, host: str, path: str) -> Reply:
        site = self.town.site_of(host)
        if site is None:
            return Reply(404, "text/plain", b"No such site in this town\n")
        reply = reply_to(site, host, path)
        return replace(reply, body=padded(reply.body), compressible=False) if b"</body>" in reply.body else reply


def town_size(count: int) -> int:
    """Businesses of a town that has so many ordinary websites, and some to spare."""
    return max(SMALLEST_SIZE, count + count // 2 + 20)


def hosts(count: int) -> list[str]:
    """So many ordinary sites."""
    size = town_size(count)
    found = [site.host for site in build_town(SEED, size).sites.values() if site.kind == "ordinary"]
    if len(found) < count:
        raise ValueError(f"a town of {size} businesses has {len(found)} ordinary websites, and not {count}")
    return found[:count]


def main() -> None:
    count = int(sys.argv[1])
    server = PaddedServer(build_town(SEED, town_size(count)), latency)
    with running(server.answer, 0, "sites") as port:
        print(json.dumps({"port": port}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
