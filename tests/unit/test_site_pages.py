"""The pages of the site, as they are written for mkdocs."""

from pathlib import Path

import pytest

from docs.site import navigation, places, samples

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("path", "link", "wanted"),
    [
        ("README.md", "docs/tutorial.md", "tutorial.md"),
        ("README.md", "docs/README.md", "pages.md"),
        ("docs/README.md", "../README.md#installation", "index.md#installation"),
        ("docs/how-to/a.md", "../reference/cli/b.md#c", "../reference/cli/b.md#c"),
        ("docs/how-to/a.md", "../../examples/x.yaml", "../files/examples/x.yaml.md"),
        ("docs/how-to/a.md", "../../examples/stages/", "../files/examples/stages.md"),
        ("docs/how-to/a.md", "../../CHANGELOG.md", "../files/CHANGELOG.md"),
        ("docs/how-to/a.md", "../a.svg", "../a.svg"),
        ("docs/how-to/a.md", "#here", "#here"),
        ("CHANGELOG.md", "docs/a.md#b", "../a.md#b"),
        ("docs/samples/README.md", "training.jsonl.gz", "training.html"),
        ("docs/how-to/a.md", "../samples/packing", "../samples/packing.html"),
        ("docs/how-to/a.md", "https://example.org/docs/a.md", "https://example.org/docs/a.md"),
    ],
)
def test_a_link_leads_to_the_place_of_its_file_in_the_site(
    path: str, link: str, wanted: str
) -> None:
    assert places.as_in_site(f"see [a `b`]({link}).\n", path) == f"see [a `b`]({wanted}).\n"


def test_links_in_blocks_of_code_stay() -> None:
    text = "```md\n[a](../../examples/x.yaml)\n| `a\\|b` |\n```\n"

    assert places.as_in_site(text, "docs/how-to/a.md") == text


def test_a_bar_in_code_has_a_backslash_outside_of_the_site_and_in_tables_only() -> None:
    text = "| `a\\|b` | a\\|b |\n\n`a\\|b`\n"

    assert places.as_in_site(text, "docs/a.md") == "| `a|b` | a\\|b |\n\n`a\\|b`\n"


def test_a_report_is_shown_below_the_paragraph_that_links_to_it() -> None:
    text = "This is\n[a report](packing.html).\n\nAnother text.\n"

    assert samples.with_reports(text) == (
        "This is\n[a report](packing.html).\n\n"
        '<iframe class="sample" src="packing.html" title="The report"></iframe>\n\n'
        "Another text.\n"
    )


def test_samples_have_records() -> None:
    assert [path for path in samples.SAMPLES if not (ROOT / path).exists()] == []


def test_a_folder_is_shown_as_all_its_files(tmp_path: Path) -> None:
    below = tmp_path / "examples/stages"
    (below / "deep").mkdir(parents=True)
    (below / "b.yaml").write_text("kind: Stage\n```\n", encoding="utf-8")
    (below / "deep/a.py").write_text("pass\n", encoding="utf-8")

    assert places.shown(tmp_path, "examples/stages") == (
        "# `examples/stages`\n\n"
        "## `b.yaml`\n\n````yaml\nkind: Stage\n```\n````\n\n"
        "## `deep/a.py`\n\n````python\npass\n````\n"
    )


def test_files_that_pages_link_to_are_found_and_no_pages(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "examples").mkdir()
    (tmp_path / "LICENSE").touch()
    (tmp_path / "README.md").write_text("[a](docs/a.md) [b](LICENSE)", encoding="utf-8")
    page = "[x](../examples) [y](../README.md) [z](a.md) ```[no](../none)``` [u](https://a.b/c)"
    (tmp_path / "docs/a.md").write_text(page, encoding="utf-8")

    assert places.linked_files(tmp_path) == {"LICENSE", "examples"}


def test_the_navigation_has_the_parts_and_groups_of_the_list_of_pages(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "reference/cli").mkdir(parents=True)
    (docs / "adr").mkdir()
    (docs / "reference/cli/get-nodes.md").write_text("# `kwokctl get nodes`\n", encoding="utf-8")
    (docs / "adr/0007-a.md").touch()
    (docs / "README.md").write_text(
        "# Pages\n\nBegin with [a tutorial](t.md).\n\n"
        "## How to\n\n| [alone](how-to/b.md) |\n\n### Group\n\n| x | [one](how-to/a.md), [two](how-to/c.md) |\n\n"
        "## Reference\n\n| [commands](reference/cli.md) |\n",
        encoding="utf-8",
    )

    start, *rest = navigation.tree(tmp_path)

    assert isinstance(start, dict)
    assert {"A tutorial": "t.md"} in start["Start"]
    assert rest == [
        {
            "How to": [
                {"Alone": "how-to/b.md"},
                {"Group": [{"One": "how-to/a.md"}, {"Two": "how-to/c.md"}]},
            ]
        },
        {"Reference": []},
        {
            "Commands": [
                {"All commands": "reference/cli.md"},
                {"get nodes": "reference/cli/get-nodes.md"},
            ]
        },
        {
            "Decisions": [
                {"When to decide again": "adr/README.md"},
                "adr/0007-a.md",
                "adr/template.md",
            ]
        },
    ]
