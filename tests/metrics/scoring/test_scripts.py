"""Scripts whose words a split at spaces does not find; that the proposed tokeniser does is checked with sacrebleu's."""

import pytest

from metrics.scoring.scripts import JAPANESE, SCRIPTS, script_of
from metrics.scoring.texts import TOKENIZERS, tokenize_texts

TEXTS = {
    "Chinese characters": "我的猫在屋顶上睡觉，你的狗在哪里？",
    "Japanese characters": "ネコは屋根の上で寝ています。",
    "Thai characters": "แมวของฉันนอนอยู่บนหลังคา",
    "Arabic": "أين ذهبت القطة؟ لا أعرف شيئا، يا صديقي",
    "Devanagari": "बिल्ली छत पर सो रही है।",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_script_is_found_and_its_tokeniser_separates_what_spaces_do_not(name: str) -> None:
    script = script_of([TEXTS[name]])
    assert script is not None
    assert script.name == name
    (at_spaces,) = tokenize_texts([TEXTS[name]], tokenize="whitespace")
    (proposed,) = tokenize_texts([TEXTS[name]], tokenize=script.proposed)
    assert len(proposed) > len(at_spaces)
    assert script.warning(script.proposed) == ""
    assert script.warning("whitespace").startswith(script.reason)


def test_tokenisers_that_a_script_lacks_leave_its_texts_as_they_are() -> None:
    for script in (JAPANESE, *SCRIPTS):
        assert script.proposed not in script.lacking
        assert {script.proposed, *script.lacking} <= set(TOKENIZERS)
    (chinese,) = tokenize_texts(["我的猫在屋顶上睡觉"], tokenize="intl")
    assert len(chinese) == 1


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["The cat sat on the mat."],
        ["Die Katze saß auf der Matte."],
        ["Кошка сидела на коврике."],
        ["고양이가 지붕 위에서 잠을 잔다."],
        ["我 的 猫 在 屋顶 上 睡觉 ， 你 的 狗 在 哪里 ？"],
        ["أين ذهبت القطة ؟ لا أعرف شيئا ، يا صديقي"],
        ["I like the word 猫 more than all other words."],
    ],
)
def test_texts_that_spaces_separate_have_no_such_script(texts: list[str]) -> None:
    assert script_of(texts) is None
