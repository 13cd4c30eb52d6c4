"""``python -m vicinal.cli``."""

from vicinal.cli import main

if __name__ == "__main__":
    main()
