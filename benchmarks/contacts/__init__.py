"""How well contacts are found on pages whose contacts are known. Any folder in this layout can be scored:

    FOLDER/truth.jsonl      one line per page: file, url, country, form, emails, emails_optional, emails_thirdparty,
                            emails_reject, phones…, socials…
    FOLDER/pages/*.html

`emails` must be found, `emails_optional` may be, `emails_thirdparty` are real but someone else's, `emails_reject` must
not be found; the same for phones and socials. Only `file` is needed, whatever is missing is empty.

    python -m benchmarks.contacts                 the hand-made pages of this folder: every form and every negative
    python -m benchmarks.contacts FOLDER          other pages
"""
