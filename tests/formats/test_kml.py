"""KML: what is written is read back, files put together by hand are mended, hostile ones are refused."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.formats import kml

SOURCE = Path(__file__).parents[2] / "src" / "cocli"
RING = [[1.5, 2.5], [3.0, 2.5], [3.0, 4.0], [1.5, 2.5]]


def document(*lines: str) -> str:
    return kml.HEAD + "\n".join(lines) + "\n" + kml.TAIL


@given(st.text(), st.text(min_size=1), st.text(), st.floats(-180, 180), st.floats(-90, 90))
def test_what_is_written_is_read_back(name: str, key: str, value: str, lon: float, lat: float) -> None:
    start, extended = kml.placemark_start("c1"), f"<ExtendedData>{kml.data(key, value)}</ExtendedData>"
    text = document(start, kml.element("name", name), extended, kml.point(lon, lat), kml.polygon(RING), "</Placemark>")
    fromstring(text.encode())
    (placemark,) = kml.read_placemarks(text)
    assert list(kml.coordinates(placemark.points[0])) == [(lon, lat)]
    assert list(kml.coordinates(placemark.polygons[0].outer[0])) == [tuple(corner) for corner in RING]
    if name.isprintable() and name.strip():
        assert placemark.texts["name"] == name.strip()
    if key.isprintable() and key.strip() and value.isprintable():
        assert placemark.data == [(" ".join(key.split()), value.strip())]


def test_markup_in_a_text_stays_text() -> None:
    evil = '</name><Placemark id="x">&<![CDATA[ "]]>'
    (placemark,) = kml.read_placemarks(document("<Placemark>", kml.element("name", evil), "</Placemark>"))
    assert placemark.texts["name"] == evil


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("Green & Local", "Green & Local"),
        ("A &nbsp;&eacute; &amp; B", "A \xa0é & B"),
        ("R&D;", "R&D;"),
        ("<![CDATA[a & <b>]]>", "a & <b>"),
        ("a\x0bb\x00c", "abc"),
    ],
)
def test_what_was_put_together_by_hand_is_mended(name: str, read: str) -> None:
    (placemark,) = kml.read_placemarks(f"<kml><Placemark><name>{name}</name></Placemark></kml>")
    assert placemark.texts["name"] == read


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "not XML"),
        ("<kml>\n<Placemark>", 2, "not XML"),
        ("<gpx/>", 1, "begins with <gpx>"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa">]><kml>&a;</kml>', 1, "entities"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><kml/>', 1, "entities"),
    ],
)
def test_what_is_no_kml_is_refused(text: str, line: int, words: str) -> None:
    with pytest.raises(kml.KmlError, match=words) as caught:
        kml.read_placemarks(text)
    assert caught.value.line == line


def test_coordinates_that_are_none_are_named() -> None:
    with pytest.raises(ValueError, match='"1;2" is not a longitude and a latitude'):
        list(kml.coordinates("3,4,5 1;2"))


def test_elements_come_one_by_one_without_their_namespace() -> None:
    text = document("<Placemark>", kml.element("name", "a"), "</Placemark><Placemark/>")
    found = [kml.text_of(part) for part in kml.elements(BytesIO(text.encode()), "Placemark")]
    assert found == ["<Placemark>\n<name>a</name>\n</Placemark>\n", "<Placemark />\n"]


def test_nobody_else_knows_the_format() -> None:
    marks = ("opengis.net/kml", "LinearRing", "<coordinates>", "outerBoundaryIs")
    knowing = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(mark in path.read_text("utf-8") for mark in marks)
    ]
    assert knowing == ["formats/kml.py"]
