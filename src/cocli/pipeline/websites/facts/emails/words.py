"""Words about e-mail, in the languages of the pages that are read: how `@` and `.` are spoken, roles, labels."""

from __future__ import annotations

from cocli.pipeline.websites.page.wordlist import words

AT_WORDS = (
    *("at", "ät", "æt", "et", "a", "@", "arroba", "aroba", "arobase", "arobas", "chiocciola", "chiocciolina"),
    *("apenstaartje", "apestaartje", "apenstaart", "małpa", "malpa", "zavináč", "zavinac", "zavináč", "kukac"),
    *("snabel-a", "snabela", "krøllalfa", "krollalfa", "alfakrøll", "miukumauku", "ät-merkki", "klammeraffe"),
    *("собака", "собачка", "эт", "равлик", "παπάκι", "παπακι", "kuyruklu a", "coada de maimuta", "majmunče"),
    *("アットマーク", "アット", "골뱅이", "艾特", "at sign", "at-sign", "malpka", "małpka", "arond", "arrova"),
)
"""Inside brackets, each of these stands for `@`."""

BARE_AT_WORDS = (
    *("at", "ät", "arroba", "arobase", "chiocciola", "apenstaartje", "małpa", "malpa", "zavináč", "zavinac"),
    *("kukac", "snabel-a", "krøllalfa", "собака", "собачка", "παπάκι", "klammeraffe", "アットマーク", "골뱅이"),
)
"""Without brackets; `at` then needs more evidence, because it is a word of its own."""

DOT_WORDS = (
    *("dot", "punkt", "punto", "point", "ponto", "punt", "kropka", "tečka", "tecka", "bodka", "pont", "piste"),
    *("nokta", "точка", "крапка", "τελεία", "τελεια", "prik", "ドット", "点", "닷", "punct", "točka", "tocka"),
)

LABELS = (
    *("e-mail", "email", "e‑mail", "mail", "e-post", "epost", "e-posta", "eposta", "courriel", "mél", "mel", "correo"),
    *("correo electrónico", "posta", "posta elettronica", "e-pasts", "el. paštas", "почта", "эл. почта", "пошта"),
    *("ηλεκτρονικό ταχυδρομείο", "メール", "邮箱", "電子郵件", "이메일", "sähköposti", "adres e-mail", "e-mailadres"),
    *("emailadres", "e-mail-adresse", "endereço eletrónico", "schreiben sie", "kontakt", "contact", "contacto"),
)
"""What stands before an address."""

GENERAL_ROLES = words(
    """
    info infos information informacion informacje informatie informazioni contact contacts contacto contato contatti
    contatto contactus kontakt kontakte office buero buro büro mail email e-mail post posta hello hallo hola hi hey
    ciao bonjour welcome ask enquiries enquiry inquiries inquiry anfrage anfragen zentrale general reception recepcja
    recepcion reservation empfang sekretariat secretariat secretary secretaria segreteria biuro firma studio praxis
    kanzlei shop store team company admin administration administracion verwaltung service services kundenservice
    klantenservice helpdesk help support hilfe iletisim bilgi kapcsolat iroda posti toimisto asiakaspalvelu
    kundeservice kundtjanst grafika me bonjour accueil mairie restaurant hotel pension gasthof cabinet etude atelier
    agence direction direccion geschaeftsleitung gf kancelaria gabinet salon klinik clinic dental surgery reservas
    """
)
SPECIAL_ROLES = words(
    """
    sales vertrieb verkauf ventas vendite vente ventes commercial comercial commerciale sprzedaz verkoop order orders
    bestellung bestellungen bestelling pedidos ordini commande booking bookings buchung reservations reservierung
    reservierungen prenotazioni reserva reserveren rezerwacja events event catering marketing press presse prensa
    media pr jobs job karriere career careers bewerbung bewerbungen personal hr recruiting recruitment rrhh kariera
    praca empleo werkenbij billing rechnung rechnungen invoice invoices accounting accounts buchhaltung finance
    finanzen facturacion fatture amministrazione comptabilite ksiegowosc faktury privacy datenschutz dpo dsb gdpr rgpd
    legal recht compliance it edv webmaster web website tech technik service-desk einkauf purchasing logistik
    logistics lager dispo export import quality qualitaet projekte projects presseservice newsletter feedback returns
    retouren werkstatt ausbildung schule academy termin termine rezept rezepte warranty parts spareparts quote quotes
    quotation estimates estimate angebot angebote devis preventivi presupuestos offerte oferty donations spenden
    members
    """
)
UNATTENDED = words(
    """
    noreply no-reply no_reply no.reply donotreply do-not-reply do_not_reply dontreply nicht-antworten nichtantworten
    keine-antwort keineantwort noresponder no-responder nepasrepondre ne-pas-repondre nonrispondere non-rispondere
    unsubscribe abmelden abmeldung bounce bounces mailer-daemon mailerdaemon postmaster hostmaster abuse dmca listserv
    majordomo return-path notifications notification notify automailer mailer wordpress
    """
)
"""Mailboxes that nobody answers, or that are for complaints about the site itself."""

NO_MAILBOX = words(
    """
    us me him her them you we it here there look looking find found meet visit see seen work works working available
    online buy shop order more call now live stay eat dine join book read learn only is are was be located stand based
    start sold and or the a an this that team up uns mich hier wir nous ici nosotros noi
    """
)
"""Words before a spoken `at` or a spaced `@` that tell a place, not a mailbox: "find us at firm.com"."""
