"""What carries messages to etcd; apart, so that it can be imported while our client is."""

from typing import Protocol


class Transport(Protocol):
    """Carries messages that are encoded already, as `kwokctl.etcd.grpc.channel.Channel` does."""

    async def call(self, path: str, message: bytes, *, within: float) -> bytes: ...

    async def close(self) -> None: ...


def transport(library: str, target: str) -> Transport:
    """Open a transport of a library, which is imported only now."""
    if library == "h2":
        from benchmarks.etcd_libraries.h2_transport import H2Transport  # see above

        return H2Transport(target)
    from benchmarks.etcd_libraries import grpcio_transport  # see above

    if library == "grpc.aio":
        return grpcio_transport.AioTransport(target)
    return grpcio_transport.FutureTransport(target)
