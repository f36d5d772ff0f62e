from kwokctl.controller.controller_context import controller_metrics


def test_counters_and_gauges_are_written_with_their_help() -> None:
    metrics = controller_metrics()
    metrics.count("kwok_controller_plays_total", stage="a", outcome="ok")
    metrics.count("kwok_controller_plays_total", stage="a", outcome="ok")
    metrics.ask(lambda: {("kwok_controller_objects", (("kind", "Pod"),)): 7})

    text = metrics.text()

    assert "# TYPE kwok_controller_plays_total counter\n" in text
    assert 'kwok_controller_plays_total{stage="a",outcome="ok"} 2\n' in text
    assert 'kwok_controller_objects{kind="Pod"} 7\n' in text
    assert "process_resident_memory_bytes " in text
    assert text.endswith("\n")


def test_label_values_are_escaped() -> None:
    metrics = controller_metrics()
    metrics.count("kwok_controller_plays_total", stage='a"\\\n', outcome="ok")

    assert 'stage="a\\"\\\\\\n"' in metrics.text()
