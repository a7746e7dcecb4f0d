import pytest
import torch
from torch import nn

from beamlearn.nn import alignment
from beamlearn.nn.affine import Affine
from beamlearn.nn.alignment import Alignment
from beamlearn.nn.attention import DropoutMasks, Past, additive_mask, attend, heads_of
from beamlearn.nn.transformer import DecoderLayer, EncoderLayer, Positions
from beamlearn.search.neighbors import Move


def test_an_affine_layer_is_a_linear_one():
    torch.manual_seed(0)
    ours, theirs = Affine(5, 3), nn.Linear(5, 3)
    with torch.no_grad():
        theirs.weight.copy_(ours.weight.t())
        theirs.bias.copy_(ours.bias)
    x = torch.randn(2, 4, 5)
    torch.testing.assert_close(ours(x), theirs(x))
    assert ours.weight.abs().max() <= 5**-0.5


def test_attention_is_softmax_over_what_is_seen():
    torch.manual_seed(0)
    queries, keys, values = torch.randn(3, 2, 1, 4, 6).unbind(dim=0)
    sees = torch.rand(2, 1, 4, 4) > 0.4
    sees |= torch.eye(4, dtype=torch.bool)
    found = attend(queries, keys, values, additive_mask(sees))
    weights = (queries @ keys.transpose(-1, -2) / 6**0.5).masked_fill(~sees, -torch.inf)
    expected = (weights.softmax(dim=-1) @ values).transpose(1, 2).flatten(2)
    torch.testing.assert_close(found, expected)


def test_heads_are_cut_in_order():
    joint = torch.arange(12.0).reshape(1, 1, 12)
    first, second = heads_of(joint, parts=2, heads=3)
    assert first.flatten().tolist() == [0, 1, 2, 3, 4, 5]
    assert second[0, 2, 0].tolist() == [10, 11]


@pytest.mark.parametrize("gradients", [True, False])
def test_the_past_holds_what_was_put_there(gradients):
    torch.manual_seed(0)
    parts = [torch.randn(2, 3, 1, k, 4) for k in (1, 2, 2, 5)]
    first, *rest = parts
    with torch.set_grad_enabled(gradients):
        past = Past(first[0].expand(3, 1, 1, 4), first[1].expand(3, 1, 1, 4), 1)
        for keys, values in rest:
            past = past.extended(keys, values)
        for place, held in enumerate(past.seen):
            together = torch.cat([part[place].expand(3, 1, -1, 4) for part in parts], dim=2)
            assert torch.equal(held, together)
        only = past.only(torch.tensor([[9, 0], [1, 2], [3, 3]]))
        assert torch.equal(only.seen[0][1, 0], past.seen[0][1, 0, 1:3])
        rows = torch.tensor([2, 0])
        slots = torch.zeros(2, 1, dtype=torch.long)
        move = Move(rows, slots, slots, slots.bool(), slots.bool())
        assert torch.equal(past.keep(move).seen[1], past.seen[1][rows])
        stay = Move(None, slots, slots, slots.bool(), slots.bool())
        assert past.keep(stay) is past


def test_dropout_depends_on_example_and_depth_alone():
    torch.manual_seed(0)
    dropped = DropoutMasks(3, (2, 4), 0.5)
    late = dropped.at(2, torch.arange(3))
    assert [tuple(mask.shape) for mask in late] == [(3, 1, 2), (3, 1, 4)]
    some = dropped.at(2, torch.tensor([2, 0]))
    assert torch.equal(some[1], late[1][[2, 0]])
    many = dropped.of(torch.tensor([[2, 0], [1, 2], [2, 2]]))
    assert torch.equal(many[0][0, 0], late[0][0, 0])
    assert torch.equal(many[1][1, 1], late[1][1, 0])
    assert set(torch.cat([part.flatten() for part in late]).tolist()) <= {0.0, 2.0}
    again = DropoutMasks(3, (2, 4), 0.5)
    assert not torch.equal(torch.cat(again.at(2, torch.arange(3)), -1), torch.cat(late, -1))


def test_positions_are_waves_and_grow():
    positions = Positions(6)
    assert positions(torch.tensor(0)).tolist() == [0, 0, 0, 1, 1, 1]
    assert positions(torch.tensor(3))[0].item() == pytest.approx(torch.tensor(3.0).sin().item())
    assert positions(torch.tensor([500, 2])).shape == (2, 6)
    assert Positions(5).upto(2).shape == (2, 5)
    assert not positions.state_dict()


def test_an_encoder_layer_does_not_see_padding():
    torch.manual_seed(0)
    layer = EncoderLayer(8, 2, 16, 0.0).eval()
    x = torch.randn(1, 4, 8)
    mask = additive_mask(torch.tensor([[True, True, True, False]]))[:, None, None]
    alone = layer(x[:, :3], None)
    torch.testing.assert_close(layer(x, mask)[:, :3], alone)


def test_a_decoder_layer_extends_the_past():
    torch.manual_seed(0)
    layer = DecoderLayer(8, 2, 16)
    x, source = torch.randn(1, 3, 8), torch.randn(1, 5, 8)
    source_keys = layer.keys_values(source)
    causal = additive_mask(torch.ones(3, 3, dtype=torch.bool).tril())[None, None]
    whole, past = layer(x, None, causal, source_keys, None, None)
    assert past.used == 3
    held, found = None, []
    for step in range(3):
        here, held = layer(
            x[:, [step]], held, causal[:, :, [step], : step + 1], source_keys, None, None
        )
        found.append(here)
    torch.testing.assert_close(torch.cat(found, dim=1), whole)


def test_a_large_alignment_is_computed_again_for_its_gradient(monkeypatch):
    torch.manual_seed(0)
    layer = Alignment(6, 4, 5)
    keys, queries = torch.randn(2, 3, 5), torch.randn(2, 2, 4)
    last = torch.rand(2, 2, 3)
    slopes = []
    for kept in (1 << 20, 0):
        monkeypatch.setattr(alignment, "KEPT", kept)
        shares = layer(keys, queries, last, None)
        slopes.append(torch.autograd.grad(shares[..., 0].sum(), layer.window.weight)[0])
    torch.testing.assert_close(*slopes)


def test_an_alignment_looks_at_symbols_only():
    torch.manual_seed(0)
    layer = Alignment(6, 4, 5, reach=1)
    keys, queries = layer.key(torch.randn(2, 3, 6)), torch.randn(2, 2, 4)
    last = torch.rand(2, 2, 3).softmax(dim=-1)
    filled = torch.tensor([[[True, True, True]], [[True, False, False]]])
    shares = layer(keys, queries, last, filled)
    torch.testing.assert_close(shares.sum(dim=-1), torch.ones(2, 2))
    assert shares[1].tolist() == [[1.0, 0.0, 0.0]] * 2
    alone = layer(keys[1:, :1], queries[1:], last[1:, :, :1] * 0, None)
    assert alone.tolist() == [[[1.0], [1.0]]]


def test_an_alignment_is_computed_in_one_place_block_by_block(monkeypatch):
    torch.manual_seed(0)
    layer = Alignment(6, 4, 5)
    keys, queries = torch.randn(2, 7, 5), torch.randn(2, 3, 4)
    last = torch.rand(2, 3, 7).softmax(dim=-1)
    assert layer.room(keys, 3) is None
    monkeypatch.setattr(alignment, "BLOCK", 2 * 2 * 3 * 5)
    with torch.no_grad():
        assert layer.room(keys, 3) is None  # the source is short
    monkeypatch.setattr(alignment, "LONG", 1)
    with torch.no_grad():
        room = layer.room(keys, 3)
        assert room.shape == (2, 60)
        assert layer.room(keys, 2, room) is layer.room(keys[:1], 3, room) is room
        assert layer.room(keys, 20, room).shape == (2, 2 * 20 * 5)
        assert layer.room(keys[:, :1], 3).shape == (2, 30)
        found = layer(keys, queries, last, None, room.fill_(torch.nan))
        torch.testing.assert_close(found, layer(keys, queries, last, None))
