"""The options of Jaeger, apart from its description: those that send spans to it need its port."""

from dataclasses import dataclass
from typing import ClassVar

from kwokctl.config.declaring import (
    PROGRAMS,
    ComponentOptions,
    binary_option,
    image_option,
    option,
    port_option,
)
from kwokctl.model import JAEGER

PROGRAM = "jaeger-all-in-one"


@dataclass(frozen=True, slots=True, kw_only=True)
class JaegerOptions(ComponentOptions):
    """The options of Jaeger."""

    component: ClassVar = JAEGER

    port: int = port_option("Pages of Jaeger; a port adds it to the cluster")
    otlp_grpc_port: int = port_option("OTLP of Jaeger", flag="", env="")
    binary: str = binary_option(f"Jaeger 1 ({PROGRAM})")
    archive: str = option(
        "",
        f"Same as --jaeger-binary ARCHIVE#{PROGRAM} (deprecated)",
        group=PROGRAMS,
        metavar="ARCHIVE",
        name="jaeger_binary_tar",
        deprecated=f"--jaeger-binary ARCHIVE#{PROGRAM}",
    )
    image: str = image_option("Jaeger 1 (all-in-one)")
