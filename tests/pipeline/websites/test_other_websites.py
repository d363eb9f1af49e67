"""What websites of small companies all over the world do with their contacts. One table per extractor.

Every row is a form, a slip of an author or a look-alike; what is expected is what a careful reader would say.
"""

from __future__ import annotations

import pytest

from cocli.pipeline.websites import read_page
from cocli.pipeline.websites.facts.contact_ways import find_contact_ways
from cocli.pipeline.websites.facts.emails.find import find_emails
from cocli.pipeline.websites.facts.phones.phones import find_phones
from cocli.pipeline.websites.facts.socials import find_socials, read_profile
from cocli.pipeline.websites.page.walk import parse_page
from cocli.pipeline.websites.site.links import links_of

URL = "https://www.hainwerk.de/kontakt"
INFO, LAGER = "info@hainwerk.de", "lager@hainwerk.de"


def protected(text: str, key: int = 0x4A) -> str:
    return f"{key:02x}" + "".join(f"{byte ^ key:02x}" for byte in text.encode())


# --- e-mail addresses


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # links
        ("<a href='mailto:&nbsp;info@hainwerk.de'>x</a>", [INFO]),
        ("<a href='mailto:info%E2%80%8B@hainwerk.de'>x</a>", [INFO]),
        ("<a href='http://mailto:info@hainwerk.de'>x</a>", [INFO]),
        ("<a href='https://www.hainwerk.de/mailto:info@hainwerk.de'>x</a>", [INFO]),
        ("<a href='mailto:mailto:info@hainwerk.de'>x</a>", [INFO]),
        ("<a href='mailto=info@hainwerk.de'>x</a>", [INFO]),
        ("<a href='mailto;info@hainwerk.de'>x</a>", [INFO]),
        ("<a href='http://info@hainwerk.de'>Mail</a>", [INFO]),
        ("<a href='http://user@elsewhere.de'>Mail</a>", []),
        ("<a href='mailto:info@hainwerk.de<br>'>x</a>", [INFO]),
        ("<a href='mailto:info@hainwerk.de lager@hainwerk.de/'>x</a>", [INFO, LAGER]),
        ("<a href='mailto:info@hainwerk,de'>x</a>", [INFO]),
        ("<a href='mailto:u003einfo@hainwerk.de'>x</a>", [INFO]),
        ("<form action='https://formsubmit.co/info@hainwerk.de'></form>", [INFO]),
        ("<a href='https://mail.google.com/mail/u/0/?view=cm&to=info%40hainwerk.de'>x</a>", [INFO]),
        (
            f"<a href='/cdn-cgi/l/email-protection#{protected(f'{INFO};{LAGER}?cc=anna.tann@hainwerk.de')}'>x</a>",
            [INFO, LAGER, "anna.tann@hainwerk.de"],
        ),
        # written out
        ("<p>info|at|hainwerk.de</p>", [INFO]),
        ("<p>info#at#hainwerk.de</p>", [INFO]),
        ('<p>info "at" hainwerk "dot" de</p>', [INFO]),
        ("<p>info((at))hainwerk.de</p>", [INFO]),
        ("<p>info-at-hainwerk.de</p>", [INFO]),
        ("<p>info&amp;#64;hainwerk.de</p>", [INFO]),
        ("<p>info★hainwerk.de（★を@に変えてください）</p>", [INFO]),
        ("<p>info<img src='/img/at.gif'>hainwerk.de</p>", [INFO]),
        # slips
        ("<p>info@<br>hainwerk.de</p>", [INFO]),
        ("<p>E-Mail: info@hainwerk .de</p>", [INFO]),
        ("<p>E-Mail: info@hainwerk. de</p>", [INFO]),
        ("<p>www.hainwerk.deinfo@hainwerk.de</p>", [INFO]),
        # attributes, scripts
        ("<img src=x.png alt='info@hainwerk.de'>", [INFO]),
        ("<svg><a xlink:href='mailto:info@hainwerk.de'><path /></a></svg>", [INFO]),
        ("<input readonly value='info@hainwerk.de'>", [INFO]),
        ("<span data-user='ofni' data-website='ed.krewniah'></span>", [INFO]),
        ("<a href=\"javascript:m('info','hainwerk.de')\">Mail</a>", [INFO]),
        ("<a href='#' onclick=\"go('info','hainwerk','de')\">Mail</a>", [INFO]),
        ("<script>sendMail('wilma', 'tannenhof', 'com')</script>", ["wilma@tannenhof.com"]),
        ('<script type="application/ld+json">{"name":"The "Best"","email":"info@hainwerk.de"}</script>', [INFO]),
    ],
)
def test_addresses(html: str, expected: list[str]) -> None:
    assert sorted(finding.value for finding in find_emails(parse_page(html, URL)).found) == sorted(expected)


@pytest.mark.parametrize(
    "html",
    [
        "<p>Visit our office at hainwerk.de</p>",
        "<p>the best at this dot com era, he said 'at' home.de</p>",
        "<p>attorney-at-law.de, shop/at/start.de</p>",
        "<p>no-reply-shop@hainwerk.de noreply1@hainwerk.de</p>",
        "<p>Message-ID: 20230101.123456@mail.hainwerk.de</p>",
        "<input aria-label='E-Mail, zum Beispiel name@hainwerk.de' data-error='wie a.b@hainwerk.de'>",
        "<p>mon.adresse@mail.fr ton-email@orange.fr max.muster@gmail.com</p>",
        "<p>info@demolink.org hello@webmail.com</p>",
        "<script>var a='k2v3@group.calendar.google.com', b='x@y.iam.gserviceaccount.com'</script>",
        "<script>var c='49170@s.whatsapp.net'</script>",
        "<script>load('swiper', 'js.de'); track('info', 'tannenhof.com')</script>",
    ],
)
def test_no_addresses(html: str) -> None:
    assert find_emails(parse_page(html, URL)).found == ()


@pytest.mark.parametrize(
    ("html", "url", "address", "relation"),
    [
        (
            "<h3>Konzept, Gestaltung und Umsetzung</h3><p>Pixelkontor<br>Am Markt 5<br>07743 Jena<br>x@pixelkontor.com",
            URL,
            "x@pixelkontor.com",
            "agency",
        ),
        (
            "<h2>Hébergement</h2><p>Pixelhost SAS<br>75001 Paris<br>aide@pixelhost.fr",
            URL,
            "aide@pixelhost.fr",
            "agency",
        ),
        ("<p>Realizzazione sito web Pixel - x@pixelkontor.com", URL, "x@pixelkontor.com", "agency"),
        ("<p>Made with ♥ by Pixel x@pixelkontor.com", URL, "x@pixelkontor.com", "agency"),
        (
            "<h2>Hosting</h2><p>Strato</p><p>hainwerk.de gehört:<br>Wilma Tann<br>wilma@tannenhof.com",
            URL,
            "wilma@tannenhof.com",
            "other",
        ),
        ("<body class='home comments-closed'><p>tann62@sympatico.ca", URL, "tann62@sympatico.ca", "freemail"),
        ("<div class=request-quote>tann62@sympatico.ca", URL, "tann62@sympatico.ca", "freemail"),
        ("<div class=pull-quote>joe.tann77@gmail.com", URL, "joe.tann77@gmail.com", "other"),
        ("<p>hainwerk@pec.it", URL, "hainwerk@pec.it", "freemail"),
        ("<p>support@weebly.com", "https://tannenhof.weebly.com/", "support@weebly.com", "platform"),
        ("<a href='mailto:wilma@tann-bau.com'>Mail</a>", "https://tannenhof.weebly.com/", "wilma@tann-bau.com", "own"),
    ],
)
def test_whose_it_is(html: str, url: str, address: str, relation: str) -> None:
    assert {email.value: email.relation for email in read_page(html, url).emails} == {address: relation}


# --- phones

CALL = {"+12024561414": "phone"}
TWO = {**CALL, "+12024561111": "phone"}
WITH_FAX = {**CALL, "+12024561111": "fax"}


@pytest.mark.parametrize(
    ("html", "country", "expected"),
    [
        ("<p>(202)456-1414</p>", "US", CALL),
        ("<p>202/456-1414</p>", "US", CALL),
        ("<p>202•456•1414 202—456—1414</p>", "US", CALL),
        ("<p>202-456-1414x105</p>", "US", CALL),
        ("<p>Phone:202-456-1414Email: x</p>", "US", CALL),
        ("<p>Washington, DC 20500-0003 (202) 456-1414</p>", "US", CALL),
        ("<p>(202) 456-1414 / (202) 456-1111</p>", "US", TWO),
        ("<p>202-456-1414 202-456-1111</p>", "US", TWO),
        ("<p>Call 1-800-FLOWERS or (202) 456-PIPE</p>", "US", {"+18003569377": "phone", "+12024567473": "phone"}),
        ("<p>Model 800-SERIES, 303 WELDING</p>", "US", {}),
        ("<a href='https://hainwerk.de/tel:+12024561414'>x</a>", "US", CALL),
        ("<a href='tel:+12024561414 / +12024561111'>x</a>", "US", TWO),
        ("<a href='skype:+12024561414?call'>x</a><a href='callto:hainwerk'>y</a>", "US", CALL),
        ("<button onclick=\"location.href='tel:+12024561414'\">Call</button>", "US", CALL),
        ("<a href='https://wa.me/0012024561414'>x</a>", "US", {"+12024561414": "whatsapp"}),
        ("<a href='https://wa.me/03023125042'>x</a>", "DE", {"+493023125042": "whatsapp"}),
        ("<a href='https://wa.me/message/ABC12345678'>x</a>", "US", {}),
        # fax
        (
            "<p>Telefon: 030 23125042<br>Telefax: 030 23125043</p>",
            "DE",
            {"+493023125042": "phone", "+493023125043": "fax"},
        ),
        ("<p>T 030 23125042 · F 030 23125043</p>", "DE", {"+493023125042": "phone", "+493023125043": "fax"}),
        ("<p>P: (202) 456-1414 F: (202) 456-1111</p>", "US", WITH_FAX),
        ("<p>(202) 456-1414 phone<br>(202) 456-1111 fax</p>", "US", WITH_FAX),
        ("<p>(202) 456-1414 (p) (202) 456-1111 (f)</p>", "US", WITH_FAX),
        ("<p>Fax (202) 456-1111<br>Orders: (202) 456-1414</p>", "US", WITH_FAX),
        ("<p>Fax (202) 456-1111, Orders (202) 456-1414</p>", "US", WITH_FAX),
        ("<p>传真：010-65529989 手机：138 1234 9876</p>", "CN", {"+861065529989": "fax", "+8613812349876": "phone"}),
        ("<p>Télécopieur : 418 692-1235</p>", "CA", {"+14186921235": "fax"}),
        ("<span itemprop=faxNumber>202-456-1111</span>", "US", {"+12024561111": "fax"}),
        (
            '<script type=application/ld+json>{"contactType":"Fax","telephone":"202-456-1111"}</script>',
            "US",
            {"+12024561111": "fax"},
        ),
        # data
        ('<script type=application/ld+json>{"telephone":"(202) 456-1414, 202-456-1111"}</script>', "US", TWO),
        ("<meta property='business:contact_data:phone_number' content='202-456-1414'>", "US", CALL),
        ('<script id=__NEXT_DATA__ type=application/json>{"phone":"(202) 456-1414"}</script>', "US", CALL),
        ('<p>202-456-1414</p><script type=application/json>{"phone":"202-456-1111"}</script>', "US", CALL),
        ('<script>chat({"phone":"202-456-1111"})</script>', "US", {}),
        # other scripts, other countries
        ("<p>電話03-3461-1234まで FAX03-3461-1235</p>", "JP", {"+81334611234": "phone", "+81334611235": "fax"}),
        ("<p>法人番号 03-3461-1234 〒100-0014</p>", "JP", {}),
        ("<p>Tel. 030 23125042 / 43 / 44</p>", "DE", {"+493023125042": "phone"}),
        ("<p>Kontonummer 0302312504, Artikelnummer 0302-3125-042</p>", "DE", {}),
        ("<p>CVR-nr. 33 63 33 63</p>", "DK", {}),
        ("<p>07.30-12.00 13.00-17.00</p>", "DE", {}),
        ("<p>dal 01 02 2023 al 03 04 2024</p>", "IT", {}),
        ("<p>Parts 202-456-1414-000, 202.456.1414.22, MLS # 202 456 1414</p>", "US", {}),
        # those of others
        (
            "<p>Tél. 04 78 12 45 67</p><h2>Hébergeur</h2><p>Hôte SAS<br>59100 Roubaix<br>Tél. 09 72 10 10 07</p>",
            "FR",
            {"+33478124567": "phone"},
        ),
        ("<p>Google Ireland Limited, Barrow Street, Dublin 4, Tel: +353 1 543 1000</p>", "DE", {}),
        ("<p>Find us on Google. Tel. 030 23125042</p>", "DE", {"+493023125042": "phone"}),
        ("<h3>Aufsichtsbehörde</h3><p>Häßlerstraße 8<br>99096 Erfurt<br>Telefon 0361 573112900</p>", "DE", {}),
    ],
)
def test_numbers(html: str, country: str, expected: dict[str, str]) -> None:
    assert {phone.value: phone.kind for phone in find_phones(parse_page(html, URL), country)} == expected


def test_numbers_abroad_in_a_notice_on_privacy_are_others() -> None:
    text = "<p>Tel. 030 23125042. Wir nutzen Dienste der Analytik Ltd., Dublin, Tel: +353 1 543 1000</p>"
    both = {"+493023125042", "+35315431000"}
    assert {p.value for p in find_phones(parse_page(text, "https://hainwerk.de/datenschutz"), "DE")} == {
        "+493023125042"
    }
    assert {p.value for p in find_phones(parse_page(text, "https://hainwerk.de/kontakt"), "DE")} == both


# --- socials


@pytest.mark.parametrize(
    ("address", "profile"),
    [
        ("https://www.facebook.com/pg/hainwerk/about/", "https://www.facebook.com/hainwerk"),
        ("https://www.facebook.com/hainwerk/reviews", "https://www.facebook.com/hainwerk"),
        ("https://www.facebook.com/hainwerk/photos/a.1/2", None),
        ("https://www.facebook.com/2008/fbml", None),
        ("https://developers.facebook.com/docs/plugins", None),
        (
            "https://www.facebook.com/login/?next=https%3A%2F%2Fwww.facebook.com%2Fhainwerk",
            "https://www.facebook.com/hainwerk",
        ),
        ("https://l.facebook.com/l.php?u=https%3A%2F%2Finstagram.com%2Fhainwerk&h=x", "https://instagram.com/hainwerk"),
        ("https://www.google.com/url?q=https://www.facebook.com/hainwerk&sa=D", "https://www.facebook.com/hainwerk"),
        ("https://www.instagram.com/_u/hainwerk", "https://www.instagram.com/hainwerk"),
        ("https://www.instagram.com/hainwerk/reels/", "https://www.instagram.com/hainwerk"),
        ("https://help.instagram.com/519522125107875", None),
        ("https://twitter.com/intent/follow?screen_name=hainwerk", "https://twitter.com/hainwerk"),
        ("https://twitter.com/#!/hainwerk", "https://twitter.com/hainwerk"),
        ("https://twitter.com/en/privacy", None),
        (
            "https://www.houzz.com/professionals/plumbers/hain-pf~1",
            "https://www.houzz.com/professionals/plumbers/hain-pf~1",
        ),
        ("www.facebook.com/hainwerk", "https://www.facebook.com/hainwerk"),
        ("http://https://www.facebook.com/hainwerk", "https://www.facebook.com/hainwerk"),
        ("https//www.facebook.com/hainwerk", "https://www.facebook.com/hainwerk"),
    ],
)
def test_profiles(address: str, profile: str | None) -> None:
    found = read_profile(address)
    assert (found.url if found else None) == profile


FACEBOOK = "https://www.facebook.com/hainwerk"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<meta property='article:publisher' content='{FACEBOOK}'>", [FACEBOOK]),
        (
            f"<meta property='article:publisher' content='https://www.facebook.com/old'><a href='{FACEBOOK}'>f</a>",
            [FACEBOOK],
        ),
        (f"<div onclick=\"window.open('{FACEBOOK}')\">f</div>", [FACEBOOK]),
        (
            "<p>Find us: facebook.com/hainwerk, or our friends: facebook.com/tannenhof</p>",
            ["https://facebook.com/hainwerk"],
        ),
        ("<blockquote><a href='https://www.instagram.com/somebody/'>A post by somebody</a></blockquote>", []),
        ("<div class=review><a href='https://www.facebook.com/john.smith.5'>John</a></div>", []),
        ("<footer>Website by <a href='https://www.facebook.com/pixelkontor'>Pixelkontor</a></footer>", []),
        (f"<footer>Website by Pixelkontor <a href='{FACEBOOK}'><i class=icon></i></a></footer>", [FACEBOOK]),
        (
            '<script type=application/ld+json>{"@graph":[{"@type":"Organization","sameAs":["'
            + FACEBOOK
            + '"]},{"@type":"Person","sameAs":["https://twitter.com/author"]}]}</script>',
            [FACEBOOK],
        ),
    ],
)
def test_profiles_of_a_page(html: str, expected: list[str]) -> None:
    assert [finding.value for finding in find_socials(parse_page(html, URL))] == expected


# --- contact forms

NAME, MAIL, PHONE, TEXT = (
    "<input name=name>",
    "<input type=email name=email>",
    "<input type=tel name=phone>",
    "<textarea name=message></textarea>",
)


@pytest.mark.parametrize(
    ("html", "forms"),
    [
        (f"<form class=wpcf7-form>{NAME}{MAIL}{TEXT}</form>", 1),
        (f"<form class='contact-form has-newsletter-optin'>{MAIL}{TEXT}</form>", 1),
        (f"<form class=research-contact>{MAIL}{TEXT}</form>", 1),
        (f"<form action=/contact>{NAME}{PHONE}{TEXT}</form>", 1),
        (f"<form>{NAME}{PHONE}<button>Request a call back</button></form>", 1),
        (f"<form id=quote-form>{NAME}{MAIL}<select name=service></select></form>", 1),
        ("<form><input placeholder='Your e-mail address'><textarea placeholder=Message></textarea></form>", 1),
        (f"<form action='mailto:info@hainwerk.de'>{NAME}</form>", 1),
        (f"<div>{NAME}{MAIL}<textarea></textarea></div>", 1),
        ("<iframe src='https://form.jotform.com/231234567890'></iframe>", 1),
        ("<iframe src='https://docs.google.com/forms/d/e/1F/viewform?embedded=true'></iframe>", 1),
        ("<div data-tf-widget=abc></div>", 1),
        ("<script src='//js.hsforms.net/forms/v2.js'></script>", 1),
        ("<a href='https://forms.gle/abc'>Contact form</a><a href='https://forms.gle/abd'>Survey</a>", 1),
        ("<form role=search action=/search><input type=search name=q></form>", 0),
        (f"<form action='https://x.us1.list-manage.com/subscribe/post'>{MAIL}</form>", 0),
        (f"<form>{MAIL}<textarea name=g-recaptcha-response></textarea></form>", 0),
        (f"<form>{MAIL}<input type=password name=password></form>", 0),
        (f"<form id=commentform action=/wp-comments-post.php><textarea name=comment></textarea>{NAME}{MAIL}</form>", 0),
        (f"<form class=booking-form><input type=date name=date>{MAIL}{TEXT}</form>", 0),
        (f"<form class=checkout>{MAIL}<textarea name=order_notes></textarea></form>", 0),
        ("<div class=calendly-inline-widget data-url='https://calendly.com/x'></div>", 0),
    ],
)
def test_forms(html: str, forms: int) -> None:
    found = [way for way in find_contact_ways(parse_page(html, URL)) if way.method == "form"]
    assert len(found) == forms
    assert all(way.value.startswith("https://") for way in found)


# --- which pages are read

CONTACT = """Get in touch|Reach out|Talk to us|Write to us|聯絡我們|联系我们|お問合せ|문의하기|İletişim|Bize Ulaşın|
Ota yhteyttä|Contáctenos|Nos coordonnées|Nous écrire|Nous joindre|Scrivici|Route & bereikbaarheid|So finden Sie uns|
Ihr Weg zu uns|
اتصل بنا|צור קשר|ติดต่อเรา|Liên hệ|Kapcsolat|Hours & Location|Öffnungszeiten|Standorte|Free quote|Say hello"""
ABOUT = "Hakkımızda|Om os|Rólunk|О нас|О компании|会社概要|회사소개|关于我们|Das sind wir|Our Story|Despre noi"
TEAM = "Meet the Team|Our People|Our Doctors|Attorneys|Munkatársaink"
IMPRINT = "特定商取引法に基づく表記|Impresszum|Legal|Mentions légales & crédits"
NONE = """Contact lenses|Lentilles de contact|Contact grill|Kontaktlinsen|Company events and parties|Profile cutting|
People carriers|Legal services|Équipements|Equipos de riego|Stafford branch|Wir suchen dich|Steam cleaning|
How to contact us when your eyes hurt after a swim|Team building"""


@pytest.mark.parametrize(
    ("words", "kind"),
    [(CONTACT, "contact"), (ABOUT, "about"), (TEAM, "team"), (IMPRINT, "imprint"), (NONE, None)],
)
def test_pages_are_known_by_the_words_of_links(words: str, kind: str | None) -> None:
    found = {text.strip(): kind_of_link(f"<a href='/page-17'>{text.strip()}</a>") for text in words.split("|")}
    assert found == dict.fromkeys(found, kind)


def kind_of_link(html: str) -> str | None:
    links = links_of(parse_page(html, "https://www.hainwerk.de/"), "hainwerk.de", "https://www.hainwerk.de/")
    assert len(links) < 2
    return links[0].kind if links else None


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ("<a href='/x'><img src=k.gif alt=Kontakt></a>", "contact"),
        ("<a href='p4.htm'><img src='images/btn_kontakt.gif'></a>", "contact"),
        ("<a href='/x'><img src='photos/team.jpg'></a>", None),
        ("<a href='/x' title=Kontakt>»</a>", "contact"),
        ("<map><area href='/x' alt=Kontakt></map>", "contact"),
        ("<div onclick=\"location.href='kontakt.html'\">»</div>", "contact"),
        ("<a href='index.php?page=kontakt'>x</a>", "contact"),
        ("<a href='/?page_id=12'>Contact us</a>", "contact"),
        ("<a href='index.php?option=com_contact&view=contact&id=1'>x</a>", "contact"),
        ("<a href='/cont%C3%A1ctenos'>x</a>", "contact"),
        ("<a href='/toiawase/'>x</a>", "contact"),
        ("<a href='/?lang=en'>English</a>", None),
        ("<a href='/#contact'>Contact</a>", None),
    ],
)
def test_pages_are_known_by_other_signs(html: str, kind: str | None) -> None:
    assert kind_of_link(html) == kind


def test_a_page_for_contact_comes_before_one_that_may_serve() -> None:
    page = parse_page("<a href='/hours'>Opening hours</a><a href='/get-in-touch-with-us'>x</a>", "https://hainwerk.de/")
    first = min(links_of(page, "hainwerk.de", "https://hainwerk.de/"), key=lambda link: link.rank)
    assert first.url.endswith("with-us")
