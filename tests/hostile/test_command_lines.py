import shutil

import pytest
from effort import scaled

from tests.hostile.command_lines import check

N_CASES, N_CHUNKS = scaled(152), 8


@pytest.mark.skipif(shutil.which("bash") is None, reason="some cases need a shell")
@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_laws_hold_for_random_command_lines(chunk):
    broken = [law for case in range(chunk, N_CASES, N_CHUNKS) for law in check(case)]
    assert broken == []
