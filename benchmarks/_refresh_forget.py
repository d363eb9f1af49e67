"""Forgetting, measured: after a forget that was killed at random, how much is left, and does it come back.

The demo town is read on a folder and on S3, in a bucket that keeps versions. Then one address and one business are
forgotten by commands that are killed with SIGKILL after a random time, and begun again until one comes through. Every
byte of store, cache, state and published files, and of every version in the bucket, is searched for what was known of
them; a second campaign reads the town anew; the search is repeated. What others have is compared before and after.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.kit import servers
from tests.kit.residue import StoreHistory, residue

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.goal.goal import GoalSettings, GoalWatcher, achieve_goal
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, serve_websites
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.fleet.drain import Drain
from cocli.index.reader import open_reader
from cocli.store import open_store
from cocli.store.versions import versions_of

if TYPE_CHECKING:
    from benchmarks.harness import Bench
    from cocli.models.prospect import Prospect

_PHRASES = ("florist", "bakery", "hair salon")
_AGAIN = "again"
_KILLS = 4
_INDEXES = ("prospects", "emails")


def measure_forgetting(bench: Bench) -> None:
    """`refresh.forget_residue`: places in which something is left, and records of others that changed."""
    left, conditions = 0, []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cocli-forget-")))
        stores: dict[str, str | None] = {"folder": None}
        (folder / "seaweedfs").mkdir()
        server = stack.enter_context(servers.seaweedfs(folder / "seaweedfs"))
        servers.create_bucket(server, "forget")
        _keep_versions(server, "forget")
        stores["s3"] = server.url("forget", "town")
        for name, store in stores.items():
            found = _Forgetting(bench, folder / name, store).run()
            left += found
            conditions.append(f"{name}: {found}")
    bench.measure(
        "refresh.forget_residue",
        left,
        peer="allowed",
        peer_value=0,
        conditions=f"after SIGKILLs; {'; '.join(conditions)}",
    )


class _Forgetting:
    def __init__(self, bench: Bench, folder: Path, store: str | None) -> None:
        self._bench = bench
        variables = {**servers.credentials_environment(), "AWS_EC2_METADATA_DISABLED": "true"}
        self._home = TownHome(folder, store, variables)
        self._store = store
        self._chance = random.Random(20261117)

    def run(self) -> int:
        town = build_town()
        os.environ.update(self._home.variables)
        with serve_websites(town, hang_seconds=0.2) as websites:
            found_campaign(self._home, town, websites, ["queue.attempts=1"], phrases=_PHRASES)
            self._read(CAMPAIGN)
            self._make_outputs()
            address, business = self._subjects()
            needles = {
                address: [address],
                business.domain or "": _known_by(business),
            }
            before = self._others(business)
            for subject in needles:
                self._forget(subject)
            searched = [needle for words in needles.values() for needle in words]
            left = self._search(searched, "after forgetting")
            changed = self._compare(before, self._others(business), address)
            self._read_again(town)
            left += self._search(searched, "after another full run")
        return left + changed

    def _read(self, name: str) -> None:
        with open_workspace(self._home.environ, Flags()) as workspace:
            achieve_goal(workspace, name, GoalSettings(), Drain(), GoalWatcher(lambda _: None, lambda _: None))

    def _read_again(self, town: Any) -> None:  # noqa: ARG002  the websites are being served
        """Another campaign asks for the same: it reads every tile and every website anew."""
        files = self._home.folder / "town"
        with open_workspace(self._home.environ, Flags()) as workspace:
            new_campaign(workspace, _AGAIN, _PHRASES)
            settings = [
                f"prospecting.area={files / 'territory.geojson'}",
                f"fetch.hosts_file={files / 'hosts.json'}",
                'fetch.allow_networks=["127.0.0.0/8"]',
                "fetch.rate=100",
                "fetch.per_address=1000",
                "fetch.address_rate=100000",
                "queue.attempts=1",
            ]
            edit_campaign(workspace, _AGAIN, [parse_change(text) for text in settings])
        self._read(_AGAIN)
        self._make_outputs(_AGAIN)

    def _make_outputs(self, name: str = CAMPAIGN) -> None:
        for words in (
            ("company", "refresh", "-c", name),
            ("export", name, "--format", "xlsx"),
            ("export", name, "--format", "parquet"),
            ("index", "consolidate", "-c", name),
            ("find", "flower", "-c", name),
            ("campaign", "publish", name),
        ):
            done = self._cocli(*words)
            if done.returncode:
                raise AssertionError(f"{words}: {done.stderr[-2000:]}")

    def _subjects(self) -> tuple[str, Prospect]:
        """An address at a site of several pages, and a business that shares nothing with others."""
        records = list(self._records("prospects").values())
        alone = [one for one in records if one["domain"] and one["primary_email"] and one["phone_e164"]]
        names = [one["name"] for one in records]
        domains = [one["domain"] for one in records]
        single = [one for one in alone if names.count(one["name"]) == 1 and domains.count(one["domain"]) == 1]
        with open_workspace(self._home.environ, Flags()) as workspace:
            indexes = campaign_indexes(workspace, CAMPAIGN)
            reader = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
            business = reader.get(single[1]["company_hash"])
        if business is None:
            raise AssertionError("a business that was read just now is gone")
        self._bench.note(f"to be forgotten: {single[0]['primary_email']}, {business.name}")
        return str(single[0]["primary_email"]), business

    def _records(self, index: str) -> dict[str, Any]:
        with open_workspace(self._home.environ, Flags()) as workspace:
            indexes = campaign_indexes(workspace, CAMPAIGN)
            opened = indexes.open_whole(indexes.ref(index))
            reader = open_reader(opened, fresh=True)
            return {opened.spec.key_of(row): row.model_dump(mode="json") for row in reader.scan()}

    def _others(self, business: Prospect) -> dict[str, Any]:
        found = {f"{index} {key}": row for index in _INDEXES for key, row in self._records(index).items()}
        return {
            key: row
            for key, row in found.items()
            if business.company_hash not in (row.get("company_hash"),) and row.get("domain") != business.domain
        }

    def _compare(self, before: dict[str, Any], after: dict[str, Any], address: str) -> int:
        """Records of others that are not as they were. One that had the address is without it."""
        changed = 0
        for key in before.keys() | after.keys():
            old, new = before.get(key), after.get(key)
            if old != new and address not in str(old):
                self._bench.note(f"changed: {key}")
                changed += 1
        return changed

    def _forget(self, subject: str) -> None:
        words = ("forget", subject, "--yes", "--notes", "--quiet")
        killed = 0
        for _ in range(_KILLS):
            process = self._started(*words)
            try:
                process.wait(self._chance.uniform(0.5, 8.0))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                killed += 1
        done = self._cocli(*words)
        if done.returncode:
            raise AssertionError(f"forget {subject}: {done.stderr[-2000:]}")
        self._bench.note(f"forgotten after {killed} kills")

    def _search(self, needles: list[str], when: str) -> int:
        folder = self._home.folder
        places: list[Any] = [folder / "cache", folder / "state"]
        places.append(_history(self._store) if self._store else folder / "data")
        found = residue(places, needles)
        for name, needle in found[:20]:
            self._bench.note(f"{when}, left in {name}: {needle}")
        self._bench.note(f"{when}: {len(found)} places")
        return len(found)

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "cocli", *words],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _cocli(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cocli", *words]
        return subprocess.run(command, env=self._environ, capture_output=True, text=True, check=False)

    @property
    def _environ(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", "")} | self._home.environ


def _keep_versions(server: servers.S3Server, bucket: str) -> None:
    """The harder case: what is replaced or deleted stays, unless it is removed for good."""
    import boto3

    client = boto3.client("s3", endpoint_url=server.endpoint, region_name=servers.REGION,
                          aws_access_key_id=servers.ACCESS_KEY, aws_secret_access_key=servers.SECRET_KEY)  # fmt: skip
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    client.close()


def _history(address: str) -> StoreHistory:
    """Every version of every object, those that are current included."""
    versions = versions_of(open_store(address))
    if versions is None:
        raise AssertionError("a bucket has versions")
    return StoreHistory(versions)


def _known_by(business: Prospect) -> list[str]:
    """How a business can be told, as it stands in files of any kind."""
    number = (business.phone_e164 or "").removeprefix("+")
    forms = [number, f"({number[1:4]}) {number[4:7]}-{number[7:]}", f"{number[1:4]}-{number[4:7]}-{number[7:]}"]
    street = [business.street] if business.street else []
    addresses = [str(address) for address in business.all_emails]
    return [str(business.domain), business.name, *addresses, *forms, *street, business.company_hash]
