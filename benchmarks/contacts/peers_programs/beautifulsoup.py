"""`mailto:` and `tel:` links, then the expressions over the visible text."""

import importlib
from urllib.parse import unquote

from benchmarks.contacts.peers_programs.lines import EMAIL, PHONE, SOCIAL, found, serve


def find(html: str, _: str) -> dict[str, object]:
    soup = importlib.import_module("bs4").BeautifulSoup(html, "lxml")
    hrefs = [str(link.get("href")) for link in soup.find_all("a", href=True)]
    for hidden in soup(["script", "style", "noscript"]):
        hidden.decompose()
    text = soup.get_text(" ")
    mails = [unquote(href[7:].split("?")[0]) for href in hrefs if href.startswith("mailto:")]
    numbers = [href[4:] for href in hrefs if href.startswith("tel:")]
    socials = [href for href in hrefs if SOCIAL.match(href)]
    return found([*mails, *EMAIL.findall(text)], [*numbers, *PHONE.findall(text)], socials)


if __name__ == "__main__":
    serve(find)
