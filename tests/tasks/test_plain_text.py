import pytest

from beamlearn.data.plain_text import text_document
from beamlearn.data.text import DataError
from beamlearn.tasks.plain_text import check_broken, splitting_of
from beamlearn.tasks.vocabulary import Vocabulary

WORDS, CHARACTERS = Vocabulary(words={"dog": 2, "乜嘢": 1, "a": 3}), Vocabulary(words={"乜": 2})


def test_the_training_data_shows_how_to_split():
    assert splitting_of("auto", CHARACTERS)[0] == "characters"
    assert splitting_of("auto", WORDS)[0] == "words"
    assert splitting_of("blanks", CHARACTERS) == ("blanks", "")
    with pytest.raises(ValueError, match="no tokenizer called 'blank'. Did you mean 'blanks'"):
        splitting_of("blank", WORDS)


def test_a_text_without_blanks_is_no_word():
    def check(text, splitting="words"):
        check_broken(text_document(["a\n", text], "f", splitting, "columns"), splitting, longest=3)

    check("乜嘢 doghouse")
    check("側邊冇乜嘢人", "blanks")
    with pytest.raises(DataError, match=r"f:2: .* '側邊冇乜嘢人' is longer .* `tokenizer=blanks`"):
        check("側邊冇乜嘢人")
