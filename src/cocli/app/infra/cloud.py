"""A connection to the account that a campaign names, and our own errors for what AWS says."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cocli.errors import CloudRefused, CloudUnavailable, ConfigError, InfraError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.models.campaign import AwsSection

_REFUSING = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_EXTRA = "infra"


class CloudAccount:
    """Clients of one account and region. Nothing is sent before one is used."""

    def __init__(self, section: AwsSection) -> None:
        try:
            import boto3
            from botocore.exceptions import BotoCoreError
        except ImportError as error:
            raise MissingExtra(feature="cocli infra", package="boto3", extra=_EXTRA) from error
        try:
            region = section.region or os.environ.get("AWS_REGION")  # boto3 itself reads AWS_DEFAULT_REGION alone
            self._session = boto3.Session(profile_name=section.profile, region_name=region)
        except BotoCoreError as error:
            raise ConfigError(reason=str(error), hint="Name another profile under [aws].") from error
        self.endpoint = section.endpoint
        if not self._session.region_name:
            hint = "Name it: cocli campaign edit NAME --set aws.region=us-east-1, or set AWS_REGION."
            raise ConfigError(reason="no region of AWS is named", hint=hint)
        self.region = str(self._session.region_name)
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        if service not in self._clients:
            from botocore.config import Config

            patience = Config(connect_timeout=5, read_timeout=60, retries={"mode": "standard", "total_max_attempts": 4})
            make: Any = self._session.client  # which has a type for each service by name
            self._clients[service] = make(service, endpoint_url=self.endpoint, config=patience)
        return self._clients[service]

    def identity(self) -> str:
        """Who asks; the first question to AWS, and so the one that tells whether there are credentials."""
        with self.mapped("to say who asks"):
            return str(self.client("sts").get_caller_identity()["Account"])

    @contextmanager
    def mapped(self, action: str) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

        try:
            yield
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise CloudRefused(action=action, credentials="none", reason="no credentials were found") from error
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in _REFUSING or code.endswith(("NotAuthorized", "UnauthorizedOperation")):
                raise CloudRefused(action=action, credentials=self._source(), reason=str(error)) from error
            if int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) >= 500:
                raise CloudUnavailable(address=self._address(), reason=str(error)) from error
            raise InfraError(reason=str(error)) from error
        except BotoCoreError as error:
            raise CloudUnavailable(address=self._address(), reason=str(error)) from error

    def _source(self) -> str:
        found = self._session.get_credentials()
        return str(found.method) if found else "none"

    def _address(self) -> str:
        return self.endpoint or self.region


def error_code(error: Exception) -> str:
    """What AWS calls the error."""
    response: dict[str, Any] = getattr(error, "response", {})
    return str(response.get("Error", {}).get("Code", ""))
