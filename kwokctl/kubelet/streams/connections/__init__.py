"""Connections that carry several streams: SPDY, WebSocket, and SPDY within WebSocket."""
