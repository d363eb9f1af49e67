"""`python -m benchmarks` lists the benchmarks; `python -m benchmarks NAME [size=N …]` runs one."""

import sys

from benchmarks.harness import available, run


def main(arguments: list[str]) -> int:
    found = available()
    if not arguments:
        width = max(map(len, found), default=0)
        for name, summary in found.items():
            print(f"{name.ljust(width)}  {summary}")
        print("\nhint: make bench NAME=" + next(iter(found), "x"), file=sys.stderr)
        return 0
    name, *rest = arguments
    if name not in found:
        print(f"There is no benchmark {name!r}. Known: {', '.join(found)}.", file=sys.stderr)
        return 2
    run(name, rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
