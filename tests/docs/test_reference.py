"""The reference has every public name, every command with its options, and every setting."""

import pytest
from website import commands, loss_pages, names, setting_pages
from website.repository import NAVIGATION, navigation, pages

import beamlearn as bl
from beamlearn.tasks.registry import TASKS
from beamlearn.training.settings import groups_in


def test_every_public_name_has_its_place():
    found = [name for room in names.rooms().values() for name in room]
    assert len(set(found)) == len(found)
    listed = {name for module, name in found if module == "beamlearn"}
    assert listed | {"losses", "strategies", "baselines"} == set(bl.__all__)
    told = dict(names.pages())
    for room, ones in names.rooms().items():
        for one in ones:
            assert f":: {'.'.join(one)}\n" in told[f"reference/{room}.rst"]
    assert {"BeamTrainer", "generate", "beam_search"} <= {name for _, name in names.hugging_face()}


def test_every_loss_has_a_page_with_its_curve():
    made = dict(loss_pages.pages())
    for name in bl.losses.LOSSES:
        page = made[f"reference/losses/{name}.rst"]
        assert f"Eq. ({loss_pages.numbered(name).partition('(')[2]}: l(s, c) = " in page.replace(
            "  ", " "
        )
        assert f".. drawing:: _generated/{name}.svg" in page
        assert made[f"_generated/{name}.svg"].startswith("<svg")
    assert "Convex; bounds the transition cost" in made["reference/losses/upper_bound.rst"]


def test_every_command_has_a_page_with_all_options():
    found = dict(commands.commands())
    assert {"beamlearn train tag", "beamlearn predict", "beamlearn compare rank"} <= found.keys()
    made = dict(commands.pages())
    for name, command in found.items():
        page = made[f"reference/commands/{commands.place(name)}.rst"]
        context = command.make_context(name, [], resilient_parsing=True)
        for one in command.get_params(context):
            shown = (
                one.name.upper() if one.param_type_name == "argument" else max(one.opts, key=len)
            )
            assert getattr(one, "hidden", False) or shown in page


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ("--out, -o PATH", ".. option:: --out, -o PATH"),
        ("--tune/--no-tune", ".. option:: --tune, --no-tune"),
        ("[RUN]", ".. option:: RUN"),
    ],
)
def test_options(term, line):
    assert commands.option(term, "What c* is.") == f"{line}\n\n   What c\\* is.\n"


def test_every_setting_is_there():
    made = dict(setting_pages.pages())
    for name, entry in TASKS.items():
        for title, group in groups_in(entry.experiment).items():
            page = made[f"reference/settings/{'learning' if title == 'learning' else name}.rst"]
            assert all(f"``{field}``" in page for field in group.model_fields)


def test_every_page_is_in_the_sidebar():
    there = {place.rpartition(".")[0] for place in pages().values()}
    listed = [name for group in navigation(there).values() for name in group]
    assert sorted(listed) == sorted(there - {"index"})
    assert {name for group in NAVIGATION.values() for name in group} >= {"paper_in_pictures"}
