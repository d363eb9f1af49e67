"""Addresses that are written out in many languages, and sentences that only sound like one."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.pipeline.websites import read_page
from cocli.pipeline.websites.facts.emails import own_domain


def _emails(html: str, url: str = "https://www.lindhof-lab.com/contact") -> set[str]:
    page = f"<html><body><h1>Lindhof</h1><p>{html}</p><p>Text.</p></body></html>"
    return {email.value for email in read_page(page, url, None).emails}


@pytest.mark.parametrize(
    "text",
    [
        "E-mail: kontor (ät) lindhof-lab (punkt) com",
        "E-post: kontor krøllalfa lindhof-lab punktum com",
        "Courriel : kontor [arobase] lindhof-lab [point] com",
        "Correo: kontor arroba lindhof-lab punto com",
        "Почта: kontor собака lindhof-lab точка com",
        "メール: kontor アットマーク lindhof-lab ドット com",
        "E-mail: kontor (kringel) lindhof-lab (tuntematon) com",  # words that no table has
        "E-mail: kontor zonderwoord lindhof-lab woord com",
        "E-mail: kontor @ lindhof-lab Punkt com",
        "E-mail: kontor|at|lindhof-lab|dot|com",
        "อีเมล: kontor แอ็ท lindhof-lab จุด com",
    ],
)
def test_an_address_at_the_own_domain_is_read(text: str) -> None:
    assert _emails(escape(text)) == {"kontor@lindhof-lab.com"}


@pytest.mark.parametrize(
    "text",
    [
        "Look at lindhof-lab dot com for more.",
        "Email us at lindhof-lab dot com",
        "Contact: our team at lindhof-lab dot com",
        "Contacto: visite la web lindhof-lab punto com",
        "E-mail marketing by lindhof-lab dot com",
        "Email policy / privacy / lindhof-lab.com",
        "E-mail: home | blog | lindhof-lab.com",
        "Mail contact (c) lindhof-lab.com",
    ],
)
def test_a_sentence_is_no_address(text: str) -> None:
    assert _emails(escape(text)) == set()


def test_a_label_that_is_glued_to_a_mailbox_is_left_out() -> None:
    assert _emails("<b>E-Mail</b><span>info (at) lindhof-lab (punkt) com</span>") == {"info@lindhof-lab.com"}


@pytest.mark.parametrize(
    "html",
    ["<b>Telefon</b><span>0355 728 461</span>", "<p>Tel. Nr. 0355 728 461</p>", "<span>0355 728 461</span><b>Fax</b>"],
)
def test_a_number_beside_its_label_is_read(html: str) -> None:
    page = f"<html lang=de><body><h1>Lindhof</h1><p>{html}</p></body></html>"
    assert [phone.value for phone in read_page(page, "https://lindhof.de/", "DE").phones] == ["+49355728461"]


def test_a_number_of_something_else_stays_none() -> None:
    page = "<html lang=de><body><p>Kunden-Nr. 0355728461</p></body></html>"
    assert not read_page(page, "https://lindhof.de/", "DE").phones


_PIECES = st.sampled_from(
    ["firm", ".", " ", "co", "uk", "com", " dot ", "(punkt)", "[.]", "·", " , ", "-", "~x~", "@", "/", "x", "com.x"]
)


@given(st.sampled_from(["firm.com", "firm.co.uk", "firm.uk"]), st.lists(_PIECES, max_size=8).map("".join))
def test_a_domain_ends_where_its_pattern_says(domain: str, behind: str) -> None:
    text = f"firm{behind}"
    name = own_domain._pattern(domain).match(text)
    assert own_domain._end_of_name(domain, text, 0) == (name.end() if name else None)
