"""Takes a port as soon as a file is there, and keeps it: `taker.py PORT FILE`."""

import os
import socket
import sys
import threading
import time

while not os.path.exists(sys.argv[2]):  # noqa: PTH110 - quick to start
    time.sleep(0.0005)
with socket.socket() as server:
    # As servers do; so it can be bound beside who holds the port and does not listen.
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", int(sys.argv[1])))
    server.listen()
    threading.Event().wait()
