"""Decimals are rounded as Python rounds them, and what the loop is not sure of it says."""

from fractions import Fraction
from math import inf, isfinite, nextafter

import numba
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rosenblatt.loops.svmlight_numbers import FIVES, PADDING, SMALLEST_POWER, decimal_at
from tests.shared.examples import examples


@numba.njit
def _decimal(text):
    return decimal_at(text, 0)


def parse(written, behind=b"\n"):
    """Return the number, where it ends, and whether this is sure; what follows must change nothing."""
    text = np.frombuffer(written.encode() + behind + b"9" * PADDING, dtype=np.uint8)
    return _decimal(text)


def agrees(written):
    """Check a number against Python; return whether the loop was sure of it."""
    number, end, sure = parse(written)
    if sure:
        assert end == len(written)
        assert np.float64(number).tobytes() == np.float64(float(written)).tobytes(), written
    return sure


def exact(number):
    """Write a fraction whose denominator is a power of two, all digits of it."""
    places = number.denominator.bit_length() - 1
    digits = str(number.numerator * 5**places)
    return f"{digits}e-{places}"


SURE = [
    *(
        "0",
        "-0.0",
        "+1",
        ".5",
        "5.",
        "1.e3",
        "1E+2",
        "007",
        "0e999999",
        "1e-400",
        "1e22",
        "1e24",
        "8.5e-23",
        "3e-308",
    ),
    *("9007199254740991", "9007199254740991e22", "1e308"),
    *("2.2250738585072014e-308", "1.7976931348623157e308", "8.533e+68", "4.1006e-184", "9.998e+307"),
    *("9.9538452227e-280", "6.47660115e-260", "7.4e+47", "5.92e+48", "1.448997445238699", "3.7455744005952583e15"),
    *("0.000000000000000000000000001", "0.1000000000000000000000000001"),
    *("0." + "0" * 300 + "1", "1" + "0" * 400 + "e-400", "12345678" * 30 + "e-240"),
]
ASKED = [
    # whole numbers that a float may round
    *("9007199254740992", "18446744073709551615", "9999999999999999999", "1234567890" * 3, "1" + "0" * 300),
    *(
        "9007199254740993",
        "9007199254740992.99999999999999999999999e-999999999",
        "5e-324",
        "2.2250738585072011e-308",
    ),
    *("2.4703282292062327e-324", "1.7976931348623159e308", "1e309", "1e999", "1e12345678", "1e-12345678"),
    *("1.00000000000000011102230246251565404236316680908203125", "9223372036854776832", "1e23"),  # half-way
    *("1.00000000000000011102230246251564", "1.00000000000000011102230246251566", "104110013277974872254e-225"),
]


@pytest.mark.parametrize("written", SURE)
def test_sure(written):
    assert agrees(written)


@pytest.mark.parametrize("written", ASKED)
def test_left_to_python(written):
    assert not agrees(written)


@pytest.mark.parametrize(
    "written", ["", "+", "-", ".", "e5", ".e5", "nan", "inf", "1e", "1e+", "1ee5", "--1", "x"]
)
def test_no_number(written):
    assert not parse(written)[2]


@pytest.mark.parametrize(
    "written, end", [("1x", 1), ("1.5.2", 3), ("1:2", 1), ("12345678/", 8), ("1 2", 1), ("7-", 1)]
)
def test_ends_where_the_number_does(written, end):
    assert parse(written)[1:] == (end, True)


positive = st.floats(min_value=2.3e-308, max_value=1.7e308)


@settings(max_examples=examples(500))
@given(number=positive, digits=st.integers(1, 40))
def test_any_number_of_any_length(number, digits):
    agrees(f"{number:.{digits - 1}e}")
    if number < 1e60:
        agrees(f"-{number:.{digits}f}")
    assert agrees(repr(number))


@settings(max_examples=examples(500))
@given(number=positive, kept=st.integers(15, 40), moved=st.integers(-1, 1))
@example(number=1.0, kept=40, moved=0)
@example(number=2.0**53, kept=16, moved=0)
def test_around_half_way(number, kept, moved):
    middle = (Fraction(number) + Fraction(nextafter(number, inf))) / 2
    digits, _, exponent = exact(middle).partition("e")
    written = f"{int(digits[:kept]) + moved}e{int(exponent) + max(len(digits) - kept, 0)}"
    agrees(written)
    agrees(exact(middle))
    agrees(f"{digits}1e{int(exponent) - 1}")


@settings(max_examples=examples(500))
@given(m=st.integers(0, 2**64 - 1), q=st.integers(-345, 310))
def test_whole_numbers_times_powers_of_ten(m, q):
    if not agrees(f"{m}e{q}") and isfinite(float(f"{m}e{q}")):
        # Left to Python are subnormal numbers, ties, and those of twenty digits that nineteen do not settle.
        number = float(f"{m}e{q}")
        near = [
            Fraction(number) + (Fraction(nextafter(number, way)) - Fraction(number)) / 2 for way in (-inf, inf)
        ]
        true = m * Fraction(10) ** q
        assert abs(number) < 2.3e-308 or min(abs(true - each) / true for each in near) < Fraction(1, 10**17)


def test_random_numbers_of_seventeen_digits_are_sure():
    bits = np.random.default_rng(0).integers(0, 2**63, size=20_000).view(np.float64)
    normal = bits[np.isfinite(bits) & (bits > 2.3e-308)]
    assert all(agrees(repr(number)) for number in normal.tolist())


def test_powers_of_five_are_their_leading_bits():
    for q, (high, low) in enumerate(FIVES.tolist(), start=SMALLEST_POWER):
        error = Fraction((high << 64) + low) / Fraction(5) ** q
        while error >= 2:  # but for a power of two, which normalisation chose
            error /= 1 << max((error.numerator // error.denominator).bit_length() - 1, 1)
        while error < 1:
            error *= 2
        assert high >> 63 == 1
        assert abs(error - 1) < Fraction(1, 2**127) or abs(error - 2) < Fraction(1, 2**126)
