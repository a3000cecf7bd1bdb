"""``python -m bringup`` is the `bringup` command."""

from bringup.cli import main

if __name__ == "__main__":
    main()
