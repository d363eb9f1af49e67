"""Scrapy in a process of its own: links and a plain regular expression on each page, as is common.

It has as much room for requests as `peers.py` says, with AutoThrottle and one request per second and site. It reads a
task from its input and the pages that the task names. Where the task says so it keeps what ours keeps, as Scrapy does
that: what is still to be asked for, every page, and a file of results. Where the task says so it also looks for what
ours looks for, with what a user of Scrapy would take: parsel for text and links, phonenumbers for phone numbers,
regular expressions for e-mail addresses and profiles, the page's own JSON-LD. Still less than ours: no names, postal
addresses, opening hours, people, technologies, hidden addresses, triage; nothing is merged, nothing says where a value
stood.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import phonenumbers
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

from benchmarks.slow_network.scrapy_resolver import HOSTS

_SOCIAL = re.compile(
    r"https?://(?:www\.)?(facebook|instagram|linkedin|x|twitter|youtube|tiktok|pinterest|yelp)\.com/[^\s\"'?#]+", re.I
)
_TEXT = "//body//text()[not(parent::script or parent::style or parent::noscript)]"
_COUNTRY = "US"
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")


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
        "AUTOTHROTTLE_START_DELAY": 1,
        "CONCURRENT_REQUESTS": task["at_once"],
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "COOKIES_ENABLED": False,
        "DNS_RESOLVER": "benchmarks.slow_network.scrapy_resolver.TownResolver",
        "DOWNLOAD_DELAY": 1,
        "DOWNLOAD_TIMEOUT": task["timeout"],
        "LOG_LEVEL": "CRITICAL",
        "RANDOMIZE_DOWNLOAD_DELAY": False,
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
