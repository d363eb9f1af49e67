"""Hosts that are nobody's own website: social networks, directories and booking platforms, sellers of domains.

What these lists do not know is judged by what a page looks like: `placeholder`, `listing`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from cocli.pipeline.websites.hosts.shared import SHARED_HOSTS
from cocli.pipeline.websites.page.page import host_of
from cocli.pipeline.websites.page.suffixes import registrable
from cocli.pipeline.websites.page.wordlist import words

SOCIAL = words(
    """
    facebook.com fb.com fb.me instagram.com twitter.com x.com linkedin.com youtube.com youtu.be tiktok.com pinterest.com
    pinterest.de pinterest.fr pinterest.it pinterest.es pinterest.co.uk threads.net threads.com bsky.app t.me
    telegram.me snapchat.com vk.com ok.ru wa.me whatsapp.com linktr.ee lnk.bio beacons.ai bio.link linkin.bio taplink.cc
    campsite.bio carrd.co xing.com tumblr.com twitch.tv vimeo.com soundcloud.com medium.com discord.gg discord.com
    """
)
_BUILDERS = words(
    """
    business.site godaddysites.com jimdosite.com jimdofree.com jimdo.com webnode.com webnode.page webnode.fr webnode.es
    webnode.it webnode.nl webnode.cz weebly.com weeblysite.com wordpress.com wpcomstaging.com tumblr.com carrd.co
    blogger.com blogspot.com blogspot.de blogspot.co.uk wixsite.com wixstudio.io editorx.io squarespace.com
    myshopify.com webflow.io netlify.app github.io vercel.app pages.dev framer.website framer.app strikingly.com
    mystrikingly.com ueniweb.com yolasite.com site123.me webador.com webador.de simdif.com webs.com ucraft.net
    duckdns.org multiscreensite.com homestead.com negocio.site eatbu.com e-monsite.com over-blog.com canalblog.com
    free.fr altervista.org beepworld.de npage.de de.tl page.tl jouwweb.nl jouwweb.be ucoz.ru tilda.ws nethouse.ru
    ameblo.jp jimdo.jp goope.jp peraichi.com crayonsite.net webnode.jp on-rev.com my-free.website mozello.com
    """
)
"""Below these every company has a site of its own: they are shared, and no directory."""
_DIRECTORIES = words(
    """
    11880.com 192.com agoda.com alignable.com angieslist.com apartments.com avvo.com birdeye.com brownbook.net
    bringfido.com buildzoom.com cargurus.com cars.com check24.de checkatrade.com chamberofcommerce.com citysearch.com
    clutch.co cylex.de cylex.us.com dasoertliche.de dastelefonbuch.de doctoralia.es europages.com europages.de
    findlaw.com firmania.de freeindex.co.uk fresha.com golocal.de goyellow.de groupon.com healthgrades.com herold.at
    homeadvisor.com homestars.com hotels.com hotfrog.com hrs.com hrs.de indeed.com infobel.com jameda.de justdial.com
    kompass.com local.ch local.com manta.com mapquest.com merchantcircle.com meinestadt.de miodottore.it mybuilder.com
    openrice.com paginebianche.it panoramafirm.pl pkt.pl porch.com psychologytoday.com realtor.com ricardo.ch
    rover.com showmelocal.com starofservice.com styleseat.com superpages.com telefoonboek.nl thomasnet.com
    travelocity.com treatwell.de treatwell.com trivago.com trustpilot.com trustedshops.de tupalo.com tuugo.us vrbo.com
    vrisko.gr webmd.com wlw.de xo.gr yably.ca yell.com yellowpages.ca yellowpages.com.au yellowbot.com yandex.ru
    zillow.com
    zoominfo.com znanylekarz.pl zomato.com square.site setmore.com acuityscheduling.com simplybook.me planity.com
    gloriafood.com slicelife.com chownow.com seamless.com menulog.com.au wolt.com foodora.se glovoapp.com
    thuisbezorgd.nl
    iens.nl bookatable.com sevenrooms.com tock.com exploretock.com
    """
)
DIRECTORIES = (SHARED_HOSTS | _DIRECTORIES) - SOCIAL - _BUILDERS
SALE = words(
    """
    sedo.com dan.com afternic.com hugedomains.com domainmarket.com buydomains.com undeveloped.com uniregistry.com
    brandbucket.com squadhelp.com atom.com flippa.com domainagents.com saw.com efty.com brandpa.com perfectdomain.com
    domainlore.co.uk snapnames.com namejet.com dropcatch.com godaddyauctions.com grit.brokerage nameshift.com sav.com
    """
)
PARKING = words(
    """
    sedoparking.com parkingcrew.net bodis.com above.com parklogic.com cashparking.com domainsponsor.com fastpark.net
    skenzo.com rookmedia.net voodoo.com smartname.com trafficz.com mydomaincontact.com namedrive.com
    domainparkingserver.net
    parkingpage.namecheap.com parked-content.godaddy.com park.101domain.com parking.reg.ru dsnextgen.com domainapps.com
    parked.com ndsplitter.com parkeddns.com tonic.to pagesinxt.com domainname.de searchhounds.com sitelutions.com
    """
)


def shared_host(url: str) -> str | None:
    """The registrable domain of an address, where many companies share it; None for a site of somebody's own."""
    domain = registrable(host_of(url))
    return domain if domain in SOCIAL or domain in DIRECTORIES or domain in _BUILDERS else None


def is_social(url: str) -> bool:
    return registrable(host_of(url)) in SOCIAL


def is_directory(url: str) -> bool:
    """A directory, a booking platform, a market place, a map: a page about a company that is not the company's."""
    domain = registrable(host_of(url))
    return domain in DIRECTORIES and not _is_a_site(url)


def is_sale(url: str) -> bool:
    return registrable(host_of(url)) in SALE


def is_parking(url: str) -> bool:
    host = host_of(url)
    return registrable(host) in PARKING or host in PARKING


def _is_a_site(url: str) -> bool:
    """Sites that a company builds at Google have a path of their own."""
    parts = urlsplit(url)
    return parts.hostname == "sites.google.com" and len(parts.path) > 1
