"""What of a company may leave, where not all fields are published. Only what was named is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.web.prospects.fields import CONTACTS, FIELDS, chosen_fields

if TYPE_CHECKING:
    from cocli.models.web.company import WebCompanies, WebCompany
    from cocli.models.web.why import WebWhy

_RECORD_NAMES = {
    "phone": ("phone", "phone_e164"),
    "email": ("primary_email", "all_emails", "email"),
    "emails": ("primary_email", "all_emails", "email"),
    "reviews": ("review_count",),
    "updated": ("updated_at",),
    "id": ("company_hash",),
}
"""A field of the pages → the fields of a prospect that say the same; others have the same name."""
_EXPORT_NAMES = {"reviews": "review_count", "updated": "updated_at", "id": "company_hash"}


@dataclass(frozen=True, slots=True)
class Redaction:
    """Which fields leave."""

    fields: tuple[str, ...]

    @classmethod
    def of(cls, names: tuple[str, ...] = (), *, emails: bool = True) -> Redaction:
        return cls(chosen_fields(names, () if emails else ("email", "emails")))

    @property
    def is_whole(self) -> bool:
        return len(self.fields) == len(FIELDS)

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(name for name in FIELDS if name not in self.fields)

    @property
    def has_contacts(self) -> bool:
        """Whether somebody could be reached by what is published."""
        return any(name in self.fields for name in CONTACTS)

    @property
    def record_fields(self) -> frozenset[str]:
        names = (_RECORD_NAMES.get(name, (name,)) for name in self.fields)
        return frozenset(name for group in names for name in group)

    @property
    def export_columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_EXPORT_NAMES.get(name, name) for name in self.fields))

    def companies(self, made: WebCompanies, wanted: frozenset[str]) -> WebCompanies:
        """The companies that are wanted; of each what may leave."""
        kept = tuple(company for company in made.companies if company.company_hash in wanted)
        if self.is_whole:
            return made if len(kept) == len(made.companies) else made.with_changes(companies=kept)
        return made.with_changes(companies=tuple(map(self._company, kept)))

    def _company(self, company: WebCompany) -> WebCompany:
        """Without what people wrote freely: nobody knows what is in it."""
        known = self.record_fields
        return company.model_copy(
            update={
                "etag": None,
                "page_key": None,
                "facts": tuple(fact for fact in company.facts if fact.field in known),
                "written": {name: text for name, text in company.written.items() if name in known},
                "tags": company.tags if "tags" in known else (),
                "body": "",
                "people": (),
                "notes": (),
                "meetings": (),
                "timeline": (),
                "merged": (),
                "lat": company.lat if "lat" in known else None,
                "lon": company.lon if "lon" in known else None,
            }
        )

    def why(self, made: WebWhy, *, pages: bool) -> WebWhy:
        """The reasons of the fields that leave. Links to captured pages stay only where those are published."""
        documents = made.documents
        if not pages:
            documents = tuple(document.model_copy(update={"page_link": None}) for document in documents)
        if self.is_whole:
            return made.with_changes(documents=documents)
        kept = tuple(field for field in made.fields if field.field in self.record_fields)
        return made.with_changes(fields=kept, documents=())
