"""`python -m cocli` is the same as `cocli`."""

import sys

from cocli.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
