import pytest

from vicinal.cli.screens import size


@pytest.mark.parametrize(
    ("n_bytes", "said"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (10_511, "10.5 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),  # not 1e+03 kB
        (999_999_999, "1 GB"),
        (2 * 10**12, "2e+03 GB"),
    ],
)
def test_sizes_have_three_digits_and_a_unit(n_bytes, said):
    assert size(n_bytes) == said
