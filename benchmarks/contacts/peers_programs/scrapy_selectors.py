"""The idiom of spiders: selectors for links, the expressions over all text nodes."""

import importlib

from benchmarks.contacts.peers_programs.lines import EMAIL, PHONE, SOCIAL, found, serve


def find(html: str, url: str) -> dict[str, object]:
    response = importlib.import_module("scrapy.http").HtmlResponse(
        url=url or "https://www.site.invalid/", body=html.encode(), encoding="utf-8"
    )
    texts = response.xpath("//body//text()[not(parent::script or parent::style)]")
    mails = [*response.css('a[href^="mailto:"]::attr(href)').re(r"mailto:([^?]+)"), *texts.re(EMAIL)]
    numbers = [*response.css('a[href^="tel:"]::attr(href)').re(r"tel:(.+)"), *texts.re(PHONE)]
    hrefs = response.css("a::attr(href)").getall()
    return found(mails, numbers, [href for href in hrefs if SOCIAL.match(href)])


if __name__ == "__main__":
    serve(find)
