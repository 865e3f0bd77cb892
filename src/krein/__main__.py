"""``python -m krein`` is the command ``krein``."""

import sys

from krein.cli import main

if __name__ == "__main__":
    sys.exit(main())
