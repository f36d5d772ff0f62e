"""The figures of `kwokctl status`: a whole cluster at one time, and its problems."""
