"""Small games, solved: information states enumerated, CFR+, exact best responses and NashConv.

game = enumerate_game(bind(namespace, 2), initial, limit=200_000)
average = cfr_plus(game, 300)
print(nash_conv(game, average).total)
"""
