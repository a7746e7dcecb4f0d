"""Components for spaCy, with pipelines and runs that are trained in a moment."""

import json
import shutil
import subprocess
import sys

import pytest
import tiny
import tiny_entities
import tiny_trees
import torch

spacy = pytest.importorskip("spacy", reason="needs spaCy; install beamlearn[spacy]")

from spacy.tokens import Doc, DocBin  # noqa: E402 (after the check)

import beamlearn.pipes.factories  # noqa: E402, F401 (as the entry points of a wheel do)
from beamlearn.cli.main import run as command  # noqa: E402
from beamlearn.pipes.component import BeamComponent  # noqa: E402
from beamlearn.tasks.tagging.settings import TaggingFiles  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("module_without_shape_checks"),
    # weasel, which spaCy imports, is written for an older click
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
SENTENCES = [["the", "old", "man", "saw"], ["a", "dog", "saw", "the", "man", "saw"], ["dog"]]
TREES = [["whom", "the", "dog", "saw", "a", "man"], ["the", "man", "met", "cat", "."]]
NAMES = [["in", "New", "York", "he", "met", "Anna"], ["Anna", "left"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def untrained(prepared, path):
    """A run as its training leaves it, with random weights that prefer one output to another."""
    model, generator = prepared.model, torch.Generator().manual_seed(4)
    with torch.no_grad():
        for weights in model.scorer.parameters():
            weights.copy_(torch.randn(weights.shape, generator=generator))
    prepared.checkpointer.run.save_model(model.scorer.state_dict())
    return path


@pytest.fixture(scope="module")
def tagger(folder):
    chosen = tiny.experiment(folder / "data")
    return untrained(tiny.begin(chosen, folder / "tagger"), folder / "tagger")


@pytest.fixture(scope="module")
def parser(folder):
    chosen = tiny_trees.experiment(folder / "trees")
    return untrained(tiny_trees.begin(chosen, folder / "parser"), folder / "parser")


@pytest.fixture(scope="module")
def entities(folder):
    data = TaggingFiles(train=tiny_entities.write_entities(folder / "entities.tsv"), column="2")
    chosen = tiny.experiment(folder / "data").model_copy(update={"data": data})
    return untrained(tiny.begin(chosen, folder / "entities"), folder / "entities")


def pipeline(name, run, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe(name, config={"run": str(run), **config})
    return nlp


def documents(nlp, texts=SENTENCES, sentences=True):
    """One document for each sentence, and one of all of them."""
    docs = [Doc(nlp.vocab, words) for words in texts]
    words = [word for text in texts for word in text]
    starts = [place == 0 for text in texts for place in range(len(text))]
    for doc in docs:
        for token in doc if sentences else []:
            token.is_sent_start = token.i == 0
    return [*docs, Doc(nlp.vocab, words, sent_starts=starts)]


def predicted(run, texts, tmp_path, *options):
    """What the command line says of the same sentences, as JSON."""
    rows = (
        "\n".join(f"{n}\t{word}" + "\t_" * 8 for n, word in enumerate(words, 1)) for words in texts
    )
    file = tmp_path / "in.conllu"
    file.write_text("\n\n".join(rows) + "\n\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    given = ["predict", str(run), str(file), "-o", str(out), "--json", *options]
    assert command(given) == 0
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


# --- the answers are those of `beamlearn predict` ----------------------------------------------


def test_a_tagger_says_what_predict_says(tagger, tmp_path):
    nlp = pipeline("beamlearn_tagger", tagger, nbest=3)
    *docs, whole = nlp.pipe(documents(nlp), batch_size=2)
    expected = predicted(tagger, SENTENCES, tmp_path, "--nbest", "3")
    for doc, record in zip(docs, expected, strict=True):
        assert [token.pos_ for token in doc] == record["tags"]
        sure = [token._.beamlearn_tag_confidence for token in doc]
        assert sure == pytest.approx(record["confidence"])
        (ways,) = doc._.beamlearn_tags
        assert [way["tags"] for way in ways] == [way["tags"] for way in record["nbest"]]
        shares = [way["probability"] for way in record["nbest"]]
        assert [way["probability"] for way in ways] == pytest.approx(shares)
    assert [token.pos_ for token in whole] == [tag for record in expected for tag in record["tags"]]
    assert len(whole._.beamlearn_tags) == 3


def test_a_parser_says_what_predict_says(parser, tmp_path):
    nlp = pipeline("beamlearn_parser", parser, nbest=2)
    *docs, whole = nlp.pipe(documents(nlp, TREES))
    expected = predicted(parser, TREES, tmp_path, "--nbest", "2")
    for doc, record in zip(docs, expected, strict=True):
        heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
        names = [
            name if head else "ROOT" for head, name in zip(heads, record["relations"], strict=True)
        ]
        assert heads == record["heads"]
        assert [token.dep_ for token in doc] == names
        sure = [token._.beamlearn_arc_confidence for token in doc]
        assert sure == pytest.approx(record["confidence"])
        (ways,) = doc._.beamlearn_trees
        assert [way["heads"] for way in ways] == [way["heads"] for way in record["nbest"]]
    assert [len(sentence) for sentence in whole.sents] == [6, 5]
    inside = [token.head.i - sent.start for sent in whole.sents for token in sent]
    assert inside == [token.head.i for doc in docs for token in doc]


def test_crossing_arcs_stay_in_their_sentence(parser, monkeypatch):
    """spaCy moves the borders of sentences while heads are set one by one."""
    from beamlearn.pipes import trees
    from beamlearn.tasks.parsing.decode import Parse, Parsing
    from beamlearn.tasks.parsing.tree import Tree

    tree = Tree((6, 3, 4, 0, 6, 4), ("nmod:of", "det", "nsubj", "root", "det", "obj"))
    found = Parsing((Parse(tree, 0.0, 1.0),), (0.5,) * 6)
    monkeypatch.setattr(trees, "parse", lambda *_, **__: iter([(0, found), (1, found)]))
    nlp = pipeline("beamlearn_parser", parser)
    doc = nlp(documents(nlp, [TREES[0], TREES[0]])[-1])
    assert [(sent.start, sent.end) for sent in doc.sents] == [(0, 6), (6, 12)]
    assert [token.head.i for token in doc] == [5, 2, 3, 3, 5, 3, 11, 8, 9, 9, 11, 9]
    assert doc[6].dep_ == "nmod:of"
    assert [token._.beamlearn_arc_confidence for token in doc] == [0.5] * 12


def test_entities_are_those_of_predict(entities, tmp_path):
    nlp = pipeline("beamlearn_ner", entities, nbest=2, width=4)
    *docs, whole = nlp.pipe(documents(nlp, NAMES))
    rows = "\n\n".join("\n".join(words) for words in NAMES) + "\n"
    (tmp_path / "in.txt").write_text(rows, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    given = ["predict", str(entities), str(tmp_path / "in.txt"), "-o", str(out), "--json"]
    assert command([*given, "--width", "4", "--nbest", "4"]) == 0
    expected = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for doc, record in zip(docs, expected, strict=True):
        assert [spelled(token) for token in doc] == record["tags"]
        for entity in doc.ents:
            kept = [
                way["probability"]
                for way in record["nbest"]
                if begins_and_ends(way["tags"], entity.start, entity.end, entity.label_)
            ]
            assert entity._.beamlearn_confidence == pytest.approx(sum(kept))
        (ways,) = doc._.beamlearn_entities
        assert len(ways) == 2
        assert ways[0]["entities"] == [[e.start, e.end, e.label_] for e in doc.ents]
    assert sum(len(record["nbest"]) for record in expected) == 8
    assert any(doc.ents for doc in docs)
    assert len(whole.ents) == sum(len(doc.ents) for doc in docs)


def spelled(token):
    return token.ent_iob_ + (f"-{token.ent_type_}" if token.ent_type_ else "")


def begins_and_ends(tags, start, end, label):
    """Is this the entity that these tags mark?"""
    inside = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags[start:end] == inside and tags[end : end + 1] != [f"I-{label}"]


# --- pipelines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "beamlearn_parser",
        pytest.param("beamlearn_tagger", marks=pytest.mark.slow),
        pytest.param("beamlearn_ner", marks=pytest.mark.slow),
    ],
)
def test_a_pipeline_is_saved_with_its_model(name, tagger, parser, entities, tmp_path):
    run = {"beamlearn_tagger": tagger, "beamlearn_parser": parser, "beamlearn_ner": entities}[name]
    shutil.copytree(run, tmp_path / "run")
    nlp = pipeline(name, tmp_path / "run", nbest=2)
    texts = TREES if name == "beamlearn_parser" else NAMES
    expected = [doc.to_json() for doc in nlp.pipe(documents(nlp, texts))]
    assert nlp.get_pipe_config(name)["run"] is None
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(tmp_path / "run")
    again = spacy.load(tmp_path / "saved")
    assert [doc.to_json() for doc in again.pipe(documents(again, texts))] == expected
    for file in (tmp_path / "saved").rglob("*"):
        if file.is_file():
            assert str(tmp_path).encode() not in file.read_bytes()
            assert file.suffix not in (".pkl", ".pickle")
    kept = {path.name for path in (tmp_path / "saved" / name).iterdir()}
    assert {"config.json", "model.safetensors", "vocabulary.json"} <= kept
    assert kept <= {"config.json", "model.safetensors", "vocabulary.json", "decoding.json"}
    other = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    other.from_bytes(nlp.to_bytes())
    assert [doc.to_json() for doc in other.pipe(documents(other, texts))] == expected


def test_components_work_together(tagger, parser, entities):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("beamlearn_tagger", config={"run": str(tagger)})
    nlp.add_pipe("beamlearn_parser", config={"run": str(parser)})
    nlp.add_pipe("beamlearn_ner", name="who", config={"run": str(entities)})
    doc = nlp("the dog saw  the man. Anna left")
    assert [sent.text for sent in doc.sents] == ["the dog saw  the man.", "Anna left"]
    assert doc.has_annotation("DEP")
    assert doc.has_annotation("ENT_IOB")
    space = doc[3]
    assert space.is_space
    assert (space.pos_, space.dep_, space.head) == ("SPACE", "dep", doc[2])
    assert space._.beamlearn_tag_confidence is None
    alone = nlp("the dog saw the man. Anna left")
    assert [token.pos_ for token in doc if not token.is_space] == [token.pos_ for token in alone]
    full = nlp("the dog saw")
    with nlp.select_pipes(disable=["beamlearn_parser", "who"]):
        plain = nlp("the dog saw")
    assert not plain.has_annotation("DEP")
    assert plain._.beamlearn_trees is None
    assert [token.pos_ for token in plain] == [token.pos_ for token in full]
    nlp.rename_pipe("who", "names")
    assert nlp.get_pipe_config("names")["run"] is None
    stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (back,) = DocBin().from_bytes(stored).get_docs(nlp.vocab)
    assert back[0]._.beamlearn_tag_confidence == doc[0]._.beamlearn_tag_confidence
    trees = json.dumps(back._.beamlearn_trees)  # lists come back as tuples
    assert trees == json.dumps(doc._.beamlearn_trees)


def test_several_processes_give_the_same_answers(tagger):
    nlp = pipeline("beamlearn_tagger", tagger, nbest=2)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        texts = ["the old man saw", "a dog saw the man", "dog"] * 4
        alone = [doc.to_json() for doc in nlp.pipe(texts)]
        together = list(nlp.pipe(texts, n_process=2, batch_size=3))
    finally:
        torch.set_num_threads(before)
    assert [doc.to_json() for doc in together] == alone
    assert len(together[0]._.beamlearn_tags[0]) == 2


@pytest.mark.parametrize("name", ["beamlearn_tagger", "beamlearn_parser", "beamlearn_ner"])
def test_documents_without_words(name, tagger, parser, entities):
    run = {"beamlearn_tagger": tagger, "beamlearn_parser": parser, "beamlearn_ner": entities}[name]
    nlp = pipeline(name, run)
    docs = list(nlp.pipe(["", "   ", "dog"]))
    assert [len(doc) for doc in docs] == [0, 1, 1]
    assert list(nlp.pipe([])) == []


def test_where_tags_go(entities, tagger):
    doc = pipeline("beamlearn_tagger", entities)("Anna left")
    assert [token.tag_ for token in doc] == doc._.beamlearn_tags[0][0]["tags"]
    nlp = pipeline("beamlearn_tagger", tagger, attribute="tag")
    token = nlp("dog")[0]
    assert token.tag_ == token.doc._.beamlearn_tags[0][0]["tags"][0]
    assert token.pos_ == ""


def test_features_go_to_the_morphology(folder):
    (folder / "feats.tsv").write_text("a\tNumber=Sing\nb\tCase=Nom|Number=Plur\nc\t_\n")
    data = TaggingFiles(train=str(folder / "feats.tsv"), dev=str(folder / "feats.tsv"), column="2")
    chosen = tiny.experiment(folder / "data").model_copy(update={"data": data})
    run = untrained(tiny.begin(chosen, folder / "feats"), folder / "feats")
    doc = pipeline("beamlearn_tagger", run, attribute="morph")("a b c a b c")
    tags = [str(token.morph) or "_" for token in doc]
    assert tags == doc._.beamlearn_tags[0][0]["tags"]
    assert [token.tag_ for token in pipeline("beamlearn_tagger", run)("a b c a b c")] == tags


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "config", "sentence"),
    [
        ("beamlearn_tagger", "parser", {}, "tagger needs a run of `beamlearn train tag`, but .*"),
        ("beamlearn_parser", "tagger", {}, "parser needs a run of `beamlearn train parse`, but"),
        ("beamlearn_ner", "tagger", {}, "needs a tagger with BIO tags .*; use beamlearn_tagger"),
        ("beamlearn_tagger", "nothing", {}, "There is no folder .*nothing; give one"),
        ("beamlearn_tagger", "entities", {"attribute": "pos"}, "parts of speech .* has B-PER; use"),
        ("beamlearn_tagger", "tagger", {"attribute": "morph"}, "features such as .* has ADJ; use"),
        ("beamlearn_tagger", "tagger", {"attribute": "lemma"}, "no attribute called 'lemma'"),
        ("beamlearn_tagger", "tagger", {"nbest": 0}, "`nbest` must be at least 1, got 0"),
        ("beamlearn_tagger", "tagger", {"device": "toaster"}, "`device` must be one that PyTorch"),
    ],
)
@pytest.mark.usefixtures("tagger", "parser", "entities")
def test_wrong_runs_are_refused(name, kind, config, sentence, folder):
    with pytest.raises(ValueError, match=sentence):
        pipeline(name, folder / kind, **config)


def test_a_component_without_a_model():
    nlp = spacy.blank("en")
    nlp.add_pipe("beamlearn_tagger")
    with pytest.raises(ValueError, match="has no model yet; give it a run folder, as in nlp.add_p"):
        nlp("dog")


def test_a_parser_needs_sentences(parser):
    nlp = pipeline("beamlearn_parser", parser)
    with pytest.raises(ValueError, match="does not say where its sentences begin; add a component"):
        nlp("the dog saw")


def test_a_parser_that_sees_tags(folder, tagger):
    out = folder / "tagged"
    data = tiny_trees.experiment(folder / "t", epochs=1, tagged=True, network={"tags": "upos"})
    untrained(tiny_trees.begin(data, out), out)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("beamlearn_parser", config={"run": str(out)})
    with pytest.raises(ValueError, match="needs a tag in token.pos_ for each word, but 'the' has"):
        nlp("the dog saw")
    nlp.add_pipe("beamlearn_tagger", before="beamlearn_parser", config={"run": str(tagger)})
    assert nlp("the dog saw").has_annotation("DEP")


def test_damaged_files_are_refused(tagger, tmp_path):
    nlp = pipeline("beamlearn_tagger", tagger)
    nlp.to_disk(tmp_path / "saved")
    tiny.flip(tmp_path / "saved" / "beamlearn_tagger" / "model.safetensors")
    with pytest.raises(ValueError, match="model.safetensors is damaged"):
        spacy.load(tmp_path / "saved")


def test_the_wheel_announces_the_components():
    """spaCy finds components by these entry points, without an import."""
    from importlib import import_module
    from pathlib import Path

    tomllib = pytest.importorskip("tomllib")
    text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text(encoding="utf-8")
    announced = tomllib.loads(text)["project"]["entry-points"]["spacy_factories"]
    assert set(announced) == {"beamlearn_tagger", "beamlearn_parser", "beamlearn_ner"}
    for name, target in announced.items():
        module, function = target.split(":")
        factory = getattr(import_module(module), function)
        made = factory(spacy.blank("en"), name, **defaults(name))
        assert isinstance(made, BeamComponent)
        assert made.factory == name


def defaults(name):
    return dict(spacy.language.Language.get_factory_meta(name).default_config)


@pytest.mark.slow
def test_who_only_uses_spacy_loads_no_models():
    """spaCy imports the factories of all packages that have some."""
    code = "import sys, beamlearn.pipes.factories; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "spacy" in done.stdout.split()
    assert not any(name.startswith("beamlearn.tasks") for name in done.stdout.split())
