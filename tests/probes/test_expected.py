"""The kept bits are those of the loop of this tree."""

import json

import pytest

from tests.probes.expected import FILE, by_the_loop
from tests.probes.gpu_cases import cases
from tests.shared.examples import slowly

EXPECTED = json.loads(FILE.read_text("utf-8"))


@pytest.mark.parametrize("part", [0, *slowly(*range(1, 20))])
def test_expected_bits_are_those_of_the_loop(part):
    for case in cases()[part::20]:
        assert by_the_loop(case) == EXPECTED[case.name], case.name
