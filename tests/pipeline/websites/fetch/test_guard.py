"""Whom we may ask, and how an address is read."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cocli.documents import Document
from cocli.pipeline.websites.fetch.guard import NEVER_PUBLIC, Guard, embedded, is_public
from cocli.pipeline.websites.fetch.outcome import Reason
from cocli.pipeline.websites.fetch.resolver import Endpoint
from cocli.pipeline.websites.fetch.signals import Refusal
from cocli.pipeline.websites.fetch.urls import parse_url

FORBIDDEN = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a00:1::",
    "2002:a9fe:a9fe::",
    "2001::1",
    "2001:0:7f00:1::1",
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "5f00::1",
    "4000::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.15.0.1",
    "172.32.0.1",
    "100.63.255.255",
    "100.128.0.1",
    "192.167.0.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_what_is_not_public(text: str) -> None:
    assert not Guard().permits(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_what_is_public(text: str) -> None:
    assert Guard().permits(ip_address(text))


@given(st.ip_addresses(v=4))
@example(IPv4Address("168.63.129.16"))
def test_every_ipv4_address_is_judged_as_python_does_with_our_list(address: IPv4Address) -> None:
    listed = any(address in network for network in NEVER_PUBLIC)
    assert is_public(address) == (address.is_global and not address.is_multicast and not listed)


@given(st.ip_addresses(v=6))
def test_an_ipv6_address_is_public_only_where_python_says_so_or_its_ipv4_address_is(address: IPv6Address) -> None:
    inner = embedded(address)
    if inner is not None:
        assert is_public(address) == is_public(inner)
    elif is_public(address):
        assert address.is_global
        assert not any((address.is_private, address.is_multicast, address.is_link_local, address.is_reserved))


@given(st.ip_addresses(v=4))
def test_no_spelling_of_a_private_address_gets_through(address: IPv4Address) -> None:
    number = int(address)
    forms = [IPv6Address(f"::ffff:{address}"), IPv6Address(f"64:ff9b::{address}"), IPv6Address(f"::{address}")]
    forms.append(IPv6Address(0x2002 << 112 | number << 80))
    assert {is_public(form) for form in forms} == {is_public(address)}
    hosts = [str(address), str(number), hex(number), f"0{number:o}"]
    hosts.append(f"{number >> 24}.{number & 0xFFFFFF}")
    hosts.append(f"0x{number >> 24:x}.0{number >> 16 & 255:o}.{number & 0xFFFF}")
    assert {parse_url(f"http://{host}/").address for host in hosts} == {address}
    assert {parse_url(f"http://{host}./").host for host in hosts} == {str(address)}


@given(st.ip_addresses(), st.integers(0, 128))
def test_a_range_that_is_allowed_opens_itself_and_nothing_else(address: IPv4Address | IPv6Address, length: int) -> None:
    network = ip_network(f"{address}/{min(length, address.max_prefixlen)}", strict=False)
    guard = Guard([network])
    assert guard.permits(address)
    outside = ip_address("10.1.2.3")
    assert guard.permits(outside) == (outside in network)


def test_a_name_is_followed_to_its_permitted_addresses_only() -> None:
    guard = Guard([ip_network("10.1.0.0/16")])
    found = [Endpoint(text, 80) for text in ("10.2.0.1", "8.8.8.8", "10.1.0.1", "nonsense", "fe80::1%eth0")]
    assert [endpoint.address for endpoint in guard.screen("a.example", found)] == ["8.8.8.8", "10.1.0.1"]
    with pytest.raises(Refusal) as refusal:
        Guard().screen("a.example", [Endpoint("10.2.0.1", 80)])
    assert refusal.value.reason is Reason.ADDRESS


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://example.com", "http://example.com/"),
        ("  HTTPS://Example.COM:443/a b?q=ä#frag \n", "https://example.com/a%20b?q=%C3%A4"),
        ("http://müller.example/", "http://xn--mller-kva.example/"),
        ("http://example.com./", "http://example.com/"),
        ("http://example.com:8080", "http://example.com:8080/"),
        ("http:\\\\example.com\\a?b\\c", "http://example.com/a?b\\c"),
        ("http://example.com\\@evil.example/", "http://example.com/@evil.example/"),
        ("http://[2606:4700::1111]:8443/", "http://[2606:4700::1111]:8443/"),
        ("http://a_b.example.com/", "http://a_b.example.com/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://example.com/a|b?c|d", "http://example.com/a%7Cb?c%7Cd"),
    ],
)
def test_an_address_has_one_spelling(text: str, url: str) -> None:
    assert parse_url(text).url == url
    assert parse_url(url).url == url


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.URL),
        ("example.com", Reason.URL),
        ("http://", Reason.URL),
        ("http:///path", Reason.URL),
        ("http://a..b/", Reason.URL),
        ("http://ex ample.com/", Reason.URL),
        ("http://exa\nmple.com/", Reason.URL),
        ("http://example.com/\x00", Reason.URL),
        ("http://%31%32%37.0.0.1/", Reason.URL),
        ("http://1.2.3.4.5/", Reason.URL),
        ("http://256.1.1.1/", Reason.URL),
        ("http://4294967296/", Reason.URL),
        ("http://[fe80::1%25eth0]/", Reason.URL),
        ("http://" + "a" * 64 + ".example/", Reason.URL),
        ("http://example.com/" + "a" * 5000, Reason.URL),
        ("http://example.com:0/", Reason.PORT),
        ("http://example.com:99999/", Reason.PORT),
        ("file:///etc/passwd", Reason.SCHEME),
        ("JavaScript:alert(1)", Reason.SCHEME),
        ("data:text/html,x", Reason.SCHEME),
        ("mailto:a@example.com", Reason.SCHEME),
        ("http://user@example.com/", Reason.CREDENTIALS),
        ("http://example.com:80@evil.example/", Reason.CREDENTIALS),
    ],
)
def test_what_is_not_an_address_of_the_web_is_refused(text: str, reason: Reason) -> None:
    with pytest.raises(Refusal) as refusal:
        parse_url(text)
    assert refusal.value.reason is reason


@given(st.from_regex(r"https?://[a-z0-9.-]{1,12}\.[a-z0-9]{1,4}/[A-Za-z0-9_.~/-]{0,12}", fullmatch=True))
@example("http://example.com/../a/./b//c")
@example("http://1.2.3.4/")
@example("http://firm.0x7f/")
def test_an_address_that_needs_no_reading_is_what_reading_it_gives(text: str) -> None:
    def read(base: str | None) -> object:
        try:
            return parse_url(text, base=base)
        except Refusal as refusal:
            return refusal.reason

    assert read(None) == read(text)


@given(st.text(), st.sampled_from([None, "http://example.com/a/b"]))
def test_whatever_text_is_an_address_or_is_refused(text: str, base: str | None) -> None:
    try:
        target = parse_url(text, base=base)
    except Refusal:
        return
    assert parse_url(target.url) == target
    assert target.url.isascii()
    assert Document.intake(account="a", connector="web", doc=target.url).doc == target.url
    assert not set(target.netloc + target.path) & set("\r\n\t \x00")
