import pytest

from kwokctl import assets
from kwokctl.expr import yaml
from kwokctl.fleet.devices import gpus
from kwokctl.kubelet.telemetry.gpu_models import driver_version, model_of

SHAPES = sorted((assets.root() / "fleets").glob("*.yaml"))
LABELS = [yaml.load(path.read_text())["parameters"].get("labels", {}) for path in SHAPES]
PRODUCTS = sorted(
    {labels[name] for labels in LABELS for name in labels if name.endswith("product")}
)


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_gpu_of_every_shape_is_known(product: str) -> None:
    [gpu] = gpus("n", {"nvidia.com/gpu.product": product}, {"nvidia.com/gpu": 1})
    model = model_of(gpu)
    assert model.product
    assert model.power.idle < model.power.limit
    assert model.temperature.idle < model.temperature.load < model.temperature.slowdown
    assert model.sm_clock.idle < model.sm_clock.load


def test_a_product_keeps_the_hyphens_that_it_has_in_nvidia_smi() -> None:
    [gpu] = gpus("n", {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}, {"nvidia.com/gpu": 1})
    assert model_of(gpu).product == "NVIDIA A100-SXM4-80GB"


def test_other_products_have_a_model_too() -> None:
    [gpu] = gpus("n", {"nvidia.com/gpu.product": "Other"}, {"nvidia.com/gpu": 1})
    assert model_of(gpu).product == ""


def test_a_label_says_the_version_of_the_driver() -> None:
    [gpu] = gpus("n", {}, {"nvidia.com/gpu": 1})
    model = model_of(gpu)
    assert driver_version({}, model) == model.driver
    assert driver_version({"nvidia.com/cuda.driver-version.full": "1.2"}, model) == "1.2"
