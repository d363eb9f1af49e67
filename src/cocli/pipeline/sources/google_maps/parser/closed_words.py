"""What Maps writes where a business is closed for good or for now, in the languages where that is known."""

from __future__ import annotations

import re

_FOR_GOOD = """
permanently closed|dauerhaft geschlossen|définitivement fermé|fermé définitivement|cerrado permanentemente
permanentemente cerrado|tancat permanentment|chiuso definitivamente|permanentemente fechado|fechado permanentemente
permanentemente encerrado|encerrado permanentemente|permanent gesloten|stängt permanent|permanent stängt
permanent lukket|lukket permanent|permanent stengt|stengt permanent|suljettu pysyvästi|zamknięte na stałe|trvale zavřeno
natrvalo zatvorené|trvalo zatvorené|végleg bezárt|véglegesen bezárt|închis definitiv|închis permanent|trajno zatvoreno
trajno zaprto|затворено за постоянно|закрыто навсегда|закрито назавжди|назавжди зачинено|kalıcı olarak kapalı
έκλεισε οριστικά|μόνιμα κλειστό|סגור לצמיתות|مغلق نهائيًا|مغلق نهائيا|برای همیشه بسته شده است
स्थायी रूप से बंद है|हमेशा के लिए बंद|tutup permanen|ditutup secara kekal|ปิดถาวร|đã đóng cửa vĩnh viễn|閉業|폐업함|폐업
永久停业|永久停業|永久歇業|永久关闭|已永久停业
"""
_FOR_NOW = """
temporarily closed|vorübergehend geschlossen|temporairement fermé|fermé temporairement|cerrado temporalmente
temporalmente cerrado|tancat temporalment|chiuso temporaneamente|temporaneamente chiuso|temporariamente fechado
fechado temporariamente|temporariamente encerrado|encerrado temporariamente|tijdelijk gesloten|tillfälligt stängt
stängt tillfälligt|midlertidigt lukket|midlertidig stengt|tilapäisesti suljettu|suljettu tilapäisesti
tymczasowo zamknięte|zamknięte tymczasowo|dočasně zavřeno|dočasne zatvorené|ideiglenesen zárva|átmenetileg zárva
închis temporar|privremeno zatvoreno|začasno zaprto|временно затворено|временно закрыто|тимчасово зачинено
тимчасово закрито|geçici olarak kapalı|προσωρινά κλειστό|סגור זמנית|مغلق مؤقتًا|مغلق مؤقتا|موقتاً بسته است
अस्थायी रूप से बंद है|tutup sementara|ditutup sementara|ปิดชั่วคราว|tạm thời đóng cửa|đóng cửa tạm thời|臨時休業|臨時休業中
임시 휴업|임시 휴업함|暂时停业|暫時停業|暫時關閉|暂停营业|暫停營業
"""
_STATUS = {
    **dict.fromkeys(filter(None, re.split(r"[|\n]", _FOR_GOOD)), "permanently_closed"),
    **dict.fromkeys(filter(None, re.split(r"[|\n]", _FOR_NOW)), "temporarily_closed"),
}


def closed_status(text: str) -> str | None:
    """The status that a piece of a line says, where it says nothing else before the first dot."""
    return _STATUS.get(text.partition(" ⋅")[0].partition(" ·")[0].casefold())
