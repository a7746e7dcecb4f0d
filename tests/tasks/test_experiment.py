import json
import shutil

import pytest
import torch
from tiny import (
    NETWORK,
    TAGS,
    begin,
    conllu,
    contents,
    experiment,
    finish,
    flip,
    halve,
    load,
    part,
    resume,
    sentences,
)

from beamlearn.data.sealed import seal, unseal
from beamlearn.data.text import DataError
from beamlearn.tasks import experiment as experiments
from beamlearn.tasks.tagging.sentences import TaggedSentences
from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingExperiment, TaggingFiles
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.training.run import RunError
from beamlearn.training.settings import SettingsError

pytestmark = pytest.mark.usefixtures("no_shape_checks")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a finished training."""
    folder = tmp_path_factory.mktemp("trained")
    finish(begin(experiment(folder, dev=4), folder / "run"))
    return folder / "run"


@pytest.fixture
def copy(trained, tmp_path):
    """A copy of it to damage."""
    return shutil.copytree(trained, tmp_path / "copy")


def edit(path, change):
    """Change the object in a JSON file."""
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))


def of_an_earlier_version(run):
    """Runs had no digest of the vocabulary."""
    edit(run / "config.json", lambda config: config.pop("vocabulary_fingerprint"))


def one_sentence(error, match):
    """The only kinds of errors that users see, as one line."""
    assert type(error.value) in (RunError, SettingsError, DataError)
    error.match(match)
    assert "\n" not in str(error.value)


def weights(tagger):
    return {name: tensor.clone() for name, tensor in tagger.scorer.state_dict().items()}


def equal(one, two):
    return one.keys() == two.keys() and all(torch.equal(t, two[n]) for n, t in one.items())


# --- data ---------------------------------------------------------------------------------------


def read_data(data):
    return experiments.read_data(TAGGING, TaggingExperiment(data=data))


def test_without_a_validation_file_every_tenth_sentence_is_held_out(tmp_path):
    data = sentences(25)
    train, dev = read_data(TaggingFiles(train=conllu(tmp_path / "f.conllu", data)))
    assert dev == data.take([0, 10, 20])
    assert train == data.take([i for i in range(25) if i % 10])


def test_the_fewest_sentences_without_a_validation_file(tmp_path):
    path = conllu(tmp_path / "f.conllu", sentences(2))
    train, dev = read_data(TaggingFiles(train=path))
    assert (len(train), len(dev)) == (1, 1)
    with pytest.raises(DataError, match="at least 2 examples are needed, got 1; name a valid"):
        read_data(TaggingFiles(train=path, limit=1))


@pytest.mark.parametrize(("limit", "left"), [(1, 1), (7, 7), (25, 25), (99, 25), (None, 25)])
def test_limit_is_of_the_training_file(tmp_path, limit, left):
    data, other = sentences(25), sentences(8, seed=1)
    files = [conllu(tmp_path / "train.conllu", data), conllu(tmp_path / "dev.conllu", other)]
    train, dev = read_data(TaggingFiles(train=files[0], dev=files[1], limit=limit))
    assert train == data.take(range(left))
    assert dev == other


def test_limit_comes_before_holding_out(tmp_path):
    data = sentences(25)
    path = conllu(tmp_path / "f.conllu", data)
    train, dev = read_data(TaggingFiles(train=path, limit=11))
    assert (train, dev) == (data.take(range(1, 10)), data.take([0, 10]))


def test_files_without_sentences(tmp_path):
    (tmp_path / "f.conllu").write_text("\n")
    with pytest.raises(
        DataError, match="f.conllu: The file must have at least one sentence, got none"
    ):
        read_data(TaggingFiles(train=str(tmp_path / "f.conllu")))
    with pytest.raises(DataError, match="none.conllu: There is no such file"):
        read_data(TaggingFiles(train=str(tmp_path / "none.conllu")))


def test_a_digest_is_of_words_tags_and_their_order():
    data = TaggedSentences([["a", "b"], ["c"]], [["X", "Y"], ["Z"]])
    others = [
        TaggedSentences([["a", "c"], ["c"]], data.tags),
        TaggedSentences(data.words, [["X", "X"], ["Z"]]),
        TaggedSentences([["a"], ["b", "c"]], [["X"], ["Y", "Z"]]),
        data.take([1, 0]),
    ]
    assert len({data.digest, *(other.digest for other in others)}) == 5
    assert data.digest == data.take([0, 1]).digest


# --- begin, resume and load ---------------------------------------------------------------------


def test_config_holds_the_experiment_with_everything_decided(tmp_path):
    chosen = experiment(tmp_path, algorithm="dagger", width=None)
    prepared = begin(chosen, tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["task"] == "tag"
    assert config["tagger"]["normalize"] == "log_softmax"
    decided = chosen.learning.model_copy(update={"beam_start": 0.0})
    assert config["learning"] == decided.model_dump(mode="json")
    assert resume(tmp_path / "run").experiment == prepared.experiment == chosen.resolved()


def test_runs_without_a_fingerprint_of_the_validation_data_can_go_on(copy):
    edit(copy / "config.json", lambda config: config.pop("validation_fingerprint"))
    assert resume(copy).experiment == load(copy)[1]


def test_the_seed_makes_the_first_weights(tmp_path):
    first, again, other = (
        weights(begin(experiment(tmp_path, seed=seed), tmp_path / name).model)
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert equal(first, again)
    assert not equal(first, other)


def test_begin_in_the_folder_of_a_run(trained, tmp_path):
    before = contents(trained)
    with pytest.raises(RunError, match="already holds a run; resume it"):
        begin(experiment(tmp_path), trained)
    assert contents(trained) == before


def test_validations_in_words(tmp_path):
    prepared = begin(experiment(tmp_path, dev=4, epochs=1), tmp_path / "run")
    *_, found = prepared.training
    words = sum(map(len, prepared.validation.words))
    right = words - int(found.evaluation.costs.sum())
    assert prepared.describe_validation(found.evaluation) == f"accuracy {right / words:.2%}"


@pytest.mark.parametrize("go", [resume, load])
def test_no_run(tmp_path, go):
    with pytest.raises(RunError) as error:
        go(tmp_path / "none")
    one_sentence(error, "^There is no folder .*none; give one that a training wrote")
    with pytest.raises(RunError) as error:
        go(tmp_path)
    one_sentence(error, "is not a run folder, as there is no config.json in it")


def test_load_before_the_first_epoch_has_ended(tmp_path):
    begin(experiment(tmp_path), tmp_path / "run")
    with pytest.raises(RunError) as error:
        load(tmp_path / "run")
    one_sentence(error, "There is no .*model.safetensors yet, .* has ended; resume it")


# --- changed files ------------------------------------------------------------------------------


def swap_tag(path, sentence):
    """Change one tag of a sentence in a CoNLL-U file."""
    parts = path.read_text().split("\n\n")
    parts[sentence] = parts[sentence].replace(parts[sentence].split("\t")[3], "X", 1)
    path.write_text("\n\n".join(parts))


@pytest.mark.parametrize("sentence", [0, 3])  # the first one is held out
def test_a_changed_training_file(tmp_path, sentence):
    begin(experiment(tmp_path), tmp_path / "run")
    swap_tag(tmp_path / "train.conllu", sentence)
    with pytest.raises(RunError) as error:
        resume(tmp_path / "run")
    one_sentence(error, "train.conllu is not what the training in .*run began with; restore the")


def test_a_changed_validation_file(tmp_path):
    begin(experiment(tmp_path, dev=3), tmp_path / "run")
    swap_tag(tmp_path / "dev.conllu", 1)
    with pytest.raises(RunError) as error:
        resume(tmp_path / "run")
    one_sentence(error, "dev.conllu is not what the training in .*run began with; restore the")


def test_what_is_no_word_and_no_tag_may_change(tmp_path):
    begin(experiment(tmp_path), tmp_path / "run")
    path = tmp_path / "train.conllu"
    path.write_text("# a comment\n" + path.read_text())
    assert resume(tmp_path / "run").training.round == 0


def test_a_missing_training_file(tmp_path):
    begin(experiment(tmp_path), tmp_path / "run")
    (tmp_path / "train.conllu").unlink()
    with pytest.raises(DataError) as error:
        resume(tmp_path / "run")
    one_sentence(error, "train.conllu: There is no such file")


@pytest.mark.parametrize("go", [resume, load])
@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda c: c["learning"].update(algorithm="bsoo"), "no algorithm called 'bsoo'. Did you"),
        (lambda c: c["learning"].update(widht=3), "no setting called 'widht'. Did you mean 'width"),
        (lambda c: c["tagger"].update(history_size=-1), "`tagger.history_size` must .*, got -1"),
        (lambda c: c["data"].pop("train"), "`data.train` is required but missing; set it."),
        (lambda c: c.update(data=3), "`data` must .*, got 3"),
        (lambda c: c.update(task="parse"), "`task` must .*'tag', got 'parse'"),
        (lambda c: c.update(extra=1), "no setting called 'extra'"),
        (lambda c: c.clear(), "`data` is required"),
    ],
)
def test_tampered_config(copy, go, change, match):
    edit(copy / "config.json", change)
    with pytest.raises(SettingsError) as error:
        go(copy)
    one_sentence(error, f"copy/config.json: .*{match}")


@pytest.mark.parametrize("go", [resume, load])
@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"a": }'])
@pytest.mark.parametrize("name", ["config.json", "vocabulary.json"])
def test_files_that_hold_no_object(copy, go, name, text):
    (copy / name).write_text(text)
    with pytest.raises(RunError) as error:
        go(copy)
    one_sentence(error, f"{name} is not valid JSON .*; fix it or restore it from a copy")


@pytest.mark.parametrize("go", [resume, load])
def test_no_vocabulary(copy, go):
    (copy / "vocabulary.json").unlink()
    with pytest.raises(RunError) as error:
        go(copy)
    one_sentence(error, "There is no .*vocabulary.json; restore it from a copy")


@pytest.mark.parametrize("go", [resume, load])
@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.clear(),
        lambda v: v.pop("words"),
        lambda v: v.pop("tags"),
        lambda v: v.update(tags=5),
        lambda v: v.update(tags=None),
        lambda v: v.update(tags=list(range(len(v["tags"])))),
        lambda v: v.update(words=list(v["words"])),
        lambda v: v.update(words={"the": "often"}),
        lambda v: v.update(affixes=3),
        lambda v: v.update(affix_length="long"),
        lambda v: v.update(min_count=None),
        lambda v: v.update(vectors=["the"], vector_size=-1),
    ],
)
def test_tampered_vocabulary(copy, go, change):
    of_an_earlier_version(copy)
    edit(copy / "vocabulary.json", change)
    with pytest.raises(RunError) as error:
        go(copy)
    one_sentence(error, "vocabulary.json must hold the words and tags of the tagger in config.json")


@pytest.mark.parametrize("go", [resume, load])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vocabulary.json", lambda v: v["tags"].pop()),
        ("vocabulary.json", lambda v: v["words"].update(unheard=5)),
        ("vocabulary.json", lambda v: v.pop("affixes")),
        ("config.json", lambda c: c["tagger"].update(history_size=9)),
        ("config.json", lambda c: c["tagger"].update(context="sentence")),
        ("config.json", lambda c: c["tagger"].update(model="linear", buckets=8)),
    ],
)
def test_weights_that_do_not_fit(copy, go, name, change):
    of_an_earlier_version(copy)
    edit(copy / name, change)
    with pytest.raises(RunError) as error:
        go(copy)
    one_sentence(error, "do(es)? not fit its config.json and vocabulary.json; one of them was")


@pytest.mark.parametrize("go", [resume, load])
@pytest.mark.parametrize(
    "change",
    [
        lambda v: v["tags"].reverse(),
        lambda v: v["words"].update(the=999),
        lambda v: v.pop("max_characters"),
    ],
)
def test_a_vocabulary_with_other_symbols_of_the_same_number(copy, go, change):
    """The weights fit, and would mean something else."""
    edit(copy / "vocabulary.json", lambda facts: None)
    go(copy)  # spaces and line ends do not matter
    edit(copy / "vocabulary.json", change)
    with pytest.raises(RunError) as error:
        go(copy)
    one_sentence(error, "vocabulary.json does not fit the digest in config.json; one of them was")


@pytest.mark.parametrize("damage", [halve, flip, lambda path: path.write_bytes(b"")])
def test_a_damaged_model_is_refused_and_mended_by_going_on(copy, trained, damage):
    damage(copy / "model.safetensors")
    with pytest.raises(RunError) as error:
        load(copy)
    one_sentence(error, "model.safetensors is damaged .*; restore it from a copy, or resume")
    finish(resume(copy))
    assert contents(copy) == contents(trained)


def test_a_model_of_other_shapes(copy):
    tensors = unseal(copy / "model.safetensors")[0]
    tensors["recall.weight"] = torch.zeros(2, 2)
    (copy / "model.safetensors").write_bytes(seal(tensors))
    with pytest.raises(RunError) as error:
        load(copy)
    one_sentence(error, "The weights in .*copy do not fit its config.json and vocabulary.json")


def test_constraints_that_the_tags_do_not_allow(copy):
    edit(copy / "config.json", lambda config: config["tagger"].update(constrained=True))
    with pytest.raises(RunError) as error:
        load(copy)
    one_sentence(error, "must hold the words and tags of the tagger in config.json")


# --- warm start ---------------------------------------------------------------------------------


def test_warm_start_takes_the_weights_over(trained, tmp_path):
    prepared = begin(experiment(tmp_path, warm_start=trained, seed=5), tmp_path / "run")
    assert equal(weights(prepared.model), weights(load(trained)[0]))
    assert prepared.model.lexicon == load(trained)[0].lexicon
    cold = begin(experiment(tmp_path, seed=5), tmp_path / "cold")
    start, first, _ = (event for event, _ in zip(prepared.training, range(3), strict=False))
    assert (start.epoch, start.best) == (0, True)
    assert first.losses.mean() < next(iter(cold.training)).losses.mean()


@pytest.mark.parametrize(
    ("network", "learning", "weight"),
    [
        ({"context": "streaming"}, {}, 0.3),
        ({"context": "sentence"}, {}, 0.1),
        ({"context": "auto", "lookahead": 2}, {}, 0.3),
        ({"context": "streaming"}, {"beam_weight": 0.05}, 0.05),
        ({"context": "streaming"}, {"algorithm": "continue"}, None),
    ],
)
def test_the_weight_of_the_beam_depends_on_what_the_model_sees(tmp_path, network, learning, weight):
    decided = experiment(tmp_path, network=network, **learning).resolved()
    at = decided.learning.weight_at(9)
    assert (None if at is None else at(9)) == weight
    assert decided.resolved() == decided


@pytest.mark.parametrize(
    ("context", "learning", "start", "normalize"),
    [
        ("sentence", {}, 2 / 3, "log_softmax"),
        ("sentence", {"beam_weight": 0.2}, 2 / 3, "log_softmax"),
        ("sentence", {"beam_start": 0.0}, 0, "log_softmax"),
        ("sentence", {"stream": True}, 0, "log_softmax"),
        ("sentence", {"algorithm": "continue"}, 0, "none"),
        ("sentence", {"algorithm": "log_likelihood", "width": 1}, 0, "log_softmax"),
        ("streaming", {}, 0, "none"),
        ("streaming", {"beam_start": 0.5}, 0.5, "none"),
    ],
)
def test_when_the_beam_joins_depends_on_what_the_model_sees(
    tmp_path, context, learning, start, normalize
):
    decided = experiment(tmp_path, network={"context": context}, **learning).resolved()
    assert decided.learning.likelihood_share == start
    assert decided.tagger.normalize == normalize
    assert decided.resolved() == decided
    again = decided.left_open()
    assert again.learning.beam_start == learning.get("beam_start")
    assert again.resolved() == decided


def test_a_warm_start_has_had_its_likelihood(tmp_path):
    folder, sighted = tmp_path / "sighted", {"network": {"context": "sentence"}, "epochs": 1}
    finish(begin(experiment(tmp_path, **sighted), folder))
    warm = begin(experiment(tmp_path, warm_start=folder, **sighted), tmp_path / "warm")
    assert warm.experiment.learning.likelihood_share == 0


def test_a_warm_start_weighs_the_beam_by_the_network_that_it_takes_over(trained, tmp_path):
    chosen = experiment(tmp_path, warm_start=trained, network={"context": "auto"})
    prepared = begin(chosen, tmp_path / "run")
    assert prepared.experiment.learning.weight_at(9)(1) == 0.3
    assert resume(tmp_path / "run").experiment == prepared.experiment


def test_warm_start_takes_the_network_over(trained, tmp_path):
    chosen = experiment(tmp_path, warm_start=trained, network={"dropout": 0.6})
    prepared = begin(chosen, tmp_path / "run")
    assert prepared.experiment.tagger.history_size == NETWORK["history_size"]
    assert prepared.experiment.tagger.dropout == 0.6
    assert resume(tmp_path / "run").experiment == prepared.experiment


def test_warm_start_keeps_the_sizes_of_the_network(trained, tmp_path):
    chosen = experiment(tmp_path, warm_start=trained, network={"history_size": 5})
    with pytest.raises(SettingsError) as error:
        begin(chosen, tmp_path / "run")
    one_sentence(error, "`history_size` must be 8 as in the run that is the warm start, got 5")
    assert not (tmp_path / "run").exists()


def test_warm_start_needs_every_tag(trained, tmp_path):
    data = sentences(12)
    data.tags[3][0] = "ZEBRA"
    chosen = experiment(tmp_path, warm_start=trained)
    conllu(tmp_path / "train.conllu", data)
    with pytest.raises(SettingsError) as error:
        begin(chosen, tmp_path / "run")
    one_sentence(error, "^`warm_start`: .*run must know every tag .*, but it has no 'ZEBRA'; train")
    assert not (tmp_path / "run").exists()


def test_warm_start_from_nowhere(tmp_path):
    with pytest.raises(RunError) as error:
        begin(experiment(tmp_path, warm_start=tmp_path / "none"), tmp_path / "run")
    one_sentence(error, "There is no folder .*none")
    assert not (tmp_path / "run").exists()


def test_warm_start_can_be_deleted_once_training_has_begun(copy, tmp_path):
    chosen = experiment(tmp_path, warm_start=copy)
    finish(begin(chosen, tmp_path / "whole"))
    for events in (0, 5):
        part(begin(chosen, tmp_path / f"run{events}"), events)
    shutil.rmtree(copy)
    for events in (0, 5):
        finish(resume(tmp_path / f"run{events}"))
        assert contents(tmp_path / f"run{events}") == contents(tmp_path / "whole")
    load(tmp_path / "whole")


# --- kinds of taggers ---------------------------------------------------------------------------


def test_pretrained_vectors_are_kept_in_the_run(tmp_path):
    lines = [f"{word} {number}.5 -1" for number, word in enumerate(TAGS)]
    (tmp_path / "vectors.txt").write_text("\n".join([*lines, ""]))
    network = {"vectors": str(tmp_path / "vectors.txt")}
    chosen = experiment(tmp_path, network=network, epochs=2)
    finish(begin(chosen, tmp_path / "whole"))
    part(begin(chosen, tmp_path / "run"), 2)
    (tmp_path / "vectors.txt").unlink()
    finish(resume(tmp_path / "run"))
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    table = weights(load(tmp_path / "run")[0])["words.pretrained.weight"]
    assert table[1:].tolist() == [[number + 0.5, -1.0] for number in range(len(TAGS))]


def test_a_linear_tagger_goes_on_and_is_loaded(tmp_path):
    chosen = experiment(tmp_path, network={"model": "linear", "buckets": 64}, algorithm="bso")
    prepared = finish(begin(chosen, tmp_path / "whole"))
    part(begin(chosen, tmp_path / "run"), 5)
    finish(resume(tmp_path / "run"))
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")
    assert equal(weights(load(tmp_path / "run")[0]), weights(prepared.model))


def test_fitted_in_memory_there_is_nothing_to_begin(tmp_path):
    chosen = TaggingExperiment(data=None, tagger=TaggerSettings(**NETWORK))
    with pytest.raises(SettingsError) as error:
        begin(chosen, tmp_path / "run")
    one_sentence(error, "Training from files needs `data.train`")


def test_a_loaded_tagger_is_in_evaluation_mode(trained):
    tagger, _ = load(trained)
    assert not tagger.scorer.training
