"""Units in which numbers can be drawn, and how shares are written."""

import numpy as np

__all__ = ["drawing_unit", "percent", "percent_tick"]

_DRAWABLE = 1e-100, 1e100  # sizes of numbers with whose squares matplotlib can work


def drawing_unit(size: float) -> tuple[float, str]:
    """A unit in which numbers of a size can be drawn, and what to say of it: 1 and "", mostly.

    Examples
    --------
    >>> from vicinal.report.numbers.units import drawing_unit
    >>> drawing_unit(5000.0), drawing_unit(2e-200)
    ((1.0, ''), (1e-200, '; unit: 1e-200'))
    """
    if size == 0 or _DRAWABLE[0] <= size <= _DRAWABLE[1]:
        return 1.0, ""
    power = max(round(np.log10(size)), -300)
    return 10.0**power, f"; unit: 1e{power}"


def percent(share: float) -> str:
    """A share in percent, never rounded to none or all.

    Examples
    --------
    >>> from vicinal.report.numbers.units import percent
    >>> percent(0.123), percent(0.001), percent(0.9999), percent(1.0)
    ('12 %', '<1 %', '>99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1 - 1e-12:  # sums of shares err by less
        return ">99 %"
    return f"{share:.0%}".replace("%", " %")


def percent_tick(share: float, position: float = 0.0) -> str:
    """Text of a tick for a share, for matplotlib's axes."""
    return f"{100 * share:.4g} %".replace("-", "−")
