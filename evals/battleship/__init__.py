"""Battleship: the thesis' tournaments redone, on a common harness.

How a field of players is measured:

    contestant = Contestant(name, make, effective, looks=..., omniscient=...)   # playing
    played = play_field(Field(name, seed, contestants, effective), amount, options, tell)  # fields
    rates = pair_rates(names, played)                                            # rates
    matrix(names, rates), beside(title, rate, published, games)                  # tables

`make(random numbers) -> Shooter` is picklable and makes the shooter of one game; a shooter that
does not look at the other player is measured alone, any other in games with the seats exchanged.
"""
