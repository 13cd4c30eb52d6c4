import os
import stat

import pytest
from matplotlib.figure import Figure

from vicinal.report.support import save_figure


def test_permissions_are_the_usual_ones(tmp_path):
    mask = os.umask(0o022)
    try:
        save_figure(Figure(), tmp_path / "a.png")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "a.png").stat().st_mode) == 0o644


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link.png", tmp_path / "there" / "real.png"
    link.symlink_to(target)
    save_figure(Figure(), link)
    assert link.is_symlink()
    assert target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("suffix", "magic"), [("PNG", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_suffix_tells_the_format(tmp_path, suffix, magic):
    save_figure(Figure(), tmp_path / f"a.{suffix}")
    assert (tmp_path / f"a.{suffix}").read_bytes().startswith(magic)
