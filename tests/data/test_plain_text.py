import pytest

from beamlearn.data.plain_text import split_characters, split_words, text_document, unbroken


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The dog barks.", ["The", "dog", "barks", "."]),
        ("  It\u2019s 3.14, not 1,000\u00a0! ", ["It\u2019s", "3.14", ",", "not", "1,000", "!"]),
        ("a.b, -c e_f", ["a", ".", "b", ",", "-", "c", "e_f"]),
        ("हिन्दी में\u0964", ["हिन्दी", "में", "\u0964"]),
        ("n\u0303andu\u0301", ["n\u0303andu\u0301"]),
        ("", []),
    ],
)
def test_words_are_letters_with_their_marks(text, words):
    assert split_words(text) == words


def test_characters_have_no_blanks_between_them():
    assert split_characters(" 側 邊\u3000冇\n") == ["側", "邊", "冇"]


def test_scripts_without_blanks():
    assert [word for word in ("乜嘢", "ตลาด", "乜", "dog", "乜x") if unbroken(word)] == [
        "乜嘢",
        "ตลาด",
    ]


def test_each_line_is_a_sentence_of_a_column_file():
    document = text_document(["\ufeffGo on.\r\n", " \n", "Do"], "f", "words", "columns")
    assert document.words() == [["Go", "on", "."], ["Do"]]
    assert document.begins == [1, 3]
    found = document.rewrite("2", [["V", "P", "."], ["V"]])
    assert found == "Go\tV\non\tP\n.\t.\n\nDo\tV\n\n"
    assert document.only([1]).begins == [3]


def test_each_line_is_a_sentence_of_conllu():
    document = text_document(["ignored\n", "Go  on"], "f", "blanks", "conllu", 8)
    assert document.begins == [8, 9]
    made = document.only([1]).rewrite_trees([([0, 1], ["root", "x"])], [["# parse_1 = a"]])
    assert made.split("\n\n")[1] == (
        "# text = Go on\n# parse_1 = a\n"
        "1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n2\ton\t_\t_\t_\t_\t1\tx\t_\t_"
    )
