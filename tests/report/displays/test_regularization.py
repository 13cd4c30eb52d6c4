import numpy as np
import pytest
from report.pictures import new_axes

from vicinal.report import RegularizationDisplay


@pytest.mark.parametrize("n_maps", [1, 2, 5])
def test_no_line_runs_behind_the_legend(n_maps):
    scales = np.geomspace(0.3, 3, 5)
    scores = {f"map {i}": np.linspace(0.5 + 0.1 * i, 0.6, 5) for i in range(n_maps)}
    display = RegularizationDisplay(scales, scores).plot(ax=new_axes())
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend().get_window_extent()
    for line in display.lines_.values():
        x, y = line.get_xdata(), line.get_ydata()
        fine = np.linspace(x[0], x[-1], 500)
        shown = display.ax_.transData.transform(np.column_stack([fine, np.interp(fine, x, y)]))
        assert (shown[:, 1] > legend.y1).all()
