"""`python -m cocli.demo` is what `make demo` runs."""

import sys

from cocli.demo.demo import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
