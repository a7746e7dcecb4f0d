from hypothesis import given
from hypothesis import strategies as st

from beamlearn.search.lineage import Lineage


def branches(lineage):
    """How many hypotheses are kept, with those that led to them, from the trunk on."""
    found, todo = set(), list(lineage.beam)
    while todo:
        branch = todo.pop()
        if branch.before is not None and branch not in found:
            found.add(branch)
            todo.append(branch.before)
    return len(found)


@given(st.randoms(use_true_random=False), st.integers(1, 4), st.integers(0, 12))
def test_the_trunk_is_what_all_paths_share(random, width, steps):
    lineage, paths, seen = Lineage(), [()], []
    for _ in range(steps):
        neighbors = [(slot, item) for slot in range(len(paths)) for item in "ab"]
        chosen = random.sample(neighbors, min(width, len(neighbors)))
        paths = [(*paths[slot], item) for slot, item in chosen]
        lineage.grow(*zip(*chosen, strict=True))
        shared = 0
        while shared < len(paths[0]) and len({path[shared] for path in paths}) == 1:
            shared += 1
        assert lineage.trunk == list(paths[0][:shared])
        assert branches(lineage) == len(
            {path[:n] for path in paths for n in range(shared + 1, len(path) + 1)}
        )
        seen += zip(lineage.beam, paths, strict=True)
    for branch, path in seen:
        assert tuple(lineage.path(branch)) == path


def test_greedy_search_is_certain_at_once():
    lineage = Lineage()
    for item in "word":
        lineage.grow([0], [item])
    assert lineage.trunk == list("word")
    assert lineage.beam == [lineage.root]
