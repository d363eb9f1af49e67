"""Which version of cocli this is. Here, so that whoever needs it does not import the front door.

The number of the release stands here and nowhere else. A wheel also has what git said when it was built, and a release
that was deployed to a host has the hash of its wheel beside the package.
"""

NUMBER = "0.1.0"


def _version() -> str:
    from importlib import import_module

    try:
        return str(import_module("cocli.config.built").version)
    except ModuleNotFoundError:  # sources that were never built
        return NUMBER


__version__ = _version()
_BUILD_FILE = "build-id"


def build_id() -> str | None:
    """The beginning of the hash of the wheel that this was deployed from; None where nobody deployed it."""
    from importlib import resources

    try:
        return resources.files("cocli").joinpath(_BUILD_FILE).read_text("ascii").strip()[:64] or None
    except (OSError, ValueError):  # not there, or nothing that the deployment wrote
        return None
