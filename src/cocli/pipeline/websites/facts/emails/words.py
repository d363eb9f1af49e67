"""Words about e-mail, of all languages: how `@` and `.` are spoken, roles, labels."""

from __future__ import annotations

from cocli.pipeline.websites.page.languages import set_of, words_of

AT_WORDS = words_of("email.at")
"""Inside brackets, each of these stands for `@`."""
BARE_AT_WORDS = words_of("email.bare_at")
"""Without brackets; `at` then needs more evidence, because it is a word of its own."""
DOT_WORDS = words_of("email.dot")
LABELS = words_of("email.label")
"""What stands before an address."""
GENERAL_ROLES = set_of("email.general_role")
SPECIAL_ROLES = set_of("email.special_role")
PRIVACY_ROLES = set_of("email.privacy_role")
"""Mailboxes of who watches over privacy, often another company."""
UNATTENDED = set_of("email.unattended")
"""Mailboxes that nobody answers, or that are for complaints about the site itself."""
NO_MAILBOX = set_of("email.no_mailbox")
"""Words before a spoken `at` or a spaced `@` that tell a place, not a mailbox: "find us at firm.com"."""
UNSURE_AT = set_of("email.unsure_at")
"""Words for `@` that stand in brackets for other reasons as well."""
NO_SIGN = set_of("email.no_sign")
"""Words that stand between a word and a website in a sentence, and so for no sign."""
