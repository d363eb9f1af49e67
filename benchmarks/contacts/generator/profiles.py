"""Profiles on social networks: the forms of their addresses, and links that only share a page."""

from __future__ import annotations

from urllib.parse import quote

from benchmarks.contacts.generator.draft import Draft

_NETWORKS = ("facebook.com", "instagram.com", "x.com", "youtube.com", "tiktok.com")
_HANDLED = ("youtube.com", "tiktok.com")


def add(draft: Draft, what: str, where: str) -> None:
    if what == "share":
        _share(draft)
        return
    handle = draft.domain.partition(".")[0].replace("-", "")
    links = _forms(draft, handle) if what == "forms" else _plain(draft, handle)
    draft.truth.socials["must"] += [profile for _, profile in links]
    fragment = draft.look.icons([(href, profile.split("/")[2].split(".")[-2]) for href, profile in links])
    (draft.footer if where == "footer" else draft.body).append(fragment)


def _plain(draft: Draft, handle: str) -> list[tuple[str, str]]:
    chosen = draft.random.sample(_NETWORKS, 2)
    profiles = [f"https://www.{host}/{'@' if host in _HANDLED else ''}{handle}" for host in chosen]
    return [(profile, profile) for profile in profiles]


def _forms(draft: Draft, handle: str) -> list[tuple[str, str]]:
    """What stands in the link, and the profile that it means."""
    number = draft.random.randrange(16, 256)
    pub = f"https://www.linkedin.com/pub/{handle}/{number:x}/{number + 7:x}/{number * 3:x}"
    company = f"https://www.linkedin.com/company/{handle}"
    pools = (
        [(pub, pub), (f"{company}/about/", company)],
        [
            (f"https://www.pinterest.com/{handle}/{tab}", f"https://www.pinterest.com/{handle}")
            for tab in ("_saved", "_created/")
        ],
        [
            (f"https://www.youtube.com/@{handle}/videos", f"https://www.youtube.com/@{handle}"),
            (f"https://www.tiktok.com/@{handle}?lang=en", f"https://www.tiktok.com/@{handle}"),
        ],
        [
            (f"https://m.facebook.com/{handle}/?locale=en_US", f"https://www.facebook.com/{handle}"),
            (f"https://www.facebook.com/{handle}/videos/", f"https://www.facebook.com/{handle}"),
        ],
    )
    return [draft.random.choice(pool) for pool in pools]


def _share(draft: Draft) -> None:
    page = quote(f"https://www.{draft.domain}/", safe="")
    links = [
        (f"https://www.facebook.com/sharer/sharer.php?u={page}", "share"),
        (f"https://x.com/intent/tweet?url={page}", "post"),
        (f"https://www.linkedin.com/shareArticle?mini=true&amp;url={page}", "share"),
    ]
    draft.body.append(draft.look.icons(links))
    draft.truth.socials["reject"] += [
        "https://www.facebook.com/sharer/sharer.php",
        "https://x.com/intent/tweet",
        "https://www.linkedin.com/shareArticle",
    ]
