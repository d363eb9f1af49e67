"""Pages that are not a business': parked domains, domains for sale, walls against robots, shells of scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from cocli.demo.town.languages import LANGUAGES
from cocli.demo.town.websites.cloaks import base64_text

if TYPE_CHECKING:
    from cocli.demo.town.websites.site import TownSite

_SHELL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>
<script src="/app.js"></script></body></html>
"""
_PARKED = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{domain}</title></head>
<body><h1>{domain}</h1><p>This domain is parked free, courtesy of the registrar.</p>
<h2>Related searches</h2>
<ul><li><a href="/?kw=one">Insurance quotes</a></li><li><a href="/?kw=two">Online degrees</a></li>
<li><a href="/?kw=three">Credit cards</a></li></ul>
<p>The sponsored listings displayed above are served automatically by a third party. Neither the service provider
nor the domain owner maintain any relationship with the advertisers.</p>
<script src="https://www.google.com/adsense/domains/caf.js"></script></body></html>
"""
_FOR_SALE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{domain} is for sale</title></head>
<body><h1>The domain name {domain} is for sale</h1><p>Buy this domain: $2,495. Make an offer or lease it to own.</p>
<p><a href="https://www.hugedomains.com/domain_profile.cfm?d={domain}">Buy now</a></p></body></html>
"""
_WALL = """<!DOCTYPE html>
<html lang="en-US"><head><title>Just a moment...</title><meta name="robots" content="noindex,nofollow"></head>
<body><h1>{domain}</h1><h2>Checking if the site connection is secure</h2><div id="challenge-stage"></div>
<noscript>Enable JavaScript and cookies to continue</noscript>
<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></body></html>
"""


def shell_page(site: TownSite) -> str:
    return _SHELL.format(name=escape(site.name))


def shell_script(site: TownSite) -> str:
    """What the shell shows once a browser runs it."""
    lines = [f"<h1>{escape(site.name)}</h1>"]
    lines += [f"<p><a href='mailto:{email.address}'>Mail</a></p>" for email in site.emails]
    return f"document.getElementById('root').innerHTML = atob('{base64_text(''.join(lines))}');\n"


def parked_page(site: TownSite) -> str:
    return _PARKED.format(domain=site.domain)


def for_sale_page(site: TownSite) -> str:
    return _FOR_SALE.format(domain=site.domain)


def wall_page(site: TownSite) -> str:
    return _WALL.format(domain=site.domain)


def other_company_page(host: str) -> str:
    """The home of whoever took over: another name, another town, another phone number."""
    domain = host.removeprefix("www.")
    name = domain.partition(".")[0].replace("-", " ").title()
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name} – Investments</title></head>\n'
        f"<body><h1>{name}</h1><p>Private equity for the Great Lakes.</p>"
        f'<p>Phone: <a href="tel:+13125557002">(312) 555-7002</a></p>'
        f'<p><a href="mailto:office@{domain}">office@{domain}</a></p></body></html>\n'
    )


def robots_text(site: TownSite) -> str:
    lines = ["User-agent: *"]
    if site.kind == "robots-closed":
        lines.append("Disallow: /")
    elif site.kind == "robots-contact":
        lines.append(f"Disallow: {LANGUAGES[site.language].contact_path}")
    else:
        lines.append("Disallow: /cgi-bin/")
    if site.crawl_delay:
        lines.append(f"Crawl-delay: {site.crawl_delay}")
    return "\n".join([*lines, f"Sitemap: {site.url}sitemap.xml", ""])


def sitemap(site: TownSite, host: str) -> str:
    language = LANGUAGES[site.language]
    addresses = "".join(f"<url><loc>http://{host}{language.path(page)}</loc></url>" for page in site.pages)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{addresses}</urlset>\n'
    )
