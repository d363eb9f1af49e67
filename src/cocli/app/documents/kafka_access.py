"""How a broker of Kafka is talked to: encrypted, with a name and a password, as `[documents]` and the environment say.

The password is never in a file of settings: it comes from `COCLI_KAFKA_PASSWORD`, or from the file that
`COCLI_KAFKA_PASSWORD_FILE` names.
"""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING

from cocli.config.resolve import KAFKA_PASSWORD, said
from cocli.documents.graph.remote_address import is_loopback
from cocli.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.models.campaign import DocumentsSection

_FILES = {
    "kafka_ca": "ssl.ca.location",
    "kafka_certificate": "ssl.certificate.location",
    "kafka_key": "ssl.key.location",
}
_PROTOCOLS = {
    (False, False): "plaintext",
    (True, False): "ssl",
    (False, True): "sasl_plaintext",
    (True, True): "sasl_ssl",
}


def kafka_settings(section: DocumentsSection, environ: Mapping[str, str]) -> dict[str, str]:
    """What librdkafka has to know. `ConfigError` where the settings do not fit each other."""
    files = _files(section)
    login = _login(section, environ)
    return {"security.protocol": _PROTOCOLS[section.kafka_tls, bool(login)], **files, **login}


def _files(section: DocumentsSection) -> dict[str, str]:
    named = {name: os.path.expanduser(path) for name in _FILES if (path := getattr(section, name)) is not None}
    if named and not section.kafka_tls:
        reason = f"documents.{min(named)} is set, and documents.kafka_tls is not"
        raise ConfigError(reason=reason, hint="Set kafka_tls under [documents] to true.")
    if ("kafka_certificate" in named) != ("kafka_key" in named):
        raise ConfigError(reason="[documents] has one of kafka_certificate and kafka_key; both are needed, or neither")
    for name, path in named.items():
        _check_file(name, path)
    _check_content(named)
    return {_FILES[name]: path for name, path in named.items()}


def _check_file(name: str, path: str) -> None:
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            file.read(1)
    except OSError as error:
        raise ConfigError(reason=f"documents.{name}: {path} cannot be read: {os.strerror(error.errno or 0)}") from error
    if name == "kafka_key" and mode & 0o077:
        raise ConfigError(reason=f"others may read {path}", hint=f"Protect it with: chmod 600 {path}")


def _check_content(named: Mapping[str, str]) -> None:
    """Here, because the library says it with words of its own, and only when the first message is sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if authority := named.get("kafka_ca"):
        try:
            context.load_verify_locations(authority)
        except ssl.SSLError as error:
            raise ConfigError(reason=f"documents.kafka_ca: {authority} has no certificate in it") from error
    if certificate := named.get("kafka_certificate"):
        key = named["kafka_key"]
        try:
            context.load_cert_chain(certificate, key, password=lambda: b"")  # nobody is asked for one
        except (ssl.SSLError, ValueError) as error:
            reason = (
                f"documents.kafka_certificate and kafka_key: {certificate} and {key} are no certificate and its key"
            )
            raise ConfigError(reason=reason, hint="The key has to be one without a passphrase.") from error


def _login(section: DocumentsSection, environ: Mapping[str, str]) -> dict[str, str]:
    if section.kafka_user is None:
        return {}
    if not section.kafka_tls and not _is_here(section.kafka_servers or ""):
        reason = "documents.kafka_user is set, and the connection to Kafka is not encrypted"
        raise ConfigError(reason=reason, hint="Set kafka_tls under [documents] to true.")
    _, password = said(environ, KAFKA_PASSWORD)
    if not password:
        reason = f"documents.kafka_user is set, and there is no password: {KAFKA_PASSWORD} is not set"
        raise ConfigError(reason=reason, hint=f"Set {KAFKA_PASSWORD}, or {KAFKA_PASSWORD}_FILE to a file with it.")
    return {
        "sasl.mechanism": section.kafka_mechanism,
        "sasl.username": section.kafka_user,
        "sasl.password": password,
    }


def _is_here(servers: str) -> bool:
    return all(is_loopback(server.strip().rpartition(":")[0]) for server in servers.split(","))
