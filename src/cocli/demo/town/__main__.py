"""`python -m cocli.demo.town`: serves a town for people who want to look at it, or writes its files."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from cocli.demo.town.builder import USUAL_SIZE
from cocli.demo.town.hosts import write_hosts
from cocli.demo.town.maps.site import MapsBehaviour, serve_maps
from cocli.demo.town.overture import write_overture
from cocli.demo.town.town import Town, build_town
from cocli.demo.town.truth import truth_of
from cocli.demo.town.websites.server import serve_websites

_ENDING = (signal.SIGINT, signal.SIGTERM)


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    town = build_town(options.seed, options.size)
    if options.verb == "write":
        return _write(town, options.folder)
    return _serve(town, options)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cocli.demo.town", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    serve = verbs.add_parser("serve", help="serve the websites and the map until Ctrl-C")
    serve.add_argument("--port", type=int, default=0, help="of the websites; 0 takes one that is free")
    serve.add_argument("--maps-port", type=int, default=0)
    serve.add_argument(
        "--consent", metavar="LANGUAGE", default=None, help="ask visitors of the map first: en, de, fr, el, ja"
    )
    serve.add_argument("--hosts", type=Path, default=None, help="a file to write the host names and where they lead to")
    serve.add_argument("--latency", type=float, default=0.0, help="seconds that a website takes to answer")
    write = verbs.add_parser("write", help="write places.parquet and truth.json into a folder")
    write.add_argument("folder", type=Path)
    for verb in (serve, write):
        verb.add_argument("--seed", type=int, default=1)
        verb.add_argument("--size", type=int, default=USUAL_SIZE, help="how many businesses")
    return parser.parse_args(arguments)


def _write(town: Town, folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    rows = write_overture(town, folder / "places.parquet")
    truth_of(town).write(folder / "truth.json")
    sys.stdout.write(f"{folder / 'places.parquet'}: {rows} rows\n{folder / 'truth.json'}\n")
    return 0


def _serve(town: Town, options: argparse.Namespace) -> int:
    behaviour = MapsBehaviour(consent=options.consent is not None, language=options.consent or "en")
    latency: float = options.latency
    # Before the threads of the servers begin: they must not take the signal that ends this.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    with (
        serve_websites(town, port=options.port, latency=lambda _host: latency) as websites,
        serve_maps(town, behaviour, port=options.maps_port) as maps,
    ):
        if options.hosts is not None:
            write_hosts(websites, options.hosts)
        lat, lon = town.region.centre_tile.centre
        host = next(site.host for site in town.sites.values() if site.kind == "ordinary")
        lines = [
            f"{len(town.businesses)} businesses, {len(town.sites)} host names, seed {town.seed}",
            f"map       {maps.search_url('restaurant', lat, lon)}",
            f"websites  http://127.0.0.1:{websites.port}/  with the host name as Host header, for example:",
            f"          curl -H 'Host: {host}' http://127.0.0.1:{websites.port}/",
            f"          chromium --host-resolver-rules='MAP * 127.0.0.1:{websites.port}' http://{host}/",
            "Ctrl-C ends it.",
        ]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        signal.sigwait(_ENDING)
    return 0


if __name__ == "__main__":
    sys.exit(main())
