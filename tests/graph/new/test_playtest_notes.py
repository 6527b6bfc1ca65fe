from tools.playtest.of_run.measuring import search_notes


def test_a_ladder_over_hidden_information_says_what_more_simulations_do_not_promise() -> None:
    (note,) = search_notes("ismcts", simulations=200, wanted=200)
    assert "hidden information" in note
    assert "no guarantee" in note


def test_a_ladder_without_hidden_information_has_no_such_note() -> None:
    assert search_notes("uct", simulations=200, wanted=200) == []


def test_searches_that_were_held_to_fewer_simulations_are_named() -> None:
    (note,) = search_notes("uct", simulations=20, wanted=200)
    assert "held to 20 simulations a move instead of 200" in note
    assert len(search_notes("ismcts", simulations=20, wanted=200)) == 2
