"""Transducers: what they are made of, what their scorers promise, and what they learn."""

import io
from itertools import pairwise, product

import pytest
import torch
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from tiny_pairs import MODELS, pairs, small

import beamlearn as bl
from beamlearn.losses import LOSSES
from beamlearn.tasks.task import Model
from beamlearn.tasks.transduction.edit import EditOracle
from beamlearn.tasks.transduction.exact_match import ExactMatchOracle
from beamlearn.tasks.transduction.hamming import PaddedHammingOracle
from beamlearn.tasks.transduction.ngrams import BleuOracle, ChrfOracle
from beamlearn.tasks.transduction.pairs import Pairs
from beamlearn.tasks.transduction.space import END, UNSEEN
from beamlearn.tasks.transduction.tokens import HuggingFace, SentencePiece

models = pytest.mark.parametrize("model", MODELS)
unchecked = pytest.mark.usefixtures("no_shape_checks")
AB = Pairs(["a", "ba", "abab", ""], [("x",), ("y",), ("x",), ("y",)], ["here"] * 4)


def tiny(model="lstm", **settings):
    """A transducer with outputs of at most two tokens, so that all of them can be looked at."""
    lengths = {"length_factor": 0, "length_extra": 2}
    return small(AB, model=model, **{**lengths, **settings})


def listed(transducer, sources, search=bl.exhaustive_search):
    """Scores by output, of each source."""
    space = transducer.space([transducer.encode(source) for source in sources])
    with torch.no_grad():
        found = search(space, transducer.scorer)
    return [{tuple(h.output): h.score for h in ways} for ways in found.nbest]


# --- parts ---------------------------------------------------------------------------------------


@models
def test_the_seed_makes_the_weights(model):
    before = torch.get_rng_state()
    weights = [small(model=model, seed=seed).scorer.state_dict() for seed in (1, 1, 2)]
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert any(not torch.equal(weights[0][name], weights[2][name]) for name in weights[0])
    assert isinstance(small(model=model), Model)


def test_settings_reach_the_scorer():
    chosen = {"accumulate": False, "normalize": "none", "length_power": 0.5, "length_bonus": -1}
    for model in MODELS:
        scorer = small(model=model, **chosen).scorer
        assert (scorer.accumulate, scorer.normalize) == (False, None)
        assert (scorer.length_power, scorer.length_bonus) == (0.5, -1)
        assert scorer.dropout.p == 0.2


def test_encode():
    transducer = small()
    found = transducer.encode("a?", ["k a", "", "? a"])
    known = transducer.symbols.target_numbers
    assert len(found) == 3  # the end of a source is a symbol
    assert [right.tolist() for right in found.references] == [
        [known["k"], known["a"]],
        [],
        [UNSEEN, known["a"]],
    ]
    assert len(transducer.encode("")) == 1
    assert transducer.encode("a").references == ()


@pytest.mark.parametrize(
    ("factor", "extra", "limits"), [(2, 10, [10, 16]), (0, 1, [1, 1]), (1.5, 0, [0, 4])]
)
def test_limits_are_of_the_length_of_a_source(factor, extra, limits):
    transducer = small(length_factor=factor, length_extra=extra)
    examples = [transducer.encode(source) for source in ("", "abc")]
    assert [transducer.limit(example) for example in examples] == limits
    space = transducer.space(examples)
    assert space.limits.tolist() == limits
    assert space.actions == len(transducer.symbols.target_tokens) + 1
    assert len(space) == 2


@unchecked
@models
def test_no_output_is_longer_than_its_limit(model):
    transducer = tiny(model, length_factor=1, length_extra=0)
    outputs = listed(transducer, ["", "a", "ab"])
    assert [max(map(len, ways)) for ways in outputs] == [0, 1, 2]
    assert [len(ways) for ways in outputs] == [1, 1 + 2, 1 + 2 + 4]


def test_text():
    transducer = small()
    numbers = [transducer.symbols.target_numbers[token] for token in ("k", "a", "b:")]
    assert transducer.text([*numbers, END]) == "k a b:"
    assert transducer.text([END]) == transducer.text([]) == ""


def test_finish_is_that_of_the_settings():
    for finish in ("pad", "first"):
        transducer = small(finish=finish)
        assert transducer.space([transducer.encode("a")]).finish == finish


# --- costs ---------------------------------------------------------------------------------------


def edit(output, right):
    return Levenshtein.distance(right.split(), output.split(), weights=(1, 3, 2))


def hamming(output, right):
    one, two = output.split(), right.split()
    return sum(a != b for a, b in zip(one, two, strict=False)) + abs(len(one) - len(two))


def lost_bleu(output, right):
    metric = BLEU(smooth_method="add-k", smooth_value=1, tokenize="none", effective_order=False)
    return 1 - metric.sentence_score(output, [right]).score / 100


def lost_chrf(output, right):
    return 1 - CHRF().sentence_score(output, [right]).score / 100


WEIGHTS = {"insertion": 1, "deletion": 3, "substitution": 2}
COSTS = [
    ("edit", WEIGHTS, EditOracle, edit),
    ("hamming", {}, PaddedHammingOracle, hamming),
    ("exact", {}, ExactMatchOracle, lambda output, right: float(output != right)),
    ("bleu", {}, BleuOracle, lost_bleu),
    ("chrf", {}, ChrfOracle, lost_chrf),
]


@unchecked
@pytest.mark.parametrize(("cost", "weights", "kind", "by_hand"), COSTS)
def test_costs_are_what_they_are_called(cost, weights, kind, by_hand):
    data = pairs(10, several=True)
    transducer = small(data, cost=cost, **weights)
    batch = [transducer.encode(*pair) for pair in zip(data.sources, data.references, strict=True)]
    space = transducer.space(batch)
    assert isinstance(space.oracle(), kind)
    for width in (1, 4):
        with torch.no_grad():
            path = bl.beam_trajectory(space, transducer.scorer, width)
            found = bl.beam_search(space, transducer.scorer, width)
        expected = [
            min(by_hand(transducer.text(output), right) for right in several)
            for output, several in zip(found.outputs, data.references, strict=True)
        ]
        assert path.final_costs.tolist() == pytest.approx(expected, abs=1e-5)


def test_spelling_counts_the_characters_of_words():
    spelling = small().spelling
    rows = [[unit for unit in row if unit >= 0] for row in spelling.tolist()]
    tokens = ["", *small().symbols.target_tokens]
    assert [len(row) for row in rows] == [len(token) for token in tokens]
    letters = dict(zip("".join(tokens), [unit for row in rows for unit in row], strict=True))
    assert sorted(letters.values()) == list(range(len(set("".join(tokens)))))
    assert [[letters[letter] for letter in token] for token in tokens] == rows


def test_spaces_have_no_letters():
    data = Pairs(["a", "b"], [("x y",), ("\u00a0",)], ["here"] * 2)
    transducer = small(data, target_tokens="characters")
    assert [transducer.letters(token) for token in ("x", " ", "\u00a0")] == ["x", "", ""]


def test_letters_of_sentencepiece():
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat", "that hat"] * 9),
        model_writer=model,
        vocab_size=16,
        model_type="bpe",
        minloglevel=2,
    )
    transducer = with_tokenizer(SentencePiece(model.getvalue()), ["that cat"])
    found = {token: transducer.letters(token) for token in transducer.symbols.target_tokens}
    assert found == {token: token.replace("▁", "") for token in found}
    assert any(token.startswith("▁") for token in found)


def test_letters_of_pieces_that_are_marked_inside_of_words():
    tokenizers = pytest.importorskip("tokenizers")
    words = {"[UNK]": 0, "walk": 1, "##ing": 2, "##s": 3}
    found = tokenizers.Tokenizer(tokenizers.models.WordPiece(words, unk_token="[UNK]"))
    found.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    found.decoder = tokenizers.decoders.WordPiece()
    transducer = with_tokenizer(HuggingFace(found.to_str().encode()), ["walking walks"])
    letters = [transducer.letters(token) for token in ("walk", "##ing", "##s")]
    assert letters == ["walk", "ing", "s"]


def with_tokenizer(tokenizer, texts):
    from dataclasses import replace

    from beamlearn.tasks.transduction.model import Transducer, scorer_of

    tokens = dict.fromkeys(token for text in texts for token in tokenizer.cut(text))
    old = small()
    symbols = replace(old.symbols, target=tokenizer, target_tokens=tuple(tokens))
    return Transducer(old.settings, symbols, scorer_of(old.settings, symbols))


# --- scorers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    ["lstm", "transformer"],
)
def test_shapes_where_some_sources_end_before_others(model):
    transducer = tiny(model, length_factor=1, length_extra=0)
    assert len(listed(transducer, ["", "ab"])) == 2


@unchecked
@models
def test_the_batch_does_not_matter(model):
    """Alone, in any order, beside longer sources (which means padding) and twice."""
    transducer = tiny(model, length_factor=0.5, length_extra=1)
    sources = ["ab", "", "abba", "b", "abbabababa"]
    alone = [listed(transducer, [source])[0] for source in sources]
    orders = [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [1, 3], [2, 2], [0, 4]]
    for order in orders:
        together = listed(transducer, [sources[place] for place in order])
        for place, found in zip(order, together, strict=True):
            if len(found) < 300:
                assert found.keys() == alone[place].keys()
            for output in found.keys() & alone[place].keys():
                assert found[output] == pytest.approx(alone[place][output], abs=1e-4)


@unchecked
@models
def test_outputs_share_all_of_the_probability(model):
    for ways in listed(tiny(model), ["ab", ""]):
        shares = torch.tensor(list(ways.values()), dtype=torch.double)
        assert len(ways) == 1 + 2 + 4
        assert float(shares.logsumexp(0)) == pytest.approx(0, abs=1e-5)


@unchecked
@models
def test_hypotheses_keep_their_own_past(model):
    """The scores of a beam are those that each of its outputs has alone."""
    transducer = tiny(model, length_extra=3)
    every = listed(transducer, ["ab"])[0]
    for width in (1, 2, 5):
        found = listed(transducer, ["ab"], lambda *both, k=width: bl.beam_search(*both, k))[0]
        assert {output: every[output] for output in found} == pytest.approx(found, abs=1e-5)


@unchecked
@models
@pytest.mark.parametrize("layers", [1, 2])
def test_gradients_reach_all_parameters(model, layers):
    data = pairs(12)
    transducer = small(data, model=model, layers=layers, dropout=0)
    transducer.scorer.train()
    batch = [transducer.encode(*pair) for pair in zip(data.sources, data.references, strict=True)]
    path = bl.beam_trajectory(transducer.space(batch), transducer.scorer, 3)
    path.losses(LOSSES["log_loss_neighbors"]).mean().backward()
    for name, parameter in transducer.scorer.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.isfinite().all()), name
        assert bool((parameter.grad != 0).any()), name


@unchecked
@models
def test_dropout_is_for_training_alone(model):
    transducer = tiny(model, dropout=0.5)
    assert listed(transducer, ["ab"]) == listed(transducer, ["ab"])
    transducer.scorer.train()
    torch.manual_seed(1)
    one, two = (listed(transducer, ["ab"]) for _ in range(2))
    assert one != two
    torch.manual_seed(1)
    assert listed(transducer, ["ab"]) == one


@unchecked
@models
def test_unknown_symbols_are_read_like_each_other(model):
    transducer = tiny(model)
    assert listed(transducer, ["a?"]) == listed(transducer, ["a!"])
    assert listed(transducer, ["a?"]) != listed(transducer, ["ab"])


# --- lengths -------------------------------------------------------------------------------------


@models
@unchecked
def test_likelihood_is_the_same_whatever_the_length_power(model):
    """Every neighbor is divided alike, which must not make a loss blunt."""
    losses = []
    for power in (0.0, 1.0):
        transducer = small(model=model, length_power=power)
        batch = [transducer.encode(s, r) for s, r in zip(AB.sources, AB.references, strict=True)]
        path = bl.beam_trajectory(transducer.space(batch), transducer.scorer, 1, strategy="oracle")
        losses.append(path.losses(bl.losses.log_loss_neighbors))
    torch.testing.assert_close(*losses)


@models
@unchecked
def test_losses_see_the_order_that_the_beam_sees(model):
    transducer = small(model=model, length_power=0.7, length_bonus=0.1)
    batch = [transducer.encode(s, r) for s, r in zip(AB.sources, AB.references, strict=True)]
    path = bl.beam_trajectory(transducer.space(batch), transducer.scorer, 3)
    divided = [t.neighbors for t in path.transitions if t.neighbors.scale < 1]
    assert any(neighbors.ragged for neighbors in divided)
    for neighbors in divided:
        steep = neighbors.fill(neighbors.unscaled_scores, -torch.inf)
        torch.testing.assert_close(
            neighbors.fill(neighbors.unscaled_scores * neighbors.scale, 0.0), neighbors.scores
        )
        assert torch.equal(steep.argmax(dim=-1), neighbors.best(1)[1][:, 0])


@models
@unchecked
def test_a_final_choice_is_as_steep_as_what_led_to_it(model):
    transducer, known = small(model=model, length_power=0.7), pairs(6)
    batch = [transducer.encode(s, r) for s, r in zip(known.sources, known.references, strict=True)]
    path = bl.beam_trajectory(transducer.space(batch), transducer.scorer, 1, strategy="oracle")
    scales = [
        (before.neighbors.scale, last.neighbors.scale)
        for before, last in pairwise(path.transitions)
        if last.final
    ]
    assert min(scales) < (1.0, 1.0)
    assert all(before == last for before, last in scales)
    again = path.replay(transducer.scorer)
    assert [t.neighbors.scale for t in again.transitions] == [
        t.neighbors.scale for t in path.transitions
    ]


@unchecked
@models
@pytest.mark.parametrize(("power", "bonus"), [(1, 0), (0.6, 0), (0, 1.5), (0.5, -2), (1, 3)])
def test_length_power_and_bonus(model, power, bonus):
    """score = (sum of the numbers + bonus * t) / t^power, with t tokens, the end among them."""
    sources = ["", "ab", "abba"]
    plain = listed(tiny(model), sources)
    weighed = listed(tiny(model, length_power=power, length_bonus=bonus), sources)
    for one, two in zip(plain, weighed, strict=True):
        expected = {
            output: (score + bonus * (len(output) + 1)) / (len(output) + 1) ** power
            for output, score in one.items()
        }
        assert two == pytest.approx(expected, abs=1e-5)
        assert next(iter(two)) == max(expected, key=expected.get)


@unchecked
@models
def test_a_bonus_makes_outputs_longer(model):
    lengths = []
    for bonus in (-5, 0, 5):
        transducer = tiny(model, length_extra=4, length_bonus=bonus)
        best = listed(transducer, ["ab"], lambda *both: bl.beam_search(*both, 30))[0]
        lengths.append(len(next(iter(best))))
    assert lengths[0] == 0
    assert lengths[0] <= lengths[1] <= lengths[2] == 4


@unchecked
@models
def test_finish_first_ends_with_the_first_best_output(model):
    """With a bonus that a longer output would win by, the best output so far ends the search."""
    found = {}
    for finish in ("pad", "first"):
        transducer = tiny(model, finish=finish, length_extra=3, length_bonus=3)
        eager_to_end(transducer.scorer, 1.5)
        space = transducer.space([transducer.encode("ab")])
        with torch.no_grad():
            result = bl.beam_search(space, transducer.scorer, 40)
        found[finish] = result.outputs[0], len(result.trace.steps), float(result.scores[0])
    assert found["first"][:2] == ([], 1)
    assert len(found["pad"][0]) == 3
    assert found["pad"][1] > 1
    assert found["pad"][2] > found["first"][2]


def eager_to_end(scorer, number):
    """Let a scorer add a number to that of END."""
    score = scorer.score

    def eager(memory, nodes):
        numbers = score(memory, nodes).clone()
        numbers[..., END] += number
        return numbers

    scorer.score = eager


# --- learning ------------------------------------------------------------------------------------


@unchecked
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "algorithm", "options"),
    [
        ("lstm", "joint", {"learning_rate": 0.02, "epochs": 25}),
        (
            "transformer",
            "log_likelihood",
            {"learning_rate": 0.005, "epochs": 50, "feedforward": 64},
        ),
    ],
)
def test_it_learns_to_reverse_strings(model, algorithm, options):
    sources = ["".join(letters) for n in (1, 2, 3) for letters in product("ab", repeat=n)]
    targets = [source[::-1] for source in sources]
    small = {"size": 32, "batch_size": 4, "dropout": 0, "length_extra": 2}
    options = {"width": 4 if algorithm == "joint" else 1, "patience": 0, **small, **options}
    transducer = bl.BeamTransducer(model=model, algorithm=algorithm, **options)
    transducer.fit(sources, targets, sources, targets)
    assert transducer.score(sources, targets) == 1
