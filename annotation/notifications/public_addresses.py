"""Where webhooks may go: hosts of the internet, not of the network that the server is in."""

import ipaddress
import socket
from urllib.parse import urlsplit

# Addresses that carry an IPv4 address, which may be private: NAT64, 6to4.
CARRIERS = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16")))


class AddressRefused(ValueError):
    """No webhook is sent there; the message says what is accepted."""


def url_check(url: str, *, private: bool) -> None:
    """Refuse an address that cannot be a webhook's, before its host is looked up."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressRefused(f"Found {url[:80]!r}; accepted: a web address.") from error
    if parts.scheme != "https" and not (private and parts.scheme == "http"):
        raise AddressRefused(f"Found {url[:80]!r}; accepted: an address that begins with https://.")
    if not parts.hostname or parts.username or parts.password or port == 0 or not parts.netloc.isascii():
        raise AddressRefused(f"Found {url[:80]!r}; accepted: https://host/path, without name and password.")
    if not private:
        try:
            literal = ipaddress.ip_address(parts.hostname)
        except ValueError:
            return
        _check(literal, parts.hostname)


def resolved(host: str, port: int, *, private: bool) -> str:
    """Return one numeric address of a host; refuse a host of which any address is not of the internet.

    The connection is made to this address: a second look-up could give another one.
    """
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OSError(f"The host {host} was not found.") from error
    addresses = [str(answer[4][0]) for answer in answers]
    if not private:
        for address in addresses:
            _check(ipaddress.ip_address(address.partition("%")[0]), host)
    return addresses[0]


def _check(address: ipaddress.IPv4Address | ipaddress.IPv6Address, host: str) -> None:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    carries = any(address in network for network in CARRIERS if network.version == address.version)
    if carries or not address.is_global or address.is_multicast or address.is_reserved:
        raise AddressRefused(f"Found {host}, which is not on the internet; accepted: a host with a public address.")
