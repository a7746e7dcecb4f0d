from beamlearn.tasks.parsing.open_arcs import OpenArcs


def test_a_mark_keeps_an_arc_open_until_the_end():
    arcs = OpenArcs("||")
    arcs.grow([0], [(1, (2, "nmod||obj"))])
    arcs.grow([0], [(2, (3, "nsubj"))])
    assert arcs.agreed == [(2, (3, "nsubj"))]
    assert arcs.listed(3, 1, arcs.beam[0]) == [None, (3, "nsubj"), None]
    arcs.close([{1: (3, "nmod"), 2: (3, "nsubj"), 3: (0, "root")}])
    assert arcs.listed(3, len(arcs.agreed)) == [(3, "nmod"), (3, "nsubj"), (0, "root")]


def test_arcs_that_were_made_in_different_orders_are_agreed_on():
    arcs = OpenArcs()
    arcs.grow([0, 0], [(1, (2, "a")), (2, (3, "b"))])
    assert arcs.agreed == []
    arcs.grow([0, 1], [(2, (3, "b")), (1, (2, "a"))])
    assert dict(arcs.agreed) == {1: (2, "a"), 2: (3, "b")}
    assert arcs.beam == [{}, {}]


def test_a_step_without_an_arc():
    arcs = OpenArcs()
    arcs.grow([0, 0], [None, (1, (2, "a"))])
    arcs.grow([1, 1], [None, None])
    assert arcs.agreed == [(1, (2, "a"))]
