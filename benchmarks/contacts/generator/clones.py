"""Pages that were copied from somebody else, and things that only look like contacts."""

from __future__ import annotations

import json
from html import escape

from benchmarks.contacts.generator.draft import Draft
from benchmarks.contacts.generator.words import countries, international

_VENDORS = (
    "themeforge-demos.com",
    "brightpress-themes.com",
    "sitekitgallery.net",
    "templatebarn.io",
    "gridcanvas.studio",
)


def add(draft: Draft, where: str) -> None:
    """The page names another site as its own address, and that site's contacts as its own."""
    vendor = draft.random.choice(_VENDORS)
    url = f"https://{vendor}/demo/{draft.random.choice(('aria', 'craft', 'lumen', 'oak'))}/"
    address = f"{draft.random.choice(('support', 'hello', 'info'))}@{vendor}"
    number = countries()["US"].number(draft.random)
    profile = f"https://www.facebook.com/{vendor.partition('.')[0].replace('-', '')}"
    draft.head.append(f'<link rel="canonical" href="{url}"><meta property="og:url" content="{url}">')
    graph = {
        "@context": "https://schema.org",
        "@type": "Organization",
        "@id": f"{url}#organization",
        "url": url,
        "name": vendor.partition(".")[0].replace("-", " ").title(),
        "email": address,
        "telephone": number,
        "sameAs": [profile],
    }
    draft.head.append(f'<script type="application/ld+json">{json.dumps(graph)}</script>')
    draft.truth.emails["thirdparty"].append(address)
    draft.truth.phones["thirdparty"].append(number)
    draft.truth.socials["thirdparty"].append(profile)
    if where == "whole":
        draft.body.append(draft.line("mail", draft.look.link(f"mailto:{address}", address)))
        draft.body.append(draft.line("phone", draft.look.link(f"tel:{number}", international(number))))
        draft.footer.append(draft.look.icons([(profile, "facebook")]))


def add_noise(draft: Draft, what: str) -> None:
    if what == "mail":
        draft.body.append(
            f'<img src="/img/header@2x.jpg" srcset="/img/header@2x.jpg 2x, /img/header@3x.jpg 3x" alt="">'
            f'<script src="https://cdn.jsdelivr.net/npm/swiper@11.0.5/swiper.min.js"></script>'
            f'<a href="https://www.google.com/maps/@{draft.random.uniform(-60, 60):.6f},'
            f'{draft.random.uniform(0, 90):.6f},9z">'
            f"{draft.label('address')}</a>"
        )
        return
    stamp = draft.random.randrange(16 * 10**11, 18 * 10**11)
    year = draft.random.randrange(2019, 2027)
    article, order = draft.random.randrange(10**8, 10**9), draft.random.randrange(10**11, 10**12)
    draft.body.append(
        f"<p>{escape(draft.words.country.money)} · {year}-0{draft.random.randrange(1, 10)}-15 · № {article}</p>"
        f'<div data-product="{article}" data-order="{order}" id="block-{article}"></div>'
        f"<script>window.dataLayer=[{{'transaction':'{order}','ts':{stamp}}}];</script>"
    )
