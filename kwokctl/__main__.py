"""`python -m kwokctl`: the command without its console script."""

import sys

# A folder called `runtimes` in the current directory must not shadow the package of that name.
sys.path.append(sys.path.pop(0))

from kwokctl.cli.main import main

main()
