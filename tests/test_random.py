"""Named random streams: independent of each other, of order, and of how often they are asked for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from krein._random import Streams
from krein.testing import z_scores


def first(generator, size=8):
    return generator.integers(2**63, size=size)


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**100, np.int64(7), np.uint8(3)])
def test_a_seed_gives_the_same_streams_again(seed):
    assert_array_equal(first(Streams(seed)("radii")), first(Streams(int(seed))("radii")))
    streams = Streams(seed)
    assert_array_equal(
        first(streams("radii")), first(streams("radii"))
    )  # the same name is the same stream, from its start


def test_streams_do_not_depend_on_the_order_in_which_they_are_asked_for():
    one, other = Streams(5), Streams(5)
    a1, b1 = first(one("a")), first(one("b"))
    b2, a2 = first(other("b"), 8), first(other("a"), 8)
    assert_array_equal(a1, a2)
    assert_array_equal(b1, b2)


def test_names_and_seeds_give_different_streams():
    names = ["a", "b", "ab", "ba", "a" * 40, "radii of the positive part", "radii of the negative part", "Ä"]
    seen = {tuple(first(Streams(seed)(name))) for seed in (0, 1, 2**64) for name in names}
    assert len(seen) == 3 * len(names)


def test_streams_are_not_the_plain_generator_of_the_seed():
    plain = tuple(first(np.random.default_rng(3)))
    assert plain not in {tuple(first(Streams(3)(name))) for name in ("a", "directions")}


def test_streams_are_uncorrelated():
    # 200 pairs of streams, of two names and of two neighbouring seeds; means of products of uniform numbers on (-1, 1)
    products = []
    for seed in range(100):
        a, b, c = Streams(seed)("a"), Streams(seed)("b"), Streams(seed + 1)("a")
        x, y, w = (generator.uniform(-1, 1, 2000) for generator in (a, b, c))
        products += [x * y, x * w]
    samples = np.array(products).ravel()
    assert abs(z_scores(samples, 0.0)) < 5
    assert abs(z_scores(np.array([p.mean() for p in products]), 0.0)) < 5


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_advanced_once(make):
    state = make(12345)
    one, two = Streams(state), Streams(state)
    assert (first(one("a")) != first(two("a"))).any()  # successive fits differ
    again = make(12345)
    assert_array_equal(first(Streams(again)("a")), first(one("a")))  # and are reproducible
    assert_array_equal(first(Streams(again)("a")), first(two("a")))
    if make is np.random.default_rng:  # how many streams were used does not matter to the state
        assert_array_equal(first(state), first(again))
    else:
        assert_array_equal(state.randint(2**31, size=8), again.randint(2**31, size=8))


def test_asking_for_more_streams_does_not_advance_the_generator():
    state, other = np.random.default_rng(1), np.random.default_rng(1)
    few, many = Streams(state), Streams(other)
    for name in "abcdefgh":
        many(name).random(1000)
    few("a")
    assert_array_equal(first(state), first(other))


def test_none_is_fresh_every_time():
    assert (first(Streams(None)("a")) != first(Streams(None)("a"))).any()
    assert (first(Streams()("a")) != first(Streams()("a"))).any()
    streams = Streams(None)
    assert_array_equal(first(streams("a")), first(streams("a")))


def test_global_state_is_neither_used_nor_changed():
    before = np.random.get_state()  # noqa: NPY002 - the very thing that must not change
    a = first(Streams(3)("a"))
    first(Streams(None)("a"))
    after = np.random.get_state()  # noqa: NPY002
    assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]
    try:
        np.random.seed(0)  # noqa: NPY002
        assert_array_equal(first(Streams(3)("a")), a)
    finally:
        np.random.set_state(before)  # noqa: NPY002


@pytest.mark.parametrize("wrong", [-1, 1.0, "0", True, False, [1], np.random, object(), np.float64(2)])
def test_anything_else_is_refused(wrong):
    with pytest.raises(
        ValueError, match="random_state must be a non-negative int, a numpy Generator, a RandomState or None"
    ):
        Streams(wrong)
