import pytest
from effort import scaled

from tests.hostile.estimators import check

# A few; many more with ``python -m tests.hostile --kind estimators --cases 100000``.
N_CASES, N_CHUNKS = scaled(320), 8


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_hostile_estimators(chunk):
    violations = [found for case in range(chunk, N_CASES, N_CHUNKS) for found in check(case)]
    assert not violations, "\n".join(violations)
