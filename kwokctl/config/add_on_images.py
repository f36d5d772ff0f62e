"""The images of the add-ons that come with kwokctl, as the original's options name them."""

from collections.abc import Mapping
from dataclasses import dataclass

from kwokctl.config import checks
from kwokctl.config.declaring import IMAGES, option
from kwokctl.json_value import Json

_SCHEDULER = "kubeSchedulerImage"
"""The option of an add-on that swaps the scheduler."""


def _image(title: str, **more: object) -> str:
    return option("", f"Image of {title}", group=IMAGES, metavar="IMAGE", flag="", **more)


def _prefix(title: str, **more: object) -> str:
    help_text = f"Registry and folder of the images of {title}"
    return option(
        "", help_text, group=IMAGES, metavar="PREFIX", flag="", check=checks.image, **more
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOnImageOptions:
    """Images in place of those that add-ons name, and where these are pulled from."""

    descheduler_image: str = _image("descheduler")
    descheduler_image_prefix: str = _prefix("descheduler")
    jobset_image: str = _image("jobset")
    jobset_image_prefix: str = _prefix("jobset")
    kueue_image: str = _image("kueue")
    kueue_image_prefix: str = _prefix("kueue and kueueviz")
    kueueviz_backend_image: str = _image("kueueviz-backend")
    kueueviz_frontend_image: str = _image("kueueviz-frontend")
    lws_image: str = _image("lws")
    lws_image_prefix: str = _prefix("lws")
    node_readiness_controller_image: str = _image(
        "node-readiness-controller", env="NODE_READINESS_IMAGE"
    )
    node_readiness_controller_image_prefix: str = _prefix(
        "node-readiness-controller", env="NODE_READINESS_IMAGE_PREFIX"
    )
    scheduler_plugins_controller_image: str = _image("scheduler-plugins-controller")
    scheduler_plugins_image_prefix: str = _prefix("scheduler-plugins")
    scheduler_plugins_scheduler_image: str = _image("kube-scheduler of scheduler-plugins")

    def of(self, component: str, prefix_of: str, usual: str) -> str:
        """Return the image of a component, `usual` being the add-on's; empty if that has none."""
        given: str = getattr(self, _field(component, "image"), "")
        prefix: str = getattr(self, _field(prefix_of, "image_prefix"), "")
        if given or not (prefix and usual):
            return given or usual
        return f"{prefix.rstrip('/')}/{usual.rpartition('/')[2]}"


def with_images(name: str, body: Mapping[str, Json], images: AddOnImageOptions) -> dict[str, Json]:
    """Return the configuration that an add-on is with the user's images in place of its own."""
    prefix_of = "kueue" if name == "kueueviz" else name
    components = [
        _with_image(each, images.of(str(each["name"]), prefix_of, str(each.get("image", ""))))
        for each in body["components"]
    ]
    options = dict(body["options"])
    if _SCHEDULER in options:
        swapped = images.of(f"{name}-scheduler", prefix_of, str(options[_SCHEDULER]))
        options[_SCHEDULER] = swapped
    return {**body, "components": components, "options": options}


def _with_image(component: Mapping[str, Json], image: str) -> Mapping[str, Json]:
    return {**component, "image": image} if image else component


def _field(name: str, ending: str) -> str:
    return f"{name.replace('-', '_')}_{ending}"
