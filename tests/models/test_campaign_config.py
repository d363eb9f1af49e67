"""The schema of config.toml: one spelling per setting, nothing unknown."""

from __future__ import annotations

import tomllib

import pytest

from cocli.errors import RecordError
from cocli.models.campaign import CampaignConfig

FULL = """
[campaign]
name = "roofers-la"
tag = "roofers"
company = "Acme"
timezone = "America/Los_Angeles"
account = "acme"

[prospecting]
queries = ["roofing contractor"]
sources = ["overture", "google-maps"]
goal = 5000
locations = [{ name = "Torrance", lat = 33.8358, lon = -118.3406, radius_miles = 25 }]

[exclude]
domains = ["yelp.com"]
names = ["Home Depot"]
place_ids = ["ChIJyUzh2kXqwoARUtNFG8VjnYQ"]

[storage]
url = "s3://cocli-data-roofers-la"
endpoint = "http://127.0.0.1:8333"
region = "us-west-2"
profile = "acme"

[queue]
provider = "store"
lease_seconds = 120
attempts = 3

[workers.pi-1]
gm-list = 1
enrichment = 4

[cluster]
id = "prod"
hosts = ["pi-1"]

[fetch]
rate = 0.5
user_agent = "acme-bot"
robots = true
proxies = []

[aws]
region = "us-west-2"
"""


def load(text: str) -> CampaignConfig:
    return CampaignConfig.checked(tomllib.loads(text))


def test_a_full_file() -> None:
    config = load(FULL)
    assert config.prospecting.locations[0].radius_miles == 25.0
    assert config.workers == {"pi-1": {"gm-list": 1, "enrichment": 4}}
    assert CampaignConfig.model_validate_json(config.model_dump_json()) == config


def test_a_name_is_enough() -> None:
    config = load('[campaign]\nname = "a"')
    assert config.storage.url == "local"
    assert config.queue.provider == "store"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "campaign: Field required"),
        ('[campaign]\nname = "Roofers LA"', "campaign.name: "),
        ('[campaign]\nname = "' + "a" * 60 + '"', "campaign.name: "),
        ('[campaign]\nname = "a"\nnmae = "b"', "campaign.nmae: Extra inputs"),
        ('[campaign]\nname = "a"\n[prospectng]', "prospectng: Extra inputs"),
        ('[campaign]\nname = 5', "campaign.name: Input should be a valid string"),
        ('[campaign]\nname = "a"\n[prospecting]\nqueries = "roofer"', "prospecting.queries: "),
        ('[campaign]\nname = "a"\n[prospecting]\nqueries = [5]', "prospecting.queries.0: "),
        ('[campaign]\nname = "a"\n[prospecting]\narea = "x.kml"\nlocations_csv = "y.csv"', "locations_csv and area"),
        ('[campaign]\nname = "a"\n[prospecting]\nlocations = [{name = "x", lat = 91, lon = 0}]', "locations.0.lat"),
        ('[campaign]\nname = "a"\n[queue]\nattempts = "3"', "queue.attempts"),
        ('[campaign]\nname = "a"\n[cluster]\nid = "intake"', "may not be called intake"),
        ('[campaign]\nname = "a"\n[storage]\nurl = "ftp://x"', "storage.url"),
        ('[campaign]\nname = "a"\n[workers.pi]\ngm-list = -1', "workers.pi.gm-list"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text: str, reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        load(text)
    assert reason in caught.value.message


def test_a_list_of_domains_cannot_become_the_campaigns_name() -> None:
    with pytest.raises(RecordError, match="name"):
        CampaignConfig.checked({"campaign": {"name": ["a.com", "b.com"]}})
