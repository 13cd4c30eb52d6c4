import io

from vicinal.fitting.status_line import StatusLine


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_the_line_is_rewritten():
    stream = Terminal()
    line = StatusLine(stream)
    line.show("a long line")
    line.show("short")
    line.close("done")
    assert stream.getvalue() == "\ra long line\rshort      \ndone\n"


def test_elsewhere_there_is_a_line_now_and_then():
    stream = io.StringIO()
    line = StatusLine(stream)
    line.show("first")
    line.show("too soon")
    line.close("done")
    assert stream.getvalue() == "first\ndone\n"
