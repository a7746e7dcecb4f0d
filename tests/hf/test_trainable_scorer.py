"""A Hugging Face model under `learn`: the numbers of single steps, in one pass, with gradients."""

import pytest
import torch

import beamlearn as bl

pytest.importorskip("transformers")

from tiny_folders import examples, transducer
from tiny_transformers import KINDS, blank, make

from beamlearn import hf
from beamlearn.hf.trainable_scorer import TrainableScorer
from beamlearn.losses import SURROGATES

pytestmark = pytest.mark.usefixtures("no_shape_checks")
STRATEGIES = {
    "oracle": bl.strategies.Oracle(),
    "stop": bl.strategies.Stop(),
    "reset": bl.strategies.Reset(),
    "continue": bl.strategies.Continue(),
}


def gradients(model, losses):
    parameters = [p for p in model.parameters() if p.requires_grad]
    found = torch.autograd.grad(losses.sum(), parameters, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["t5", "bart", "gpt2"])
def test_replay_gives_the_numbers_and_gradients_of_single_steps(kind, strategy):
    model = transducer(kind)
    space, network = model.space(examples(model)), model.pretrained.model
    steps = hf.HuggingFaceScorer(network)
    for width in (1, 3):
        one = bl.beam_trajectory(space, steps, width, strategy=STRATEGIES[strategy])
        two = bl.beam_trajectory(
            space, model.scorer, width, strategy=STRATEGIES[strategy], replay=True
        )
        assert two.beams == one.beams
        loss = SURROGATES["log_loss_neighbors"]
        expected, found = one.losses(loss), two.losses(loss)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
        before, after = gradients(network, expected), gradients(network, found)
        largest = max(float(g.abs().max()) for g in before)
        for g, h in zip(before, after, strict=True):
            assert float((g - h).abs().max()) <= 1e-4 * max(largest, 1.0)


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_layers_may_be_computed_twice(kind):
    model = transducer(kind)
    space, network = model.space(examples(model)), model.pretrained.model
    for part in network.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
        elif isinstance(getattr(part, "dropout", None), float):
            part.dropout = 0.0
    losses = []
    for again in (False, True):
        network.train()
        if again:
            network.gradient_checkpointing_enable({"use_reentrant": False})
        path = bl.beam_trajectory(space, model.scorer, 3, replay=True)
        losses.append(gradients(network, path.losses(SURROGATES["log_loss_neighbors"])))
    for one, two in zip(*losses, strict=True):
        torch.testing.assert_close(two, one, atol=1e-3, rtol=1e-3)


def test_dropout_is_for_the_pass_with_gradients():
    model = transducer("bart")
    batch = examples(model)
    still = bl.beam_trajectory(model.space(batch), model.scorer, 3, replay=True)
    model.scorer.train()
    torch.manual_seed(5)
    one = bl.beam_trajectory(model.space(batch), model.scorer, 3, replay=True)
    torch.manual_seed(5)
    two = bl.beam_trajectory(model.space(batch), model.scorer, 3, replay=True)
    torch.manual_seed(6)
    three = bl.beam_trajectory(model.space(batch), model.scorer, 3, replay=True)
    assert still.beams == one.beams == two.beams == three.beams
    losses = [path.losses(SURROGATES["log_loss_beam"]) for path in (still, one, two, three)]
    assert torch.equal(losses[1], losses[2])
    assert not torch.equal(losses[1], losses[0])
    assert not torch.equal(losses[1], losses[3])
    assert all(part.training for part in model.scorer.model.modules())


@pytest.mark.parametrize("kind", ["t5", "gpt2"])
def test_a_round_of_learn_changes_the_model(kind):
    model = transducer(kind)
    batch = examples(model)
    optimizer = torch.optim.SGD(model.scorer.parameters(), lr=0.001)
    rounds = bl.learn(
        [batch] * 4, model, model.scorer, optimizer, loss="log_loss_beam", width=2, beam_weight=0.1
    )
    likelihoods = [float(round.likelihoods.mean()) for round in rounds]
    assert likelihoods[-1] < likelihoods[0]


def test_likelihood_alone_reads_nothing_twice(monkeypatch):
    """Where the oracle's path is known without scores, the model is not searched."""
    model = transducer("t5", cost="exact")
    read = []
    monkeypatch.setattr(type(model.scorer.steps), "start", lambda *_: read.append(1))
    optimizer = torch.optim.SGD(model.scorer.parameters(), lr=0.01)
    (round,) = bl.learn(
        [examples(model)], model, model.scorer, optimizer, loss="log_loss_beam", beam_weight=0.0
    )
    assert round.likelihoods is not None
    assert not read


# --- weights -------------------------------------------------------------------------------------


def test_weights_that_are_tied_are_saved_once():
    model = blank("bart")
    scorer = TrainableScorer(model)
    saved = scorer.state_dict()
    assert len({tensor.data_ptr() for tensor in saved.values()}) == len(saved)
    assert len(saved) < len(model.state_dict())
    assert {name for name, _ in scorer.named_parameters()} <= saved.keys()
    other = TrainableScorer(blank("bart"))
    other.load_state_dict(saved)
    for name, tensor in model.state_dict().items():
        assert torch.equal(other.model.state_dict()[name], tensor)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_come_back(kind):
    one, two = TrainableScorer(make(kind, seed=1)), TrainableScorer(make(kind, seed=2))
    two.load_state_dict(one.state_dict())
    for name, tensor in one.model.state_dict().items():
        assert torch.equal(two.model.state_dict()[name], tensor)


def test_wrong_weights_are_refused():
    scorer = TrainableScorer(make("t5"))
    state = scorer.state_dict()
    some = dict(list(state.items())[1:])
    with pytest.raises(RuntimeError, match="Missing key"):
        scorer.load_state_dict(some)
    with pytest.raises(RuntimeError, match="Unexpected key"):
        scorer.load_state_dict({**state, "more": torch.zeros(1)})
