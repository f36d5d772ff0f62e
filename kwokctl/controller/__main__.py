"""`python -m kwokctl.controller`: the controller as a component of its own."""

import sys

from kwokctl.controller.run import main

if __name__ == "__main__":
    sys.exit(main())
