"""Whose an address is, who reads it, and which one is the one to write to."""

from __future__ import annotations

import pytest

from cocli.pipeline.websites import combine, read_page
from cocli.pipeline.websites.facts.facts import EmailFinding

HOST = "https://www.hainwerk.de"
TITLE = "<title>Hainwerk Dächer</title>"


def one(html: str, path: str = "/kontakt") -> EmailFinding:
    (email,) = read_page(TITLE + html, HOST + path, "DE").emails
    return email


@pytest.mark.parametrize(
    ("html", "relation"),
    [
        ("<p>info@hainwerk.de</p>", "own"),
        ("<p>info@post.hainwerk.de</p>", "own"),
        ("<p>info@hainwerk.com</p>", "own"),
        ("<p>info@hainwerk-daecher.de</p>", "own"),
        ("<p>hainwerk@gmx.de</p>", "freemail"),
        ("<p>Kontakt: schmidtanna@gmx.de</p>", "freemail"),
        ("<div class=testimonials><p>schmidtanna@gmx.de</p></div>", "other"),
        ("<blockquote>schmidtanna@gmx.de</blockquote>", "other"),
        ("<p>Webdesign: hallo@pixelkontor.de</p>", "agency"),
        ("<p>Website by <a href='mailto:hi@pixelkontor.com'>Pixelkontor</a></p>", "agency"),
        ("<p>Site réalisé par Pixel<br>contact@pixelkontor.fr</p>", "agency"),
        ("<p>support@ionos.de</p>", "platform"),
        ("<p>poststelle@bfdi.bund.de</p>", "authority"),
        ("<p>info@stadt.bayern.de</p>", "authority"),
        ("<p>Unser Partner: info@ziegelei.de</p>", "other"),
        ("<script type=application/ld+json>{\"@type\":\"Organization\",\"email\":\"info@holding.de\"}</script>", "own"),
    ],
)  # fmt: skip
def test_relation(html: str, relation: str) -> None:
    assert one(html).relation == relation


@pytest.mark.parametrize(
    ("address", "label", "name"),
    [
        ("info", "role", "info"),
        ("sales", "role", "sales"),
        ("info-nord", "role", "info"),
        ("anna.tann", "person", "Anna Tann"),
        ("anna-lena", "person", "Anna Lena"),
        ("hainwerk", None, None),
        ("tann", None, None),
    ],
)
def test_role_or_person(address: str, label: str | None, name: str | None) -> None:
    email = one(f"<p>{address}@hainwerk.de</p>")
    assert (email.label, email.name) == (label, name)


def primary(*pages: tuple[str, str]) -> str | None:
    site = combine([read_page(TITLE + html, HOST + path, "DE") for path, html in pages])
    return site.primary_email.value if site.primary_email else None


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>jobs@hainwerk.de anna.tann@hainwerk.de info@hainwerk.de</p>", "info@hainwerk.de"),
        ("<p>jobs@hainwerk.de anna.tann@hainwerk.de vertrieb@hainwerk.de</p>", "vertrieb@hainwerk.de"),
        ("<p>datenschutz@hainwerk.de anna.tann@hainwerk.de</p>", "anna.tann@hainwerk.de"),
        ("<p>hainwerk@gmx.de anna.tann@hainwerk.de</p>", "anna.tann@hainwerk.de"),
        ("<p>hainwerk@gmx.de</p><p>Webdesign: info@pixelkontor.de</p>", "hainwerk@gmx.de"),
        ("<p>Webdesign: info@pixelkontor.de</p><p>Hosting: support@ionos.de</p>", None),
        ("<a href='mailto:info@holding.de'>Post</a>", "info@holding.de"),
        ("<p>Partner: info@ziegelei.de</p>", None),
    ],
)
def test_primary(html: str, expected: str | None) -> None:
    assert primary(("/kontakt", html)) == expected


def test_the_contact_page_comes_before_the_others() -> None:
    pages = (("/", "<p>kontakt@hainwerk.de</p>"), ("/kontakt", "<p>office@hainwerk.de</p>"))
    assert primary(*pages) == primary(*reversed(pages)) == "office@hainwerk.de"


def test_each_value_once_from_its_best_page() -> None:
    home = "<p>info@hainwerk.de 030 23125042</p><a href=https://facebook.com/hainwerk>f</a>"
    contact = (
        "<p><a href=mailto:info@hainwerk.de>Post</a> Tel. 030 23125042 Fax 030 23125043</p>"
        "<a href=https://facebook.com/hainwerk>f</a><a href=https://facebook.com/anders>f</a><p>Mo 8:00-12:00</p>"
    )
    site = combine([read_page(TITLE + home, HOST + "/", "DE"), read_page(TITLE + contact, HOST + "/kontakt", "DE")])
    (email,) = site.emails
    assert (email.page, email.method, email.pages_seen, email.linked) == (HOST + "/kontakt", "mailto", 2, True)
    assert email.kinds == {"home", "contact"}
    assert [(phone.finding.value, phone.page) for phone in site.phones] == [("+493023125042", HOST + "/kontakt")]
    assert [phone.finding.value for phone in site.faxes] == ["+493023125043"]
    assert {name: profile.finding.value for name, profile in site.socials.items()} == {
        "facebook": "https://facebook.com/hainwerk"
    }
    assert [(hours.finding.day, hours.page) for hours in site.hours] == [("mo", HOST + "/kontakt")]
    assert site.country == "DE"
    assert site.title == "Hainwerk Dächer"


def test_a_site_without_pages() -> None:
    site = combine([])
    assert site.primary_email is None
    assert site.emails == ()
    assert site.country is None


def test_an_unfilled_template_has_no_contacts() -> None:
    html = (
        "<p>Lorem ipsum dolor sit amet</p><a href=mailto:hello@jauntly.com>m</a><a href=https://facebook.com/>f</a>"
        "<a href=https://instagram.com/>i</a>"
    )
    facts = read_page(html, HOST)
    assert facts.emails == ()
    assert [(one.value, one.reason) for one in facts.rejected_emails] == [("hello@jauntly.com", "unfilled template")]
    assert [email.value for email in read_page(html + "info@hainwerk.de", HOST).emails] == ["info@hainwerk.de"]
