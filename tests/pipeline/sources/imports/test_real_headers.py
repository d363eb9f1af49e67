"""Files as address books, CRMs and people in other countries write them: what becomes of their rows."""

from __future__ import annotations

import csv
import io
import time
from datetime import UTC, datetime

import pytest

from cocli.pipeline.sources.imports.cards import read_cards
from cocli.pipeline.sources.imports.countries import country_of
from cocli.pipeline.sources.imports.fields import NAMES, OF_ANYBODY, SEVERAL
from cocli.pipeline.sources.imports.mapping import map_columns
from cocli.pipeline.sources.imports.observation import ImportedPlace, Observer
from cocli.pipeline.sources.imports.rows import ImportTable
from cocli.pipeline.sources.imports.tables import read_table

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def observed(table: ImportTable, *said: str) -> list[ImportedPlace]:
    observer = Observer(map_columns(table.columns, said), NOON)
    found = [observer.observe(row) for row in table.rows]
    assert not table.refused
    assert all(isinstance(one, ImportedPlace) for one in found), found
    return [one for one in found if isinstance(one, ImportedPlace)]


def rows(columns: str, *lines: str, delimiter: str = ",") -> ImportTable:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([text.split("|") for text in (columns, *lines)])
    return read_table(out.getvalue().encode(), file="f")


def test_contacts_of_google() -> None:
    company, person = observed(
        rows(
            "First Name|Last Name|File As|Organization Name|Labels|E-mail 1 - Label|E-mail 1 - Value|E-mail 2 - Value"
            "|Phone 1 - Value|Phone 2 - Value|Address 1 - Street|Address 1 - City|Address 1 - Postal Code"
            "|Address 1 - Country|Website 1 - Value",
            "Jo|Doe||Acme Roofing|* myContacts ::: vip|Work|jo@acme-shop.com ::: info@acme-shop.com|jo.doe@gmail.com"
            "||+1 217 241 0100|1 Main St|Springfield|62701|US|https://acme-shop.com",
            "Ann|Solo||||Home|ann@solo-shop.com||||||||",
        )
    )
    assert (company.place.name, company.contact, company.tags) == ("Acme Roofing", "Jo Doe", ("vip",))
    assert company.emails == ("jo@acme-shop.com", "info@acme-shop.com", "jo.doe@gmail.com")
    assert (company.place.phone_e164, company.place.postcode) == ("+12172410100", "62701")
    assert (company.place.street, company.place.website) == ("1 Main St", "https://acme-shop.com")
    assert (person.place.name, person.contact, person.tags) == ("Ann Solo", None, ())


def test_contacts_of_outlook_and_what_they_do_not_mean() -> None:
    table = rows(
        "Title|First Name|Last Name|Company|Job Title|Business Street|Business City|Business Country/Region|Home Street"
        "|Business Fax|Mobile Phone|Business Phone|E-mail Address|E-mail 2 Address|Web Page",
        "Mr.|Jo|Doe|Acme|Owner|1 Main St|Springfield|United States of America|9 Elm|+1 1|+1 217 241 0199"
        "|(217) 241-0100|jo@acme-shop.com|info@acme-shop.com|acme-shop.com",
        "||||||||||+1 217 241 0199||ann@solo-shop.com||",
    )
    table.rows[1].cells["Company"] = "Solo"  # type: ignore[index]  # rows are made of dicts
    company, mobile = observed(table)
    assert (company.place.name, company.contact, company.place.street) == ("Acme", "Jo Doe", "1 Main St")
    assert (company.place.phone_e164, mobile.place.phone_e164) == ("+12172410100", "+12172410199")
    assert company.emails == ("jo@acme-shop.com", "info@acme-shop.com")
    assert "Title" in map_columns(table.columns).unused
    assert "Business Fax" in map_columns(table.columns).unused


@pytest.mark.parametrize(
    ("columns", "line", "expected"),
    [
        (
            (
                "Firmenname|Ansprechpartner|Straße und Hausnummer|PLZ|Ort|Land|Telefon (geschäftlich)|E-Mail-Adresse"
                "|Internetadresse|Branche|Bewertung|Anzahl Bewertungen"
            ),
            (
                "Müller GmbH|Frau Müller|Hauptstr. 1|01067|Dresden|Deutschland|0351 4820100|info@mueller-dach.de"
                "|www.mueller-dach.de|Dachdecker|4,5|1.234"
            ),
            ("Müller GmbH", "01067", "DE", "+493514820100", 4.5, 1234),
        ),
        (
            (
                "Raison sociale|Adresse|Code postal|Ville|Pays|N° de téléphone|Adresse e-mail|Site internet"
                "|Secteur d’activité|Note moyenne|Nombre d'avis"
            ),
            (
                "Dupont|12 rue de la Paix|01000|Bourg-en-Bresse|France|04 74 12 34 56|contact@dupont.fr|dupont.fr"
                "|Boulangerie|4,2|1 234"
            ),
            ("Dupont", "01000", "FR", "+33474123456", 4.2, 1234),
        ),
        (
            (
                "Razón social|Nombre comercial|Dirección|CP|Población|Provincia|País|Teléfono fijo|Correo electrónico"
                "|Página web|Sector|Valoración|Reseñas"
            ),
            (
                "Talleres Pérez S.L.|Talleres Pérez|C/ Mayor 3|08001|Barcelona|Barcelona|España|933 01 23 45"
                "|info@perez.es|perez.es|Taller|4.8|12"
            ),
            ("Talleres Pérez", "08001", "ES", "+34933012345", 4.8, 12),
        ),
        (
            (
                "Account Name|Billing Street|Billing City|Billing State/Province|Billing Zip/Postal Code"
                "|Billing Country|Phone|Website|Industry|Rating|Reviews|Person - Email - Work"
            ),
            (
                "Acme|1 Main St|Springfield|IL|62701|United States|(217) 241-0100|acme-shop.com|Roofing|4|3"
                "|a@acme-shop.com"
            ),
            ("Acme", "62701", "US", "+12172410100", 4, 3),
        ),
        (
            "title|categoryName|street|city|postalCode|state|countryCode|website|phone|totalScore|reviewsCount|email",
            "Acme|Roofer|1 Main St|Springfield|62701|IL|US|acme-shop.com|+1 217 241 0100|4.5|1,234|a@acme-shop.com",
            ("Acme", "62701", "US", "+12172410100", 4.5, 1234),
        ),
    ],
)
def test_tables_of_other_countries_and_programs(columns: str, line: str, expected: tuple[object, ...]) -> None:
    (one,) = observed(rows(columns, line, delimiter=";"))
    place = one.place
    assert (place.name, place.postcode, place.country, place.phone_e164, place.rating, place.review_count) == expected
    assert all((place.street, place.city, place.website, place.category_labels, one.emails))


def test_beside_a_company_a_name_is_a_persons() -> None:
    table = rows("Name|Company|Email", "Jo Doe|Acme|jo@acme-shop.com", "Ann Solo||ann@solo-shop.com", "Acme|Acme|")
    company, alone, itself = observed(table)
    assert (company.place.name, company.contact) == ("Acme", "Jo Doe")
    assert (alone.place.name, alone.contact) == ("Ann Solo", None)
    assert (itself.place.name, itself.contact) == ("Acme", None)
    (half,) = observed(rows("Nom|Prénom|Entreprise", "Dupont|Jean|Acme"))
    assert (half.place.name, half.contact) == ("Acme", "Jean Dupont")
    (said,) = observed(table, "Name=name")[:1]
    assert (said.place.name, said.contact) == ("Jo Doe", None)
    assert observed(rows("Name|Owner|Company", "X|Jo Doe|Acme"))[0].contact == "Jo Doe"
    whole, alone = observed(rows("Name|Given Name|Family Name|Organization 1 - Name", "Jo Doe|Jo|Doe|Acme", "Beta|||"))
    assert (whole.place.name, whole.contact, alone.place.name, alone.contact) == ("Acme", "Jo Doe", "Beta", None)


def test_what_a_field_has_several_columns_of_is_said() -> None:
    mapping = map_columns(["Company", "Mobile", "Phone", "Email", "Email 2", "Website", "URL"])
    assert mapping.further == {"phone": ("Mobile",), "email": ("Email 2",), "website": ("URL",)}
    assert mapping.unused == ()
    said = map_columns(["Company", "Mobile", "Phone", "Email"], ["Mobile=phone", "Email=-"])
    assert (said.fields, said.further) == ({"name": "Company", "phone": "Mobile"}, {})
    assert set(SEVERAL) <= set(NAMES)
    assert set(NAMES["name"]) >= OF_ANYBODY


@pytest.mark.parametrize(
    ("text", "country"),
    [("Österreich", "AT"), ("ETATS-UNIS", "US"), ("uk", "GB"), ("U.S.A.", "US"), ("Pays Bas", "NL"), ("Suiza", "CH")],
)
def test_countries_in_other_languages(text: str, country: str) -> None:
    assert country_of(text) == country


def test_cards_of_phones_and_of_apple() -> None:
    """Version 2.1 has no FN, quoted-printable and Latin-1; Apple numbers its lines and escapes colons."""
    old = (
        b"BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller;J=F6rg;;;\r\n"
        b"TEL;WORK;VOICE:0351 4820100\r\nADR;WORK;ENCODING=QUOTED-PRINTABLE:;;Hauptstr. 1=\r\n 2;Dresden;;01067;\r\n"
        b"EMAIL;INTERNET:joerg@mueller-dach.de\r\nEND:VCARD\r\n"
    )
    apple = (
        b"BEGIN:VCARD\r\nVERSION:3.0\r\nN:Doe;Jo;;;\r\nFN:Jo Doe\r\nORG:Acme\\; Roofing\\\\;Sales;\r\n"
        b"item1.EMAIL;type=INTERNET;type=pref:jo@acme-shop.com\r\nitem1.X-ABLabel:_$!<Other>!$_\r\n"
        b"item2.URL;type=pref:https\\://acme-shop.com\r\n"
        b"item3.ADR;type=WORK:;;1 Main St\\nSuite 2;Springfield;IL;62701;USA\r\n"
        b"END:VCARD\r\n"
    )
    first, second = (row.cells for row in read_cards(old + apple, file="f").rows)
    assert (first["fn"], first["postcode"], first["email"]) == ("Jörg Müller", "01067", "joerg@mueller-dach.de")
    assert (second["org"], second["website"]) == ("Acme; Roofing\\", "https://acme-shop.com")
    assert (second["email"], second["street"]) == ("jo@acme-shop.com", "1 Main St\nSuite 2")
    assert "n" not in second
    assert first["street"] == "Hauptstr. 1 2"


def test_what_is_the_companys_comes_before_what_is_at_home() -> None:
    """Once the parts of two addresses were mixed: the street of one, the postcode of the other."""
    (row,) = read_cards(
        b"BEGIN:VCARD\nVERSION:3.0\nFN:A\nADR;TYPE=HOME:;;9 Elm;Shelbyville;;;\nADR;TYPE=work:;;1 Main St;;;62701;\n"
        b"TEL;TYPE=home:1\nTEL;TYPE=cell,pref:2\nTEL;type=WORK;type=FAX:3\nTEL;WORK;VOICE:4\n"
        b"EMAIL;TYPE=HOME:home@x.com\nEMAIL;PREF=1;TYPE=work:b@x.com\nEMAIL;TYPE=work:a@x.com\nEND:VCARD\n",
        file="f",
    ).rows
    assert dict(row.cells) == {
        "fn": "A",
        "street": "1 Main St",
        "postcode": "62701",
        "phone": "4",
        "email": "b@x.com; a@x.com; home@x.com",
    }


def test_a_quote_that_is_not_closed_costs_one_row() -> None:
    """Once it swallowed every row up to the next quote, or to the end of the file."""
    table = read_table(b'name,size\nA,1\nB,"5\nC,3\n"D ""x"" 1",4\nE,5\nF,"6\n', file="f")
    assert [row.cells["name"] for row in table.rows] == ["A", "C", 'D "x" 1', "E"]
    assert [(one.number, one.text) for one in table.refused] == [(3, 'B,"5'), (7, 'F,"6')]


def test_blank_cells_at_the_end_of_a_row_are_none() -> None:
    table = read_table(b"name,city\nA,x,,\nB,y,,z\n", file="f")
    assert [dict(row.cells) for row in table.rows] == [{"name": "A", "city": "x"}]
    assert [one.reason for one in table.refused] == ["4 cells, but the header has 2"]


def test_a_file_of_nothing_but_open_quotes_takes_no_time() -> None:
    started = time.process_time()
    table = read_table(b"name,x\n" + b'x","y\n' * 20_000, file="f")
    assert (len(table.rows), len(table.refused)) == (0, 12)
    assert table.refused[-1].reason.endswith("19988 lines below it are not read")
    assert time.process_time() - started < 10
