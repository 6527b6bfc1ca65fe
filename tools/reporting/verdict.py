"""Verdict of a play-test in words: is it fair, how long, luck or skill, and what to change.

An answer claims no more than an interval holds; where it holds both answers, "could not tell".
"""

from collections.abc import Callable
from typing import TypeAlias

from tools.reporting.content import (
    TIMED_OUT,
    UNSURE,
    Evaluation,
    Fairness,
    Figure,
    ReportLine,
    short_name,
)

_SKILL, _LUCK = 0.5, 0.2  # of the wins beyond an even share
_SECONDS = 10  # a decision
_SHORT, _LONG = 10, 45  # minutes
_TIES = 0.5
_FORCED = 0.5
_SEEN = ", the best match seen; more may be possible, so these intervals have no bounds"
THRESHOLDS = (
    "Thresholds: fair, where the interval of every seat lies within 0.09 of an even share of two, "
    "and within as many standard deviations of a win where more play (0.085 of three, 0.078 of "
    "four); not fair, where one leaves an even share out and they do not. Series are looked at "
    "after numbers of matches that were fixed beforehand, and all looks together err at most 5 % "
    f"of the time. Skill, where the strongest player takes at least {_SKILL:.0%} of the wins "
    f"beyond an even share from random players, luck where at most {_LUCK:.0%}. Where all are paid "
    "the same, nobody wins: players get better where the strongest scores more than random players "
    f"on the same deals, by an interval above 0. A decision counts {_SECONDS} seconds; short is "
    f"under {_SHORT} minutes, long over {_LONG}. Other intervals are 95 %; with three seats or "
    "more, 95 % for all seats together."
)
_COMMAND = "rulewright playtest RUN --matches {}"


Show: TypeAlias = Callable[[float], str]
"""The text of a share."""
_decimal: Show = "{:.2f}".format


def percent(share: float) -> str:
    """A share as a page shows it.

    >>> percent(0.54), percent(1)
    ('54 %', '100 %')
    """
    return f"{100 * share:.0f} %"


def verdict_of(
    evaluation: Evaluation, choiceless: str = "", show: Show = _decimal
) -> tuple[ReportLine, ...]:
    """Answers (question, answer in a word, sentence); the last says what to change.

    Args:
        evaluation: What was measured.
        choiceless: What the check of decisions found wrong: it comes first, for a turn that offers
            many actions decides nothing where none of them counts.
        show: Of shares; models are told decimals.
    """
    who = f"when {short_name(evaluation.best.player)} players have every seat"
    if evaluation.shared:
        answers = [_length(evaluation, who), _better(evaluation)]
    else:
        answers = [_fairness(evaluation, show), _length(evaluation, who)]
        answers.append(_skill(evaluation, show))
    choice = _choice(evaluation, who, choiceless, show)
    answers = [choice, *answers] if choiceless else [*answers, choice]
    changes = [_CHANGES[key] for line in answers if (key := (line.name, line.state)) in _CHANGES]
    ties = evaluation.best.figures.get("ties")
    if all((tied := play.figures.get("ties")) and tied.value == 1 for play in evaluation.plays):
        changes.append(
            "Every match paid all players the same. If they play together, their goal was always "
            "reached or always missed: move it. If not, add a way to break ties."
        )
    elif ties is not None and ties.low is not None and ties.low > _TIES:
        changes.append(f"Most matches are tied ({_said(ties, show)}): add a way to break ties.")
    if any(play.unfinished.keys() - {TIMED_OUT} for play in evaluation.plays):
        changes.append("Some matches did not end: add a limit of turns, or a nearer goal.")
    if late := sum(play.unfinished.get(TIMED_OUT, 0) for play in evaluation.plays):
        changes.append(
            f"The clock ended {late} matches, which says nothing of the rules: was the machine "
            "busy? Play them again with less beside them."
        )
    unsure = [line.name for line in answers if line.state == UNSURE and line.name != "Is it fair?"]
    if unsure:
        changes.append(f"Play more matches before you trust an answer to: {' '.join(unsure)}")
    text = " ".join(changes) or "Nothing in these figures asks for a change."
    return (*answers, ReportLine(name="What to change?", state="", text=text))


def verdict_text(evaluation: Evaluation, choiceless: str = "") -> list[str]:
    """The same, a line of text a question."""
    lines = verdict_of(evaluation, choiceless)
    return first_lines(evaluation) + [
        f"{x.name} {x.state}: {x.text}" if x.state else f"{x.name} {x.text}" for x in lines
    ]


def shares_text(evaluation: Evaluation) -> list[str]:
    """The wins or scores of each side, a line a kind of player at every seat."""
    lines = []
    for play in evaluation.plays:
        told = [f for key, f in play.figures.items() if key.startswith(("wins_", "score"))]
        shares = "; ".join(f"{figure.name} {_said(figure)}" for figure in told)
        lines.append(f"When {short_name(play.player)} players have every seat: {shares}.")
    return lines


_CHANGES = {
    ("Is it fair?", "no"): "Give the seat or side that wins more a worse start, or let "
    "players change seats over several deals.",
    ("How long is it?", "over at once"): "Matches end before they begin: move the goal further.",
    ("How long is it?", "long"): "Shorten it: fewer deals, a nearer goal, a limit of turns.",
    ("Luck or skill?", "luck"): "Give choices more weight: more of them, or more to know at each.",
    ("Is there something to decide?", "seldom"): "Most turns offer one action: offer more, or "
    "play such turns for the players.",
}


def _fairness(evaluation: Evaluation, show: Show) -> ReportLine:
    question, found = "Is it fair?", evaluation.fairness
    if found is None:
        return ReportLine(name=question, state=UNSURE, text="No share of wins was measured.")
    text = f"{fairness_text(found, show)}, when {short_name(found.player)} players have every seat."
    if found.needed:
        command = _COMMAND.format(found.needed)
        text += f" About {found.needed:,} matches would decide: {command}"
    return ReportLine(name=question, state=found.answer, text=text)


def fairness_text(found: Fairness, show: Show = percent) -> str:
    """The share that is furthest from an even one, in words."""
    share = found.share
    name = f"{share.name[0].upper()}{share.name[1:]}"
    ends = f"{show(share.low or 0)} to {show(share.high or 0)}; {share.n} matches"
    return f"{name} {show(share.value or 0)} ({ends}), of {show(found.even)}"


def first_lines(evaluation: Evaluation) -> list[str]:
    """Sentences that a reader must know before all answers; there may be none."""
    audit = f"not audited: {evaluation.not_audited}" if evaluation.not_audited else ""
    return [text for text in (evaluation.limit, audit, *evaluation.unreached) if text]


def _length(evaluation: Evaluation, who: str) -> ReportLine:
    question = "How long is it?"
    turns = evaluation.best.figures.get("turns")
    if turns is None or turns.value is None or turns.low is None or turns.high is None:
        return ReportLine(name=question, state=UNSURE, text="Too few matches finished.")
    words = list(dict.fromkeys(_lasting(end) for end in (turns.low, turns.high)))
    lengths = evaluation.best.lengths
    minutes = f"{_minutes(turns.value):.0f} minute"
    text = (
        f"A match takes {turns.value:.0f} decisions ({min(lengths)} to {max(lengths)}), about "
        f"{minutes}{'s' * (minutes != '1 minute')}, {who}."
    )
    state = "over at once" if turns.high < 2 else " to ".join(words)  # noqa: PLR2004 - two
    return ReportLine(name=question, state=state, text=text)


def _skill(evaluation: Evaluation, show: Show) -> ReportLine:
    question, span = "Luck or skill?", evaluation.span
    if span is None or span.figure.low is None or span.figure.high is None:
        return ReportLine(name=question, state=UNSURE, text=_no_span(evaluation))
    best, said = short_name(span.stronger), _said(span.figure, show)
    if evaluation.has_teams:
        best = f"a team of {best} players"
    low, high = ((end - span.even) / (1 - span.even) for end in (span.figure.low, span.figure.high))
    text = f"{best} wins {said} against random players; equals would win {show(span.even)}."
    if low >= _SKILL:
        return ReportLine(name=question, state="skill", text=text)
    if high <= _LUCK:
        text += " Luck decides, or these players did not find what skill there is."
        return ReportLine(name=question, state="luck", text=text)
    return ReportLine(name=question, state="both" if low > 0 else UNSURE, text=text)


def _no_span(evaluation: Evaluation) -> str:
    if len(evaluation.players) > 1 and evaluation.players[-1] == "random":
        return "No player was measured to do better than random players."
    if any(rung.weaker == "random" for rung in evaluation.ladder):
        return "The strongest player was not held against random players, or too seldom."
    return "No player was held against random."


def _better(evaluation: Evaluation) -> ReportLine:
    """Of a game that pays all alike: how far the players come, and whether good ones come further.

    The scores of two players are compared on the same deals, so their intervals may overlap where
    the interval of the difference leaves 0 out.
    """
    question, span = "Do players get better?", evaluation.span
    scores = {play.player: play.figures["score"] for play in evaluation.plays}
    usual, best = evaluation.plays[0].player, evaluation.players[-1]
    text = f"Random play scores {_said(scores[usual])}"
    if best != usual and best in scores:
        text += f", the best player ({short_name(best)}) {_said(scores[best])}"
    if evaluation.best_score is not None:
        text += f" of {evaluation.best_score:g}"
        declared = ", the best possible", _SEEN
        text += declared[not evaluation.best_declared]
    text += "."
    if span is None or span.figure.value is None:
        return ReportLine(name=question, state=UNSURE, text=f"{text} {_no_span(evaluation)}")
    text += f" On the same deals that is {_said(span.figure)} more than random play."
    return ReportLine(name=question, state="yes" if span.verdict == "climbs" else UNSURE, text=text)


def order_of(evaluation: Evaluation) -> str:
    """The players from weak to strong in words; those that no interval tells apart stand together.

    Each was told, or not, from its neighbour alone.
    """
    groups = [" and ".join(map(short_name, group)) for group in evaluation.apart]
    missing = " and ".join(map(short_name, evaluation.unmeasured))
    untold = " (could not be told apart)"
    told = ", then ".join(
        f"{words}{untold if len(group) > 1 else ''}"
        for words, group in zip(groups, evaluation.apart, strict=True)
    )
    return f"{told}; not measured: {missing}" if missing else told


def _choice(evaluation: Evaluation, who: str, choiceless: str, show: Show) -> ReportLine:
    question = "Is there something to decide?"
    if choiceless:
        return ReportLine(name=question, state="not enough", text=f"{choiceless}.")
    figures = evaluation.best.figures
    forced, options = figures.get("forced"), figures.get("options")
    if forced is None or forced.low is None or forced.high is None or options is None:
        return ReportLine(name=question, state=UNSURE, text="Too few matches finished.")
    text = (
        f"{_said(forced, show)} of the turns leave one legal action, and a turn offers "
        f"{_said(options)} on average, {who}."
    )
    state = "seldom" if forced.low > _FORCED else "yes" if forced.high <= _FORCED else UNSURE
    return ReportLine(name=question, state=state, text=text)


def _said(figure: Figure, show: Show = _decimal) -> str:
    if figure.value is None or figure.low is None or figure.high is None:
        return "unmeasured"
    ends = f"{show(figure.low)} to {show(figure.high)}"
    return f"{show(figure.value)} ({ends}, {figure.samples})"


def _minutes(turns: float) -> float:
    return turns * _SECONDS / 60


def _lasting(turns: float) -> str:
    """In a word, how long so many decisions take.

    >>> [_lasting(turns) for turns in (12, 90, 400)]
    ['short', 'medium', 'long']
    """
    minutes = _minutes(turns)
    return "short" if minutes < _SHORT else "medium" if minutes <= _LONG else "long"
