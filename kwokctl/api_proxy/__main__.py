"""`python -m kwokctl.api_proxy`: the proxy as a process of its own."""

import sys

from kwokctl.api_proxy.run import main

if __name__ == "__main__":
    sys.exit(main())
