"""E-mail addresses of a page, in every form that pages use. One file per family of forms; see docs/extractors.md."""
