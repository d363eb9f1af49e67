"""How a background activity ends: its next sleep does not return."""


class Stopped(BaseException):
    """Raised out of `sleep` in an activity that was asked to stop. Not an `Exception`: a loop must not retry it."""
