import pytest

from tests.hostile.functions import check

# A few hundred; many more with ``python -m tests.hostile --kind functions --cases 100000``.
N_CASES, CHUNK = 160, 20


@pytest.mark.parametrize("first", range(0, N_CASES, CHUNK))
def test_hostile_functions(first):
    violations = [found for case in range(first, first + CHUNK) for found in check(case)]
    assert not violations, "\n".join(violations)
