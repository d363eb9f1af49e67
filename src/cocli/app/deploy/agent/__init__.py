"""What runs on a host. Its modules are sent there as text for its Python, so they import nothing but the standard
library and each other.

The agent reads one line of JSON, then the files that the line announces, all from its standard input: a secret never
stands in a command line. It answers with a line of JSON: `{"answer": …}` or `{"problem": …}`.

    BASE/deps/<hash of the lock>/       the packages, unpacked
    BASE/releases/<hash of the wheel>/  an environment without packages, the wheel in it, and the way to deps
    BASE/current, BASE/previous         links to releases; switched by renaming, so that there is always one
    ETC/<instance>.env, .secrets        what its supervisor is told; the second only its owner reads
"""

from __future__ import annotations

MODULES = ("refusal", "places", "keeper", "managers", "standing", "installation", "switch", "conversation")
"""In the order in which the host's Python reads them: each imports only those before it."""
