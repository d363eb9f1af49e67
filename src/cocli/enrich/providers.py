"""Domains that many share: mail providers, website platforms and hosts, public authorities."""

from __future__ import annotations

import re

from cocli.enrich.wordlist import words

_FREEMAIL_NAMES = words(
    """
    gmail googlemail hotmail outlook live msn yahoo ymail rocketmail aol icloud gmx web freenet t-online arcor mail
    email yandex rambler bk inbox list ukr protonmail proton posteo mailbox zoho fastmail tutanota tuta laposte orange
    wanadoo free sfr neuf bbox libero virgilio alice tin tiscali email wp o2 onet interia op gazeta poczta seznam
    centrum azet abv terra uol bol ig telefonica kpnmail ziggo planet home hetnet xs4all casema telenet skynet
    proximus bluewin hispeed sunrise aon chello kabsi btinternet btopenworld sky talktalk virginmedia ntlworld
    blueyonder comcast verizon att sbcglobal bellsouth cox charter earthlink shaw rogers bigpond optusnet naver
    hanmail daum qq 163 126 sina rediffmail otenet mynet turk luukku kolumbus telia bredband freemail citromail
    indamail sapo netcabo eircom windstream frontier juno netzero optonline roadrunner rr tds centurylink embarqmail
    cableone ptd mac me
    """
)
_FREEMAIL_ENDINGS = words(
    """
    com de net org fr it es nl pl at ch be co.uk ru cz sk hu eu com.br com.ar com.mx com.au ca co.jp jp in co.in gr se
    fi dk no ie pt ua by kz lt lv ee ro bg hr si rs tr com.tr cn kr us me com.vn vn co.id
    """
)
PLATFORMS = words(
    """
    wix.com wixpress.com godaddy.com secureserver.net squarespace.com shopify.com wordpress.com wordpress.org
    automattic.com weebly.com jimdo.com jimdo.de webnode.com webflow.com ionos.de ionos.com ionos.fr 1und1.de
    1and1.com strato.de strato.com hetzner.com hetzner.de ovh.com ovh.net ovhcloud.com gandi.net infomaniak.com
    infomaniak.ch one.com siteground.com bluehost.com hostgator.com namecheap.com hostinger.com all-inkl.com
    mittwald.de df.eu domainfactory.de alfahosting.de netcup.de netcup.eu checkdomain.de united-domains.de denic.de
    nic.at o2switch.fr aruba.it register.it transip.nl home.pl nazwa.pl loopia.se cyon.ch hostpoint.ch world4you.com
    easyname.com cloudflare.com google.com facebook.com meta.com instagram.com twitter.com x.com linkedin.com
    pinterest.com tiktok.com apple.com microsoft.com amazon.com paypal.com stripe.com klarna.com booking.com
    airbnb.com expedia.com hrs.de hotels.com tripadvisor.com opentable.com opentable.de thefork.com resmio.com
    quandoo.com treatwell.de treatwell.com doctolib.de doctolib.fr jameda.de calendly.com lieferando.de takeaway.com
    ubereats.com just-eat.com deliveroo.com mailchimp.com sendinblue.com brevo.com hubspot.com zendesk.com intercom.io
    trustpilot.com provenexpert.com yelp.com houzz.com etracker.com etracker.de matomo.org hotjar.com usercentrics.com
    cookiebot.com elementor.com envato.com themeforest.net domainmarket.com sedo.com dan.com afternic.com
    hugedomains.com
    """
)
_AUTHORITIES = words(
    """
    bund.de bfdi.bund.de cnil.fr aepd.es gpdp.it garanteprivacy.it autoriteitpersoonsgegevens.nl uodo.gov.pl
    ico.org.uk dsb.gv.at dpa.gr cnpd.pt dataprotection.ie imy.se datatilsynet.dk datatilsynet.no uoou.cz naih.hu
    edoeb.admin.ch datenschutzstelle.li datenschutz-berlin.de datenschutz-hamburg.de lfdi.bwl.de europa.eu ldi.nrw.de
    lda.brandenburg.de apda.ad
    """
)
_PUBLIC = re.compile(
    r"(?:^|\.)(?:gov|gouv|gob|gv|govt|admin|europa|bund|bayern|thueringen|nrw|sachsen|sachsen-anhalt|hessen|rlp|niedersachsen|saarland|"
    r"bremen|brandenburg|mvnet|bwl)(?:\.[a-z]{2,3}){0,2}$|datenschutz(?:zentrum|-?mv)?\.[a-z.]+$|privacy-?authority"
)


def is_freemail(registrable: str) -> bool:
    """A domain on which anybody can have a mailbox."""
    name, _, ending = registrable.partition(".")
    return name in _FREEMAIL_NAMES and ending in _FREEMAIL_ENDINGS


def is_platform(registrable: str) -> bool:
    return registrable in PLATFORMS


def is_authority(domain: str, registrable: str) -> bool:
    """A public body, such as the one that watches over privacy."""
    return registrable in _AUTHORITIES or domain in _AUTHORITIES or _PUBLIC.search(domain) is not None
