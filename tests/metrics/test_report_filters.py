from metrics.templatetags.report import negated, number, p_value, percent, probability, references, short_id, signed


def test_a_number_has_a_real_minus_sign_and_keeps_its_decimals() -> None:
    assert number(-0.23949, 3) == "−0.239"
    assert number(3.0, "-2") == "3"
    assert number(None, 3) == ""


def test_a_p_value_is_never_0() -> None:
    assert [p_value(value) for value in (1e-9, 0.00099, 0.001, 0.0494, 1)] == [
        "< 0.001",
        "< 0.001",
        "0.001",
        "0.049",
        "1.000",
    ]
    assert p_value(None) == p_value(float("nan")) == "–"


def test_a_small_probability_is_never_0() -> None:
    assert [probability(value) for value in (0.0, 0.00477, 5.0221e-7, 7.2e-13, 1.0)] == [
        "0.00000",
        "0.00477",
        "5.02 × 10⁻⁷",
        "7.20 × 10⁻¹³",
        "1.00000",
    ]


def test_a_share_is_0_or_100_percent_only_where_it_is() -> None:
    assert [percent(share) for share in (0, 0.004, 0.25, 0.994, 0.996, 1, None)] == [
        "0 %",
        "<1 %",
        "25 %",
        "99 %",
        ">99 %",
        "100 %",
        "–",
    ]


def test_an_id_is_shortened_only_where_it_is_too_long_for_a_table() -> None:
    assert short_id("ff20ddc0b8" + "0" * 46) == "ff20ddc0b8…"
    assert short_id("conversation-17") == "conversation-17"


def test_the_single_reference_has_the_name_used_in_forms_and_commands() -> None:
    assert references("single") == "single (the original)"
    assert references("w ≥ 0.6") == "w ≥ 0.6"


def test_the_difference_of_equal_scores_has_no_sign_in_either_order() -> None:
    assert signed(negated(0.0), 4) == signed(0.0, 4) == "0.0000"
