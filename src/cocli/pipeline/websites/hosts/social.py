"""Social platforms: which of their paths are profiles. Their hosts are in the table of hosts, as the kind `profile`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cocli.pipeline.websites.hosts.table import listed, networks_of
from cocli.pipeline.websites.page.wordlist import words


@dataclass(frozen=True, slots=True)
class SocialSite:
    """A platform. A profile is a path of one name, or of a name behind one of the given first parts."""

    name: str
    behind: frozenset[str] = frozenset()
    """First parts that a profile's name follows: `/company/name`."""
    alone: str | None = r"[\w.\-%]{2,100}"
    """What a name that stands alone looks like; None where there is none."""
    never: frozenset[str] = frozenset()
    """First parts that lead elsewhere: `/sharer`."""
    deeper: bool = True
    """Whether what follows a name that stands alone leads to a part of the profile (`/name/about`), not to a post."""

    def profile(self, segments: list[str]) -> list[str] | None:
        """The parts of the path that name the profile, or None."""
        if len(segments) > 1 and (segments[0].lower() in _DETOURS or (self.name == "telegram" and segments[0] == "s")):
            segments = segments[1:]
        if self.name in _HANDLES_WITHOUT_SIGN:
            segments = [segments[0].removeprefix("@"), *segments[1:]]
        first = segments[0].lower()
        if first in self.behind:
            return self._behind(segments)
        if (
            first == "share"
            and self.name == "facebook"
            and len(segments) == 2
            and re.fullmatch(r"\w{8,20}", segments[1])
        ):
            return segments  # what the app hands out as the address of a page; posts have one part more
        if first in self.never or self.alone is None or not re.fullmatch(self.alone, segments[0]):
            return None
        if len(segments) > 1 and not _is_tab(segments) and (not self.deeper or self._is_post(segments)):
            return None
        return segments[:1]

    def _is_post(self, segments: list[str]) -> bool:
        """`/name/posts/123` is one, `/name/reviews` is a part of the profile."""
        return segments[1].lower() in _POSTS

    def _behind(self, segments: list[str]) -> list[str] | None:
        if len(segments) < 2 or not re.fullmatch(r"[^\s?#&]{1,200}", segments[1]):
            return None
        first = segments[0].lower()
        if first == "pub":
            return segments[:_LONGEST_PUB]  # the name alone is not enough: `/pub/name/1/a2b/3c4`
        named_third = first in ("pages", "people", "professionals") and len(segments) > 2
        return segments[:3] if named_third else segments[:2]


_POSTS = words(
    "posts photos photo videos video status reel reels p events permalink permalink.php media reviews groups"
)
_TABS = words(
    """
    posts photos videos events reviews reels groups media about featured shorts streams playlists community channels
    followers following tracks albums sets reposts likes schedule clips home _saved _created _tools
    """
)
"""Parts of a profile, where nothing follows them."""
_LONGEST_PUB = 5
_DETOURS = words("pg _u #! hashbang")
"""Parts before a name that platforms once put there."""
_HANDLES_WITHOUT_SIGN = frozenset(("instagram", "x"))
NO_PROFILES = words(
    """
    about ads ai api apps blog careers cdn connect dev developer developers docs engineering graph help l legal lm
    newsroom platform player policies privacy scontent safety static status studio support transparency upload
    """
)
"""Subdomains on which a platform speaks for itself."""


def _is_tab(segments: list[str]) -> bool:
    return len(segments) == 2 and segments[1].lower() in _TABS


_COMMON = words(
    "share sharer intent login signup search explore hashtag about help legal privacy terms policies settings home"
)

_FACEBOOK = SocialSite(
    "facebook",
    words("pages people groups p"),
    r"[\w.\-%]{2,100}",
    _COMMON
    | words(
        """
        sharer.php share.php dialog plugins tr events photo photo.php photos watch story.php permalink.php business
        ads l.php home.php login.php v2.0 groups marketplace gaming messages notes media policy.php privacy.php r.php
        reel reels recover.php fbml dialogs full_data_use_policy ajax connect 2008 docs help
        """
    ),
)
_INSTAGRAM = SocialSite(
    "instagram", frozenset(), r"[\w.]{1,40}", _COMMON | words("p reel reels stories accounts tv direct developer web")
)
_X = SocialSite(
    "x",
    frozenset(),
    r"\w{3,20}",  # shorter ones are languages: /en/privacy
    _COMMON
    | words("i tos hashtag messages notifications oauth widgets statuses personalization account jobs download"),
)
_LINKEDIN = SocialSite("linkedin", words("company in school showcase pub"), None)
_YOUTUBE = SocialSite(
    "youtube",
    words("channel c user"),
    r"@?[\w.\-]{2,100}",
    _COMMON
    | words(
        """
        watch embed playlist results shorts feed redirect t live premium v channel user c attribution_link iframe_api
        howyoutubeworks creators ads yt player_api static gaming music
        """
    ),
)
_PINTEREST = SocialSite("pinterest", frozenset(), r"[\w.\-]{2,60}", _COMMON | words("pin ideas business _ today"))
_HANDLE = r"@[\w.\-]{1,60}"

_RULES = (
    _FACEBOOK,
    _INSTAGRAM,
    _X,
    _LINKEDIN,
    _YOUTUBE,
    _PINTEREST,
    SocialSite("tiktok", frozenset(), _HANDLE),
    SocialSite("yelp", words("biz"), None),
    SocialSite("xing", words("profile profiles companies company pages"), None),
    SocialSite(
        "vimeo", frozenset(), r"(?!\d+\Z)[\w.\-]{2,60}", _COMMON | words("channels groups album video upload watch")
    ),
    SocialSite("threads", frozenset(), _HANDLE),
    SocialSite("bluesky", words("profile"), None),
    SocialSite("telegram", frozenset(), r"\w{4,40}", words("share joinchat addstickers s iv proxy"), deeper=False),
    SocialSite("snapchat", words("add"), r"@[\w.\-]{2,40}"),
    SocialSite("medium", frozenset(), _HANDLE, deeper=False),
    SocialSite(
        "vk", frozenset(), r"[\w.]{2,60}", _COMMON | words("share.php feed video widget_community.php wall away.php")
    ),
    SocialSite("ok", words("group profile"), r"[\w.]{3,60}", _COMMON | words("dk offer")),
    SocialSite("houzz", words("pro professionals"), None),
    SocialSite("nextdoor", words("pages"), None),
    SocialSite("behance", frozenset(), r"[\w.\-]{2,60}", _COMMON | words("gallery galleries")),
    SocialSite("soundcloud", frozenset(), r"[\w.\-]{2,60}", _COMMON | words("discover you player"), deeper=False),
    SocialSite("twitch", frozenset(), r"\w{3,40}", _COMMON | words("videos directory p"), deeper=False),
)
_BY_NAME = {site.name: site for site in _RULES}
SOCIAL_NAMES = frozenset(_BY_NAME)
"""The networks whose profiles are known; the table of hosts says where they lie."""


def social_site(host: str) -> SocialSite | None:
    """The platform that a host belongs to, itself or by a host above it: `de.linkedin.com`."""
    known = listed(host, "profile")
    return _BY_NAME[networks_of("profile")[known]] if known else None
