"""The older domain index: an inbox and shards of 21 columns, or tables with a header → `Domain`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.keys.identities import registrable_domain
from cocli.models.domain import Domain
from cocli.pipeline.migrate.columns import OldColumn, Shape
from cocli.pipeline.migrate.layout import Layout
from cocli.pipeline.migrate.origins import recorded
from cocli.pipeline.migrate.row import misfit

if TYPE_CHECKING:
    from cocli.pipeline.migrate.row import Context, OldRow

_WEBSITE = "of the website, which is read again; the index of domains does not keep it"

TWENTY_ONE = (
    OldColumn("domain", "domain", "the registrable part", Shape.HOST),
    OldColumn("company_name", "", _WEBSITE, Shape.TEXT),
    OldColumn("phone", "", _WEBSITE),
    OldColumn("email", "", "addresses come from the campaign's own e-mail index: this file is shared"),
    OldColumn("ip_address", "ip"),
    OldColumn("facebook_url", "", _WEBSITE),
    OldColumn("linkedin_url", "", _WEBSITE),
    OldColumn("instagram_url", "", _WEBSITE),
    OldColumn("twitter_url", "", _WEBSITE),
    OldColumn("youtube_url", "", _WEBSITE),
    OldColumn("address", "", _WEBSITE, Shape.TEXT),
    OldColumn("about_us_url", "", _WEBSITE),
    OldColumn("contact_url", "", _WEBSITE),
    OldColumn("services_url", "", _WEBSITE),
    OldColumn("products_url", "", _WEBSITE),
    OldColumn("tags", "", "of campaigns, in a file that is shared by all", Shape.TEXT),
    OldColumn("scraper_version", "scraper_version", "", Shape.WHOLE),
    OldColumn("associated_company_folder", "", "a slug is no identity"),
    OldColumn("is_email_provider", "is_email_provider", "", Shape.FLAG),
    OldColumn("created_at", "", "the index keeps the last visit", Shape.TIME),
    OldColumn("updated_at", "last_crawled", "", Shape.TIME),
)


def domain(row: OldRow, context: Context) -> Domain:
    """One row → one domain. Hosts that many companies share stay: the index knows of them, too."""
    last = row.time("updated_at")
    return recorded(
        Domain,
        {
            "domain": _name(row),
            "ip": row.text("ip_address"),
            "is_email_provider": row.flag("is_email_provider") or False,
            "last_crawled": last,
            "scraper_version": row.text("scraper_version"),
        },
        last or context.modified,
    )


def _name(row: OldRow) -> str:
    text = row.text("domain")
    if text is None:
        raise misfit("no domain")
    return registrable_domain(text)


LAYOUT = Layout(
    name="domains",
    index="domains",
    tables=(TWENTY_ONE,),
    begins=re.compile(rb"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+\x1f"),
    convert=domain,
    aliases={"last_updated_at": "updated_at", "first_seen_at": "created_at"},
    is_new=lambda names: {"domain", "mx", "next_check"} <= names,
)
