"""What was measured, kept in a file as soon as it is known, so that a run can be resumed."""

import json
from collections.abc import Sequence
from pathlib import Path


class Records:
    """Rows by the values of some of their fields; in a file of JSON lines where one is given."""

    def __init__(self, path: str | Path | None, fields: Sequence[str]) -> None:
        self.path, self.fields = None if path is None else Path(path), fields
        self._rows: dict[tuple, dict] = {}
        if self.path is not None and self.path.exists():
            for line in self.path.read_text().splitlines():
                if line.strip():
                    self._keep(json.loads(line))

    def get(self, key: tuple) -> dict | None:
        """What is known."""
        return self._rows.get(key)

    def add(self, row: dict) -> dict:
        """Keep and write, at once: the run may be stopped at any time."""
        self._keep(row)
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return row

    def _keep(self, row: dict) -> None:
        """A later row with the same fields counts."""
        self._rows[tuple(row[name] for name in self.fields)] = row
