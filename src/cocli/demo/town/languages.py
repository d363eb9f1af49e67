"""The languages of the town's websites: the words of the navigation, and the paths behind them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    code: str
    welcome: str
    home: str
    contact: str
    contact_path: str
    imprint: str
    imprint_path: str
    about: str
    about_path: str
    team: str
    team_path: str
    mailbox: str
    """A mailbox for everything."""

    @property
    def intro(self) -> str:
        """What a business says of itself."""
        return _INTROS[self.code]

    def path(self, page: str) -> str:
        """The path of `home`, `contact`, `imprint`, `about` or `team`."""
        if page == "home":
            return "/"
        return str(getattr(self, f"{page}_path"))


_INTROS = {
    "en": "A family business for three generations. We take our time and explain what we do.",
    "de": "Ein Familienbetrieb in dritter Generation. Wir nehmen uns Zeit und erklären, was wir tun.",
    "fr": "Une entreprise familiale depuis trois générations. Nous prenons notre temps et nous expliquons tout.",
    "es": "Una empresa familiar desde hace tres generaciones. Nos tomamos tiempo y explicamos lo que hacemos.",
    "it": "Un’impresa di famiglia da tre generazioni. Ci prendiamo tempo e spieghiamo quello che facciamo.",
    "nl": "Een familiebedrijf in de derde generatie. We nemen de tijd en leggen uit wat we doen.",
    "pt": "Uma empresa familiar há três gerações. Dedicamos o tempo necessário e explicamos o que fazemos.",
    "pl": "Firma rodzinna od trzech pokoleń. Poświęcamy tyle czasu, ile trzeba, i wyjaśniamy, co robimy.",
    "el": "Οικογενειακή επιχείρηση τριών γενεών. Αφιερώνουμε χρόνο και εξηγούμε τι κάνουμε.",
    "ru": "Семейное дело уже в третьем поколении. Мы не торопимся и объясняем, что делаем.",
    "ja": "三世代続く家族経営です。時間をかけ、丁寧にご説明いたします。",
}
LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (
        Language(
            "en", "Welcome to", "Home", "Contact", "/contact", "Legal notice", "/legal", "About us", "/about-us",
            "Our team", "/team", "info",
        ),
        Language(
            "de", "Willkommen bei", "Start", "Kontakt", "/kontakt", "Impressum", "/impressum", "Über uns",
            "/ueber-uns", "Unser Team", "/mitarbeiter", "kontakt",
        ),
        Language(
            "fr", "Bienvenue chez", "Accueil", "Contact", "/contactez-nous", "Mentions légales", "/mentions-legales",
            "À propos", "/a-propos", "L’équipe", "/equipe", "bonjour",
        ),
        Language(
            "es", "Bienvenidos a", "Inicio", "Contacto", "/contacto", "Aviso legal", "/aviso-legal",
            "Quiénes somos", "/quienes-somos", "El equipo", "/equipo", "hola",
        ),
        Language(
            "it", "Benvenuti da", "Home", "Contatti", "/contatti", "Note legali", "/note-legali", "Chi siamo",
            "/chi-siamo", "Il team", "/team", "info",
        ),
        Language(
            "nl", "Welkom bij", "Home", "Contact", "/contact", "Colofon", "/colofon", "Over ons", "/over-ons",
            "Medewerkers", "/medewerkers", "info",
        ),
        Language(
            "pt", "Bem-vindo a", "Início", "Contato", "/contato", "Nota legal", "/nota-legal", "Quem somos",
            "/quem-somos", "Equipe", "/equipe", "contato",
        ),
        Language(
            "pl", "Witamy w", "Start", "Kontakt", "/kontakt", "Informacje prawne", "/informacje-prawne", "O nas",
            "/o-nas", "Zespół", "/zespol", "biuro",
        ),
        Language(
            "el", "Καλώς ήρθατε στο", "Αρχική", "Επικοινωνία", "/epikoinonia", "Όροι χρήσης", "/oroi-xrisis",
            "Σχετικά", "/sxetika", "Η ομάδα", "/omada", "info",
        ),
        Language(
            "ru", "Добро пожаловать в", "Главная", "Контакты", "/kontakty", "Правовая информация", "/legal",
            "О нас", "/o-nas", "Команда", "/team", "info",
        ),
        Language(
            "ja", "ようこそ", "ホーム", "お問い合わせ", "/contact", "特定商取引法", "/tokushoho", "会社概要", "/about",
            "スタッフ", "/staff", "info",
        ),
    )
}  # fmt: skip
