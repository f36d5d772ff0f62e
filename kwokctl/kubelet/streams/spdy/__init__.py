"""SPDY/3.1, as far as the API server and its clients speak it to a kubelet, without input and output."""

__all__ = ["protocol", "spdy_frames"]
