"""Texts on websites that look like an address of the business and are none: nobody's, or somebody else's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Relation = Literal["own", "freemail", "agency", "platform", "authority", "other"]


@dataclass(frozen=True, slots=True)
class Negative:
    """A piece of a page, under the name that the public benchmark of contacts gives it."""

    name: str
    body: str
    rejects: tuple[str, ...] = ()
    """Must not be reported at all."""
    others: tuple[tuple[str, Relation], ...] = ()
    """Real addresses of somebody else: found with this relation, never offered as the business'."""
    optional: tuple[str, ...] = ()
    """Of nobody's interest, and no mistake."""


_SENTRY = (
    "8df7a1c2b3e44f5a9b0c1d2e3f405162@o447951.ingest.sentry.io",
    "605a7baede844d278b89dc95ae0a9123@sentry-next.wixpress.com",
)
_HASH = "3f2a9c1e8b7d4f60a1b2c3d4e5f60718@log.§domain§"
_UUID = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d@t.§domain§"

NEGATIVES: tuple[Negative, ...] = (
    Negative(
        "not-retina",
        '<img src="/img/logo@2x.png" srcset="/img/logo@2x.png 2x, /img/logo@3x.webp 3x" alt="Logo">'
        "<p>Picture: logo@2x.png, team@3x.webp and plan@2x.zip</p>",
        rejects=("logo@2x.png", "logo@3x.webp", "team@3x.webp", "plan@2x.zip"),
    ),
    Negative(
        "not-npm",
        '<script src="https://cdn.jsdelivr.net/npm/react@16.13.1/umd/react.production.min.js"></script>'
        '<script src="https://unpkg.com/@popperjs/core@2.11.8/dist/popper.min.js"></script>'
        "<p>Built with react@16.13.1 and @angular/core@17.0.md</p>",
        rejects=("react@16.13.1", "core@2.11.8", "core@17.0.md"),
    ),
    Negative(
        "not-sentry",
        f'<script>Sentry.init({{dsn:"https://{_SENTRY[0]}/5429215"}});var d="{_SENTRY[1]}";</script>',
        rejects=_SENTRY,
    ),
    Negative(
        "not-placeholder",
        '<form><label>E-mail <input type="email" placeholder="you@example.com" value="name@yourdomain.com"></label>'
        "<p>Format: user@domain.com, john.doe@email.com, info@yourcompany.com, email@address.com</p></form>",
        rejects=(
            *("you@example.com", "name@yourdomain.com", "user@domain.com", "john.doe@email.com"),
            *("info@yourcompany.com", "email@address.com"),
        ),
    ),
    Negative(
        "not-placeholder-text",
        "<p>Your address, such as ihr.name@beispiel.de or votre@email.com or nombre@ejemplo.com or nome@esempio.it</p>",
        rejects=("ihr.name@beispiel.de", "votre@email.com", "nombre@ejemplo.com", "nome@esempio.it"),
    ),
    Negative(
        "not-theme-demo",
        '<p>Call us: +1 123 456 7890 · <a href="mailto:filler@godaddy.com">filler@godaddy.com</a> · '
        '<a href="mailto:info@mysite.com">info@mysite.com</a> · hello@reallygreatsite.com</p>',
        rejects=("filler@godaddy.com", "info@mysite.com", "hello@reallygreatsite.com"),
    ),
    Negative(
        "not-template",
        "<p>Lorem ipsum dolor sit amet, consectetur adipiscing elit.</p><p>"
        '<a href="mailto:hello@wanderluxe.com">hello@wanderluxe.com</a>'
        ' <a href="tel:+0123456789">+01 2345 6789</a></p>'
        '<p><a href="https://www.facebook.com/">f</a><a href="https://twitter.com/i/flow/login">t</a>'
        '<a href="https://www.instagram.com/accounts/login/">i</a></p>',
        rejects=("hello@wanderluxe.com",),
    ),
    Negative(
        "not-userinfo",
        '<p><a href="https://visitor:secret@intern.§domain§/plan">Plan</a> ftp://guest@ftp.§domain§/ and '
        "https://token@api.§domain§/v1</p>",
        rejects=("secret@intern.§domain§", "guest@ftp.§domain§", "token@api.§domain§"),
    ),
    Negative(
        "not-medium",
        '<p><a href="https://medium.com/@town.tales">medium.com/@town.tales</a> '
        '<a href="https://www.youtube.com/@town.tales">YouTube</a></p>',
        rejects=("medium.com/@town.tales",),
    ),
    Negative(
        "not-maps",
        '<p><a href="https://www.google.com/maps/place/Here/@38.5795,-101.0235,17z">Map</a> '
        "https://www.google.com/maps/@38.57,-101.02,15z</p>",
    ),
    Negative(
        "not-mastodon",
        '<p>Follow us: @ourplace@handwork.social or <a rel="me" href="https://handwork.social/@ourplace">'
        "@ourplace@handwork.social</a></p>",
        rejects=("ourplace@handwork.social",),
    ),
    Negative(
        "not-hash",
        f'<p data-id="{_HASH}">Log {_HASH}</p><script>track("{_UUID}")</script>',
        rejects=(_HASH, _UUID),
    ),
    Negative(
        "not-minified",
        r'<script>!function(e){var t=e.x@e.y.z;n="a@b.co";r=/^[\w.]+@[\w.]+\.\w+$/;s="x@y.z"}(window);'
        "/* (c) jane@some-library.org */\n// by author@another-library.com\n</script>",
        rejects=("e.x@e.y.z", "a@b.co", "x@y.z", "jane@some-library.org", "author@another-library.com"),
    ),
    Negative(
        "not-css",
        "<style>/* Font by maker@typefoundry-lindt.com */ @media print{a{color:#000}}</style>"
        "<!-- Template by dev@themeworks-aal.com, was: old@§domain§ --><p>Welcome</p>",
        rejects=("maker@typefoundry-lindt.com", "dev@themeworks-aal.com", "old@§domain§"),
    ),
    Negative(
        "not-git",
        "<pre>git clone git@github.com:ourplace/plan.git\nssh root@server.§domain§</pre>",
        rejects=("git@github.com", "root@server.§domain§"),
    ),
    Negative(
        "not-noreply",
        "<p>Confirmations come from noreply@§domain§ and no-reply@§domain§; to leave: unsubscribe@§domain§; "
        "DMCA: dmca@§domain§</p>",
        rejects=("noreply@§domain§", "no-reply@§domain§", "unsubscribe@§domain§", "dmca@§domain§"),
    ),
    Negative(
        "not-agency",
        "<p>Website by: Brightquill &amp; Co,"
        ' <a href="mailto:hi@brightquill-lorimer.com">hi@brightquill-lorimer.com</a></p>',
        others=(("hi@brightquill-lorimer.com", "agency"),),
    ),
    Negative(
        "not-host",
        '<p>Hosting: <a href="mailto:support@alfahosting.de">support@alfahosting.de</a>; domain: abuse@denic.de, '
        "support@ionos.de</p>",
        rejects=("abuse@denic.de",),
        others=(("support@alfahosting.de", "platform"), ("support@ionos.de", "platform")),
    ),
    Negative(
        "not-platform",
        '<p>Book through <a href="mailto:customer.service@booking.com">customer.service@booking.com</a> or '
        "help@opentable.com</p>",
        others=(("customer.service@booking.com", "platform"), ("help@opentable.com", "platform")),
    ),
    Negative(
        "not-authority",
        "<h2>Privacy</h2><p>Supervisory authorities: poststelle@bfdi.bund.de, contact@cnil.fr</p>",
        others=(("poststelle@bfdi.bund.de", "authority"), ("contact@cnil.fr", "authority")),
    ),
    Negative(
        "not-news",
        "<article><h2>A new partner</h2><p>Since May the brickyard Redbeech delivers. Questions are answered by "
        "press@redbeech-brickyard.com.</p></article>",
        others=(("press@redbeech-brickyard.com", "other"),),
    ),
    Negative(
        "not-review",
        '<section class="reviews"><blockquote>Splendid work!'
        " <cite>Ulric, ulric.summers77@gmail.com</cite></blockquote></section>",
        others=(("ulric.summers77@gmail.com", "other"),),
    ),
    Negative(
        "not-phrase",
        "<p>Meet us @ §domain§, look at our-roofs.com, find us at §domain§. Stand 4 at county-fair.com (a) or (b).</p>",
        rejects=("us@§domain§", "look@our-roofs.com"),
    ),
    Negative(
        "not-numbers",
        "<p>Licence no. 504 217 · IBAN DE02 1203 0000 0000 2020 51 · account 0202051 · 2024-2026 · ZIP 67801</p>",
    ),
    Negative(
        "not-share",
        '<p><a href="https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2Fwww.§domain§">Share</a> '
        '<a href="https://twitter.com/intent/tweet?text=Look">Tweet</a> <a href="https://wa.me/?text=Look">WhatsApp</a></p>',
    ),
    Negative(
        "not-library-author",
        '<script>var LIB={version:"1.4.2",author:"Jane <jane@coolslider-lib.com>"};</script>',
        optional=("jane@coolslider-lib.com",),
    ),
)
"""Beside these, a contact form alone and an address in an image alone are kinds of sites."""
