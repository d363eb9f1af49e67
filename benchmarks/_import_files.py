"""Made-up files of the shapes that well-known programs write, with what each row says: for tests and benchmarks.

The businesses do not exist; the columns are those that the programs have.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus

from cocli.keys.identities import place_id_from_feature_id


@dataclass(frozen=True)
class Firm:
    """One business, and everything that a file may say of it."""

    name: str
    phone: str
    e164: str
    email: str
    website: str
    street: str
    city: str
    region: str
    postcode: str
    country: str
    land: str
    line: str
    """The whole address, as its country writes it."""
    lat: float
    lon: float
    category: str
    rating: float
    reviews: int
    number: int
    status: str = "operational"

    @property
    def feature_id(self) -> str:
        return f"0x{0x47A8_51E1_7301_0000 + self.number:x}:0x{0x6FAF_0CF2_FD75_0000 + self.number * 7919:x}"

    @property
    def place_id(self) -> str:
        return str(place_id_from_feature_id(self.feature_id))

    @property
    def cid(self) -> str:
        return str(int(self.feature_id.rpartition("0x")[2], 16))

    @property
    def link(self) -> str:
        return (
            f"https://www.google.com/maps/place/{quote_plus(self.name)}/data=!4m7!3m6!1s{self.feature_id}!8m2!3d{self.lat}"
            f"!4d{self.lon}!16s%2Fg%2F11abc{self.number}!19s{self.place_id}?authuser=0&hl=en&rclk=1"
        )

    @property
    def house(self) -> str:
        return next((part for part in self.street.split() if part[0].isdigit()), "")

    @property
    def road(self) -> str:
        return " ".join(part for part in self.street.split() if part != self.house)

    @property
    def is_closed(self) -> bool:
        return self.status == "permanently_closed"


FIRMS = (
    Firm(
        "Acme Roofing",
        "(217) 241-0100",
        "+12172410100",
        "office@acme-roofing.com",
        "https://acme-roofing.com/",
        "101 Main St",
        "Springfield",
        "IL",
        "62701",
        "US",
        "United States",
        "101 Main St, Springfield, IL 62701, United States",
        39.799017,
        -89.643957,
        "Roofing contractor",
        4.8,
        185,
        1,
    ),
    Firm(
        "Bäckerei Krümel",
        "030 90182010",
        "+493090182010",
        "info@baeckerei-kruemel.de",
        "https://www.baeckerei-kruemel.de",
        "Lange Straße 12",
        "Berlin",
        "Berlin",
        "10115",
        "DE",
        "Germany",
        "Lange Straße 12, 10115 Berlin, Germany",
        52.531677,
        13.381777,
        "Bakery",
        4.5,
        1234,
        2,
    ),
    Firm(
        "Plomberie Dubois",
        "01 42 76 40 40",
        "+33142764040",
        "contact@plomberie-dubois.fr",
        "http://plomberie-dubois.fr",
        "8 Rue des Lilas",
        "Lyon",
        "Rhône",
        "69003",
        "FR",
        "France",
        "8 Rue des Lilas, 69003 Lyon, France",
        45.759723,
        4.855432,
        "Plumber",
        3.9,
        47,
        3,
        "permanently_closed",
    ),
    Firm(
        "Harbour Dental Care",
        "020 7219 3000",
        "+442072193000",
        "hello@harbourdental.co.uk",
        "https://harbourdental.co.uk/",
        "14 Quay Street",
        "Bristol",
        "England",
        "BS1 4ND",
        "GB",
        "United Kingdom",
        "14 Quay Street, Bristol BS1 4ND, United Kingdom",
        51.454514,
        -2.58791,
        "Dental clinic",
        5.0,
        12,
        4,
    ),
    Firm(
        "Yarra Cycles",
        "03 9658 9658",
        "+61396589658",
        "shop@yarracycles.com.au",
        "https://yarracycles.com.au",
        "77 Swan Street",
        "Richmond",
        "VIC",
        "3121",
        "AU",
        "Australia",
        "77 Swan Street, Richmond VIC 3121, Australia",
        -37.825912,
        144.998541,
        "Bicycle shop",
        4.1,
        302,
        5,
        "temporarily_closed",
    ),
)

Said = Mapping[str, Any]
PICTURE = "https://lh5.googleusercontent.com/p/x=w408"
REVIEWS = "https://search.google.com/local/reviews?placeid="
EVERYTHING = (
    "name",
    "e164",
    "email",
    "website",
    "street",
    "city",
    "postcode",
    "country",
    "lat",
    "lon",
    "category",
    "rating",
    "reviews",
    "place_id",
    "status",
)


@dataclass(frozen=True)
class ImportCase:
    """A file, and which fields of the firms are in it."""

    name: str
    """Of the program."""
    file: str
    data: bytes
    fields: tuple[str, ...]
    firms: Sequence[Firm] = FIRMS
    options: Mapping[str, Any] = field(default_factory=dict)


def table(rows: Iterable[Said], delimiter: str = ",", encoding: str = "utf-8") -> bytes:
    listed = list(rows)
    out = io.StringIO()
    names = list(dict.fromkeys(name for row in listed for name in row))
    writer = csv.DictWriter(out, names, delimiter=delimiter, restval="")
    writer.writeheader()
    writer.writerows(listed)
    return out.getvalue().encode(encoding)


def _of_all(make: Callable[[Firm], Said]) -> list[Said]:
    return [make(firm) for firm in FIRMS]


def _code(firm: Firm) -> str:
    return {"permanently_closed": "CLOSED_PERMANENTLY", "temporarily_closed": "CLOSED_TEMPORARILY"}.get(
        firm.status, "OPERATIONAL"
    )


def gosom(firm: Firm) -> Said:
    words = {"permanently_closed": "Permanently closed", "temporarily_closed": "Temporarily closed"}
    return {
        "input_id": "7f1",
        "link": firm.link,
        "title": firm.name,
        "category": firm.category,
        "address": firm.line,
        "open_hours": json.dumps({"Monday": ["9 am–5 pm"]}),
        "popular_times": "{}",
        "website": firm.website,
        "phone": firm.e164,
        "plus_code": "",
        "review_count": firm.reviews,
        "review_rating": firm.rating,
        "reviews_per_rating": json.dumps({"1": 2, "5": 9}),
        "latitude": firm.lat,
        "longitude": firm.lon,
        "cid": firm.cid,
        "status": words.get(firm.status, "Open ⋅ Closes 5 PM"),
        "descriptions": "",
        "reviews_link": f"{REVIEWS}{firm.place_id}",
        "thumbnail": "https://lh5.googleusercontent.com/p/AF1Qip=w408",
        "timezone": "Europe/Berlin",
        "price_range": "",
        "data_id": firm.feature_id,
        "images": json.dumps([{"title": "All", "image": PICTURE}]),
        "owner": json.dumps(
            {"id": "1", "name": f"{firm.name} (Owner)", "link": "https://www.google.com/maps/contrib/1"}
        ),
        "complete_address": json.dumps(
            {
                "borough": "",
                "street": firm.street,
                "city": firm.city,
                "postal_code": firm.postcode,
                "state": firm.region,
                "country": firm.country,
            }
        ),
        "about": json.dumps(
            [{"id": "service_options", "name": "Service options", "options": [{"name": "Delivery", "enabled": True}]}]
        ),
        "user_reviews": json.dumps([{"Name": "Jo Doe", "Rating": 1, "Description": "mail me at jo@example.org"}]),
        "emails": firm.email,
    }


def outscraper(firm: Firm) -> Said:
    return {
        "query": "roofers, springfield",
        "name": firm.name,
        "site": firm.website,
        "subtypes": f"{firm.category}, Service",
        "category": "businesses",
        "type": firm.category,
        "phone": firm.e164,
        "full_address": firm.line,
        "borough": "",
        "street": firm.street,
        "city": firm.city,
        "postal_code": firm.postcode,
        "state": firm.region,
        "us_state": "",
        "country": firm.land,
        "country_code": firm.country,
        "latitude": firm.lat,
        "longitude": firm.lon,
        "time_zone": "Europe/Berlin",
        "rating": firm.rating,
        "reviews": firm.reviews,
        "reviews_link": f"{REVIEWS}{firm.place_id}",
        "photo": "https://lh5.googleusercontent.com/p/a",
        "street_view": "https://streetviewpixels-pa.googleapis.com/v1/thumbnail?x=1",
        "working_hours": json.dumps({"Monday": "9AM-5PM"}),
        "business_status": _code(firm),
        "verified": True,
        "owner_id": "1177",
        "owner_title": "Somebody Else",
        "owner_link": "https://www.google.com/maps/contrib/1",
        "location_link": firm.link,
        "place_id": firm.place_id,
        "google_id": firm.feature_id,
        "cid": firm.cid,
        "email_1": firm.email,
        "email_1_full_name": "",
        "phone_1": firm.phone,
    }


def apify(firm: Firm) -> Said:
    return {
        "title": firm.name,
        "subTitle": "",
        "price": "",
        "categoryName": firm.category,
        "address": firm.line,
        "neighborhood": "",
        "street": firm.street,
        "city": firm.city,
        "postalCode": firm.postcode,
        "state": firm.region,
        "countryCode": firm.country,
        "website": firm.website,
        "phone": firm.phone,
        "phoneUnformatted": firm.e164,
        "claimThisBusiness": "false",
        "location/lat": firm.lat,
        "location/lng": firm.lon,
        "totalScore": firm.rating,
        "permanentlyClosed": str(firm.is_closed).lower(),
        "temporarilyClosed": str(firm.status == "temporarily_closed").lower(),
        "placeId": firm.place_id,
        "categories/0": firm.category,
        "categories/1": "Service",
        "fid": firm.feature_id,
        "cid": firm.cid,
        "reviewsCount": firm.reviews,
        "reviewsDistribution/oneStar": 3,
        "imagesCount": 9,
        "imageCategories/0": "All",
        "scrapedAt": "2026-04-18T07:19:36.000Z",
        "openingHours/0/day": "Monday",
        "openingHours/0/hours": "9 AM to 5 PM",
        "url": firm.link,
        "searchPageUrl": "https://www.google.com/maps/search/roofer/@39.7,-89.6,14z",
        "searchString": "roofer",
        "rank": 1,
        "isAdvertisement": "false",
        "imageUrl": "https://lh5.googleusercontent.com/p/b",
        "emails/0": firm.email,
    }


def phantombuster(firm: Firm) -> Said:
    status = {"permanently_closed": "Permanently closed", "temporarily_closed": "Temporarily closed"}.get(
        firm.status, "Open now"
    )
    return {
        "placeUrl": firm.link,
        "title": firm.name,
        "rating": firm.rating,
        "reviewCount": firm.reviews,
        "category": firm.category,
        "attributes": "",
        "address": firm.line,
        "plusCode": "",
        "website": firm.website,
        "phoneNumber": firm.e164,
        "currentStatus": status,
        "imgUrl": "https://lh5.googleusercontent.com/p/c",
        "latitude": firm.lat,
        "longitude": firm.lon,
        "isClaimed": "Claimed",
        "query": "https://www.google.com/maps/search/roofer",
        "timestamp": "2026-04-18T07:19:36.000Z",
    }


def class_names(firm: Firm) -> Said:
    """A page, taken apart by the names of its styles: nothing else names the columns."""
    return {
        "hfpxzc href": firm.link,
        "qBF1Pd": firm.name,
        "MW4etd": str(firm.rating),
        "UY7F9": f"({firm.reviews:,})",
        "W4Efsd": firm.category,
        "W4Efsd 2": "·",
        "W4Efsd 3": "\ue934",
        "W4Efsd 4": f"· \u200e{firm.line}",
        "W4Efsd 5": "Open",
        "UsdlK": f"\ue0b0 {firm.e164}",
        "lcr4fd href": firm.website,
        "Cw1rxd": "\ue89e",
        "ah5Ghc": "Jo said: great",
    }


def stars_in_one(firm: Firm) -> Said:
    return {
        "Name": firm.name,
        "Rating": f"{firm.rating}({firm.reviews})",
        "Kind": firm.category,
        "Where": firm.line,
        "Call": firm.e164,
        "GPS": f"{firm.lat}, {firm.lon}",
        "Go": firm.link,
    }


def d7(firm: Firm) -> Said:
    return {
        "Name": firm.name,
        "Phone": firm.phone,
        "Email": firm.email,
        "Website": firm.website,
        "Category": firm.category,
        "Address1": firm.street,
        "Address2": firm.city,
        "Region": firm.region,
        "Zip": firm.postcode,
        "Country": firm.country,
        "Google Stars": firm.rating,
        "Google Review Count": firm.reviews,
        "Yelp Stars": "",
        "Yelp Review Count": "",
        "Facebook Stars": "",
        "Latitude": firm.lat,
        "Longitude": firm.lon,
    }


def hubspot(firm: Firm) -> Said:
    return {
        "Record ID": 1234567000 + firm.number,
        "Company name": firm.name,
        "Company owner": "Ann Seller (ann@our-agency.com)",
        "Create Date": "2026-01-05 10:20",
        "Phone Number": firm.e164,
        "Last Activity Date": "",
        "City": firm.city,
        "Country/Region": firm.land,
        "Industry": firm.category,
        "Company Domain Name": firm.website.split("/")[2],
        "Website URL": firm.website,
        "Street Address": firm.street,
        "Postal Code": firm.postcode,
        "State/Region": firm.region,
        "Lead Status": "Open",
    }


def salesforce(firm: Firm) -> Said:
    return {
        "Account ID": f"0015g00000Abc{firm.number:02d}",
        "Account Owner": "Ann Seller",
        "Account Name": firm.name,
        "Billing Street": firm.street,
        "Billing City": firm.city,
        "Billing State/Province": firm.region,
        "Billing Zip/Postal Code": firm.postcode,
        "Billing Country": firm.land,
        "Phone": firm.phone,
        "Fax": "+1 217 241 0999",
        "Website": firm.website,
        "Industry": firm.category,
        "Employees": "10-50",
        "Annual Revenue": "1000000-5000000",
        "Status": "Closed Won",
    }


def pipedrive(firm: Firm) -> Said:
    return {
        "Organization - ID": firm.number,
        "Organization - Name": firm.name,
        "Organization - Label": "Hot",
        "Organization - Address": firm.line,
        "Organization - Street/road name of Address": firm.road,
        "Organization - House number of Address": firm.house,
        "Organization - City/town/village/locality of Address": firm.city,
        "Organization - ZIP/Postal code of Address": firm.postcode,
        "Organization - Country of Address": firm.land,
        "Person - Name": "Jo Doe",
        "Person - Phone - Work": firm.e164,
        "Person - Email - Work": firm.email,
        "Organization - Owner": "Ann Seller",
        "Organization - Website": firm.website,
    }


def airtable(firm: Firm) -> Said:
    return {
        "Name": firm.name,
        "Notes": "met at the fair",
        "Status": "Todo",
        "Contact email": firm.email,
        "Tel.": firm.phone,
        "Homepage": firm.website,
        "Adress": firm.line,
        "Attachments": "photo.jpg (https://v5.airtableusercontent.com/v3/u/1/photo.jpg)",
    }


def takeout(firm: Firm) -> Said:
    return {
        "Title": firm.name,
        "Note": "",
        "URL": f"https://www.google.com/maps/place/{quote_plus(firm.name)}/data=!4m2!3m1!1s{firm.feature_id}",
        "Tags": "",
        "Comment": "",
    }


def osm_tags(firm: Firm) -> dict[str, Any]:
    return {
        "name": firm.name,
        "shop": "yes",
        "contact:phone": firm.e164,
        "contact:email": firm.email,
        "contact:website": firm.website,
        "addr:street": firm.road,
        "addr:housenumber": firm.house,
        "addr:postcode": firm.postcode,
        "addr:city": firm.city,
        "addr:country": firm.country,
        "opening_hours": "Mo-Fr 09:00-17:00",
    }


def shapefile(firm: Firm) -> Said:
    tags = osm_tags(firm)
    cut = {name.replace(":", "_")[:10]: value for name, value in tags.items()}
    return {"WKT": f"POINT ({firm.lon} {firm.lat})", "osm_id": 1000 + firm.number, **cut}


def overpass(firms: Sequence[Firm]) -> bytes:
    elements = [
        {"type": "node", "id": firm.number, "lat": firm.lat, "lon": firm.lon, "tags": osm_tags(firm)} for firm in firms
    ]
    elements[1] = {
        "type": "way",
        "id": 2,
        "center": {"lat": firms[1].lat, "lon": firms[1].lon},
        "nodes": [1, 2],
        "tags": osm_tags(firms[1]),
    }
    return json.dumps({"version": 0.6, "osm3s": {"copyright": "x"}, "elements": elements}).encode()


def places_api(firms: Sequence[Firm]) -> bytes:
    return json.dumps(
        {
            "places": [
                {
                    "id": firm.place_id,
                    "displayName": {"text": firm.name, "languageCode": "en"},
                    "formattedAddress": firm.line,
                    "location": {"latitude": firm.lat, "longitude": firm.lon},
                    "internationalPhoneNumber": firm.e164,
                    "websiteUri": firm.website,
                    "googleMapsUri": f"https://maps.google.com/?cid={firm.cid}",
                    "rating": firm.rating,
                    "userRatingCount": firm.reviews,
                    "businessStatus": _code(firm),
                    "primaryTypeDisplayName": {"text": firm.category},
                    "types": ["store", "establishment"],
                }
                for firm in firms
            ]
        }
    ).encode()


def fusion(firms: Sequence[Firm]) -> bytes:
    return json.dumps(
        {
            "total": 5,
            "region": {"center": {"latitude": 1.5, "longitude": 2.5}},
            "businesses": [
                {
                    "id": f"x{firm.number}",
                    "alias": "a",
                    "name": firm.name,
                    "image_url": "https://s3-media.fl.yelpcdn.com/o.jpg",
                    "is_closed": firm.is_closed,
                    "url": f"https://www.yelp.com/biz/x{firm.number}",
                    "review_count": firm.reviews,
                    "categories": [{"alias": "roofing", "title": firm.category}],
                    "rating": firm.rating,
                    "coordinates": {"latitude": firm.lat, "longitude": firm.lon},
                    "location": {
                        "address1": firm.street,
                        "address2": "",
                        "city": firm.city,
                        "zip_code": firm.postcode,
                        "country": firm.country,
                        "state": firm.region,
                    },
                    "phone": firm.e164,
                    "display_phone": firm.phone,
                }
                for firm in firms
            ],
        }
    ).encode()


def overture(firms: Sequence[Firm]) -> bytes:
    return json.dumps(
        {
            "type": "FeatureCollection",
            "features": [
                {
                    "type": "Feature",
                    "geometry": {"type": "Point", "coordinates": [firm.lon, firm.lat]},
                    "properties": {
                        "id": "08f",
                        "names": {"primary": firm.name},
                        "categories": {"primary": firm.category, "alternate": ["x"]},
                        "websites": [firm.website],
                        "phones": [firm.e164],
                        "emails": [firm.email],
                        "addresses": [
                            {
                                "freeform": firm.street,
                                "locality": firm.city,
                                "postcode": firm.postcode,
                                "region": firm.region,
                                "country": firm.country,
                            }
                        ],
                    },
                }
                for firm in firms
            ],
        }
    ).encode()


def my_map(firms: Sequence[Firm]) -> bytes:
    marks = "".join(
        f"<Placemark><name>{firm.name}</name><description><![CDATA[<b>{firm.category}</b><br>Phone: {firm.e164}<br>"
        f'E-mail: <a href="mailto:{firm.email}">{firm.email}</a><br>Website: <a href="{firm.website}">our site</a><br>'
        f"Address: {firm.line}]]></description>"
        f"<Point><coordinates>{firm.lon},{firm.lat},0</coordinates></Point></Placemark>"
        for firm in firms
    )
    head = '<?xml version="1.0" encoding="UTF-8"?><kml xmlns="http://www.opengis.net/kml/2.2">'
    return f"{head}<Document>{marks}</Document></kml>".encode()


def packed(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
        archive.writestr("__MACOSX/._x", b"x")
    return out.getvalue()


def in_words(names: Sequence[str]) -> Callable[[Firm], Said]:
    """A table of another language: name, phone, e-mail, website, address, category, rating, number of reviews."""

    def row(firm: Firm) -> Said:
        values = (firm.name, firm.e164, firm.email, firm.website, firm.line, firm.category, firm.rating, firm.reviews)
        return dict(zip(names, values, strict=True))

    return row


LANGUAGES: Mapping[str, Sequence[str]] = {
    "Russian": (
        "Название",
        "Телефон",
        "Электронная почта",
        "Сайт",
        "Адрес",
        "Категория",
        "Рейтинг",
        "Количество отзывов",
    ),
    "Arabic": (
        "الاسم",
        "رقم الهاتف",
        "البريد الإلكتروني",
        "الموقع الإلكتروني",
        "العنوان",
        "الفئة",
        "التقييم",
        "عدد المراجعات",
    ),
    "Hebrew": ("שם העסק", "טלפון", "אימייל", "אתר", "כתובת", "קטגוריה", "דירוג", "מספר ביקורות"),
    "Greek": (
        "Επωνυμία",
        "Τηλέφωνο",
        "Ηλεκτρονικό ταχυδρομείο",
        "Ιστοσελίδα",
        "Διεύθυνση",
        "Κατηγορία",
        "Βαθμολογία",
        "Κριτικές",
    ),
    "Thai": ("ชื่อร้าน", "เบอร์โทร", "อีเมล", "เว็บไซต์", "ที่อยู่", "ประเภท", "คะแนน", "จำนวนรีวิว"),
    "Chinese": ("公司名称", "电话", "邮箱", "网址", "地址", "类别", "评分", "评论数"),
    "Japanese": ("店名", "電話番号", "メールアドレス", "ホームページ", "住所", "業種", "評価", "口コミ数"),
    "Korean": ("상호명", "전화번호", "이메일", "홈페이지", "주소", "업종", "평점", "리뷰수"),
    "Polish": (
        "Nazwa firmy",
        "Numer telefonu",
        "Adres e-mail",
        "Strona www",
        "Adres",
        "Kategoria",
        "Ocena",
        "Liczba opinii",
    ),
    "Turkish": ("İşletme Adı", "Telefon", "E-posta", "Web sitesi", "Adres", "Kategori", "Puan", "Yorum sayısı"),
}

_REACH = ("name", "e164", "website", "street", "city", "postcode", "country")
_RATED = (*_REACH, "lat", "lon", "category", "rating", "reviews")


def cases() -> list[ImportCase]:
    """One file for each program and form."""
    return [*_maps_programs(), *_address_books(), *_open_data(), *_forms(), *_languages()]


def _maps_programs() -> list[ImportCase]:
    everything = EVERYTHING
    return [
        ImportCase("gosom", "results.csv", table(_of_all(gosom)), everything),
        ImportCase(
            "gosom as lines of JSON",
            "results.json",
            "\n".join(json.dumps(gosom(firm)) for firm in FIRMS).encode(),
            everything,
        ),
        ImportCase("Outscraper", "outscraper.csv", table(_of_all(outscraper)), everything),
        ImportCase("Apify", "dataset.csv", table(_of_all(apify)), everything),
        ImportCase("PhantomBuster", "result.csv", table(_of_all(phantombuster)), (*_RATED, "place_id", "status")),
        ImportCase(
            "class names",
            "google.csv",
            table(_of_all(class_names)),
            (
                "name",
                "e164",
                "website",
                "street",
                "city",
                "postcode",
                "country",
                "lat",
                "lon",
                "rating",
                "reviews",
                "place_id",
            ),
        ),
        ImportCase(
            "stars in one cell",
            "list.csv",
            table(_of_all(stars_in_one)),
            ("name", "e164", "street", "city", "postcode", "lat", "lon", "rating", "reviews", "place_id"),
        ),
        ImportCase(
            "D7",
            "leads.csv",
            table(_of_all(d7)),
            (
                "name",
                "e164",
                "email",
                "website",
                "street",
                "postcode",
                "country",
                "category",
                "rating",
                "reviews",
                "lat",
                "lon",
            ),
        ),
    ]


def _address_books() -> list[ImportCase]:
    return [
        ImportCase("HubSpot", "hubspot.csv", table(_of_all(hubspot)), _REACH),
        ImportCase("Salesforce", "report.csv", table(_of_all(salesforce)), (*_REACH, "category")),
        ImportCase("Pipedrive", "organizations.csv", table(_of_all(pipedrive)), (*_REACH, "email")),
        ImportCase(
            "Airtable", "Grid view.csv", table(_of_all(airtable)), ("name", "email", "website", "city", "postcode")
        ),
        ImportCase("Takeout", "Saved.csv", table(_of_all(takeout)), ("name", "place_id")),
    ]


def _open_data() -> list[ImportCase]:
    contacts = (*_REACH, "email", "lat", "lon")
    return [
        ImportCase(
            "OSM, flat",
            "osm.csv",
            table([{**osm_tags(firm), "@lat": firm.lat, "@lon": firm.lon} for firm in FIRMS], "\t"),
            contacts,
        ),
        ImportCase(
            "OSM, underscores",
            "osm.csv",
            table(
                [
                    {
                        **{name.replace(":", "_"): value for name, value in osm_tags(firm).items()},
                        "lat": firm.lat,
                        "lon": firm.lon,
                    }
                    for firm in FIRMS
                ]
            ),
            contacts,
        ),
        ImportCase("OSM, shapefile", "points.csv", table(_of_all(shapefile)), contacts),
        ImportCase("Overpass", "export.json", overpass(FIRMS), contacts),
        ImportCase("Overture", "places.geojson", overture(FIRMS), (*contacts, "category")),
        ImportCase("Places API", "places.json", places_api(FIRMS), (*_RATED, "place_id", "status")),
        ImportCase(
            "Fusion",
            "businesses.json",
            fusion(FIRMS),
            ("name", "e164", "street", "city", "postcode", "country", "lat", "lon", "category", "rating", "reviews"),
        ),
        ImportCase(
            "My Maps",
            "map.kml",
            my_map(FIRMS),
            ("name", "e164", "email", "website", "street", "city", "postcode", "country", "lat", "lon"),
        ),
        ImportCase(
            "My Maps, packed",
            "map.kmz",
            packed("doc.kml", my_map(FIRMS)),
            ("name", "e164", "email", "website", "lat", "lon"),
        ),
    ]


def _forms() -> list[ImportCase]:
    rows = _of_all(d7)
    fields = ("name", "e164", "email", "website", "street", "postcode", "country")
    without_header = table(rows).split(b"\r\n", 1)[1]
    arrays = [["company", "tel", "mail", "web"], *([firm.name, firm.e164, firm.email, firm.website] for firm in FIRMS)]
    return [
        ImportCase("semicolons, Windows", "l.csv", table(rows, ";", "cp1252"), fields),
        ImportCase("UTF-16, tabs", "l.txt", table(rows, "\t", "utf-16"), fields),
        ImportCase("bars", "l.txt", table(rows, "|"), fields),
        ImportCase("gzip", "l.csv.gz", gzip.compress(table(rows)), fields),
        ImportCase("zip of one table", "l.zip", packed("out/l.csv", table(rows)), fields),
        ImportCase("a title above", "l.csv", b"Leads 2026\nfor internal use\n\n" + table(rows), fields),
        ImportCase("no header", "l.csv", without_header, ("name", "email", "website")),
        ImportCase("arrays", "l.json", json.dumps(arrays).encode(), ("name", "e164", "email", "website")),
    ]


def _languages() -> list[ImportCase]:
    fields = ("name", "e164", "email", "website", "street", "city", "postcode", "category", "rating", "reviews")
    return [
        ImportCase(language, "list.csv", table(_of_all(in_words(names))), fields)
        for language, names in LANGUAGES.items()
    ]
