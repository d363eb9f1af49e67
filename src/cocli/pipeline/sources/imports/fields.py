"""By which names a column is recognised. docs/import.md shows this table; a test holds the two together."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from cocli.pipeline.sources.imports.reading.texts import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PARENTHESES = re.compile(r"\([^)]*\)|\[[^]]*\]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STEPS = re.compile(r"[./\[\]]+|__|\s+[-–>]\s+")
"""What stands between the steps of a path: `address.city`, `location/lat`, `emails[0]`, `Person - Phone`."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "name": (
        "company name", "company", "business name", "organization name", "organisation name", "organization",
        "organisation", "organization 1 name", "account name", "store name", "shop name", "restaurant name",
        "firmenname", "firma", "unternehmen", "unternehmensname", "betrieb", "nom commercial", "nom de l'entreprise",
        "entreprise", "raison sociale", "société", "nombre comercial", "nombre de la empresa", "empresa",
        "razón social", "ragione sociale", "azienda", "bedrijfsnaam", "bedrijf", "name", "business", "account", "shop",
        "org", "place name", "fn", "nom", "nombre", "nome", "naam", "full name", "display name", "file as", "title",
        "name of business", "name of the business", "name of company", "venue name", "hotel name", "clinic name",
        "listing title", "business title", "place title", "primary name", "official name", "nazwa firmy", "nazwa",
        "název firmy", "název", "cégnév", "cég", "név", "denumire firmă", "denumire", "nume", "företagsnamn", "företag",
        "namn", "firmanavn", "virksomhed", "navn", "yritys", "nimi", "işletme adı", "firma adı", "şirket adı", "şirket",
        "nome da empresa", "nome fantasia", "razão social", "nome azienda", "tên công ty", "tên", "nama perusahaan",
        "nama usaha", "nama", "название компании", "название", "наименование", "компания", "организация", "назва",
        "公司名称", "公司", "商家名称", "店铺名称", "店名", "名称", "企業名", "会社名", "店舗名", "施設名", "名前",
        "상호명", "상호", "업체명", "회사명", "이름", "اسم الشركة", "اسم المحل", "اسم النشاط", "الاسم", "اسم",
        "שם העסק", "שם החברה", "שם", "επωνυμία", "εταιρεία", "επιχείρηση", "όνομα", "ชื่อบริษัท", "ชื่อร้าน", "ชื่อ",
        "display name text", "names primary", "names common value",
    ),
    "phone": (
        "phone", "phone number", "telephone", "telephone number", "tel", "tel no", "phonenumber", "phone 1 value",
        "phone 1", "main phone", "company phone", "business phone", "work phone", "person phone work", "office phone",
        "landline", "contact number", "telefon", "telefonnummer", "telefon geschäftlich", "rufnummer", "festnetz",
        "téléphone", "téléphone fixe", "tél", "numéro de téléphone", "n° de téléphone", "teléfono", "teléfono fijo",
        "número de teléfono", "telefono", "telefoon", "telefoonnummer", "phone 2 value", "phone 2", "business phone 2",
        "mobile", "mobile phone", "mobile number", "cell", "cell phone", "mobil", "mobiltelefon", "handy", "portable",
        "móvil", "cellulare", "contact:phone", "phones", "phone numbers", "telephones", "international phone number",
        "formatted phone number", "national phone number", "phone international", "phone formatted",
        "phone unformatted", "display phone", "primary phone", "store phone", "organization phone", "phone work",
        "mobil geschäftlich", "telefon 1", "telefono fisso", "telefone", "celular", "fone", "whatsapp", "telefonszám",
        "numer telefonu", "tel kom", "puhelin", "puhelinnumero", "gsm", "telefon numarası", "điện thoại",
        "số điện thoại", "telepon", "nomor telepon", "no telp", "no hp", "телефон", "номер телефона", "тел",
        "мобильный телефон", "联系电话", "电话", "電話", "電話番号", "手机", "전화번호", "전화", "연락처", "رقم الهاتف",
        "الهاتف", "هاتف", "رقم الجوال", "الجوال", "מספר טלפון", "טלפון", "נייד", "τηλέφωνο", "τηλ", "κινητό",
        "เบอร์โทรศัพท์", "เบอร์โทร", "โทรศัพท์", "contact:mobile", "phone:mobile",
    ),
    "email": (
        "email", "e-mail", "emails", "email address", "e-mail address", "mail", "primary email", "business email",
        "company email", "work email", "person email work", "contact email", "e-mail 1 value", "email 1",
        "e-mail 2 address", "e-mail 2 value", "email 2", "e-mail 3 address", "e-mail 3 value", "email 3", "all emails",
        "e-mail-adresse", "mailadresse", "e-mail geschäftlich", "adresse e-mail", "adresse email", "adresse mail",
        "adresse électronique", "courriel", "correo electrónico", "correo", "indirizzo email", "posta elettronica",
        "emailadres", "contact:email", "email addresses", "mails", "email id", "emails found", "public email",
        "email work", "organization email", "store email", "e-posta", "eposta", "sähköposti", "e-post", "e-mailcím",
        "adres e-mail", "correio eletrônico", "электронная почта", "эл почта", "почта", "email адрес", "电子邮件",
        "电子邮箱", "邮箱", "電子郵件", "メールアドレス", "メール", "이메일", "البريد الإلكتروني", "البريد", "ايميل",
        "דואר אלקטרוני", "אימייל", "מייל", "ηλεκτρονικό ταχυδρομείο", "อีเมล",
    ),
    "website": (
        "website", "website url", "web site", "web", "site", "url", "homepage", "home page", "web page", "webpage",
        "web address", "website 1 value", "company website", "business website", "www", "webseite", "internet",
        "internetadresse", "internetseite", "webadresse", "site web", "site internet", "sitio web", "página web",
        "sito web", "sito", "contact:website", "websites", "website uri", "website link", "site url", "company url",
        "business url", "official website", "own website", "web url", "homepage url", "organization website",
        "strona internetowa", "strona www", "webová stránka", "webové stránky", "weboldal", "honlap", "hemsida",
        "hjemmeside", "nettside", "kotisivu", "web sitesi", "pagina web", "trang web", "situs web", "сайт", "веб сайт",
        "адрес сайта", "官网", "网站", "网址", "網站", "ウェブサイト", "ホームページ", "公式サイト", "웹사이트",
        "홈페이지", "الموقع الإلكتروني", "موقع الويب", "אתר אינטרנט", "אתר", "ιστοσελίδα", "ιστότοπος", "เว็บไซต์",
    ),
    "domain": (
        "domain", "domain name", "company domain name", "company domain", "domains", "root domain", "root domains",
    ),
    "address": (
        "address", "full address", "complete address", "formatted address", "address 1 formatted", "business address",
        "organization address", "postal address", "location", "adresse", "anschrift", "adresse complète",
        "adresse postale", "dirección", "domicilio", "indirizzo", "adres", "addr:full", "fulladdress", "addresses",
        "formattedaddress", "display address", "vicinity", "street and city", "address full", "addresses freeform",
        "full/combined address of address", "adresa", "adresă", "cím", "osoite", "endereço", "endereço completo",
        "địa chỉ", "alamat", "адрес", "полный адрес", "адреса", "详细地址", "地址", "住所", "所在地", "주소", "العنوان",
        "عنوان", "כתובת", "διεύθυνση", "ที่อยู่",
    ),
    "street": (
        "street", "street address", "address line 1", "address 1", "street 1", "address 1 street", "business street",
        "billing street", "addr:street", "straße", "strasse", "straße und hausnummer", "straße/nr", "rue", "calle",
        "via", "straat", "addr:street_address", "streetaddress", "thoroughfare", "road", "route", "addr street",
        "mailing street", "shipping street", "address line1", "address1", "street name", "ulica", "ulice", "utca",
        "strada", "gata", "vej", "katu", "cadde", "rua", "logradouro", "улица", "街道", "شارع", "الشارع", "רחוב",
        "οδός", "ถนน",
    ),
    "city": (
        "city", "town", "suburb", "locality", "municipality", "address 1 city", "business city", "billing city",
        "stadt", "ort", "ville", "commune", "localité", "ciudad", "población", "localidad", "municipio", "città",
        "comune", "plaats", "addr:city", "city name", "town/city", "city/town", "mailing city", "shipping city",
        "addr town", "addr village", "addresses locality", "city/town/village/locality of address", "miasto",
        "miejscowość", "město", "obec", "város", "település", "oraș", "localitate", "stad", "kommun", "kaupunki",
        "cidade", "şehir", "thành phố", "kota", "город", "місто", "城市", "市区町村", "市", "도시", "المدينة", "עיר",
        "πόλη", "เมือง",
    ),
    "region": (
        "region", "state", "state/region", "province", "state/province", "county", "address 1 region", "business state",
        "billing state/province", "billing state", "bundesland", "kanton", "département", "provincia",
        "comunidad autónoma", "provincie", "addr:state", "state code", "us state", "administrative area",
        "province/state", "mailing state", "mailing state/province", "shipping state", "addresses region",
        "state/county of address", "województwo", "megye", "județ", "estado", "uf", "область", "регион", "省份", "省",
        "都道府県", "지역", "المنطقة", "מחוז", "νομός", "จังหวัด",
    ),
    "postcode": (
        "postcode", "postal code", "post code", "zip", "zip code", "zipcode", "zip/postal code",
        "address 1 postal code", "business postal code", "billing zip/postal code", "billing postal code", "plz",
        "postleitzahl", "code postal", "código postal", "cp", "cap", "addr:postcode", "postal", "pin code", "pincode",
        "mailing zip/postal code", "mailing postal code", "shipping postal code", "zip/postal code of address",
        "addresses postcode", "kod pocztowy", "psč", "irányítószám", "cod poștal", "postnummer", "postinumero",
        "posta kodu", "cep", "mã bưu điện", "kode pos", "почтовый индекс", "индекс", "邮政编码", "邮编", "郵便番号",
        "우편번호", "الرمز البريدي", "מיקוד", "ταχυδρομικός κώδικας", "รหัสไปรษณีย์",
    ),
    "country": (
        "country", "country/region", "country code", "address 1 country", "business country/region", "business country",
        "billing country", "land", "pays", "país", "paese", "addr:country", "country name", "country iso",
        "countrycode", "mailing country", "shipping country", "addresses country", "country of address", "kraj", "země",
        "ország", "țară", "ülke", "quốc gia", "negara", "страна", "країна", "国家", "国", "국가", "الدولة", "البلد",
        "מדינה", "ארץ", "χώρα", "ประเทศ",
    ),
    "lat": (
        "lat", "latitude", "y", "breite", "breitengrad", "latitud", "latitudine", "latitude y", "gps lat",
        "gps latitude", "point y", "geo lat", "szerokość geograficzna", "enlem", "широта", "纬度", "緯度", "위도",
        "خط العرض", "קו רוחב", "γεωγραφικό πλάτος", "ละติจูด",
    ),
    "lon": (
        "lon", "lng", "long", "longitude", "x", "länge", "längengrad", "longitud", "longitudine", "longitude x",
        "gps lon", "gps lng", "gps longitude", "point x", "geo lon", "geo lng", "długość geograficzna", "boylam",
        "долгота", "经度", "経度", "경도", "خط الطول", "קו אורך", "γεωγραφικό μήκος", "ลองจิจูด",
    ),
    "category": (
        "category", "categories", "categories title", "category title", "categories name", "amenity", "craft",
        "tourism", "healthcare", "cuisine", "leisure", "type", "types", "industry", "business type",
        "business category", "category name", "main category", "primary category", "map category", "branche",
        "kategorie", "catégorie", "secteur", "secteur d'activité", "activité", "categoría", "sector", "actividad",
        "settore", "subtypes", "subcategory", "categories primary", "primary type", "primary type display name text",
        "business types", "place type", "google category", "keywords category", "kategoria", "kategori", "categoria",
        "thể loại", "категория", "рубрика", "вид деятельности", "类别", "分类", "行业", "カテゴリー", "カテゴリ",
        "業種", "ジャンル", "카테고리", "업종", "الفئة", "التصنيف", "קטגוריה", "κατηγορία", "หมวดหมู่", "ประเภท",
    ),
    "rating": (
        "rating", "stars", "average rating", "approximate rating", "reviews average", "google rating", "score",
        "total score", "bewertung", "note moyenne", "valoración", "calificación", "review rating", "reviews rating",
        "star rating", "google stars", "rating value", "avg rating", "ratings average", "overall rating", "ocena",
        "hodnocení", "értékelés", "betyg", "puan", "nota", "avaliação", "рейтинг", "оценка", "评分", "評価", "평점",
        "التقييم", "דירוג", "βαθμολογία", "คะแนน",
    ),
    "review_count": (
        "review count", "reviews", "reviews count", "number of reviews", "number of ratings", "total reviews",
        "rating count", "ratings", "anzahl bewertungen", "bewertungen", "nombre d'avis", "avis", "número de reseñas",
        "reseñas", "user ratings total", "user rating count", "google review count", "num reviews", "no of reviews",
        "review counts", "ratings count", "ratings total", "reviews number", "votes", "liczba opinii", "počet recenzí",
        "yorum sayısı", "número de avaliações", "numero recensioni", "recensioni", "aantal reviews",
        "количество отзывов", "число отзывов", "отзывы", "评论数", "评价数", "口コミ数", "レビュー数", "리뷰수",
        "عدد المراجعات", "عدد التقييمات", "מספר ביקורות", "ביקורות", "αριθμός κριτικών", "κριτικές", "จำนวนรีวิว",
    ),
    "place_id": (
        "place id", "google place id", "google id", "feature id", "placeid", "place ids", "google placeid",
        "gmaps place id", "data id", "fid", "google feature id",
    ),
    "map_url": (
        "google maps link", "google maps url", "maps link", "map url", "map link", "google map", "source url",
        "placepageuri", "place url", "link", "google maps uri", "maps url", "gmaps url", "gmaps link", "google url",
        "google link", "place link", "location link", "google maps", "maps", "location url",
    ),
    "house_number": (
        "house number", "housenumber", "house no", "street number", "hausnummer", "addr:housenumber", "numéro de rue",
        "número de calle", "huisnummer", "номер дома",
    ),
    "district": (
        "district", "neighborhood", "neighbourhood", "borough", "quarter", "addr:district", "addr:suburb", "stadtteil",
        "ortsteil", "quartier", "barrio", "bairro", "район", "区", "الحي",
    ),
    "point": (
        "coordinates", "coordinate", "coords", "gps", "gps coordinates", "lat long", "lat lon", "lat lng", "latlng",
        "latlong", "lat/lng", "lat/long", "lat/lon", "latitude longitude", "location coordinates", "wkt", "geom",
        "geometry", "the geom", "wkt geom", "geo point", "geopoint", "geolocation", "geokoordinaten", "koordinaten",
        "coordonnées", "coordenadas", "coordinate gps", "координаты", "坐标", "座標", "좌표", "الإحداثيات",
        "קואורדינטות", "συντεταγμένες", "พิกัด",
    ),
    "cid": ("cid", "google cid", "data cid", "ludocid", "google maps cid", "google customer id"),
    "plus_code": ("plus code", "pluscode", "plus codes", "google plus code", "plus code global code"),
    "hours": (
        "opening hours", "hours", "open hours", "working hours", "business hours", "operating hours", "öffnungszeiten",
        "horaires", "horaires d'ouverture", "horario", "orari", "openingstijden", "godziny otwarcia", "часы работы",
        "режим работы", "营业时间", "営業時間", "영업시간", "ساعات العمل", "שעות פתיחה", "ωράριο", "เวลาทำการ",
    ),
    "business_status": (
        "business status", "businessstatus", "operating status", "operational status", "opening status", "open status",
        "open state", "current status", "place status",
    ),
    "permanently_closed": (
        "permanently closed", "is permanently closed", "closed permanently", "is closed", "dauerhaft geschlossen",
        "définitivement fermé", "cerrado permanentemente",
    ),
    "temporarily_closed": ("temporarily closed", "is temporarily closed", "closed temporarily"),
    "is_open": ("is open", "still open", "is operational", "is active business"),
    "contact": (
        "contact", "contact name", "contact person", "person name", "owner", "ansprechpartner", "kontaktperson",
        "interlocuteur", "persona de contacto",
    ),
    "first_name": ("first name", "given name", "forename", "vorname", "prénom", "nombre de pila"),
    "last_name": (
        "last name", "family name", "surname", "nachname", "familienname", "nom de famille", "apellidos", "apellido",
        "cognome",
    ),
    "tags": ("tags", "tag", "labels", "label", "group membership"),
    "facebook": (
        "facebook", "facebooks", "facebook link", "contact:facebook", "facebook url", "facebook company page",
        "facebook page",
    ),
    "instagram": ("instagram", "instagrams", "instagram link", "contact:instagram", "instagram url"),
    "linkedin": (
        "linkedin", "linked ins", "linkedins", "linkedin link", "contact:linkedin", "linkedin url",
        "linkedin company page", "linkedin page",
    ),
    "x": ("twitter", "twitter url", "x com", "contact:twitter"),
    "youtube": ("youtube", "youtube url", "contact:youtube"),
    "tiktok": ("tiktok", "tiktok url", "contact:tiktok"),
    "pinterest": ("pinterest", "pinterest url"),
    "profiles": ("social medias", "social media", "socials", "social links", "social profiles", "social media links"),
}  # fmt: skip
"""Field → names of columns, in the order in which they are preferred. Case, accents, `_`, `-` and `.` do not matter."""

IGNORED = "-"
"""`--map "Column=-"` leaves a column out."""

SEVERAL = ("phone", "email", "website", "map_url", "place_id", "category", "city", "lat", "lon", "hours")
"""Fields that a file may have several columns of: the first value counts; of e-mail and categories all do."""

OF_ANYBODY = frozenset({"name", "fn", "nom", "nombre", "nome", "naam", "full name", "display name", "file as"})
"""Names of columns that hold a person's name where another column holds the company's."""

_NAMES_OF_ANYTHING = OF_ANYBODY | {"title", "url", "link", "type", "label", "tag", "x", "y", "code", "owner"}
"""In an object in an object these say nothing of the business: `owner.name`, `image.url`."""


STRANGERS = words_in(
    "review reviews reviewer image images photo photos picture pictures owner author user users hours menu menus order "
    "orders reservation reservations popular people competitor competitors question questions answer answers post "
    "posts update updates logo thumbnail located histogram distribution ads hotel event events"
)
"""What stands under these says nothing of how to reach the business."""

_OF_THE_BUSINESS = words_in(
    "tags properties location place business company organization organisation org store account names fields result "
    "data display"
)
"""What stands under these is the business's own, its name too."""

_PREFIXES = _OF_THE_BUSINESS | words_in(
    "contact addr address addresses gps geo coordinates main google gmaps primary work office site osm tag"
)

_COUNTED = words_in("email emails phone phones website websites category categories url facebooks instagrams")
"""Columns of which there may be several, with a number behind each: `email_1`, `phones/0`."""

_SELLER = "owner"
"""`Account Owner` is who sells to a company."""

_LONGEST_NAME = 200
"""Characters of a column's name that are looked at: no name that is known is longer."""


def comparable(name: str) -> str:
    """`Phone_Number`, `phone-number` and `PHONE  NUMBER` are one name."""
    plain = unicodedata.normalize("NFKD", name.casefold().replace("ß", "ss").replace("ı", "i"))
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(
        "".join(character if character.isalnum() or character in "/:" else " " for character in plain).split()
    )


def readings(name: str) -> Iterator[str]:
    """A column's name, comparable: as it is, without what stands in parentheses, `postalCode` as two words.

    `address.city`, `location/lat`, `addr_city`, `Organization - Name` and `emails/0` are read as what they end with. A
    name in it may be anybody's (`owner.name`), and is not; nor is what reviews, pictures and owners have.
    """
    name = name[:_LONGEST_NAME]
    yield comparable(name)
    yield comparable(_PARENTHESES.sub(" ", name))
    yield comparable(_HUMP.sub(" ", name))
    parts = [comparable(_HUMP.sub(" ", part)) for part in _STEPS.split(name)]
    steps = [part for part in parts if part and not part.isdecimal()]
    if not steps or any(word in STRANGERS for step in steps[:-1] for word in step.split()):
        return
    inner = steps[-1]
    if len(steps) > 1:
        yield " ".join(steps)
        yield " ".join(steps[-2:])
        if inner not in _NAMES_OF_ANYTHING or (steps[-2] in _OF_THE_BUSINESS and inner != _SELLER):
            yield inner
    yield from _shortened(inner, len(parts) != len(steps))


def _shortened(name: str, is_counted: bool) -> Iterator[str]:
    """Without the word that only says whose it is (`addr city`, `contact phone`), and without a number at its end."""
    first, _, rest = name.partition(" ")
    is_known = rest not in _NAMES_OF_ANYTHING or (first in _OF_THE_BUSINESS and rest != _SELLER)
    if rest and first in _PREFIXES and is_known:
        yield rest
    head, _, number = name.rpartition(" ")
    if number.isdecimal() and head in _COUNTED:
        yield head
    if is_counted and name in _COUNTED:
        yield name


@cache
def recognised() -> Mapping[str, tuple[str, int]]:
    """Comparable name → field, and how far behind in its row of the table."""
    return {
        comparable(name): (field, position) for field, names in NAMES.items() for position, name in enumerate(names)
    }


_CUT = 10
"""Characters that the table of a shapefile leaves of a name."""


def cut_off(name: str) -> tuple[str, int] | None:
    """The field of a name of which a shapefile left ten characters: `contact_ph`, `addr_stree`, `opening_ho`."""
    if len(name) != _CUT or " " in name:
        return None
    for is_tag in (True, False):  # the names that maps use before those that nobody cuts
        fields = {field for whole, field, tag in _long_names() if tag is is_tag and whole.startswith(name.casefold())}
        if len(fields) == 1:
            return fields.pop(), len(NAMES)
    return None


@cache
def _long_names() -> tuple[tuple[str, str, bool], ...]:
    """Every name that is longer, as a shapefile has it; and whether it is a tag of a map."""
    written = [
        (re.sub(r"[^a-z0-9]", "_", f"{prefix}{name}".casefold()), field, ":" in name)
        for field, names in NAMES.items()
        for name in names
        for prefix in ("", "addr:", "contact:", "tags:")
    ]
    return tuple(entry for entry in written if len(entry[0]) > _CUT)
