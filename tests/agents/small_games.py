"""Small games as module source, each solved by hand, for tests of search, beliefs and players."""

from agents.search.settings import SearchView
from games.modules import Rules, bind, load_namespace
from games.values import State

TIC_TAC_TOE = """
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def initial_state(num_players):
    return {"board": ".........", "turn": 0, "won": -1}


def get_current_player(state):
    return -4 if state["won"] >= 0 or "." not in state["board"] else state["turn"]


def get_legal_actions(state):
    if state["won"] >= 0:
        return []
    return [str(i) for i, mark in enumerate(state["board"]) if mark == "."]


def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError(f"{action} is not legal")
    square, mark = int(action), "xo"[state["turn"]]
    board = state["board"][:square] + mark + state["board"][square + 1 :]
    won = any(all(board[i] == mark for i in line) for line in LINES)
    return {"board": board, "turn": 1 - state["turn"], "won": state["turn"] if won else -1}


def get_rewards(state):
    return {-1: [0.0, 0.0], 0: [1.0, -1.0], 1: [-1.0, 1.0]}[state["won"]]


def get_observations(state):
    return [{"board": state["board"], "turn": state["turn"]} for _ in range(2)]


def get_events(state, action):
    return [["mark " + action] for _ in range(2)]
"""

# Kuhn poker: cards J Q K, ante 1, one bet of 1; "p" passes or folds, "b" bets or calls.
KUHN = """
def initial_state(num_players):
    return {"deck": ["J", "Q", "K"], "hands": [], "bets": ""}


def get_current_player(state):
    if len(state["hands"]) < 2:
        return -1
    return -4 if state["bets"] in ("pp", "pbp", "pbb", "bp", "bb") else len(state["bets"]) % 2


def get_legal_actions(state):
    player = get_current_player(state)
    if player == -1:
        return ["deal " + card for card in state["deck"]]
    return [] if player == -4 else ["p", "b"]


def apply_action(state, action):
    deck, hands = state["deck"], state["hands"]
    if action.startswith("deal "):
        card = action[5:]
        return {"deck": [c for c in deck if c != card], "hands": hands + [card], "bets": ""}
    return {"deck": deck, "hands": hands, "bets": state["bets"] + action}


def get_rewards(state):
    if get_current_player(state) != -4:
        return [0.0, 0.0]
    bets, hands = state["bets"], state["hands"]
    first_wins = "JQK".index(hands[0]) > "JQK".index(hands[1])
    if bets in ("bp", "pbp"):
        first_wins = bets == "bp"
    stake = 2.0 if bets in ("bb", "pbb") else 1.0
    return [stake, -stake] if first_wins else [-stake, stake]


def get_observations(state):
    hands = state["hands"]
    return [
        {"hand": hands[seat] if seat < len(hands) else "", "bets": state["bets"]}
        for seat in range(2)
    ]


def get_events(state, action):
    if not action.startswith("deal "):
        return [[action], [action]]
    drawer = len(state["hands"])
    return [["You get " + action[5:]] if seat == drawer else ["A card is dealt."]
            for seat in range(2)]
"""

# Seat 0 says "go", seat 1 commits to heads or tails unseen, seat 0 guesses for 1 point.
PENNIES = """
def initial_state(num_players):
    return {"done": [], "open": False}


def get_current_player(state):
    return (0, 1, 0, -4)[len(state["done"])]


def get_legal_actions(state):
    return (["go"], ["heads", "tails"], ["heads", "tails"], [])[len(state["done"])]


def apply_action(state, action):
    return {"done": state["done"] + [action], "open": state["open"]}


def get_rewards(state):
    done = state["done"]
    if len(done) < 3:
        return [0.0, 0.0]
    return [1.0, 0.0] if done[1] == done[2] else [0.0, 1.0]


def get_observations(state):
    done = state["done"]
    shown = done if state["open"] or len(done) > 2 else done[:1]
    return [{"shown": shown, "plies": len(done)}, {"shown": done, "plies": len(done)}]


def get_events(state, action):
    return [[], []]
"""

# "safe" pays 1; "die" pays 8 with probability 1/16 and 0 otherwise: 0.5 on average.
DIE = """
def initial_state(num_players):
    return {"at": "start"}


def get_current_player(state):
    return {"start": 0, "die": -1}.get(state["at"], -4)


def get_legal_actions(state):
    return {"start": ["safe", "die"], "die": ["miss", "hit"]}.get(state["at"], [])


def get_chance_probabilities(state):
    return [0.9375, 0.0625]


def apply_action(state, action):
    return {"at": action}


def get_rewards(state):
    return [{"safe": 1.0, "hit": 8.0}.get(state["at"], 0.0)]


def get_observations(state):
    return [{"at": state["at"]}]


def get_events(state, action):
    return [[action]]
"""

# Three seats. After "A" seat 1 chooses between (3, 1, 0) and (0, 0, 9); "B" pays (2, 0, 0).
# Seat 1 wants its own point, so "A" is worth 3 to seat 0; a seat 1 out to hurt would make it 0.
THREE = """
PAYS = {"B": [2.0, 0.0, 0.0], "AX": [3.0, 1.0, 0.0], "AY": [0.0, 0.0, 9.0]}


def initial_state(num_players):
    return {"path": ""}


def get_current_player(state):
    return {"": 0, "A": 1}.get(state["path"], -4)


def get_legal_actions(state):
    return {"": ["A", "B"], "A": ["X", "Y"]}.get(state["path"], [])


def apply_action(state, action):
    return {"path": state["path"] + action}


def get_rewards(state):
    return PAYS.get(state["path"], [0.0, 0.0, 0.0])


def get_observations(state):
    return [{"path": state["path"]} for _ in range(3)]


def get_events(state, action):
    return [[action] for _ in range(3)]
"""

# One seat. "quick" pays 2 at once and 1 a ply later; "slow" pays nothing and then 4.
SOON = """
PAYS = {"quick": 2.0, "quick on": 1.0, "slow on": 4.0}


def initial_state(num_players):
    return {"path": ""}


def get_current_player(state):
    return -4 if state["path"].endswith(" on") else 0


def get_legal_actions(state):
    return {"": ["quick", "slow"], "quick": [" on"], "slow": [" on"]}.get(state["path"], [])


def apply_action(state, action):
    return {"path": state["path"] + action}


def get_rewards(state):
    return [PAYS.get(state["path"], 0.0)]


def get_observations(state):
    return [state]


def get_events(state, action):
    return [[action]]


def value_function(state, player_id):
    return {"quick": 3.0, "slow": 4.0}.get(state["path"], get_rewards(state)[0])
"""


def known(rules: Rules, state: State) -> SearchView:
    """What a search is given of a state that is known in full."""
    return SearchView(rules, rules.current_player(state), lambda: state)


def game(source: str, num_players: int = 2) -> tuple[Rules, dict[str, object], State]:
    """A small game's functions, its namespace and its first state."""
    namespace = load_namespace(source)
    start = namespace["initial_state"]
    assert callable(start)
    return bind(namespace, num_players), namespace, start(num_players)
