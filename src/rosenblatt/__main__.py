"""``python -m rosenblatt``: the command line."""

import sys

from rosenblatt.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
