"""Domains that many share: mail providers, website platforms and hosts, public authorities."""

from __future__ import annotations

import re

from cocli.pipeline.websites.page.wordlist import words

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
_FREEMAIL_DOMAINS = words(
    """
    a1.net inode.at utanet.at bluemail.ch vodafone.de kabelmail.de netcologne.de ewetel.net ewe.net online.de
    onlinehome.de unitybox.de versatel.de osnanet.de gmx.net numericable.fr club-internet.fr aliceadsl.fr cegetel.net
    nordnet.fr sympatico.ca bell.net videotron.ca telus.net telusplanet.net cogeco.ca eastlink.ca sasktel.net
    xtra.co.nz iinet.net.au internode.on.net westnet.com.au tpg.com.au dodo.com.au aapt.net.au ozemail.com.au
    suddenlink.net mchsi.com hughes.net peoplepc.com prodigy.net ameritech.net pacbell.net swbell.net snet.net
    flash.net nvbell.net mindspring.com netscape.net pobox.com hushmail.com usa.net excite.com lycos.com btconnect.com
    tiscali.co.uk talk21.com freeserve.co.uk lineone.net virgin.net plus.com docomo.ne.jp softbank.ne.jp ezweb.ne.jp
    i.softbank.jp nifty.com ocn.ne.jp biglobe.ne.jp so-net.ne.jp plala.or.jp dion.ne.jp inbox.lv mail.ee hot.ee pt.lu
    scarlet.be belgacom.net pandora.be quicknet.nl zonnet.nl upcmail.nl solcon.nl kpnplanet.nl chello.nl chello.at
    bigpond.net.au optusnet.com.au pec.it legalmail.it arubapec.it postecert.it pecimprese.it aliceposta.it teletu.it
    fastwebnet.it vodafone.it email.it telefonica.net ya.com jazzfree.com ono.com mail.telepac.pt clix.pt neostrada.pl
    autograf.pl vp.pl tlen.pl spoko.pl volny.cz post.cz atlas.cz zoznam.sk t-email.hu vipmail.hu
    protonmail.ch pm.me hey.com icloud.com ntlworld.com
    """
)
"""Of providers whose names are somebody else's under another ending; also those of certified mail."""
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
    hugedomains.com ionos.co.uk ionos.es ovh.fr ovh.es ovh.de dreamhost.com networksolutions.com web.com duda.co
    webador.com one.de simply.com cookieyes.com complianz.io borlabs.io iubenda.com termly.io wordfence.com akismet.com
    squareup.com square.com toasttab.com clover.com vagaro.com mindbodyonline.com booksy.com fresha.com zocdoc.com
    doordash.com grubhub.com resdiary.com designmynight.com podium.com birdeye.com thryv.com yext.com hibu.com yell.com
    yellowpages.com vistaprint.com ueni.com sucuri.net wixanswers.com typeform.com jotform.com
    """
)
_AUTHORITIES = words(
    """
    bund.de bfdi.bund.de cnil.fr aepd.es gpdp.it garanteprivacy.it autoriteitpersoonsgegevens.nl uodo.gov.pl
    ico.org.uk dsb.gv.at dpa.gr cnpd.pt dataprotection.ie imy.se datatilsynet.dk datatilsynet.no uoou.cz naih.hu
    edoeb.admin.ch datenschutzstelle.li datenschutz-berlin.de datenschutz-hamburg.de lfdi.bwl.de europa.eu ldi.nrw.de
    lda.brandenburg.de apda.ad verbraucher-schlichter.de universalschlichtungsstelle.de verbraucher-streitbeilegung.de
    """
)
_PUBLIC = re.compile(
    r"(?:^|\.)(?:gov|gouv|gob|gv|govt|admin|europa|bund|bayern|thueringen|nrw|sachsen|sachsen-anhalt|hessen|rlp|niedersachsen|saarland|"
    r"bremen|brandenburg|mvnet|bwl)(?:\.[a-z]{2,3}){0,2}$|datenschutz(?:zentrum|-?mv)?\.[a-z.]+$|privacy-?authority"
)


def is_freemail(registrable: str) -> bool:
    """A domain on which anybody can have a mailbox."""
    name, _, ending = registrable.partition(".")
    return (name in _FREEMAIL_NAMES and ending in _FREEMAIL_ENDINGS) or registrable in _FREEMAIL_DOMAINS


def is_platform(registrable: str) -> bool:
    return registrable in PLATFORMS


def is_authority(domain: str, registrable: str) -> bool:
    """A public body, such as the one that watches over privacy."""
    return registrable in _AUTHORITIES or domain in _AUTHORITIES or _PUBLIC.search(domain) is not None
