"""The arguments of the harness protocol on a command line."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.harness.partner import Partner

VERSION = 1
PREFIX = "--steelyard-"

_MOST = {"loops": 2**53, "before": 2**53, "samples": 10_000, "seed": 2**64 - 1, "fd": 2**31 - 1, "lockstep": 2**31 - 1}
_LEAST = {"loops": 1, "before": 1, "samples": 1, "seed": 0, "fd": 0, "lockstep": 0}


_REPEATABLE = ("before", "each")


class ArgumentError(Exception):
    """The driver's arguments cannot be followed."""


class Request:
    """What the driver wants: the list, or one benchmark run."""

    __slots__ = ("before", "each", "loops", "name", "partner", "samples", "seed", "socket")

    def __init__(
        self,
        name: str | None,
        loops: int = 1,
        samples: int = 1,
        seed: int = 0,
        before: Iterable[tuple[str, int]] = (),
        partner: Partner | None = None,
    ) -> None:
        self.name, self.loops, self.samples, self.seed, self.before = name, loops, samples, seed, before
        self.partner = partner
        self.each: list[Turned] = []
        """Several benchmarks, each to run in a process of its own; `name` is None then."""
        self.socket: int | None = None
        """The descriptor of a socket to the launch beside this one, if `each` run in turn with that one's."""

    @property
    def names(self) -> list[str]:
        """The names of all that are to run; none for the list."""
        return [self.name] if self.name is not None else [one.name for one in self.each]


class Turned:
    """One of several benchmarks to run; `orders` are those of its samples, empty if it runs by itself."""

    __slots__ = ("loops", "name", "orders", "samples", "seed")

    def __init__(self, name: str, loops: int, samples: int, seed: int, orders: str) -> None:
        self.name, self.loops, self.samples, self.seed, self.orders = name, loops, samples, seed, orders

    def alone(self, fd: int) -> Request:
        """Return the request to run this one, with its partner at the other end of a socket; -1 if there is none."""
        from steelyard.harness.partner import Partner

        partner = Partner(fd, self.orders) if self.orders else None
        return Request(self.name, self.loops, self.samples, self.seed, partner=partner)


def split_arguments(command_line: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Return the unchecked values of the protocol's arguments by their keys, and the user's own arguments.

    `before` and `each` may be given more than once: their values are joined as lines, as no name has a line break.
    """
    arguments: dict[str, str] = {}
    others: list[str] = []
    for argument in command_line:
        if argument.startswith(PREFIX):
            key, _, value = argument[len(PREFIX) :].partition("=")
            arguments[key] = f"{arguments[key]}\n{value}" if key in _REPEATABLE and key in arguments else value
        else:
            others.append(argument)
    return arguments, others


def descriptor(arguments: dict[str, str]) -> int:
    """Return the response's descriptor, which executed programs do not inherit; raises ArgumentError without one."""
    return _not_inherited("fd", arguments.get("fd"))


def _not_inherited(key: str, value: str | None) -> int:
    fd = _number(key, value)
    try:
        os.set_inheritable(fd, False)
    except OSError as error:
        raise ArgumentError(f"--steelyard-{key}={fd} is not open: {error.strerror}") from error
    return fd


def request(arguments: dict[str, str]) -> Request:
    """Return what is wanted; raises ArgumentError if that is unclear, or in a version that is not spoken here."""
    version = arguments.get("protocol")
    if version != str(VERSION):
        problem = "is missing" if version is None else f"asks for {version!r}"
        raise ArgumentError(f"--steelyard-protocol {problem}: this harness speaks version {VERSION}")
    if sum(key in arguments for key in ("list", "run", "each")) != 1:
        raise ArgumentError("say one of --steelyard-list, --steelyard-run=NAME and --steelyard-each=...")
    if "list" in arguments:
        return Request(None)
    if "each" in arguments:
        return _request_of_each(arguments)
    seed = _number("seed", arguments.get("seed", "0"))
    before = [_parse_earlier(line) for line in arguments["before"].split("\n")] if "before" in arguments else []
    samples = _number("samples", arguments.get("samples"))
    partner = _parse_partner(arguments["lockstep"], samples) if "lockstep" in arguments else None
    return Request(arguments["run"], _number("loops", arguments.get("loops")), samples, seed, before, partner)


def _request_of_each(arguments: dict[str, str]) -> Request:
    wanted = Request(None)
    wanted.each = [_parse_turned(line) for line in arguments["each"].split("\n")]
    if any(turned.orders for turned in wanted.each):
        wanted.socket = _not_inherited("lockstep", arguments.get("lockstep"))
    return wanted


def _parse_turned(value: str) -> Turned:
    loops, samples, seed, orders, name = (*value.split(":", 4), *[""] * 4)[:5]
    turned = Turned(name, _number("loops", loops), _number("samples", samples), _number("seed", seed), orders)
    if turned.orders and (len(orders) != turned.samples or orders.strip("01")):
        raise ArgumentError(f"--steelyard-each={value[:40]}: its orders have to be a 0 or 1 for each sample")
    return turned


def _parse_partner(value: str, samples: int) -> Partner:
    from steelyard.harness.partner import Partner

    fd, _, orders = value.partition(":")
    if len(orders) != samples or orders.strip("01"):
        raise ArgumentError(f"--steelyard-lockstep={value[:40]}: it has to be FD:ORDERS, a 0 or 1 for each sample")
    return Partner(_not_inherited("lockstep", fd), orders)


def _parse_earlier(value: str) -> tuple[str, int]:
    loops, _, name = value.partition(":")
    return name, _number("before", loops)


def _number(key: str, value: str | None) -> int:
    if value is None:
        raise ArgumentError(f"--steelyard-{key}=NUMBER is missing")
    # No number in range has more digits, and Python refuses to parse very long ones.
    if value.isascii() and value.isdigit() and len(value) <= 20 and _LEAST[key] <= int(value) <= _MOST[key]:
        return int(value)
    raise ArgumentError(f"--steelyard-{key}={value[:40]}: it has to be an integer from {_LEAST[key]} to {_MOST[key]}")
