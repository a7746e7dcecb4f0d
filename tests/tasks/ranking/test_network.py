"""The network: rows are independent, and every place of a history has its own."""

import pytest
import torch
from tiny_catalogue import IDS

import beamlearn as bl
from beamlearn.tasks.ranking.decode import items_of, read_lists
from beamlearn.tasks.ranking.item_ids import ItemIds
from beamlearn.tasks.ranking.model import Ranker
from beamlearn.tasks.ranking.positions import RankingExample
from beamlearn.tasks.ranking.settings import RankerSettings


@pytest.fixture
def ranker():
    ids = ItemIds(tuple(IDS), tuple(tuple(one) for one in IDS.values()))
    settings = RankerSettings(size=8, dropout=0.5, normalize="log_softmax")
    return Ranker.build(settings, ids, seed=1, device="cpu")


def test_all_places_of_a_history_in_one_pass(ranker):
    """The likelihood of a whole sequence is that of each place by itself."""
    ranker.scorer.eval()
    items = ("3", "5", "2", "7")
    whole = losses(ranker, [ranker.encode(items, every=True)])
    alone = [losses(ranker, [ranker.encode(items[:n])]) for n in (2, 3, 4)]
    assert torch.allclose(whole, torch.cat(alone), atol=1e-6)


def losses(ranker, batch):
    path = bl.beam_trajectory(ranker.space(batch), ranker.scorer, width=1, strategy="oracle")
    return path.losses(bl.losses.log_loss_neighbors)


def test_a_batch_is_its_rows(ranker):
    ranker.scorer.eval()
    batch = [ranker.encode(["1", "2"]), ranker.encode(["4", "5", "6", "7", "8"], every=True)]
    together = losses(ranker, batch)
    assert torch.allclose(together, torch.cat([losses(ranker, [one]) for one in batch]), atol=1e-6)


HISTORIES = [("1", "2"), ("4", "5", "6", "7", "8"), ("3", "2", "9")]


def gradient(ranker, histories, **choices):
    """What one update by likelihood is made of."""
    ranker.scorer.eval()
    batch = [ranker.encode(items, every=True) for items in histories]
    still = torch.optim.SGD(ranker.scorer.parameters(), lr=0.0)
    list(bl.learn([batch], ranker, ranker.scorer, still, loss="log_loss_neighbors", **choices))
    return ranker.scorer.bias.grad.clone()


LIKELY = {"strategy": "oracle", "width": 1}


def test_all_targets_weigh_the_same(ranker):
    """A user with many targets counts for as many, whatever the batch."""
    together = gradient(ranker, HISTORIES, **LIKELY)
    alone = [gradient(ranker, [items], **LIKELY) for items in HISTORIES]
    assert torch.allclose(3 * together, sum(alone), atol=1e-6)


def test_users_in_shards_give_the_same_update(ranker):
    whole = gradient(ranker, HISTORIES, **LIKELY)
    assert torch.allclose(whole, gradient(ranker, HISTORIES, **LIKELY, shards=2), atol=1e-6)


def test_scores_are_log_probabilities_of_all_ids(ranker):
    ranker.scorer.eval()
    result = bl.beam_search(ranker.space([ranker.ahead(["1", "2"])]), ranker.scorer, width=40)
    assert int(result.nbest_mask.sum()) == len(set(map(tuple, IDS.values())))
    assert float(result.nbest_scores.exp().sum()) == pytest.approx(1.0, abs=1e-5)


def test_every_parameter_learns(ranker):
    ranker.scorer.train()
    losses(ranker, [ranker.encode(tuple(IDS), every=True)]).mean().backward()
    for name, parameter in ranker.scorer.named_parameters():
        assert parameter.grad is not None, name
        assert float(parameter.grad.abs().sum()) > 0, name


def test_dropout_is_of_what_is_read(ranker):
    """Hypotheses stay comparable: the probabilities of all ids add up to 1 in training, too."""
    space = ranker.space([ranker.ahead(["1", "2"])])
    ranker.scorer.train()
    assert not torch.equal(ranker.scorer.start(space), ranker.scorer.start(space))
    result = bl.beam_search(space, ranker.scorer, width=40)
    assert float(result.nbest_scores.exp().sum()) == pytest.approx(1.0, abs=1e-5)
    ranker.scorer.eval()
    assert torch.equal(ranker.scorer.start(space), ranker.scorer.start(space))


def test_what_comes_before_decides(ranker):
    ranker.scorer.eval()
    first, second = losses(ranker, [ranker.encode(["1", "2"]), ranker.encode(["3", "2"])])
    assert float(first.detach()) != float(second.detach())


def test_items_that_share_an_id_are_listed_together(ranker):
    result = bl.beam_search(ranker.space([ranker.ahead(["1"])]), ranker.scorer, width=40)
    (found,) = read_lists(ranker, result)
    items = items_of(ranker, found, 100)
    assert sorted(one.item for one in items) == sorted(IDS)
    names = [one.item for one in items]
    assert names.index("twin") == names.index("11") + 1
    assert len(items_of(ranker, found, 3)) == 3


def test_targets_are_the_items_at_the_places():
    assert RankingExample((5, 6, 7), range(1, 3)).targets == [(6,), (7,)]
    assert RankingExample((5, 6), range(2, 3)).targets == [()]


def test_the_oracle_of_its_spaces_is_exact(ranker):
    assert bl.check_oracle(ranker.space([ranker.encode(["1", "2", "3"], every=True)])).ok
