"""Runs in the build: every module of the program is imported, but for those of extras that the image does not have."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import cocli

_LEFT_OUT = {
    "aws_cdk": ("worker", "maps", "web"),
    "confluent_kafka": ("worker", "maps", "web"),
    "grpc": ("worker", "maps", "web"),
    "jwt": ("worker", "maps"),
    "mcp": ("worker", "maps"),
    "playwright": ("worker", "web"),
    "psycopg": ("worker", "maps", "web"),
    "ray": ("worker", "maps", "web"),
    "starlette": ("worker", "maps"),
    "uvicorn": ("worker", "maps"),
}
"""Package of an extra → images that do without it."""
_NOT_IMPORTED = ("cocli.__main__", "cocli.demo.__main__")


def main(target: str) -> int:
    failed = []
    count = 0
    for module in pkgutil.walk_packages(cocli.__path__, "cocli."):
        if module.name in _NOT_IMPORTED or module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
            count += 1
        except ModuleNotFoundError as error:
            if target not in _LEFT_OUT.get((error.name or "").partition(".")[0], ()):
                failed.append(f"{module.name}: {error}")
        except Exception as error:  # noqa: BLE001  whatever it is, it is told
            failed.append(f"{module.name}: {type(error).__name__}: {error}")
    for line in failed:
        print(line, file=sys.stderr)
    print(f"{count} modules of the {target} image can be imported")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
