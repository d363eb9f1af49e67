"""Scrapy in a process of its own, as a careful user of it would write it for the same job.

It reads a task from its input: the sites, the pages of each that ours read (so that both ask for the same, and it need
not choose), and how it is to be done.

- **Pace.** One request at a time and site, `pause` seconds from one to the next (AutoThrottle may only wait longer),
  a site being a host with or without `www.`, as for ours; robots.txt is asked for and kept to. Scrapy counts from
  when it sends, and ours from when the answer came, so a busy Scrapy is seen to be too quick: `network.py` gives it
  the shortest pause at which the server's own record has nothing against it. It knows no addresses that sites share.
- **Room.** As many requests at a time as `peers.py` says, in two processes; connections are kept; nothing is tried
  twice.
- **What it looks for** with `reads_contacts`, on every page, by what such spiders use: parsel for text and links,
  phonenumbers for phone numbers in the text and `tel:` links, regular expressions for e-mail addresses and for profiles
  in seven networks, the page's own JSON-LD, title and description. Without: links and one regular expression.
- **What it keeps** with `keeps`, as Scrapy does that: what is still to be asked for, every page, and a file of results,
  so that it may be killed and goes on. Without: nothing.

Still less than ours: it chooses no pages, and finds no names, postal addresses, opening hours, people, technologies or
hidden addresses; nothing is judged or merged, nothing says where a value stood.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import phonenumbers
import scrapy
from scrapy.core.downloader import Downloader
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

from benchmarks.slow_network.scrapy_resolver import HOSTS

_SOCIAL = re.compile(
    r"https?://(?:www\.)?(facebook|instagram|linkedin|x|twitter|youtube|tiktok|pinterest|yelp)\.com/[^\s\"'?#]+", re.I
)
_TEXT = "//body//text()[not(parent::script or parent::style or parent::noscript)]"
_COUNTRY = "US"
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")


class SiteDownloader(Downloader):  # type: ignore[misc]  # its types are not looked at
    """One pace for a site, with or without `www.`."""

    def get_slot_key(self, request: Any) -> str:
        return str(super().get_slot_key(request)).removeprefix("www.")


class ContactSpider(scrapy.Spider):  # type: ignore[misc]  # its types are not looked at
    name = "contacts"
    links = LinkExtractor()

    def __init__(self, task: dict[str, Any], seen: dict[str, int]) -> None:
        super().__init__()
        self.task = task
        self.seen = seen

    async def start(self) -> Any:
        for pages in self.task["urls"].values():
            yield scrapy.Request(self._at_its_port(pages[0]), callback=self.parse_home, cb_kwargs={"pages": pages})

    def parse_home(self, response: Any, pages: list[str]) -> Any:
        yield from self.parse_page(response)
        for url in pages[1:]:
            yield scrapy.Request(self._at_its_port(url), callback=self.parse_page, priority=1)

    def parse_page(self, response: Any) -> Any:
        self.links.extract_links(response)
        emails = _EMAIL.findall(response.text)
        self.seen["pages"] += 1
        self.seen["emails"] += bool(emails)
        contacts = _contacts(response) if self.task["reads_contacts"] else {}
        yield {"url": response.url, "emails": emails, **contacts}

    def _at_its_port(self, url: str) -> str:
        """A resolver gives addresses only, so the port stands in what is asked for."""
        host = url.split("/")[2]
        _, port = HOSTS.get(host) or ("", self.task["port"])
        return url.replace(f"//{host}", f"//{host}:{port}", 1)


def _contacts(response: Any) -> dict[str, Any]:
    """What the comparable peer looks for on each page."""
    text = " ".join(response.xpath(_TEXT).getall())
    links = response.xpath("//a/@href").getall()
    phones = [link[4:] for link in links if link.lower().startswith("tel:")]
    matches = phonenumbers.PhoneNumberMatcher(text, _COUNTRY)
    phones += [phonenumbers.format_number(found.number, phonenumbers.PhoneNumberFormat.E164) for found in matches]
    return {
        "title": response.xpath("//title/text()").get(),
        "description": response.xpath("//meta[@name='description']/@content").get(),
        "mails": [link[7:].partition("?")[0] for link in links if link.lower().startswith("mailto:")],
        "phones": list(dict.fromkeys(phones)),
        "socials": [link for link in links if _SOCIAL.match(link)],
        "data": list(_json_ld(response)),
    }


def _json_ld(response: Any) -> Iterator[Any]:
    for text in response.xpath("//script[@type='application/ld+json']/text()").getall():
        try:
            yield json.loads(text)
        except ValueError:  # many pages have broken ones
            continue


def settings(task: dict[str, Any]) -> dict[str, Any]:
    keeping = {
        "FEEDS": {f"{task['keeps']}/results.jsonl": {"format": "jsonlines"}},
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": f"{task['keeps']}/pages",
        "JOBDIR": f"{task['keeps']}/job",
    }
    return (keeping if task["keeps"] else {}) | {
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": task["pause"],
        "CONCURRENT_REQUESTS": task["at_once"],
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "COOKIES_ENABLED": False,
        "DNS_RESOLVER": "benchmarks.slow_network.scrapy_resolver.TownResolver",
        "DOWNLOADER": "benchmarks.slow_network.scrapy_peer.SiteDownloader",
        "DOWNLOAD_DELAY": task["pause"],
        "DOWNLOAD_DELAY_JITTER": 0,
        "DOWNLOAD_TIMEOUT": task["timeout"],
        "LOG_LEVEL": "CRITICAL",
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "TELNETCONSOLE_ENABLED": False,
    }


def main() -> None:
    task = json.loads(sys.stdin.readline())
    HOSTS.update(task["hosts"])
    seen = {"pages": 0, "emails": 0}
    process = CrawlerProcess(settings(task))
    process.crawl(ContactSpider, task=task, seen=seen)
    process.start()
    print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    main()
