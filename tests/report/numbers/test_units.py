from vicinal.report.numbers.units import percent_tick


def test_ticks_of_shares():
    assert [percent_tick(x) for x in (0.0, 0.05, 0.125, -0.1)] == ["0 %", "5 %", "12.5 %", "−10 %"]
