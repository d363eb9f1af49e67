"""What a site is built with, by the traces it leaves: the generator's name, addresses of scripts, marks in the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.finding import Finding

if TYPE_CHECKING:
    from cocli.pipeline.websites.page.page import Page

MAX_SOURCES = 3_000


@dataclass(frozen=True, slots=True)
class Trace:
    """A technology and the texts that betray it, in lower case."""

    name: str
    generator: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Parts of the addresses of scripts, style sheets, images and frames."""
    scripts: tuple[str, ...] = ()
    """Parts of the page's own scripts."""


TRACES: tuple[Trace, ...] = (
    Trace("WordPress", ("wordpress",), ("/wp-content/", "/wp-includes/", "/wp-json")),
    Trace("WooCommerce", ("woocommerce",), ("/plugins/woocommerce/",)),
    Trace("Elementor", ("elementor",), ("/plugins/elementor/",)),
    Trace("Contact Form 7", (), ("/plugins/contact-form-7/",)),
    Trace("Yoast SEO", (), ("/plugins/wordpress-seo",)),
    Trace("Divi", ("divi",), ("/themes/divi/",)),
    Trace("WPBakery", ("wpbakery",), ("/js_composer/",)),
    Trace("Joomla", ("joomla",), ("/media/jui/", "/media/system/js/", "/components/com_")),
    Trace("TYPO3", ("typo3",), ("/typo3conf/", "/typo3temp/", "/_assets/")),
    Trace("Drupal", ("drupal",), ("/sites/default/files/", "/core/misc/drupal"), ("drupal.settings", "drupalsettings")),
    Trace("Contao", ("contao",), ("/assets/contao/",)),
    Trace("Wix", ("wix.com",), ("static.wixstatic.com", "static.parastorage.com", "siteassets.parastorage.com")),
    Trace(
        "Squarespace",
        ("squarespace",),
        ("static1.squarespace.com", "assets.squarespace.com"),
        ("static.squarespace_context",),
    ),
    Trace("Shopify", ("shopify",), ("cdn.shopify.com",), ("shopify.theme",)),
    Trace("Webflow", ("webflow",), ("website-files.com", "assets.website-files")),
    Trace("Jimdo", ("jimdo",), ("assets.jimstatic.com", "jimdo.com")),
    Trace("GoDaddy Website Builder", ("go daddy", "godaddy", "starfield"), ("img1.wsimg.com",)),
    Trace("Weebly", ("weebly",), ("cdn2.editmysite.com",)),
    Trace("Duda", ("duda",), ("irp.cdn-website.com", "multiscreensite.com")),
    Trace("IONOS MyWebsite", ("mywebsite",), ("/mod/mywebsite", "website-start.de")),
    Trace("Strikingly", (), ("strikinglycdn.com",)),
    Trace("Ghost", ("ghost",), ("/ghost/api",)),
    Trace("Hugo", ("hugo",)),
    Trace("Jekyll", ("jekyll",)),
    Trace("Gatsby", ("gatsby",), ("/page-data/",)),
    Trace("Next.js", ("next.js",), ("/_next/static/",), ("__next_data__", "self.__next_f")),
    Trace("Nuxt", ("nuxt",), ("/_nuxt/",), ("window.__nuxt__",)),
    Trace("Astro", ("astro",), ("/_astro/",)),
    Trace("Magento", ("magento",), ("/static/version", "/mage/"), ("mage.cookies",)),
    Trace("PrestaShop", ("prestashop",), ("/modules/ps_",), ("var prestashop",)),
    Trace("Shopware", ("shopware",), ("/bundles/storefront/", "/themes/frontend/")),
    Trace("OpenCart", ("opencart",), ("catalog/view/theme",)),
    Trace("Odoo", ("odoo",), ("/web/assets/",)),
    Trace("HubSpot", ("hubspot",), ("js.hs-scripts.com", "js.hsforms.net")),
    Trace("jQuery", (), ("jquery",)),
    Trace("Bootstrap", (), ("bootstrap.min", "bootstrap.css", "bootstrap.bundle", "/bootstrap@")),
    Trace("React", (), ("react.production.min", "react-dom", "/react@")),
    Trace("Vue.js", (), ("vue.min.js", "/vue@", "vue.global")),
    Trace(
        "Google Analytics",
        (),
        ("google-analytics.com", "googletagmanager.com/gtag"),
        ("google-analytics.com", "gtag('config'"),
    ),
    Trace("Google Tag Manager", (), ("googletagmanager.com/gtm",), ("googletagmanager.com/gtm",)),
    Trace("Google Maps", (), ("maps.googleapis.com", "google.com/maps/embed", "maps.google.")),
    Trace("Google Fonts", (), ("fonts.googleapis.com",)),
    Trace("reCAPTCHA", (), ("google.com/recaptcha", "recaptcha/api")),
    Trace("Meta Pixel", (), ("connect.facebook.net",), ("connect.facebook.net", "fbq('init'")),
    Trace("Matomo", (), ("matomo.js", "piwik.js"), ("_paq.push",)),
    Trace("Hotjar", (), ("static.hotjar.com",), ("static.hotjar.com",)),
    Trace("Cloudflare", (), ("/cdn-cgi/", "cdnjs.cloudflare.com", "static.cloudflareinsights.com")),
    Trace("Cookiebot", (), ("consent.cookiebot.com",)),
    Trace("Usercentrics", (), ("usercentrics.eu",)),
    Trace("Borlabs Cookie", (), ("/borlabs-cookie/",)),
    Trace("Stripe", (), ("js.stripe.com",)),
    Trace("PayPal", (), ("paypal.com/sdk", "paypalobjects.com")),
    Trace("Calendly", (), ("assets.calendly.com", "calendly.com/")),
    Trace("Doctolib", (), ("doctolib.de", "doctolib.fr")),
    Trace("Mailchimp", (), ("list-manage.com", "chimpstatic.com")),
    Trace("Intercom", (), ("widget.intercom.io",), ("widget.intercom.io",)),
    Trace("Tawk.to", (), ("embed.tawk.to",), ("embed.tawk.to",)),
    Trace("Trustpilot", (), ("widget.trustpilot.com",)),
)


_GENERATORS = tuple((text, trace.name) for trace in TRACES for text in trace.generator)
_SOURCES = tuple((text, trace.name) for trace in TRACES for text in trace.sources)
_SCRIPTS = tuple((text, trace.name) for trace in TRACES for text in trace.scripts)


def find_technologies(page: Page) -> tuple[Finding, ...]:
    """The technologies of a page, each once, with the trace that was found."""
    generator = page.meta.get("generator", "").lower()
    scripts = "\n".join(script.text[:20_000] for script in page.scripts if "json" not in script.kind).lower()[:500_000]
    hits: dict[str, Finding] = {}
    for method, texts, where in (
        ("generator", _GENERATORS, generator),
        ("source", _SOURCES, _sources(page)),
        ("script", _SCRIPTS, scripts),
    ):
        for text, name in texts if where else ():
            if text in where and name not in hits:
                hits[name] = Finding(name, method, text, 0, "head")
    return tuple(hits[trace.name] for trace in TRACES if trace.name in hits)


def _sources(page: Page) -> str:
    texts = (
        element.get(name)[:500]
        for tag in ("script", "link", "img", "iframe", "source", "a")
        for element in page.by_tag.get(tag, ())
        for name in ("src", "href")
        if name in element.attributes
    )
    return "\n".join(text for _, text in zip(range(MAX_SOURCES), texts, strict=False)).lower()
