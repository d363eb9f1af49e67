"""Pages whose contacts are known, made from short descriptions: `cases.toml` says what stands on a page of a class.

A half has its own words (`open/words.toml`, `apart/words.toml`), its own markup (`open/look.py`, `apart/look.py`) and
its own seed. Whoever writes extractors looks at the open half only: the half apart says how well it holds elsewhere.
The same half comes out the same, byte for byte, whoever makes it.
"""
