"""The files that a new campaign and a new user start with: every setting is there to be found, most as a comment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.config.choices import choices

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class TemplatePlace:
    """A circle on the map, as given on the command line."""

    name: str
    lat: float
    lon: float
    radius_miles: float


def campaign_template(name: str, queries: Sequence[str] = (), places: Sequence[TemplatePlace] = ()) -> str:
    """A `config.toml` that is valid as it stands."""
    sources = ", ".join(choices(("prospecting", "sources")) or ("the sources to ask",))
    return _CAMPAIGN.format(
        name=_text(name), queries=_queries(queries), locations=_locations(places), sources=sources, shared=_shared()
    )


def user_template() -> str:
    """A user's `config.toml`: nothing is set, everything is explained."""
    return _USER.format(shared=_shared())


def _shared() -> str:
    providers = ", ".join(choices(("queue", "provider")) or ("who keeps the tasks",))
    return _SHARED.replace("{providers}", providers)


def _text(value: str) -> str:
    # JSON's escapes are a subset of TOML's, as long as nothing is written as a pair of surrogates; DEL is the one
    # character that JSON leaves as it is and TOML does not allow.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _queries(queries: Sequence[str]) -> str:
    if not queries:
        return '[]  # for example ["plumber", "emergency plumber"]'
    return "[\n" + "".join(f"    {_text(query)},\n" for query in queries) + "]"


def _locations(places: Sequence[TemplatePlace]) -> str:
    if not places:
        return (
            "# [[prospecting.locations]]\n"
            '# name = "Springfield"\n'
            "# lat = 39.80\n"
            "# lon = -89.65\n"
            "# radius_miles = 25.0\n"
        )
    return "\n".join(
        "[[prospecting.locations]]\n"
        f"name = {_text(place.name)}\n"
        f"lat = {place.lat!r}\n"
        f"lon = {place.lon!r}\n"
        f"radius_miles = {place.radius_miles!r}\n"
        for place in places
    )


_CAMPAIGN = """\
# The campaign {name}. Settings that are commented out show their default.
# Check it with: cocli campaign show NAME · change it with: cocli campaign edit NAME

[campaign]
name = {name}
# tag = "plumbers"               # the tag that its companies get; the campaign's name where it is not set
# company = "Example Ltd"        # in whose name
# timezone = "UTC"
# account = "default"            # the owner of the documents

[prospecting]
queries = {queries}
# sources = ["overture"]         # {sources}
# goal = 1000                    # how many prospects are enough
# Where: one of locations, locations_csv and area.
# locations_csv = "places.csv"
# area = "territory.geojson"

{locations}
[exclude]
# domains = ["example.com"]
# names = ["Example Plumbing"]
# place_ids = []

{shared}"""

_USER = """\
# Your own defaults. A campaign's config.toml, the environment (COCLI_…) and flags go before what is said here.
# See what holds, and why: cocli config show --origin

# [campaign]
# company = "Example Ltd"
# timezone = "UTC"
# account = "default"

{shared}"""

_SHARED = """\
# [storage]
# url = "local"                  # the data home on this machine; "s3://bucket/prefix"; or a folder: "/srv/cocli"
# endpoint = "https://s3.example.com"
# region = "us-east-1"
# profile = "default"            # credentials come from the usual AWS places, never from this file

# [queue]
# provider = "store"             # {providers}
# lease_seconds = 300            # how long a worker may be silent
# attempts = 5
# paused = []                    # queues that no supervisor runs workers for

# [workers.raspberry]            # how many workers of each queue, or node of a graph, a machine runs
# gm-list = 1
# gm-details = 2
# enrichment = 4

# [cluster]
# id = "main"
# hosts = ["raspberry"]

# [documents]
# catalog = "postgresql://cocli@db.example.com/cocli"   # a SQLite file per store where it is not set
# edition = "main"               # of the parsers; set by `cocli documents promote`
# prefix = "uploads"
# inline_limit = 65536           # bytes from which on a blob is an object of its own
# events = "none"                # who carries references between nodes: none, queue, kafka
# kafka_servers = "kafka.example.com:9092"
# kafka_tls = true               # encrypted; the broker's certificate is checked
# kafka_ca = "/etc/cocli/kafka-ca.pem"          # the system's authorities where it is not set
# kafka_certificate = "/etc/cocli/kafka.pem"    # for a broker that asks for one …
# kafka_key = "/etc/cocli/kafka.key"            # … and its key
# kafka_user = "cocli"           # for a broker with logins; the password is in COCLI_KAFKA_PASSWORD
# kafka_mechanism = "SCRAM-SHA-512"             # SCRAM-SHA-256, PLAIN
# max_waiting_events = 100000    # of an account; a save that needs one more is refused
# host = "127.0.0.1"             # where `cocli documents serve` listens
# grpc_port = 8788
# http_port = 8789
# tls_certificate = "/etc/cocli/service.pem"
# tls_key = "/etc/cocli/service.key"
# secret_file = "/etc/cocli/documents.secret"
# max_message_bytes = 67108864
# max_upload_bytes = 268435456
# max_connections = 512          # of a service; a new one takes the place of one that waits
# max_connections_per_address = 256
# account_requests_per_minute = 0   # to a service, by one account; 0 is no limit
# account_bytes_per_minute = 0
# account_pace = 400             # a second, while other accounts ask as well; what comes quicker waits
# account_replays = 4            # of one account at a time

# [retention]                    # how long things are kept: "90d", "8w", "12mo", "2y"; for ever where nothing is said
# captures = "12mo"              # pages as they came in, with all that was made of them
# editions = "6mo"               # what editions made that no campaign uses any more
# versions = "3mo"               # earlier versions of documents …
# keep_versions = 0              # … but for the newest so many
# exports = "6mo"
# reports = "12mo"
# completed = "12mo"             # tasks that are done
# set_aside = "3mo"              # tasks that were given up
# index_versions = "6mo"         # what records were then
# bucket_versions = "30d"        # what was removed goes for good, where a bucket keeps versions
# automatic = false              # the elected supervisor applies these rules once a day

# [processing]                   # for cocli register: what no other setting says
# controller = "Example Ltd, 1 Main St, Springfield"
# contact = "privacy@example.com"
# purpose = "offering our services to plumbers"
# basis = "legitimate interest, weighed on 2026-11-01"
# recipients = ["our sales team"]

# [fetch]
# rate = 1.0                     # requests per second to one site
# per_address = 4                # requests at a time to one address, over all the sites that lie there
# address_rate = 8.0             # requests per second to one address; never below rate
# user_agent = "example-bot"
# robots = true
# proxies = []                   # "http://host:port"; with a password only in COCLI_FETCH_PROXIES
# allow_networks = []            # private ranges that may be read, such as "10.20.0.0/16"
# allow_ports = []               # besides 80, 443, 8080, 8443
# concurrency = 2000             # sites at a time, at most: a worker finds out how many its machine can bear
# timeout_seconds = 30.0         # for the head of an answer, and again for its body
# max_page_bytes = 5242880       # what is longer is cut off
# mx = false                     # ask the name server whether the domains of e-mail addresses take mail
# browser = false                # let a browser fill pages that are empty without scripts: pip install 'cocli[browser]'
# hosts_file = "hosts.json"      # host names that lead elsewhere: {"example.com": ["10.20.0.7", 8080]}

# [google_maps]                  # only where sources names google-maps
# url = "https://www.google.com"
# pages_per_day = 400            # of one machine, over all its workers
# pause_seconds = 6.0            # between two pages, on average
# tabs = 2                       # pages that one worker reads at the same time, all at this one pace
# timeout_seconds = 45.0         # for a page to show anything

# [refresh]                      # how often what was read is read again, so that the list stays true
# every = "30d"                  # without it nothing is read again by itself
# sources = { google-maps = "14d" }
# stages = { enrichment = "60d" }
# budget = 5000                  # requests a day, over all machines
# fetch = "loaded"               # newer releases of what this machine has loaded; or: "territory", "never"
# closed_after = 3               # complete readings in a row that do not show a business

# [[watch]]                      # who is told when something changes
# name = "closed-in-springfield"
# kinds = ["closed", "missing"]
# cities = ["Springfield"]
# categories = []
# tags = []
# fields = ["name", "kind", "before", "after"]
# file = true                    # a table in exports/watches/
# digest = true                  # a message that is ready to be sent, for each delivery
# to = ["me@example.com"]
# webhook = "https://example.com/hook"
# secret_file = "/etc/cocli/watch.secret"   # calls are signed with it

# [aws]
# profile = "default"
# region = "us-east-1"
# account_id = "123456789012"
# endpoint = "http://localhost:4566"   # a server that stands in for Amazon's SQS

# [web]                          # the dashboard: cocli web
# host = "127.0.0.1"             # beyond this machine it needs a login and a certificate
# port = 8765
# url = "https://dashboard.example.com"   # what people open, where a proxy stands in front
# allowed_hosts = []             # names under which it may be asked for
# behind_proxy = false           # a proxy in front ends TLS
# tls_certificate = "/etc/cocli/web.pem"
# tls_key = "/etc/cocli/web.key"
# basemap = "map.pmtiles"        # or an address with {z}, {x}, {y}; without it, coasts and towns
# basemap_credits = "© OpenStreetMap contributors"
# session_hours = 12.0
# max_upload_bytes = 33554432
# deploy_to = "s3://dashboard"   # where cocli web deploy writes
# guard = "none"                 # "edge": something in front of the bucket asks readers for a login
# distribution = "E2EXAMPLE123"  # the CloudFront distribution in front of it
# webhook_networks = []          # private ranges whose addresses may be told of events

# [auth]                         # who may see and change it
# provider = "link"              # "oidc": a provider of OpenID Connect
# issuer = "https://login.example.com"
# client_id = "cocli"
# client_secret_file = "/etc/cocli/client.secret"
# scopes = ["openid", "email", "profile"]
# role_claim = "groups"          # viewer, editor, admin; or CAMPAIGN:editor
# viewers = []                   # e-mail addresses or subjects; "*" for all who can log in
# editors = []
# admins = []
"""
