"""A long run: ``python -m tests.hostile --cases 100000``."""

from tests.hostile.running import main

if __name__ == "__main__":
    raise SystemExit(main())
