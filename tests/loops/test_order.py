"""Orders of visits, as data."""

import numpy as np
import pytest

from rosenblatt.exceptions import OrderError
from rosenblatt.loops.order import Called, Cyclic, Given, Listed, Random, Shuffled, as_visits, make_order


@pytest.mark.parametrize("first", [0, 4, 6])
def test_cyclic_begins_anywhere(first):
    order = Cyclic(7, first)
    assert order.visits(1).tolist() == [(first + k) % 7 for k in range(7)]
    assert order.visits(9).tolist() == order.visits(1).tolist()


def test_shuffled_visits_each_row_once_in_a_new_order():
    order = Shuffled(50, seed=0)
    passes = [order.visits(epoch).tolist() for epoch in range(1, 6)]
    assert all(sorted(each) == list(range(50)) for each in passes)
    assert len({tuple(each) for each in passes}) == 5
    again = Shuffled(50, seed=0)
    assert [again.visits(epoch).tolist() for epoch in range(1, 6)] == passes


def test_random_draws_every_row_alike():
    draws = np.concatenate([Random(10, seed).visits(1) for seed in range(500)])
    counts = np.bincount(draws.astype(int), minlength=10)
    assert counts.sum() == 5000
    assert counts.min() > 400
    assert counts.max() < 600


@pytest.mark.parametrize(
    ("order", "kind"),
    [
        ("cyclic", Cyclic),
        ("shuffle", Shuffled),
        ("random", Random),
        ([0, 1], Given),
        ((1, 0), Given),
        (np.array([2, 0]), Given),
        (range(3), Given),
        ([[0], [1, 2]], Listed),
        ((np.array([0]), [1]), Listed),
        (lambda epoch: [epoch], Called),
    ],
)
def test_what_an_order_may_be(order, kind):
    made = make_order(order, 3, seed=0)
    assert type(made) is kind
    visits = made.visits(1)
    assert visits.dtype == np.uint64
    assert visits.max() < 3
    assert made.settles == (kind in (Cyclic, Shuffled, Given))


def test_a_list_ends():
    order = Listed([[0], [1]], 2)
    assert [None if (v := order.visits(k)) is None else v.tolist() for k in (1, 2, 3)] == [[0], [1], None]


def test_a_callable_is_asked_by_the_number_of_the_pass():
    assert Called(lambda epoch: [epoch] * epoch, 9).visits(3).tolist() == [3, 3, 3]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.uint64])
def test_row_numbers_of_every_integer_type(dtype):
    assert as_visits(np.array([0, 2], dtype), 3, "order").tolist() == [0, 2]


def test_an_order_is_a_copy():
    rows = np.array([0, 1], np.uint64)
    order = Given(rows, 2)
    rows[0] = 99
    assert order.visits(1).tolist() == [0, 1]


@pytest.mark.parametrize("rows", [[3], [-1], [0, np.iinfo(np.int64).max], np.array([2**64 - 1], np.uint64)])
def test_rows_out_of_range(rows):
    with pytest.raises(OrderError, match="X has rows 0 to 2"):
        as_visits(rows, 3, "order")
