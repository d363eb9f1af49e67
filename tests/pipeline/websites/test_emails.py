"""E-mail addresses: texts that are hard to cut, and texts that are none."""

from __future__ import annotations

import pytest

from cocli.pipeline.websites import parse_page
from cocli.pipeline.websites.facts.emails.address import read_address
from cocli.pipeline.websites.facts.emails.find import find_emails
from cocli.pipeline.websites.facts.emails.junk import placeholder_domain

URL = "https://www.hainwerk.de/kontakt"


def emails(html: str, url: str = URL) -> list[str]:
    return [finding.value for finding in find_emails(parse_page(html, url)).found]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a.b-c_d+tag@hainwerk.de", ["a.b-c_d+tag@hainwerk.de"]),
        ("<p>müller@hainwerk.de</p>", ["müller@hainwerk.de"]),
        ("<p>'info@hainwerk.de'</p>", ["info@hainwerk.de"]),
        ("<p>(info@hainwerk.de)</p>", ["info@hainwerk.de"]),
        ("<p>info@hainwerk.de/lager@hainwerk.de</p>", ["info@hainwerk.de", "lager@hainwerk.de"]),
        ("<p>info@hainwerk.de,lager@hainwerk.de</p>", ["info@hainwerk.de", "lager@hainwerk.de"]),
        ("<p>info@mail.hainwerk.co.uk.</p>", ["info@mail.hainwerk.co.uk"]),
        ("<p>info@hainwerk.de...</p>", ["info@hainwerk.de"]),
        ("<p>Mail an info@hainwerk.de-wir antworten</p>", ["info@hainwerk.de"]),
        ("<p>info@hainwerk.comPhone: 1</p>", ["info@hainwerk.com"]),
        ("<p>info@hainwerk.comtel</p>", ["info@hainwerk.com"]),
        ("<p>info@hainwerk.com030 1234</p>", ["info@hainwerk.com"]),
        ("<p><span>info@hainwerk.de</span><span>oder</span></p>", ["info@hainwerk.de"]),
        ("<p><b>Weimar</b><i>info@hainwerk.de</i></p>", ["info@hainwerk.de"]),
        ("<p>in<b>fo@hainwerk.de</b></p>", ["info@hainwerk.de"]),
        ("<p>anna<wbr>.tann@<wbr>hainwerk.de</p>", ["anna.tann@hainwerk.de"]),
        ("<p>j.<b>smith</b>@hainwerk.de</p>", ["j.smith@hainwerk.de"]),
        ("<td>info@hainwerk.de</td><td>Tel</td>", ["info@hainwerk.de"]),
        ("<li>info@hainwerk.de<li>Tel", ["info@hainwerk.de"]),
        ("<p>E-Mailinfo@hainwerk.de</p>", ["info@hainwerk.de"]),
        ("<p>мейл:info@hainwerk.deтел</p>", ["info@hainwerk.de"]),
        ("<p>хостинг@почта.рф</p>", []),
        ("<p>info@почта.рф</p>", ["info@xn--80a1acny.xn--p1ai"]),
        ("<a href='mailto:info@hainwerk.de?subject=you@other.org'>x</a>", ["info@hainwerk.de"]),
        ("<a href='mailto://info@hainwerk.de'>x</a>", ["info@hainwerk.de"]),
        ("<a href='mailto: info @hainwerk.de'>x</a>", ["info@hainwerk.de"]),
        ("<a href='mailto:info(at)hainwerk.de'>x</a>", ["info@hainwerk.de"]),
        ("<a href='mailto:?subject=Look&body=a@b.de'>share</a>", []),
        ("<a href='mailto:?to=info@hainwerk.de'>x</a>", ["info@hainwerk.de"]),
        ("<a href='mailto:info%2540hainwerk.de'>x</a>", ["info@hainwerk.de"]),
        ("<a href='https://mail.google.com/mail/?view=cm&fs=1&to=info@hainwerk.de'>x</a>", ["info@hainwerk.de"]),
        ("<p>info (at) hainwerk (punkt) de</p>", ["info@hainwerk.de"]),
        ("<p>anna dot tann at hainwerk dot de</p>", ["anna.tann@hainwerk.de"]),
        ("<p>info[@]hainwerk.de</p>", ["info@hainwerk.de"]),
        ("<p>info(a)hainwerk.de</p>", ["info@hainwerk.de"]),
        ("<p>info @hainwerk.de</p>", ["info@hainwerk.de"]),
        ("<p>E-Mail: tann @ anderswo.de</p>", ["tann@anderswo.de"]),
        ("<select><option value='lager@hainwerk.de'>Lager</option></select>", ["lager@hainwerk.de"]),
        ("<script>var m={to:'info'+'@'+'hainwerk.co'};m.to+='.uk'</script>", ["info@hainwerk.co.uk"]),
        ("<p>info@hainwerk.de</p><script>x='info@hainwerk.d'</script>", ["info@hainwerk.de"]),
        ("<p>info@NOSPAM.hainwerk.de</p>", ["info@hainwerk.de"]),
        ("<p>info-no-spam@hainwerk.de, tann@REMOVETHIShainwerk.de</p>", ["info@hainwerk.de", "tann@hainwerk.de"]),
        ("<a href=\"javascript:linkTo_UnCryptMailto('nbjmup;jogpAibjoxfsl/ef');\">x</a>", ["info@hainwerk.de"]),
        ("<a href='javascript:linkTo_UnCryptMailto(%27ocknvq%2CkphqBjckp%5C%2Fygtm0fg%27);'>", ["info@hain-werk.de"]),
        ("<a data-mailto-token='hvdgoj5diajVcvdirzmf9yz' data-mailto-vector='-5'>x</a>", ["info@hainwerk.de"]),
        ("<p>Anna [dot] Tann [at] hainwerk [dot] co [dot] at</p>", ["anna.tann@hainwerk.co.at"]),
        ("<p>E-Mail: info -at- hainwerk -dot- at</p>", ["info@hainwerk.at"]),
        ("<p>E-Mail: info – at – hainwerk – dot – at</p>", ["info@hainwerk.at"]),
        ("<p>E-Mail: info «at» hainwerk «dot» at</p>", ["info@hainwerk.at"]),
        ("<p>E-Mail: info=at=hainwerk=dot=at</p>", ["info@hainwerk.at"]),
        ("<p>E-Mail: info (at-Zeichen) hainwerk.at</p>", ["info@hainwerk.at"]),
        ("<p>Good food - at - tables.com prices</p>", []),
        ("<p>We are open: at 9.am</p>", []),
        ("<p>INFO@HAINWERK.DE</p><a href='mailto:info@hainwerk.de'>x</a>", ["info@hainwerk.de"]),
    ],
)  # fmt: skip
def test_found(html: str, expected: list[str]) -> None:
    assert emails(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<p>logo@2x.png a@3x.webp b@1.5x.zip</p>",
        "<p>react@16.13.1 lodash@4.17.21.min.js</p>",
        "<img src='/a/info@hainwerk.de.png'>",
        "<p>https://user:word@hainwerk.de/ //token@cdn.hainwerk.de</p>",
        "<p>@hain@werk.social @hain.werk</p>",
        "<p>git@github.com:hain/werk.git</p>",
        "<p>look at hainwerk.de, meet us @ hainwerk.de, work at home.de</p>",
        "<p>attorney-at-law.de office-at-home.de</p>",
        "<p>a@b@c.de</p>",
        "<input type=email placeholder='info@hainwerk.de' value='info@hainwerk.de'>",
        "<textarea>info@hainwerk.de</textarea>",
        "<!-- info@hainwerk.de --><style>/* info@hainwerk.de */</style>",
        "<script>// info@hainwerk.de\n/* info@hainwerk.de */ var a=1</script>",
        "<script type='text/template'><a href='mailto:info@hainwerk.de'></script>",
        "<p>info@gmail.com demo@gmail.com test@yahoo.com</p>",
        "<p>you@example.com me@example.org a@test.com name@firma.de votre@email.com</p>",
        "<p>info@company.com hello@yourbrand.com mail@my-website.com</p>",
        "<p>0123456789abcdef0123456789abcdef@o1.ingest.sentry.io</p>",
        "<p>noreply@hainwerk.de bounce+x@hainwerk.de postmaster@hainwerk.de</p>",
        "<p style='display:none'>falle@hainwerk.de</p><p hidden>falle@hainwerk.de</p>",
    ],
)
def test_not_found(html: str) -> None:
    assert emails(html) == []


def test_what_is_rejected_says_why() -> None:
    page = parse_page("<p>noreply@hainwerk.de you@example.com</p>", URL)
    assert {r.value: r.reason for r in find_emails(page).rejected} == {
        "noreply@hainwerk.de": "unattended",
        "you@example.com": "placeholder",
    }


def test_an_own_domain_is_never_a_placeholder() -> None:
    assert emails("<p>office@mein-shop.de</p>", "https://mein-shop.de/") == ["office@mein-shop.de"]
    assert emails("<p>office@mein-shop.de</p>", "") == []


@pytest.mark.parametrize(
    "domain", ["yourcompany.com", "example-shop.de", "meine-firma.de", "domain.tld", "test123.com", "votresite.fr"]
)
def test_placeholder_domains(domain: str) -> None:
    assert placeholder_domain(domain)


@pytest.mark.parametrize(
    "domain", ["mail.ru", "web.de", "thebar.com", "hainwerk.de", "testarossa.it", "mydentist.de", "shop4.de"]
)
def test_domains_of_somebody(domain: str) -> None:
    assert not placeholder_domain(domain)


def test_an_address_has_one_form() -> None:
    assert str(read_address("Hof@Grünau.DE")) == str(read_address("hof@xn--grnau-lva.de")) == "hof@xn--grnau-lva.de"
    assert read_address("a@b") is None
    assert read_address("@hainwerk.de") is None
    assert read_address("a@co.uk") is None


def test_a_hidden_menu_is_read_a_hidden_decoy_is_not() -> None:
    menu = (
        "<div style='display:none'>"
        + "<p>Leistungen, Termine und Wege zu uns.</p>" * 8
        + "<p>info@hainwerk.de</p></div>"
    )
    assert emails(menu) == ["info@hainwerk.de"]
    assert emails("<div style='display:none'>info@hainwerk.de</div>") == []
