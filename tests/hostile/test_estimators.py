import pytest

from tests.hostile.estimators import check

# A few hundred; many more with ``python -m tests.hostile --kind estimators --cases 100000``.
N_CASES, CHUNK = 320, 40


@pytest.mark.parametrize("first", range(0, N_CASES, CHUNK))
def test_hostile_estimators(first):
    violations = [found for case in range(first, first + CHUNK) for found in check(case)]
    assert not violations, "\n".join(violations)
