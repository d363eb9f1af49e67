"""A broker that wants TLS, a certificate of ours and a password: on the Kafka of `make kafka`, started once for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.documents.graph.test_kafka import done, message, seen, take
from tests.kit.certificates import self_signed
from tests.kit.kafka import Broker, Door, NoKafka, broker

from cocli.app.documents.events import kafka_transport
from cocli.app.documents.kafka_access import kafka_settings
from cocli.documents.graph.destination import Destination
from cocli.documents.graph.transports.kafka import KafkaTransport
from cocli.errors import BrokerUnavailable, ConfigError
from cocli.models.campaign import DocumentsSection

pytestmark = pytest.mark.waits
PASSWORD = "hunter2-very-secret"
VARIABLE = "COCLI_KAFKA_PASSWORD"


class Guarded(NamedTuple):
    """A broker behind a door, and a second certificate that it does not know."""

    running: Broker
    door: Door
    stranger: tuple[Path, Path]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("door")
    (folder / "stranger").mkdir()
    certificate, key = self_signed(folder)
    stranger = self_signed(folder / "stranger")
    for private in (key, stranger[1]):
        private.chmod(0o600)
    door = Door(certificate, key, "cocli", PASSWORD, asks=True)
    try:
        with broker(folder / "kafka", door=door) as running:
            yield Guarded(running, door, stranger)
    except NoKafka as reason:
        pytest.skip(str(reason))


MakeTransport = Callable[..., KafkaTransport]


@pytest.fixture
def opened(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeTransport]:
    """What a campaign's `[documents]` comes to, with what is right unless something else is said."""
    made: list[KafkaTransport] = []

    def make(password: str = PASSWORD, **changed: Any) -> KafkaTransport:
        monkeypatch.setenv(VARIABLE, password)
        right = {
            "kafka_servers": guarded.running.address,
            "kafka_tls": True,
            "kafka_ca": str(guarded.door.certificate),
            "kafka_certificate": str(guarded.door.certificate),
            "kafka_key": str(guarded.door.key),
            "kafka_user": "cocli",
        }
        made.append(kafka_transport(DocumentsSection.model_validate({**right, **changed})))
        return made[-1]

    yield make
    for transport in made:
        transport.close()


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "PLAIN"])
def test_messages_go_encrypted_and_by_name(opened: MakeTransport, cluster: str, mechanism: str) -> None:
    transport = opened(kafka_mechanism=mechanism)
    assert transport.publish([message("x", 1, cluster)]) == {}
    assert transport.backlog(Destination(cluster, "b")).waiting == 1
    with closing(transport.consumer(Destination(cluster, "b"))) as consumer:
        assert seen(take(consumer, done)) == ("x", 1)


def wrong(guarded: Guarded) -> dict[str, tuple[dict[str, Any], str]]:
    certificate, key = map(str, guarded.stranger)
    return {
        "password": ({"password": "hunter3"}, "Authentication failed"),
        "user": ({"kafka_user": "nobody"}, "Authentication failed"),
        "authority": ({"kafka_ca": certificate}, "certificate verify failed"),
        "certificate": ({"kafka_certificate": certificate, "kafka_key": key}, ""),
        "no certificate": ({"kafka_certificate": None, "kafka_key": None}, ""),
        "no login": ({"kafka_user": None}, ""),
        "no encryption": (
            {"kafka_tls": False, "kafka_ca": None, "kafka_certificate": None, "kafka_key": None},
            "",
        ),
    }


@pytest.mark.parametrize("what", wrong(Guarded(None, None, (Path(), Path()))))  # type: ignore[arg-type]
def test_who_does_not_fit_sends_nothing_and_is_told_why(
    guarded: Guarded, opened: MakeTransport, cluster: str, what: str
) -> None:
    changed, words = wrong(guarded)[what]
    transport = opened(**changed)
    transport._producer_settings["message.timeout.ms"] = 4000
    with pytest.raises(BrokerUnavailable) as refused:
        transport.publish([message("x", 1, cluster)])
    assert words in refused.value.message
    assert PASSWORD not in refused.value.message
    assert opened().backlog(Destination(cluster, "b")).waiting == 0


@pytest.mark.parametrize("what", ["password", "authority"])
def test_a_worker_that_is_not_let_in_does_not_take_it_for_a_lack_of_messages(
    guarded: Guarded, opened: MakeTransport, cluster: str, what: str
) -> None:
    changed, words = wrong(guarded)[what]
    begun = time.monotonic()
    with (
        closing(opened(**changed).consumer(Destination(cluster, "b"))) as consumer,
        pytest.raises(BrokerUnavailable, match=words) as refused,
        consumer.receive(30.0),
    ):
        pass
    assert time.monotonic() - begun < 25
    assert PASSWORD not in refused.value.message


def test_the_librarys_own_words_stay_off_stderr(
    guarded: Guarded, opened: MakeTransport, cluster: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(BrokerUnavailable):
        opened(password="hunter3").publish([message("x", 1, cluster)])
    assert capfd.readouterr().err == ""


# --- settings that do not fit each other


def section(**values: Any) -> DocumentsSection:
    return DocumentsSection.model_validate({"kafka_servers": "kafka.example.com:9093", **values})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"kafka_user": "cocli"}, "the connection to Kafka is not encrypted"),
        ({"kafka_user": "cocli", "kafka_servers": "127.0.0.1:1, kafka.example.com:9093"}, "is not encrypted"),
        ({"kafka_ca": "ca.pem"}, "documents.kafka_ca is set, and documents.kafka_tls is not"),
        ({"kafka_tls": True, "kafka_certificate": "own.pem"}, "one of kafka_certificate and kafka_key"),
        ({"kafka_tls": True, "kafka_ca": "/nowhere/ca.pem"}, "/nowhere/ca.pem cannot be read: No such file"),
        ({"kafka_tls": True, "kafka_ca": __file__ + "/.."}, "cannot be read"),
    ],
)
def test_settings_that_do_not_fit_are_named(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        kafka_settings(section(**values), {VARIABLE: PASSWORD})
    assert said in refused.value.message


def test_a_password_comes_from_the_environment_or_a_file_of_its_own(tmp_path: Path) -> None:
    wanted = section(kafka_tls=True, kafka_user="cocli")
    with pytest.raises(ConfigError) as missing:
        kafka_settings(wanted, {})
    assert f"{VARIABLE} is not set" in missing.value.message
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n")
    for environ in ({VARIABLE: PASSWORD}, {f"{VARIABLE}_FILE": str(file)}):
        made = kafka_settings(wanted, environ)
        assert made == {
            "security.protocol": "sasl_ssl",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "cocli",
            "sasl.password": PASSWORD,
        }
    assert kafka_settings(section(), {VARIABLE: PASSWORD}) == {"security.protocol": "plaintext"}


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    wanted = section(kafka_tls=True, kafka_certificate=str(certificate), kafka_key=str(key))
    key.chmod(0o644)
    with pytest.raises(ConfigError, match="others may read"):
        kafka_settings(wanted, {})
    key.chmod(0o600)
    assert kafka_settings(wanted, {})["ssl.key.location"] == str(key)
    (tmp_path / "other").mkdir()
    other, _ = self_signed(tmp_path / "other")
    for wrong_one in (other, key):
        with pytest.raises(ConfigError, match="are no certificate and its key"):
            kafka_settings(wanted.model_copy(update={"kafka_certificate": str(wrong_one)}), {})
    locked = tmp_path / "locked.key"
    locked.write_bytes(with_passphrase(key.read_bytes()))
    locked.chmod(0o600)
    with pytest.raises(ConfigError, match="are no certificate and its key"):
        kafka_settings(wanted.model_copy(update={"kafka_key": str(locked)}), {})
    with pytest.raises(ConfigError, match="has no certificate in it"):
        kafka_settings(section(kafka_tls=True, kafka_ca=str(key)), {})


def with_passphrase(key: bytes) -> bytes:
    from cryptography.hazmat.primitives import serialization as forms

    secret = forms.BestAvailableEncryption(b"open sesame")
    opened = forms.load_pem_private_key(key, None)
    return opened.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, secret)
