"""The words by which pages are known: contact, imprint, privacy, team, about. Without accents, `-` for blanks.

Two tables: words that say it plainly, and words of pages that often serve the same end (`/locations`, `/our-story`).
A page of the second kind is read after those of the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from cocli.pipeline.websites.facts.identity import plain

PageKind = Literal["contact", "imprint", "about", "team", "privacy", "home", "other"]

_START = r"(?<![a-z])"
_END = r"(?![a-z0-9])(?!-[a-z0-9])"
"""The end of a name: nothing follows that would make another word of it, such as `company-events`."""
_WORD_END = r"(?![a-z])"

_NO_CONTACT = r"(?!o?-?(?:less|lens|linse|grill|sport|adhesiv|cement|lentille|lentes))"
"""What is worn on the eye or grills on both sides is no way to reach anybody."""
_NO_NOTICE = (
    r"(?!-(?:service|aid|advice|help|team|news|practice|department|expert|assist|support|consult|work|solution|"
    r"represent|blog|right|tech|fee|insur|translat))"
)
"""What a law firm has pages on."""

_CONTACT = (
    rf"conta[ck]t(?<!lentilles-de-contact)(?<!lentes-de-contact)(?<!lenti-a-contact){_NO_CONTACT}",
    r"kontakt(?!-?(?:lins|lens|grill|lose?|klebe|spray|tracing))",
    *("contatt", "contato", "kapcsolat", "elerhetoseg", "iletisim", "bize-ulas", "epikoin", "επικοινων", "yhteys"),
    *("yhteyt", "контакт", "обратная-связь", "связаться", "звязок", "зв'язок", "so-erreichen", "erreichen-sie"),
    *("anfahrt", "finden-sie-uns", "weg-zu-uns", "nous-trouver", "nous-ecrire", "ecrivez-nous", "nous-joindre"),
    *("coordonnees", "dove-siamo", "dove-trovarci", "recapiti", "scrivici", "get-in-touch", "getintouch", "lien-he"),
    *(r"reach-?us", r"reach-out", r"find-?us", "talk-to-us", "write-to-us", "write-us", "mail-us", r"message-us"),
    *("fale-con", "escribenos", "donde-estamos", "onde-estamos", "como-llegar", "dojazd", "napisz-do", "napiste-nam"),
    *("skontaktuj", "bereikbaar", "hubungi", "ota-yhteytta", "harremanetan", "sazinieties", "kirjoita-meille"),
    *(
        "お問い合わせ",
        "お問合せ",
        "お問い合せ",
        "お問合わせ",
        "問い合わせ",
        "問合せ",
        "ご相談",
        "toiawase",
        "otoiawase",
    ),
    *("联系", "聯絡", "聯繫", "联络", "與我們聯", "문의", "연락", "오시는", "اتصل", "تواصل", "צור-קשר", "צרו-קשר"),
    *("ติดต่อ", "संपर्क", "সম্পর্ক", "تماس", "kontakti", r"com_contact"),
)
_IMPRINT = (
    *("impress?um", "imprint", "impresszum", "mentions-?legal", f"{_START}mentions{_END}", "note-?legali"),
    rf"{_START}legal(?<!studio-legal)(?<!nza-legal)e?s?(?!i){_NO_NOTICE}{_WORD_END}",
    *(rf"aviso{_END}", "aviso-legal", "avis-legal", "nota-?_?legal", "colofon", "colophon", "informacje-prawne"),
    *("oroi-xrisis", "disclaimer", "anbieterkennzeichnung", "tokushoho", "tokutei", "tokusho", "特定商取引", "特商法"),
    *(rf"{_START}termos{_WORD_END}", "rechtliche", "juridisch", "bedrijfsgegevens", "regulamin", "dane-firmy"),
    *("dati-societari", "οροι-χρησ", "νομικ", "реквизит", "kolofon", "yasal", "kunye", "tietosuoja-ja-ehdot"),
)
_PRIVACY = (
    *("privacy", "datenschutz", "privacidad", "confidentialite", "privacidade", "prywatnosc", "gdpr", "dsgvo"),
    *("cookie", "aporrit", "απορρητ", "adatvedel", "tietosuoja", "integritetspolicy", "persondata", "gizlilik", "kvkk"),
    *("конфиденциальност", "プライバシー", "個人情報", "隐私", "隱私", "개인정보"),
)
_TEAM = (
    *(rf"{_START}(?:team|crew){_WORD_END}(?!-?(?:building|event|wear|sport|viewer))", r"staff(?!ing|ord|el)"),
    *("mitarbeiter", "ansprechpartner", r"equipe(?!ment|z|r)", rf"equipo{_WORD_END}(?!-(?:de|para|medico|dental))"),
    *("medewerkers", "zespol", "omada", "ομαδα", rf"{_START}people{_END}", "pracownicy", "collaborateurs"),
    *("collaboratori", "colaboradores", "personeel", "munkatars", "tyontekijat", "henkilokunta", "medarbetare"),
    *("medarbejder", "ansatte", "команда", "сотрудник", "スタッフ", "团队", "團隊", "ekibimiz", "kadromuz"),
)
_ABOUT = (
    *(r"about(?:(?<=\Aabout)|(?<=/about)|-?(?:us|me)(?![a-z]))", r"u(?:e)?ber-?uns", rf"u(?:e)?ber-?mich{_WORD_END}"),
    *(rf"{_START}wir-(?:sind|stellen|u)", rf"{_START}wir{_END}", "das-sind-wir", "wer-wir-sind", r"unternehmen(?!s)"),
    *("firmenprofil", "unternehmensprofil", rf"{_START}company{_END}", r"company-(?:profile|info|overview|history)"),
    *("our-company", "the-company", rf"{_START}profil[eo]?{_END}", "who-we-are", "what-we-do", "meet-the-owner"),
    *("a-propos", "apropos", "qui-sommes", "qui-suis-je", "quienes", "nosotros", rf"{_START}sobre(?:-|{_END})"),
    *("chi-siamo", "chi-sono", rf"{_START}azienda{_WORD_END}", r"over-?ons", "over-mij", rf"{_START}o-nas{_WORD_END}"),
    *("o-nama", "o-firmie", "o-spolecnosti", "quem-somos", "quem-sou", "sxetika", "σχετικ", "ποιοι-ειμαστε", "εταιρ"),
    *("etaireia", "hakkimizda", "hakkinda", "rolunk", "bemutatkozas", rf"{_START}meista{_WORD_END}", "tietoa-meista"),
    *(rf"{_START}om-(?:oss?|os|mig|foretaget){_WORD_END}", "notre-histoire", "nuestra-historia", "la-nostra-storia"),
    *("despre-noi", "par-mums", "apie-mus", "qui-som", "tentang-kami", "gioi-thieu", "ve-chung-toi"),
    *(
        "о-нас",
        "о-компании",
        "про-нас",
        "за-нас",
        "会社概要",
        "会社案内",
        "企業情報",
        "店舗情報",
        "関于",
        "关于",
        "關於",
    ),
    *("회사소개", "소개", "من-نحن", "אודות", "เกี่ยวกับ", "درباره"),
)
_ALSO_CONTACT = (
    *(rf"{_START}enquir", rf"{_START}inquir(?!er)", rf"{_START}locations?{_WORD_END}", rf"{_START}directions?{_END}"),
    *("hours-and-location", "opening-hours", rf"{_START}visit(?:-us)?{_END}", "say-(?:hello|hi)", "call-us"),
    *(r"free-quote", "free-estimate", r"request-(?:a-)?(?:quote|estimate|call)", r"get-(?:a-)?(?:quote|estimate)"),
    *("book-a-call", "customer-service"),
    *("offnungszeiten", "oeffnungszeiten", rf"{_START}standorte?{_END}", "lageplan", "horaires", "plan-d.?acces"),
    *("plan-acces", "itineraire", "ubicacion", "localizacion", "localizacao", "come-raggiungerci", "openingstijden"),
    *(r"vestiging(?:en)?" + _END, "oppettider", "hitta-hit", "find-vej", "アクセス", "店舗", "地図", "交通", "nerede"),
)
_ALSO_ABOUT = (
    *("our-story", "our-history", "my-story", "our-mission", "meet-us", "meet-dr", "meet-the", "welcome-to"),
    *("geschichte", "philosophie", "histoire", "historia", "storia", "company-history", "unsere-praxis"),
)
_PRACTITIONERS = (
    r"(?:[a-z]+-)?(?:doctors?|dentists?|attorneys?|lawyers?|agents?|providers?|stylists?|trainers?)(?![a-z])"
)
_ALSO_TEAM = (
    *(rf"our-{_PRACTITIONERS}", rf"meet-{_PRACTITIONERS}", rf"the-{_PRACTITIONERS}"),
    *(rf"{_START}{word}{_END}" for word in ("attorneys", "anwalte", "anwaelte", "avocats", "abogados", "avvocati")),
    *("leadership", "geschaftsfuhrung", "geschaeftsfuehrung", "notre-cabinet", "who-is-who"),
)


@dataclass(frozen=True, slots=True)
class Words:
    """Words for one kind of page. Those of other scripts are looked for only where a name is written in one."""

    kind: PageKind
    latin: tuple[re.Pattern[str], ...]
    others: re.Pattern[str] | None

    def are_in(self, name: str) -> bool:
        """Does a name, in lower case and without accents, have one of them?"""
        if any(pattern.search(name) for pattern in self.latin):
            return True
        return self.others is not None and not name.isascii() and self.others.search(name) is not None


def _words(kind: PageKind, words: tuple[str, ...]) -> Words:
    latin = [word for word in words if word.isascii()]
    anywhere = [word for word in latin if not word.startswith(_START)]
    starting = [word.removeprefix(_START) for word in latin if word.startswith(_START)]
    patterns = [re.compile(_by_letter(anywhere))]
    if starting:
        patterns.append(re.compile(f"{_START}(?:{_by_letter(starting)})"))
    others = [re.escape(plain(word)) for word in words if not word.isascii()]
    return Words(kind, tuple(patterns), re.compile("|".join(others)) if others else None)


def _by_letter(words: list[str]) -> str:
    """Alternatives, those with the same first letter together: most letters of a name then begin none of them."""
    groups: dict[str, list[str]] = {}
    for word in words:
        plainly = word[0].isalpha() and word[1:2] not in ("?", "*", "{")
        groups.setdefault(word[0] if plainly else "", []).append(word[1:] if plainly else word)
    return "|".join(f"{letter}(?:{'|'.join(some)})" for letter, some in groups.items())


PLAIN = (
    _words("contact", _CONTACT),
    _words("imprint", _IMPRINT),
    _words("privacy", _PRIVACY),
    _words("team", _TEAM),
    _words("about", _ABOUT),
)
ALSO = (_words("contact", _ALSO_CONTACT), _words("about", _ALSO_ABOUT), _words("team", _ALSO_TEAM))
