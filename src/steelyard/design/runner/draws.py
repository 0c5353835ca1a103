"""The plan of a weighing: a pure function of its seed, so that `--seed` repeats it pair by pair on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

from steelyard.model.launch_spec import Draw
from steelyard.model.rows import IN_TANDEM, ROLES, Place

# A page of padding moves the stack through every alignment that matters; PYTHONHASHSEED ends at 2^32 - 1, and 0 would
# switch hash randomisation off.
PADDING_BELOW = 4096
_HASH_SEEDS = 2**32 - 1


def first_side(seed: int, benchmark: int, pair: int) -> int:
    """Return the toss of a fair coin: 0 if the baseline runs first in this pair, 1 if the candidate does."""
    return _bits(seed, "order", benchmark, pair) % 2


def draw_pair(seed: int, benchmark: int, pair: int, layouts: int = 0) -> Draw:
    """Return what the two launches of a pair share; each side has `layouts` build variants, or only one if 0."""
    return Draw(
        hash_seed=1 + _bits(seed, "hash seed", benchmark, pair) % _HASH_SEEDS,
        padding_bytes=_bits(seed, "padding", benchmark, pair) % PADDING_BELOW,
        layout=_layout_order(seed, benchmark, pair // layouts, layouts)[pair % layouts] if layouts else 0,
    )


@lru_cache(maxsize=1024)
def _layout_order(seed: int, benchmark: int, block: int, layouts: int) -> tuple[int, ...]:
    """Return each layout once, in random order: whenever a weighing ends, it has used each about equally often."""
    return tuple(sorted(range(1, layouts + 1), key=lambda layout: _bits(seed, f"layout {layout}", benchmark, block)))


def draw_places(
    seed: int, benchmark: int, pair: int, role: str, *, tandem: bool = False, layouts: int = 0
) -> tuple[Place, Place]:
    """Return the two launches of a pair, in the order in which they run; `layouts` as in `draw_pair`.

    In `tandem`, where both run at the same time, that is the order in which their processes are made; which one is let
    go first is a separate draw, as either place costs a little.
    """
    first, draw = first_side(seed, benchmark, pair), draw_pair(seed, benchmark, pair, layouts)
    first_place = Place(benchmark, pair, first, 0, ROLES.index(role), *draw)
    second_place = first_place._replace(side=1 - first, order=1)
    if not tandem:
        return first_place, second_place
    begins = _bits(seed, "begin", benchmark, pair) % 2
    return first_place._replace(order=IN_TANDEM + begins), second_place._replace(order=IN_TANDEM + 1 - begins)


def draw_shared_places(
    seed: int, pairs: Mapping[int, int], round_number: int, role: str, layouts: int
) -> tuple[list[Place], list[Place]]:
    """Return the launches of one pair of each of several benchmarks, which share a start per side.

    `pairs` has the number of each benchmark's pair. The side that runs first comes first. Both lists are in the order
    of `pairs`, and all launches share one draw.
    """
    # No benchmark has a negative number, so this draw is independent of those for pairs with starts of their own.
    shared_number = -1 - min(pairs)
    draw = draw_pair(seed, shared_number, round_number, layouts)
    sides: tuple[list[Place], list[Place]] = ([], [])
    for benchmark, pair in pairs.items():
        for place in draw_places(seed, benchmark, pair, role):
            sides[place.side].append(place._replace(**draw._asdict()))
    return sides if first_side(seed, shared_number, round_number) == 0 else sides[::-1]


def round_order(seed: int, round_number: int, benchmarks: list[int]) -> list[int]:
    """Return the random order in which one round visits the benchmarks that are still open."""
    return sorted(benchmarks, key=lambda benchmark: _bits(seed, "round", benchmark, round_number))


def _bits(seed: int, what: str, benchmark: int, number: int) -> int:
    # A hash of the place rather than a stream of numbers: no draw depends on how many others were made before it.
    place = f"{seed}/{what}/{benchmark}/{number}".encode()
    return int.from_bytes(blake2b(place, digest_size=8).digest(), "little")
