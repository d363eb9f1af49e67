"""Pages of ordinary weight and density, for the benchmarks of enrichment."""

from __future__ import annotations

from functools import lru_cache

PAGE_BYTES = 30_000
"""What an ordinary page of a small company weighs, without images and outside scripts."""
_SECTION = """<section class="teaser teaser--wide u-padding-top-large u-background-light" id="abschnitt-{n}">
<h2 class="teaser__title headline headline--second">Leistung {n}: Steildach, Flachdach und Fassade</h2>
<img class="teaser__image" src="/img/bild-{n}-1200x800.jpg"
 srcset="/img/bild-{n}-600x400.jpg 600w, /img/bild-{n}@2x.jpg 2400w" sizes="(max-width: 600px) 100vw, 600px"
 alt="Ein Dach im Ilmtal, gedeckt mit Ziegeln" width="1200" height="800" loading="lazy">
<p>Wir decken seit 1912 Dächer im Ilmtal, mit Ziegel, Schiefer und Blech, und kommen zu jedem Dach am {n}. des Monats.
Vom ersten Gespräch bis zur Abnahme haben Sie einen Ansprechpartner, und was wir sagen, das halten wir.</p>
<svg viewBox="0 0 24 24" width="24" height="24"><path
 d="M12 2C8.13 2 5 5.13 5 9c0 5.25 7 13 7 13s7-7.75 7-13c0-3.87-3.13-7-7-7zm0
 9.5a2.5 2.5 0 0 1 0-5 2.5 2.5 0 0 1 0 5z" fill="currentColor"></path></svg>
<a class="button button--primary" href="/leistungen/abschnitt-{n}">Mehr dazu</a>
<script>window.dataLayer = window.dataLayer || [];
dataLayer.push({{event: "sichtbar", abschnitt: {n}, zeit: Date.now()}});</script>
</section>
"""


def padded(body: bytes) -> bytes:
    """The page with ordinary sections before its end."""
    head, closing, tail = body.partition(b"</body>")
    room = PAGE_BYTES - len(head) - len(tail)
    return head + _filling(max(0, room)) + closing + tail


@lru_cache(maxsize=64)
def _section(number: int) -> bytes:
    return _SECTION.format(n=number).encode()


def _filling(room: int) -> bytes:
    """Whole sections, until there is no room left."""
    sections: list[bytes] = []
    filled = 0
    while filled < room:
        sections.append(_section(len(sections) + 1))
        filled += len(sections[-1])
    return b"".join(sections)
