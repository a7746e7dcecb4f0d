"""Every link between pages of the repository leads somewhere, and stays right on the site."""

import doctest

import pytest
from website import links, notebooks, repository, rst
from website.links import Link, dead, rewrite
from website.repository import ROOT, pages

OUTSIDE_THE_SITE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")


def texts():
    found = {
        f"docs/{path.relative_to(ROOT / 'docs').as_posix()}" for path in ROOT.glob("docs/**/*.md")
    }
    return {page: (ROOT / page).read_text(encoding="utf-8") for page in [*found, *OUTSIDE_THE_SITE]}


def test_no_link_is_dead():
    assert dead(ROOT, texts()) == []


def test_dead_links_are_found():
    page = "docs/tagging.md"
    wrong = "[a](no_such.md) [b](parsing.md#no-such-place) [c](#nor-this) [d](parsing.md)"
    assert dead(ROOT, {**texts(), page: f"{texts()[page]}\n{wrong}\n"}) == [
        f"{page}: docs/no_such.md",
        f"{page}: docs/parsing.md#no-such-place",
        f"{page}: {page}#nor-this",
    ]


def test_links_of_the_notebooks_are_alive():
    place = {path for path in pages() if path.endswith(".ipynb")}
    assert len(place) >= 5
    for path in place:
        found = links.links((ROOT / path).read_text(encoding="utf-8").replace("\\n", "\n"), path)
        assert all((ROOT / link.path).exists() for link in found)


def test_links_are_rewritten_in_text_only():
    page = "see [a](b.md#c) and [d](https://example.org)\n```\n[a](b.md)\n```\n    [a](b.md)\n"
    assert rewrite(page, "docs/x.md", lambda link: f"{link.path}|{link.anchor}") == (
        "see [a](docs/b.md|c) and [d](https://example.org)\n```\n[a](b.md)\n```\n    [a](b.md)\n"
    )


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("", "../_repository/examples/01_toy_by_hand.md"),
        ("https://example.org/b/", "https://example.org/b/blob/main/examples/01_toy_by_hand.py"),
    ],
)
def test_what_is_no_page_has_one_or_is_at_the_address(tmp_path, address, target):
    from website.assemble import Sources

    sources = Sources(tmp_path, address)
    place = sources.linked("comparisons/hkcancor.md")
    assert place(Link("examples/01_toy_by_hand.py", "")) == target
    assert place(Link("benchmarks/README.md", "tries")) == "../benchmarks.md#tries"
    with pytest.raises(ValueError, match="links to docs/nothing.md, which is not"):
        place(Link("docs/nothing.md", ""))


@pytest.mark.parametrize("module", [links, notebooks, repository, rst])
def test_examples_in_docstrings(module):
    done = doctest.testmod(module)
    assert done.attempted
    assert not done.failed
