"""Components as processes of this host: launched, stopped, looked at, and kept alive if so wished."""
