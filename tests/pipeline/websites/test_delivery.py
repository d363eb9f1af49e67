"""What is delivered of a site, and why: addresses that are offered, copies of pages, credits in many languages."""

from __future__ import annotations

import pytest

from cocli.pipeline.websites import combine, read_page
from cocli.pipeline.websites.site.facts import SiteEmail, SiteFacts

URL = "https://www.hainwerk.de/kontakt"


def site(body: str, url: str = URL, head: str = "") -> SiteFacts:
    return combine([read_page(f"<html><head>{head}</head><body>{body}</body></html>", url)])


def delivered(facts: SiteFacts) -> set[str]:
    return {email.value for email in facts.emails if email.delivered}


def the(facts: SiteFacts, value: str) -> SiteEmail:
    return next(email for email in facts.emails if email.value == value)


# --- offered ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<form action='https://formsubmit.co/wald@forstnetz.de'><textarea></textarea></form>", "form"),
        ("<p>Kontakt</p><p><a href='mailto:wald@forstnetz.de'>Schreiben</a></p>", "contact"),
        ("<footer><p>wald@forstnetz.de</p></footer>", "only address"),
        ("<p>Wir freuen uns: wald@forstnetz.de</p>", "only address"),
    ],
)
def test_an_address_of_another_domain_is_delivered_and_stays_another_s(body: str, reason: str) -> None:
    facts = site(body, "https://www.hainwerk.de/")
    email = the(facts, "wald@forstnetz.de")
    assert (email.relation, email.delivered) == ("other", True)
    assert reason in email.reason or "only address" in email.reason
    assert facts.primary_email == email


def test_beside_its_own_a_site_offers_another_in_its_footer_but_not_in_passing() -> None:
    own = "<p>info@hainwerk.de</p>"
    assert "a@holding.de" in delivered(site(f"{own}<footer>a@holding.de</footer>", "https://www.hainwerk.de/"))
    assert "a@holding.de" not in delivered(site(f"{own}<p>Wir danken a@holding.de</p>", "https://www.hainwerk.de/"))


def test_a_list_of_partners_is_not_delivered() -> None:
    rows = "".join(f"<p>a@forst{number}.de</p>" for number in range(6))
    assert delivered(site(f"<p>info@hainwerk.de</p>{rows}")) == {"info@hainwerk.de"}
    assert delivered(site("<p>info@hainwerk.de</p><h3>Unsere Partner</h3><p>a@partner.de</p>")) == {"info@hainwerk.de"}


def test_a_link_that_shows_another_address_is_not_the_primary_one() -> None:
    facts = site("<a href='mailto:alt@gmail.com'>neu.hain@gmail.com</a>")
    assert facts.primary_email is not None
    assert facts.primary_email.value == "neu.hain@gmail.com"


# --- the page's own address ------------------------------------------------------------------------------------------

THEME = "<link rel='canonical' href='https://demo.colorwave.com/roofer/'><title>Roofer – Colorwave</title>"
DEMO = (
    "<p><a href='mailto:hello@colorwave.com'>hello@colorwave.com</a></p><p>Tel. +49 30 23125042</p>"
    "<a href='https://www.facebook.com/colorwave'>f</a>"
)


def test_a_page_that_is_another_site_s_has_nothing_of_its_own() -> None:
    facts = site(DEMO, "https://www.dach-kunze.de/", THEME)
    assert (delivered(facts), facts.primary_email, facts.phones, facts.socials) == (set(), None, (), {})
    assert [(phone.finding.value, phone.finding.relation) for phone in facts.other_phones] == [
        ("+493023125042", "copied")
    ]


def test_a_demo_that_somebody_made_their_own_keeps_what_is_theirs() -> None:
    facts = site(f"{DEMO}<p>info@dach-kunze.de</p>", "https://www.dach-kunze.de/", THEME)
    assert delivered(facts) == {"info@dach-kunze.de"}
    assert [phone.finding.value for phone in facts.phones] == ["+493023125042"]
    assert facts.socials == {}


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://www.dachkunze.at/", "https://www.dachkunze.de/"),
        ("https://dach-kunze-shop.de/", "https://www.dachkunze.de/"),
        ("https://dachkunze.netlify.app/", "https://www.kunze-bedachungen.de/"),
        ("https://www.kunze.de/", "https://www.kunze-bedachungen.de/"),
    ],
)
def test_siblings_and_previews_are_no_copies(url: str, canonical: str) -> None:
    host = canonical.removeprefix("https://www.").rstrip("/")
    facts = site(f"<p>info@{host}</p>", url, f"<link rel='canonical' href='{canonical}'>")
    assert delivered(facts) == {f"info@{host}"}
    assert facts.emails[0].relation == "own"


# --- credits ---------------------------------------------------------------------------------------------------------

CREDITS = {
    "ar": "تصميم وتطوير", "bg": "Изработка на сайт:", "ca": "Disseny web:", "cs": "Tvorba webu:", "da": "Hjemmeside af",
    "de": "Webseite erstellt von", "el": "Κατασκευή ιστοσελίδας:", "en": "Website by", "es": "Diseño web:",
    "et": "Kodulehe tegi", "fa": "طراحی سایت:", "fi": "Kotisivujen toteutus", "fr": "Site réalisé par",
    "he": "בניית אתרים:", "hi": "वेबसाइट निर्माण:", "hr": "Izrada web stranica:", "hu": "Készítette:",
    "id": "Dibuat oleh", "is": "Vefsíðugerð:", "it": "Sito realizzato da", "ja": "ホームページ制作：",
    "ko": "홈페이지 제작:", "lt": "Svetainės kūrimas:", "lv": "Mājas lapas izstrāde:", "ms": "Dibangunkan oleh",
    "nl": "Website gemaakt door", "no": "Nettside av", "pl": "Projekt i wykonanie:", "pt": "Desenvolvido por",
    "ro": "Site realizat de", "ru": "Разработка сайта:", "sk": "Tvorba web stránok:", "sl": "Izdelava spletnih strani:",
    "sr": "Израда сајта:", "sv": "Webbplats av", "th": "ออกแบบเว็บไซต์โดย", "tr": "Web Tasarım:",
    "uk": "Створення сайту:", "vi": "Thiết kế website:", "zh": "网站建设：",
    "eu": "Web diseinua:", "bn": "ওয়েবসাইট নির্মাণ:",
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(CREDITS))
@pytest.mark.parametrize("address", ["studio.zwei@gmail.com", "hello@atelier-zwei.com"])
def test_what_stands_behind_a_credit_is_the_maker_s(language: str, address: str) -> None:
    facts = site(f"<p>info@hainwerk.de</p><footer><p>{CREDITS[language]} Zwei {address}</p></footer>")
    assert (the(facts, address).relation, delivered(facts)) == ("agency", {"info@hainwerk.de"})


@pytest.mark.parametrize("label", ["Website: www.hainwerk.de", "Honlap: www.hainwerk.hu", "Сайт: hainwerk.ru"])
def test_the_address_of_the_site_is_no_credit(label: str) -> None:
    facts = site(f"<p>{label} E-Mail: wald.hain@gmail.com</p>")
    assert the(facts, "wald.hain@gmail.com").relation == "freemail"


def test_a_gardener_who_designs_gardens_is_no_agency() -> None:
    facts = site("<p>Gartengestaltung Hain, wald.hain@gmail.com</p>")
    assert the(facts, "wald.hain@gmail.com").relation == "freemail"


def test_the_domain_that_a_credit_links_to_is_the_maker_s_everywhere() -> None:
    facts = site(
        "<p>info@hainwerk.de</p><p>Support: <a href='mailto:hilfe@zwei.studio'>Kontakt</a></p>"
        "<footer>Umsetzung: <a href='https://zwei.studio/'>Zwei</a></footer>"
    )
    assert the(facts, "hilfe@zwei.studio").relation == "agency"


# --- officers and authorities ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "relation"),
    [
        ("Datenschutzbeauftragter: Max Tann, Tel. 0911 2345011", "officer"),
        ("Data Protection Officer, phone +49 911 2345011", "officer"),
        ("Délégué à la protection des données : +49 911 2345011", "officer"),
        ("Inspektor ochrony danych: tel. +49 911 2345011", "officer"),
        ("Aufsichtsbehörde<br>Promenade 18<br>91522 Ansbach<br>Telefon: 0911 2345011", "authority"),
        ("Zuständige Kammer<br>Handwerkskammer Nürnberg<br>Sulzbacher Str. 11<br>Telefon: 0911 2345011", "authority"),
    ],
)
def test_numbers_of_others_are_labelled(line: str, relation: str) -> None:
    facts = site(f"<p>Hainwerk<br>Tel. 030 23125042</p><p>{line}</p>", "https://www.hainwerk.de/impressum")
    assert [phone.finding.value for phone in facts.phones] == ["+493023125042"]
    assert [(phone.finding.value, phone.finding.relation) for phone in facts.other_phones] == [
        ("+499112345011", relation)
    ]


def test_the_register_of_a_company_takes_nothing_from_it() -> None:
    facts = site("<p>Registergericht: Amtsgericht Jena<br>HRB 12345<br>Tel. 030 23125042</p>")
    assert [phone.finding.value for phone in facts.phones] == ["+493023125042"]


def test_the_mailbox_of_another_company_s_officer_is_not_delivered() -> None:
    facts = site("<p>info@hainwerk.de</p><p>dpo@privacy-experts.eu</p>")
    assert delivered(facts) == {"info@hainwerk.de"}
