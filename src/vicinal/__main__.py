"""``python -m vicinal``: the command line."""

from vicinal.cli import main

if __name__ == "__main__":
    main()
