"""A web page cannot reach a laptop's memories under a name of its own."""

import pytest

from infra.local.hosts import Hosts


@pytest.mark.parametrize(
    "authority",
    [
        "localhost", "localhost:8340", "LocalHost:8340", "localhost.:1", "127.0.0.1", "127.0.0.1:9000", "127.8.9.1",
        "[::1]", "[::1]:8340", "memory.example:443", "Memory.Example",
    ],
)  # fmt: skip
def test_this_machine_is_admitted_under_its_own_names_with_any_port(authority: str) -> None:
    assert Hosts(["127.0.0.1", "memory.example"]).admit(authority)


@pytest.mark.parametrize(
    "authority",
    [
        "", " ", "evil.example", "evil.example:8340", "localhost.evil.example", "127.0.0.1.evil.example",
        "evil.example, localhost", "localhost, evil.example", "localhost evil.example", "evil.example#@localhost",
        "user@localhost", "localhost:80:80", "localhost:port", "::1", "[::1", "[evil.example]", "[]", "192.168.1.2",
        "0.0.0.0", "169.254.169.254", "2130706433", "localhost/", "http://localhost", "127.0.0.1\x00",
        "xn--localhost-", "locaIhost", "[::ffff:192.168.1.2]",
    ],
)  # fmt: skip
def test_every_other_name_is_refused(authority: str) -> None:
    assert not Hosts(["127.0.0.1"]).admit(authority)


def test_a_named_address_that_is_no_loopback_is_admitted() -> None:
    assert Hosts(["192.168.1.2"]).admit("192.168.1.2:8340")
