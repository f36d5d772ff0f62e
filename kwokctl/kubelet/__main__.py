"""`python -m kwokctl.kubelet`: the kubelet server as a component of its own."""

import sys

from kwokctl.kubelet.run import main

if __name__ == "__main__":
    sys.exit(main())
