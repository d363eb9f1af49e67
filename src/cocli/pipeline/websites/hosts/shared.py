"""Hosts on which many companies have a page: such an address says nothing about who two companies are.

The public suffix list already makes `foo.wixsite.com` a domain of its own. Here stand the hosts that it does not list.
"""

from __future__ import annotations

from cocli.errors import IdentityError
from cocli.keys.identities import registrable_domain

SHARED_HOSTS = frozenset([
    "airbnb.com", "amazon.com", "angi.com", "apple.com", "bbb.org", "beacons.ai", "bing.com", "bit.ly",
    "blogger.com", "booking.com", "booksy.com", "business.site", "calendly.com", "deliveroo.co.uk", "doctolib.de",
    "doctolib.fr", "doordash.com", "ebay.com", "etsy.com", "expedia.com", "facebook.com", "fb.com", "fb.me",
    "foursquare.com", "fresha.com", "g.page", "gelbeseiten.de", "godaddysites.com", "goo.gl", "goo.gle",
    "google.com", "grubhub.com", "houzz.com", "instagram.com", "jimdosite.com", "just-eat.co.uk", "lieferando.de",
    "linkedin.com", "linktr.ee", "lnk.bio", "medium.com", "mindbodyonline.com", "nextdoor.com", "opentable.com",
    "ow.ly", "page.link", "pagesjaunes.fr", "paginasamarillas.es", "paginegialle.it", "pinterest.com", "quandoo.de",
    "resy.com", "shopify.com", "snapchat.com", "squarespace.com", "t.co", "t.me", "telegram.me", "thefork.com",
    "threads.net", "thumbtack.com", "tiktok.com", "tinyurl.com", "toasttab.com", "treatwell.co.uk",
    "tripadvisor.com", "tumblr.com", "twitter.com", "ubereats.com", "vagaro.com", "vk.com", "wa.me", "webnode.com",
    "weebly.com", "whatsapp.com", "wix.com", "wordpress.com", "x.com", "yellowpages.com", "yelp.com", "youtu.be",
    "youtube.com", "zocdoc.com",
])  # fmt: skip

SOCIAL_NETWORKS = {
    "facebook.com": "facebook",
    "fb.com": "facebook",
    "instagram.com": "instagram",
    "linkedin.com": "linkedin",
    "tiktok.com": "tiktok",
    "twitter.com": "x",
    "x.com": "x",
    "youtube.com": "youtube",
    "pinterest.com": "pinterest",
}
"""The name that the profile gets in a prospect's `socials`."""


def own_domain(address: str | None) -> str | None:
    """The registrable domain of a website that one company has to itself, or None."""
    domain = _domain(address)
    return None if domain is None or domain in SHARED_HOSTS else domain


def social_network(address: str | None) -> str | None:
    """The network on which this address is a profile, or None."""
    domain = _domain(address)
    return SOCIAL_NETWORKS.get(domain) if domain else None


def _domain(address: str | None) -> str | None:
    if not address or not address.strip():
        return None
    try:
        return registrable_domain(address)
    except IdentityError:
        return None  # an address by number or a mistyped one: it is shown, but names nobody
