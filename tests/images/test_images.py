"""The images: what can be said of their files, and a worker that runs in one, where `make images` has built it."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from tests.kit.host_pages import served_pages
from tests.kit.servers import S3Server, credentials_environment, executable

from cocli.demo.ports import free_ports
from cocli.store import Store, open_store
from images import build

ROOT = Path(__file__).parents[2]
FILE = ROOT / "images" / "Containerfile"
_PATIENCE = 300.0


def test_hadolint_has_nothing_to_say() -> None:
    done = subprocess.run([executable("hadolint"), str(FILE)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_image_runs_as_nobody_in_particular_and_as_second_process() -> None:
    stages = re.split(r"(?m)^FROM ", FILE.read_text())
    finals = {name: stage for stage in stages if (name := stage.partition("\n")[0].rpartition(" ")[2]) in build.TARGETS}
    assert set(finals) == set(build.TARGETS)
    assert all("USER 10001:10001" in stage for stage in finals.values())
    assert all("HEALTHCHECK" in finals[name] for name in ("worker", "maps", "web"))
    assert 'ENTRYPOINT ["/usr/bin/tini", "--", ' in FILE.read_text()


def test_the_compose_file_names_images_that_there_are() -> None:
    composed = yaml.safe_load((ROOT / "images" / "compose.yaml").read_text())["services"]
    assert set(composed) == {"store", "worker-1", "worker-2", "enrichment", "web"}
    for name, service in composed.items():
        if name == "store":
            continue
        assert service["image"] in {build.image_name(target) for target in build.TARGETS}
        assert service["read_only"]
        assert service["user"] == "10001:10001"
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        has_browser = service["image"] == build.image_name("maps")
        assert ("seccomp=./chromium-seccomp.json" in service["security_opt"]) == has_browser
        assert "AWS_SECRET_ACCESS_KEY" not in json.dumps(service["environment"])


# --- a worker in a container


def wait_for(what: Callable[[], object]) -> None:
    ends = time.monotonic() + _PATIENCE
    while not what():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.2)


def completed(store: Store) -> set[str]:
    return {info.key for info in store.list("campaigns/plumbers/queues/enrichment/completed/")}


@pytest.fixture
def container(seaweedfs: S3Server, tmp_path: Path) -> Iterator[tuple[str, Store, Any]]:
    """A worker that reads websites of this machine; its store is SeaweedFS."""
    if build.image_megabytes("worker") is None:
        pytest.skip("no image of a worker: make images TARGETS=worker")
    url = seaweedfs.url("cocli-data-test", f"image-{secrets.token_hex(4)}")
    name = f"cocli-test-{secrets.token_hex(4)}"
    with served_pages() as server, closing(open_store(url)) as store:
        (tmp_path / "hosts.json").write_text(json.dumps({"*": ["127.0.0.1", server.port]}))
        fetch = 'rate = 100.0\nhosts_file = "/hosts.json"\nallow_networks = ["127.0.0.0/8"]\n'
        text = f'[campaign]\nname = "plumbers"\n[fetch]\n{fetch}allow_ports = [80, {server.port}]\n'
        store.put("campaigns/plumbers/config.toml", text.encode())
        settings = {**credentials_environment(), "COCLI_STORE": url, "CAMPAIGN_NAME": "plumbers"}
        (tmp_path / "keys.env").write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        (tmp_path / "keys.env").chmod(0o600)
        words = ["run", "--detach", "--name", name, "--network=host", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL"]
        words += [f"--env-file={tmp_path}/keys.env", f"--volume={tmp_path}/hosts.json:/hosts.json:ro"]
        build.podman(*words, build.image_name("worker"), "worker", "enrichment", capture=True)
        try:
            yield name, store, server
        finally:
            build.podman("rm", "--force", "--time=0", name, capture=True, check=False)


def put_tasks(server: Any, url: str, start: int, count: int) -> None:
    sites = [f"site{number}.com" for number in range(start, start + count)]
    for site in sites:
        server.pages[site] = f"<title>{site}</title><a href='mailto:info@{site}'>info@{site}</a>".encode()
    lines = "".join(f'{{"task_id": "{s}", "payload": {{"domain": "{s}", "url": "http://{s}/"}}}}\n' for s in sites)
    words = [sys.executable, "-m", "cocli", "queue", "put", "enrichment", "--file", "-", "--create", "-c", "plumbers"]
    done = subprocess.run([*words, "--store", url], input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_worker_in_a_container_works_and_is_drained(container: tuple[str, Store, Any], seaweedfs: S3Server) -> None:
    name, store, server = container
    url = store.address.replace(" (", "?endpoint=").replace(")", "") + "&region=us-east-1"
    put_tasks(server, url, 0, 20)
    wait_for(lambda: len(completed(store)) >= 20)
    inside = build.podman("exec", name, "sh", "-c", "id -u; touch /x 2>&1; cat /proc/1/comm", capture=True, check=False)
    assert inside.stdout.splitlines()[0] == "10001"
    assert "Read-only file system" in inside.stdout
    assert inside.stdout.splitlines()[-1] == "tini"
    assert build.podman("exec", name, "/opt/cocli/healthy", "worker", check=False).returncode == 0
    assert build.podman("exec", name, "/opt/cocli/healthy", "supervisor", check=False).returncode == 1
    put_tasks(server, url, 20, 60)
    build.podman("stop", "--time=120", name, capture=True)
    state = build.podman("inspect", "--format", "{{.State.ExitCode}}", name, capture=True).stdout.strip()
    assert state in ("0", "143"), build.podman("logs", name, capture=True, check=False).stderr
    leases = [info.key for info in store.list("campaigns/plumbers/queues/enrichment/pending/") if "lease" in info.key]
    held = [key for key in leases if json.loads(store.get(key).data).get("worker")]
    assert held == [], "what it had in hand was given back"
    print(f"deploy.image_mb_worker {build.image_megabytes('worker'):.0f}")


# --- the dashboard, and a browser


def run_detached(target: str, *words: str, options: Sequence[str] = ()) -> str:
    """A container with as few rights as the compose file gives it; its name."""
    if build.image_megabytes(target) is None:
        pytest.skip(f"no image {target}: make images TARGETS={target}")
    name = f"cocli-test-{secrets.token_hex(4)}"
    rights = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    build.podman("run", "--detach", "--name", name, "--network=host", *rights, *options, *words, capture=True)
    return name


def logs_of(name: str) -> str:
    said = build.podman("logs", name, capture=True, check=False)
    return said.stdout + said.stderr


def test_the_dashboard_in_a_container_lets_in_who_has_its_link(seaweedfs: S3Server, tmp_path: Path) -> None:
    url = seaweedfs.url("cocli-data-test", f"image-{secrets.token_hex(4)}")
    with closing(open_store(url)) as store:
        store.put("campaigns/plumbers/config.toml", b'[campaign]\nname = "plumbers"\n')
    (port,) = free_ports(1)
    (tmp_path / "keys.env").write_text("".join(f"{key}={value}\n" for key, value in credentials_environment().items()))
    options = [f"--env-file={tmp_path}/keys.env", f"--env=COCLI_STORE={url}", "--env=CAMPAIGN_NAME=plumbers"]
    name = run_detached("web", build.image_name("web"), "web", "--port", str(port), options=options)
    try:
        wait_for(lambda: "127.0.0.1" in logs_of(name))
        healthy = ("exec", name, "/opt/cocli/healthy", f"http://127.0.0.1:{port}/healthz")
        wait_for(lambda: build.podman(*healthy, capture=True, check=False).returncode == 0)
        link = re.search(rf"http://127\.0\.0\.1:{port}/\S+", logs_of(name))
        assert link is not None, logs_of(name)
        with httpx2.Client(follow_redirects=True) as person:
            assert person.get(f"http://127.0.0.1:{port}/api/tokens").status_code == 401, "nobody is logged in"
            page = person.get(link[0])
            assert page.status_code == 200
            assert "<html" in page.text.lower()
            here = f"http://127.0.0.1:{port}"
            entered = person.post(
                f"{here}/auth", json={"token": link[0].partition("#")[2]}, headers={"Origin": here}
            )  # as the page does it
            assert entered.status_code == 200, entered.text
            assert person.get(f"{here}/api/tokens").status_code == 200
        inside = build.podman("exec", name, "sh", "-c", "id -u; touch /x 2>&1", capture=True, check=False).stdout
        assert inside.splitlines()[0] == "10001"
        assert "Read-only file system" in inside
        build.podman("stop", "--time=60", name, capture=True)
        code = build.podman("inspect", "--format", "{{.State.ExitCode}}", name, capture=True).stdout.strip()
        assert code in ("0", "143"), logs_of(name)
    finally:
        build.podman("rm", "--force", "--time=0", name, capture=True, check=False)


_OPEN_A_PAGE = """
import asyncio, os, sys
from cocli.pipeline.sources.google_maps.browser.chromium import Chromium
from cocli.pipeline.websites.fetch.browser import find_chromium

async def main():
    chromium = await Chromium.start(find_chromium(), proxy=None, cookies=())
    async with chromium.tab(60) as tab:
        await tab.goto(sys.argv[1])
        print(os.getuid(), await tab.title())
    await chromium.close()

asyncio.run(main())
"""


def test_the_image_for_maps_opens_a_page_with_chromium_as_nobody_in_particular() -> None:
    with served_pages() as server:
        server.pages["127.0.0.1"] = b"<title>plain</title><script>document.title = 'made by a script'</script>"
        python = ("--entrypoint=/opt/cocli/bin/python", build.image_name("maps"), "-c", _OPEN_A_PAGE)
        profile = f"--security-opt=seccomp={ROOT / 'images' / 'chromium-seccomp.json'}"
        name = run_detached("maps", *python, f"http://127.0.0.1:{server.port}/", options=[profile])
        try:
            build.podman("wait", name, capture=True)
            assert logs_of(name).splitlines()[-1:] == ["10001 made by a script"], logs_of(name)
        finally:
            build.podman("rm", "--force", "--time=0", name, capture=True, check=False)
