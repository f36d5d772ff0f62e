"""`python -m kwokctl.kwok`: the command `kwok`."""

import sys

from kwokctl.kwok.run import main

if __name__ == "__main__":
    sys.exit(main())
