"""Selection among players whose true strength is known, as their scores are drawn with it."""

import numpy as np

from agents.strategy.selection import Members, Scores, Selector, negation

EVEN = 0.5


class Table:
    """Deals of a two-player game: a line-up wins with the chance that its strength says."""

    def __init__(self, strength: dict[frozenset[str], float], seed: int = 0) -> None:
        self.strength, self.seed = strength, seed
        self.asked: list[tuple[Members, Members, int, bool]] = []

    def __call__(self, members: Members, rivals: Members, deals: int, fresh: bool) -> Scores:
        self.asked.append((members, rivals, deals, fresh))
        luck = np.random.default_rng((self.seed, fresh)).random(deals)
        ours, theirs = (self.strength.get(frozenset(one), EVEN) for one in (members, rivals))
        chance = ours if not rivals else EVEN + ours - theirs
        return [float(one < chance) for one in luck]


def strengths(**each: float) -> dict[frozenset[str], float]:
    return {frozenset(names.split("__")): value for names, value in each.items()}


def test_what_is_not_better_than_random_never_joins() -> None:
    table = Table(strengths(good=0.8, idle=0.5, bad=0.3, not_bad=0.7))
    table.strength |= {frozenset({"good", "idle"}): 0.95, frozenset({"good", "bad"}): 0.95}
    found = Selector(table, EVEN, deals=200).select(["good", "idle", "bad"])
    assert not {"idle", "bad"} & set(found.members)
    assert any(note.startswith("idle") and "not known to be" in note for note in found.notes)


def test_an_empty_ensemble_is_a_result() -> None:
    found = Selector(Table(strengths(one=0.5, other=0.5)), EVEN, deals=100).select(["one", "other"])
    assert found.members == ()
    assert "none is kept" in found.notes[-1]


def test_a_negation_is_tried_where_its_original_is_worse_and_never_joins_it() -> None:
    table = Table(strengths(bad=0.1, not_bad=0.9))
    found = Selector(table, EVEN, deals=100).select(["bad"])
    assert found.members == ("not_bad",)
    assert not any({"bad", "not_bad"} <= set(members) for members, *_ in table.asked)


def test_members_join_only_where_they_improve_the_ensemble() -> None:
    table = Table(strengths(a=0.7, b=0.68, c=0.66, a__b=0.95, a__c=0.6, a__b__c=0.6))
    found = Selector(table, EVEN, deals=200).select(["a", "b", "c"])
    assert set(found.members) == {"a", "b"}


def test_the_second_phase_meets_the_ensemble_of_the_first() -> None:
    table = Table(strengths(a=0.8, b=0.7))
    Selector(table, EVEN, deals=50).select(["a", "b"])
    assert ("a",) in {rivals for _, rivals, _, _ in table.asked}


def test_a_clear_question_ends_before_its_deals_are_used() -> None:
    table = Table(strengths(sure=1.0))
    Selector(table, EVEN, deals=1000).select(["sure"])
    alone = [deals for members, rivals, deals, fresh in table.asked if not rivals and not fresh]
    assert min(alone) == 1000 // 4  # the first look


def test_an_ensemble_is_confirmed_on_as_many_fresh_deals_as_are_asked_for() -> None:
    table = Table(strengths(good=0.9))
    found = Selector(table, EVEN, deals=50, confirming=100).select(["good"])
    assert found.members == ("good",)
    assert {deals for _, _, deals, fresh in table.asked if fresh} == {100}
    assert max(deals for _, _, deals, fresh in table.asked if not fresh) == 50


def test_an_ensemble_that_fresh_deals_do_not_confirm_is_given_up() -> None:
    class Lucky(Table):
        def __call__(self, members: Members, rivals: Members, deals: int, fresh: bool) -> Scores:
            self.strength = {frozenset(members): 0.5 if fresh else 0.9}
            return super().__call__(members, rivals, deals, fresh)

    found = Selector(Lucky({}), EVEN, deals=100).select(["lucky"])
    assert found.members == ()
    assert "confirmed on fresh deals" in found.notes[-1]


def test_too_few_deals_are_never_told_as_a_defeat() -> None:
    table = Table(strengths(sure=1.0, not_sure=0.0))
    found = Selector(table, EVEN, deals=3).select(["sure"])
    assert found.members == ()  # Wilson's interval of three of three begins at 0.44
    assert "not known to be better" in found.notes[0]
    assert ("not_sure",) not in {members for members, *_ in table.asked}


def test_where_no_candidate_is_shown_the_one_that_leads_is_put_to_fresh_deals() -> None:
    class Shorter(Table):
        """Some chosen deals do not end, so that they cannot tell; all fresh ones do."""

        def __call__(self, members: Members, rivals: Members, deals: int, fresh: bool) -> Scores:
            return [
                one if fresh or i < 3 else None
                for i, one in enumerate(super().__call__(members, rivals, deals, fresh))
            ]

    found = Selector(Shorter(strengths(sure=1.0, idle=0.5)), EVEN, deals=20).select(
        ["idle", "sure"]
    )
    assert found.members == ("sure",)
    assert "20 fresh deals" in found.notes[-1]


def test_deals_that_did_not_end_are_no_scores() -> None:
    found = Selector(lambda *asked: [None] * asked[2], EVEN, deals=20).select(["endless"])
    assert found.members == ()
    assert "no deal ended" in found.notes[0]


def test_as_printed_the_best_joins_whether_or_not_it_beats_random_play() -> None:
    table = Table(strengths(one=0.3, not_one=0.35, one__other=0.2))
    found = Selector(table, EVEN, deals=400, protocol="paper").select(["one", "other"])
    assert found.members
    assert {deals for _, _, deals, _ in table.asked} == {400}
    tried = {members for members, _, _, _ in table.asked}
    assert {("one",), ("not_one",), ("other",), ("not_other",)} <= tried


def test_equal_players_are_rarely_kept() -> None:
    # Each of ten candidates may pass by luck (5 %); fresh deals then let 1.25 % of those through.
    kept = [Selector(Table({}, seed), EVEN, deals=100).select(list("abcde")) for seed in range(40)]
    assert sum(bool(found.members) for found in kept) <= 1


def test_a_negation_of_a_negation_is_the_original() -> None:
    assert negation(negation("a")) == "a"


def test_it_is_said_who_comes_first_and_who_does_not_join() -> None:
    table = Table(strengths(good=0.8, fair=0.65, fair__good=0.8))
    found = Selector(table, EVEN, deals=200).select(["good", "fair"])
    assert found.members == ("good",)
    ways = ("random play", "random play and good in turn")
    for note, met in zip((n for n in found.notes if "comes first" in n), ways, strict=True):
        assert note.startswith(f"good comes first against {met}: 0.")
    assert "Not shown to improve good: fair." in found.notes
