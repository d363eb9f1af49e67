"""E-mail addresses of a page, in every form that pages use. One file per family of forms; see docs/extractors.md."""

from __future__ import annotations

from cocli.pipeline.websites.facts.emails.find import find_emails

__all__ = ["find_emails"]
