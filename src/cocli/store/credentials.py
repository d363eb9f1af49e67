"""Which AWS credentials are in use, found in the usual places and in the usual order.

Environment, then the shared credentials file (`AWS_PROFILE`, or the profile that the address names), then web identity
(left to the client library), the role of a container, the role of the machine (left to the client library as well).
Profiles that need more than a key (single sign-on, assumed roles) are resolved by boto3. A secret is handed to the
client library and to nobody else.
"""

from __future__ import annotations

import configparser
import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

from cocli.errors import ConfigError, MissingExtra
from cocli.store.container_credentials import container_credentials


@dataclass(frozen=True, slots=True)
class Credentials:
    """Settings for the client library, and where they came from — for error messages; secrets stay out of `repr`."""

    source: str
    region: str | None = None
    settings: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def access(self) -> StoreAccess:
        return StoreAccess(self.source, self.settings.get("access_key_id"))


class StoreAccess(NamedTuple):
    """What may be told of credentials: no secret is among it."""

    credentials: str
    """Where they were found."""
    access_key: str | None
    """The id of the key; None for what a role or an instance lends."""


@runtime_checkable
class AccessedStore(Protocol):
    """A store that is opened with credentials."""

    @property
    def access(self) -> StoreAccess: ...


def find_credentials(profile: str | None = None) -> Credentials:
    if profile is None and os.environ.get("AWS_ACCESS_KEY_ID"):
        return Credentials("environment (AWS_ACCESS_KEY_ID)", _environment_region(), _environment_keys())
    name = profile or os.environ.get("AWS_PROFILE") or "default"
    section = _profile(name)
    region = _environment_region() or section.get("region")
    if "aws_access_key_id" in section and "aws_secret_access_key" in section:
        settings = {
            "access_key_id": section["aws_access_key_id"],
            "secret_access_key": section["aws_secret_access_key"],
        }
        if token := section.get("aws_session_token"):
            settings["session_token"] = token
        return Credentials(f"profile {name} of the shared credentials file", region, settings)
    if {"sso_session", "sso_start_url", "role_arn", "credential_process"} & section.keys():
        return Credentials(f"profile {name} (through boto3)", region, {"credential_provider": _from_boto3(name)})
    if profile is not None or os.environ.get("AWS_PROFILE"):
        reason = f"no usable AWS profile {name} in {_credentials_file()} or {_config_file()}"
        raise ConfigError(
            reason=reason, hint="Name another profile, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    if not _has_web_identity() and (lent := container_credentials()):
        return Credentials(f"container ({lent.address})", region, {"credential_provider": lent})
    if _metadata_is_off() and not _other_roles():
        reason = "no AWS credentials in the environment or in a file, and AWS_EC2_METADATA_DISABLED forbids to ask"
        raise ConfigError(
            reason=f"{reason} for the role of this machine", hint="Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    return Credentials("web identity or instance role (no keys in the environment or in a file)", region)


def _metadata_is_off() -> bool:
    """As boto3 reads it. The client library does not know it, and would ask the metadata address."""
    return os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true"


def _other_roles() -> bool:
    """Whether the client library has another way than the metadata address: web identity, no signature."""
    return _has_web_identity() or "AWS_SKIP_SIGNATURE" in os.environ


def _has_web_identity() -> bool:
    return "AWS_WEB_IDENTITY_TOKEN_FILE" in os.environ and "AWS_ROLE_ARN" in os.environ


def _environment_keys() -> dict[str, str]:
    keys = {
        "access_key_id": os.environ["AWS_ACCESS_KEY_ID"],
        "secret_access_key": os.environ.get("AWS_SECRET_ACCESS_KEY", ""),
    }
    if token := os.environ.get("AWS_SESSION_TOKEN"):
        keys["session_token"] = token
    return keys


def _environment_region() -> str | None:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")


def _credentials_file() -> str:
    return os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or os.path.expanduser("~/.aws/credentials")


def _config_file() -> str:
    return os.environ.get("AWS_CONFIG_FILE") or os.path.expanduser("~/.aws/config")


def _profile(name: str) -> dict[str, str]:
    """The two files together; the credentials file wins. In the config file, sections are called `profile name`."""
    merged: dict[str, str] = {}
    in_config = name if name == "default" else f"profile {name}"
    for path, section in ((_config_file(), in_config), (_credentials_file(), name)):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError) as error:
            # The text of a parse error quotes the line, which may hold a secret: only its kind is told.
            raise ConfigError(reason=f"{path} is not a valid AWS file ({type(error).__name__})") from None
        if parser.has_section(section):
            merged.update(parser.items(section))
    return merged


def _from_boto3(profile: str) -> Any:
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError as error:
        raise MissingExtra(feature=f"AWS profile {profile}", package="boto3", extra="aws") from error
    return Boto3CredentialProvider(boto3.Session(profile_name=profile))
