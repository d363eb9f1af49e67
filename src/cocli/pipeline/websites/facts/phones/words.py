"""Words around numbers: those that say it is a phone or a fax, and those that say it is something else."""

from __future__ import annotations

import re

PHONE = re.compile(
    r"t[eé]l[eé]?(?:fono?|fon|phone|foon|fax|copieur|copie)?\b|\bt\b[.:]|phone|\bcall|\bph\b|mobil|\bmob\b|cell|"
    r"handy|natel|\bgsm\b|whats ?app|viber|hotline|telefax|ruf|"
    r"puh\b|puhelin|tlf|тел|моб|τηλ|κιν|電話|电话|전화|điện thoại|"
    r"\bđt\b|\bsđt\b|telefon|iletişim|appel|llám|ligue|"
    r"chiama|fixe|portable|cep\b|\bm\b[.:]|☎|📞|📱|✆|"
    r"contact|kontakt|text us|urgence|notdienst|emergency|office|fax|フリーダイヤル|連絡先|携帯|手机|手機|휴대",
    re.IGNORECASE,
)
FAX = re.compile(r"fax|t[eé]l[eé]copi(?:eur|e)?|факс|φαξ|faks|ファ(?:ッ)?クス|传真|傳真|팩스", re.IGNORECASE)
CALL = re.compile(
    r"t[eé]l(?!efax|[eé]copi)|phone|\bfon\b|\bcall|\bph\b|mob|cell|handy|natel|gsm|whats|tlf|puh|тел|моб|τηλ|電話|电话|전화|"
    r"手机|手機|携帯|휴대|☎|📞|📱|✆",
    re.IGNORECASE,
)
"""Words for a number that somebody answers."""
BOTH = re.compile(
    r"tel(?:e(?:fon|phone|foon|fono)\w{0,2})?\b[.:]? ?(?:[/&+-]|\b(?:und|u\.|and|et|y|e|i)\b) ?(?:tele)?fax",
    re.IGNORECASE,
)
FAX_LETTER = re.compile(r"(?<![\w&])(?:F|f(?=[.:)]))[.:)]? {0,3}\(?\Z")
"""`T 030 23 · F 030 24`"""
FAX_AFTER = re.compile(r" ?[(\[–—-]? ?(?:(?:tele)?fax|f(?=\)))(?![\w.:]) ?[)\]]?(?! ?[\d(+:])", re.IGNORECASE)
OTHER = re.compile(
    r"\b(?:nip|regon|krs|iban|bic|swift|vat|v\.a\.t|ust|uid|hrb|hra|siret|siren|rcs|tva|p\.? ?iva|partita|c\.?f\.?|"
    r"codice|cif|nif|"
    r"kvk|btw|che|abn|acn|ein|tax|lic|license|licence|licen[sc]e no|cnpj|cpf|rut|afm|y-tunnus|org\.? ?nr|konto|"
    r"kontonr|kto|account|acct|ref|cvr|rfc|dvr|npi|finess|adeli|rpps|orias|ape|naf|"
    r"isbn|issn|ean|gtin|asin|order|ident|steuernummer|steuer|st\.-nr|vergi|mersis|gst|gstin|cin|mst|ma so|"
    r"adószám|adoszam|"
    r"cégjegyzék\w*|bank\w*|blz|konto-nr|registration|registered|reg|company no|nr|no|№|edrpou|єдрпоу|инн|огрн|кпп|р/с|"
    r"(?:artikel|kunden|konto|bestell|auftrags?|rechnungs?|register|teile|vertrags|versicherten|lizenz|betriebs)-?nummer|"
    r"hr ?[ab]|dun|duns|aktenzeichen|mls|permit|parcel|"
    r"plz|zip|id|item|invoice|serial|part|model|sku|cnaps|rea|pec|sdi|capitale)\b|"
    r"\bart\.|# ?\Z|α\.?φ\.?μ|γεμη|mã số|法人番号|登録番号|郵便番号|〒",
    re.IGNORECASE,
)
