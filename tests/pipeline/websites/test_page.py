"""The parsed page: text as a reader sees it, positions, bounds."""

from __future__ import annotations

import pytest

from cocli.pipeline.websites import parse_page
from cocli.pipeline.websites.page.bounds import MAX_ATTRIBUTES, MAX_CHARS, MAX_DEPTH, tame
from cocli.pipeline.websites.page.charset import decode
from cocli.pipeline.websites.page.kind import kind_of
from cocli.pipeline.websites.page.page import read_json


def test_blocks_break_lines_and_inline_elements_do_not() -> None:
    page = parse_page("<p>one<b>two</b> three</p><div>four<br>five</div><table><tr><td>six<td>seven</table>")
    assert page.text == "onetwo three\nfour\nfive\nsix\tseven\t\n"


def test_links_are_words_of_their_own() -> None:
    assert parse_page("<p>call<a href=x>now</a>please</p>").text == "call now please\n"


def test_what_a_reader_does_not_see() -> None:
    html = (
        "<style>.x{display:none}@media print{.y{display:none}}</style><p>a<span class=x>b</span><span class=y>c</span>"
    )
    assert parse_page(html + "<span hidden>d</span><script>e</script><template>f</template><!-- g -->").text == "ac\n"


def test_what_is_shown_backwards() -> None:
    page = parse_page(
        "<p><bdo dir=rtl>cba</bdo> <i style='unicode-bidi:bidi-override;direction:rtl'>fed</i> \u202eihg\u202c</p>"
    )
    assert page.text == "abc def ghi\n"


def test_frames_and_noscript_are_read() -> None:
    page = parse_page("<noscript><p>one</p></noscript><iframe srcdoc='&lt;p&gt;two&lt;/p&gt;'>three</iframe>")
    assert page.text == "one\ntwo\n"


def test_every_element_covers_its_text() -> None:
    page = parse_page("<div id=a>x<p id=b>yy</p><p id=c>zzz</p></div>")
    texts = {element.get("id"): page.text_of(element).strip() for element in page.elements}
    assert texts == {"a": "x\nyy\nzzz", "b": "yy", "c": "zzz"}
    assert [element.get("id") for element in page.enclosing(page.text.index("zzz"))] == ["c", "a"]


def test_domain_and_base() -> None:
    page = parse_page("<base href=/de/><link rel=canonical href=https://hainwerk.com/x>", "https://www.hainwerk.de/")
    assert page.domain == "hainwerk.de"
    assert page.own_domains == {"hainwerk.de", "hainwerk.com"}
    assert page.absolute("kontakt") == "https://www.hainwerk.de/de/kontakt"


@pytest.mark.parametrize("html", ["", "\x00", "<", "\ud800", "<p", "<!--", "<![CDATA[", "</", "<?xml", "\ufeff"])
def test_odd_pages(html: str) -> None:
    parse_page(html)
    parse_page(html.encode("utf-8", "surrogatepass"))


NO_CHARSETS = ("punycode", "idna", "utf-7", "unicode_escape", "raw_unicode_escape", "rot13", "undefined", "cp037")
"""Codecs of Python that are none of a browser: 400 kB in `punycode` once took 75 seconds."""


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"\xef\xbb\xbfgr\xc3\xbcn", "grün"),
        (b"gr\xc3\xbcn", "grün"),
        (b"<meta charset=iso-8859-1>gr\xfcn", "<meta charset=iso-8859-1>grün"),
        (b"gr\xfcn", "grün"),
        ("<meta charset=windows-1251>привет".encode("cp1251"), "<meta charset=windows-1251>привет"),
        (b"<meta charset=no-such>gr\xfcn", "<meta charset=no-such>grün"),
        (b"<meta charset=base64>gr\xfcn", "<meta charset=base64>grün"),
        *((f"<meta charset={name}>".encode() + b"gr\xfcn", f"<meta charset={name}>grün") for name in NO_CHARSETS),
        ("grün".encode("utf-16"), "grün"),
        ("<p>grün".encode("utf-16-le"), "<p>grün"),
        ("<p>grün".encode("utf-16-be"), "<p>grün"),
        ("<meta charset=iso-8859-1>„grün“ €".encode("cp1252"), "<meta charset=iso-8859-1>„grün“ €"),
        ("<meta charset=utf-8>grün".encode("cp1252"), "<meta charset=utf-8>grün"),
        ("grün und groß ".encode() + b"\xff", "grün und groß \ufffd"),
        ("<meta charset=x-sjis>東京①".encode("cp932"), "<meta charset=x-sjis>東京①"),
        ("お問い合わせはこちらまで".encode("cp932"), "お問い合わせはこちらまで"),
        ("お問い合わせはこちらまで".encode("euc-jp"), "お問い合わせはこちらまで"),
        ("お問い合わせ".encode("iso2022_jp"), "お問い合わせ"),
        ("<?xml encoding='windows-1251'?>привет".encode("cp1251"), "<?xml encoding='windows-1251'?>привет"),
    ],
)
def test_charsets(body: bytes, text: str) -> None:
    assert decode(body) == text


def test_a_header_names_the_charset() -> None:
    assert decode("привет".encode("koi8-r"), "koi8-r") == "привет"


def test_ordinary_pages_are_not_touched() -> None:
    html = "<div>" * 100 + "<p>a<p>b" * 300 + "<b>x</b>" * 300 + "</div>" * 100
    assert tame(html) == html


def test_bounds_keep_the_text() -> None:
    deep = "<div><span>a</span>" * 5_000 + "<a href='mailto:info@hainwerk.de'>x</a>"
    page = parse_page(deep)
    assert page.text.count("a") == 5_000
    assert [link.get("href") for link in page.links] == ["mailto:info@hainwerk.de"]
    assert tame(deep).count("<div>") <= MAX_DEPTH


def test_many_attributes_are_cut() -> None:
    page = parse_page("<p " + " ".join(f"a{i}=1" for i in range(50_000)) + ">x</p><p id=z>y</p>")
    assert len(page.elements[0].attributes) == MAX_ATTRIBUTES
    assert page.text == "x\ny\n"


def test_a_long_page_keeps_its_end() -> None:
    page = parse_page("<p>" + "word " * (MAX_CHARS // 4) + "</p><footer>info@hainwerk.de</footer>")
    assert page.text.endswith("info@hainwerk.de\n")


def test_scripts_with_tags_are_left_alone() -> None:
    script = "<script>var a = '" + "<div><b>" * 7_000 + "';</script>"
    page = parse_page(script + "<p>x</p>")
    assert page.scripts[0].text.count("<div>") == 7_000
    assert page.text == "x\n"


@pytest.mark.parametrize(
    "text", ['{"a": 1,}', '{"a": 1};', '<!-- {"a": 1} -->', '// c\n{"a": 1}', '/*<![CDATA[*/{"a": 1}/*]]>*/']
)
def test_json_is_mended(text: str) -> None:
    assert read_json(text) == {"a": 1}


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "{" * 100 + "}" * 100, "nope"])
def test_json_that_cannot_be_read(text: str) -> None:
    assert read_json(text) is None


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.de/", "home"),
        ("https://a.de/index.php", "home"),
        ("https://a.de/de/", "home"),
        ("https://a.de/kontakt.html", "contact"),
        ("https://a.fr/nous-contacter", "contact"),
        ("https://a.gr/%CE%B5%CF%80%CE%B9%CE%BA%CE%BF%CE%B9%CE%BD%CF%89%CE%BD%CE%AF%CE%B1", "contact"),
        ("https://a.de/impressum", "imprint"),
        ("https://a.fr/mentions-legales", "imprint"),
        ("https://a.nl/over-ons", "about"),
        ("https://a.pl/o-nas", "about"),
        ("https://a.it/chi-siamo", "about"),
        ("https://a.es/equipo", "team"),
        ("https://a.de/datenschutz", "privacy"),
        ("https://a.de/preise", "other"),
        ("http://[", "other"),
    ],
)
def test_kinds_of_pages(url: str, kind: str) -> None:
    assert kind_of(url) == kind
