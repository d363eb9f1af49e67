"""Sessions of TLS: a second connection to a host goes on with the first one's, without certificates and signatures.

The HTTP library has no place for a session. The context of Python's `ssl` has: it says which class its connections are
of, and this one shows the known session before it shakes hands.
"""

from __future__ import annotations

import ssl
from collections import OrderedDict

_REMEMBERED = 2_000


class TlsSessions:
    """Of one context; by host name, so that nobody gets a session that another's certificate was checked for."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, ssl.SSLSession] = OrderedDict()

    def serve(self, context: ssl.SSLContext) -> None:
        """From now on the context's connections resume what is known."""
        sessions = self

        class ResumingConnection(ssl.SSLObject):
            _begun = False

            def do_handshake(self) -> None:
                known = None if self._begun else sessions.of(self.server_hostname)
                self._begun = True  # a handshake takes several calls, and only the first may bring a session
                if known is not None:
                    self.session = known
                super().do_handshake()

        context.sslobject_class = ResumingConnection

    def of(self, host: str | None) -> ssl.SSLSession | None:
        return self._known.get(host or "")

    def keep(self, connection: object) -> None:
        """When a connection ends: only after its first answer the server has sent what another one can begin with."""
        if not isinstance(connection, ssl.SSLObject) or not connection.server_hostname:
            return
        session = connection.session
        if session is None or not session.has_ticket:
            return
        self._known[connection.server_hostname] = session
        self._known.move_to_end(connection.server_hostname)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
