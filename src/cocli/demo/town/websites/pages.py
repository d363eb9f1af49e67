"""The pages of the town's websites. A pure function of the site: the same bytes each time."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from cocli.demo.town.business import national
from cocli.demo.town.languages import LANGUAGES
from cocli.demo.town.websites.cloaks import cloudflare, filled, values_of
from cocli.demo.town.websites.script_forms import form_named

if TYPE_CHECKING:
    from cocli.demo.town.languages import Language
    from cocli.demo.town.websites.forms import Form
    from cocli.demo.town.websites.site import SitePage, TownSite

_STYLE = "<style>main{max-width:46rem;margin:2rem auto;font:17px/1.5 sans-serif}nav a{margin-right:1rem}</style>"
STYLE_SHEET = ".rtl{direction:rtl;unicode-bidi:bidi-override}\n"
_CONTACT_FORM = (
    '<form action="/send" method="post"><input name="name"><input type="email" name="email">'
    '<textarea name="message"></textarea><button>Send</button></form>'
)
_MAIL_IMAGE = '<p>E-mail: <img src="/img/email-address.png" alt="E-mail address as a picture"></p>'


def page_of(site: TownSite, page: SitePage) -> str:
    """The HTML of one page of a site that has pages."""
    language = LANGUAGES[site.language]
    label = language.home if page == "home" else str(getattr(language, page))
    heads, bodies = _addresses(site, page)
    parts = [f"<h1>{escape(_heading(site, page, language, label))}</h1>", *bodies]
    if page in ("home", "about"):
        parts.append(f"<p>{escape(language.intro)}</p>")
    if page == "home":
        parts += [filled(negative.body, {"domain": site.domain}) for negative in site.negatives]
    if page == "contact":
        parts += _reach(site)
    return _document(site, language, label, page, heads, parts)


def _heading(site: TownSite, page: SitePage, language: Language, label: str) -> str:
    if page == "home":
        return f"{language.welcome} {site.name}"
    return label


def _reach(site: TownSite) -> list[str]:
    """What a contact page has beside addresses."""
    parts = [f"<p>{escape(site.name)}<br>{escape(site.address)}</p>"] if site.address else []
    if site.phone:
        parts.append(f'<p>Phone: <a href="tel:{site.phone}">{_spoken(site)}</a></p>')
    if site.kind == "form-only" or any(email.label == "person" for email in site.emails):
        parts.append(_CONTACT_FORM)
    if site.kind == "image-only":
        parts.append(_MAIL_IMAGE)
    parts += [
        f"<p>{escape(branch.street)}, {escape(branch.city)}: {national(branch.phone)}</p>" for branch in site.branches
    ]
    return parts


def _spoken(site: TownSite) -> str:
    shown = national(site.phone or "")
    if site.language == "en":
        return shown
    return f"+1 {shown}"


def _addresses(site: TownSite, page: SitePage) -> tuple[list[str], list[str]]:
    """The pieces for the head and the body of a page that show addresses."""
    here = [email for email in site.emails if email.page == page]
    if not here:
        return [], []
    if here[0].label == "person":
        people = [(email.name or "", email.address) for email in here]
        return [], [f'<p>{escape(name)}: <a href="mailto:{address}">{address}</a></p>' for name, address in people]
    form = form_named(here[0].form)
    values = _values(site, form, [email.address for email in here])
    return [filled(form.head, values)] if form.head else [], [filled(form.body, values)]


def rejects_of(site: TownSite) -> tuple[str, ...]:
    """What the form of a site's addresses shows beside them, and what is nobody's."""
    if not site.emails or site.emails[0].label == "person":
        return ()
    form = form_named(site.emails[0].form)
    values = _values(site, form, [email.address for email in site.emails])
    return tuple(filled(text, values) for text in form.rejects)


def _values(site: TownSite, form: Form, addresses: list[str]) -> dict[str, str]:
    shown = dict(zip(form.shows, addresses, strict=True))
    domain = addresses[0].partition("@")[2]
    name = escape(site.name.replace("&", "and"))
    values = values_of(
        addresses[0], shown.get("second", f"sales@{domain}"), shown.get("third", f"billing@{domain}"), name
    )
    if site.unicode_domain:
        values["idn"] = site.unicode_domain
        values["cf_idn"] = cloudflare(f"{values['local']}@{site.unicode_domain}", 0x21)
    return values


def _document(
    site: TownSite, language: Language, label: str, page: SitePage, heads: list[str], parts: list[str]
) -> str:
    links = [
        f'<a href="{language.path(other)}">{escape(language.home if other == "home" else getattr(language, other))}</a>'
        for other in site.pages
        if not (site.kind == "sitemap-only" and other == "contact")
    ]
    if site.facebook and page == "home":
        parts = [*parts, f'<p><a href="https://www.facebook.com/{site.facebook}">Facebook</a></p>']
    title = site.name if page == "home" else f"{label} – {site.name}"
    declared = {"meta-only": "iso-8859-1"}.get(site.charset, site.charset)
    lines = [
        "<!DOCTYPE html>",
        f'<html lang="{language.code}">',
        "<head>",
        f'<meta charset="{declared}">',
        f"<title>{escape(title)}</title>",
        _STYLE,
        *heads,
        "</head>",
        "<body>",
        f"<header><nav>{' '.join(links)}</nav></header>",
        "<main>",
        *parts,
        "</main>",
        f"<footer><p>© {escape(site.name)}</p></footer>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines)
