from kwokctl.controller.serving.controller_routes import Handlers
from kwokctl.kwok.run import PublishedAnswers


async def _page() -> str:
    return "page"


def handlers(*, is_ready: bool) -> Handlers:
    return Handlers(
        is_ready=lambda: is_ready,
        metrics=_page,
        kubelet=b"",
        stages=lambda: None,
        seen=lambda: None,
        reserve=lambda _: None,
    )


async def test_before_the_controller_has_begun_nothing_is_ready_and_its_page_is_empty() -> None:
    published = PublishedAnswers()

    assert not published.is_ready()
    assert await published.metrics() == ""


async def test_the_controller_answers_through_the_server_of_both() -> None:
    published = PublishedAnswers()

    published.publish(handlers(is_ready=True))

    assert published.is_ready()
    assert await published.metrics() == "page"
