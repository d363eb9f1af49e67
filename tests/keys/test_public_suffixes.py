"""The list of suffixes is the library's own, whatever is left out while it is read."""

from __future__ import annotations

from typing import Any

import pytest
from publicsuffixlist import PublicSuffixList

from cocli.keys.public_suffixes import public_suffixes


@pytest.mark.parametrize("options", [{}, {"accept_unknown": False, "only_icann": True}])
def test_it_knows_what_the_library_knows(options: dict[str, Any]) -> None:
    ours, theirs = public_suffixes(**options), PublicSuffixList(**options)
    assert ours._publicsuffix == theirs._publicsuffix
    assert ours._maxlabel == theirs._maxlabel
    for domain in (
        "shop.example.co.uk",
        "müller.example.個人.hk",
        "a.xn--55qx5d.cn",
        "x.city.kawasaki.jp",
        "nowhere.zzz",
    ):
        assert ours.privatesuffix(domain) == theirs.privatesuffix(domain)
        assert ours.publicsuffix(domain) == theirs.publicsuffix(domain)
