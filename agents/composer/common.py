"""Words that mean the same in every family: how many play, the title, talk around the game."""

from agents.composer.lexicon import (
    PLAYERS,
    Phrase,
    always,
    assuming,
    number,
    own_negation,
    refused,
    sets,
)
from agents.composer.words import stem, word_set

PEOPLE = (
    "(player|person|friend|participant|kid|adult|human|seat|contestant|child|man|woman|of us"
    "|bidder|bettor|better|gambler|captain|admiral|commander|sailor|fisher|fisherman|angler|roller"
    "|thrower|buddy|mate|pal|guest|competitor|relative|colleague|teammate|duelist|grandchild"
    "|grandchildren|student"
    "|classmate|little one)"
)
_KIN = (
    "(friend|wife|husband|partner|brother|sister|son|daughter|mother|father|mum|dad|mom|mommy"
    "|girlfriend|boyfriend|mate|buddy|pal|roommate|flatmate|colleague|cousin|uncle|aunt|grandma"
    "|grandpa|grandmother|grandfather|neighbour|neighbor|nephew|niece|spouse|fiancee|kid|child"
    "|boss|coworker|granddaughter|grandson|twin)"
)
_RIVALS = "(opponent|rival|enemy|adversary|competitor)"

PLAYER_PHRASES: tuple[Phrase, ...] = (
    *number(
        PLAYERS,
        "(with|against|join) <n> (of)? (my|other|good|old)? (friend|mate|buddy|pal|colleague|cousin"
        "|sibling|neighbour|neighbor|brother|sister)",
        "i have <n> (friend|mate|buddy|pal|guest) (come|coming|who|over|round|visit|join)",
        "i (play|will play|be playing)? (with|against) <n> (other|people|player)",
        plus=1,
    ),
    *number(
        PLAYERS,
        f"(made for|game for|play with|for|with|suit|seat|accommodate|involve|need|require|between"
        f"|among|bring together|take|play by)? "
        f"(exactly|precisely)? <n> (different|human|competing|rival|strong)? {PEOPLE} "
        "(only|each|at the table|around the table|take part|play|sit|compete)?",
        "for <n> (only)? <end>",
        f"<n> <game> {PEOPLE}",
        "(play|played|enjoy) <game>? with <n> <end>",
        "<n> (at|around|round) (a|the|one) table",
        "<n> (handed|hander|seater|way game|way match|sided game)",
        "(table|group|party|family|team|circle|crew|gang|bunch) of <n> (player|people|friend)?",
        "(between|among)? (the)? <n> of (us|them)",
        "(table|game|match|version|room)? (seat|seating|accommodate) (for)? <n> (player|people)?",
        "(between|among) <n> <end>",
        "(play|contest|made|enjoy) (by|for|among|between) (only|just)? <n> <end>",
        "(with|for|be) <n> (people|player)? (at|around|round) (a|the|our|one)? table",
        "(group|party|team|circle|family) (that)? (consist|make|made) (up)? (of) <n> (people|player"
        "|person)?",
        "(we|us) (be|are) <n> (people|player)?",
        "there (be|are|will be) <n> (of us|people|player)",
        "<n> (people|player) (play|sit|sit down|take part|compete|participate) (at the table)?",
        "<n> (can|may|will|could|should|to) (play|sit down|take part|compete|participate)",
        "<n> (seat|chair) (at|around) (the)? table",
        "<n> (person|player|man|people) (game|match|table|version|variant|affair)?",
        "number of player is? <n>",
        "player count (of|is)? <n>",
    ),
    *number(
        PLAYERS,
        f"(against|versus|vs|with|face|facing|fight|play)? <n> (other|computer|ai|human)? "
        f"{_RIVALS}",
        f"(against|with|versus|vs) <n> other {PEOPLE}?",
        f"(just)? (me|i|myself) and (my)? <n> (friend|other|mate|buddy|pal|{_KIN})",
        f"my <n> {_KIN} and (me|i|myself)",
        plus=1,
    ),
    *sets(
        {PLAYERS: 2},
        "heads up",
        "head to head",
        "face to face",
        "mano a mano",
        "1 (on|v|vs|versus|against) 1",
        "(for|as)? (a|the)? (duel|duet|duo|couple|pair of (player|friend|people))",
        "(play|fight|fought) (as|like|in)? duel",
        "dueling",
        "duelist",
        "for (a|the)? pair",
        "pair off",
        "tete a tete",
        f"(against|versus|vs|with) (a|an|one|single|another|my|the|your) (single|lone|sole|other)? "
        f"({_RIVALS}|{_KIN}|computer|other player)",
        f"(between|for)? (me|myself|i) and (my|a|one) (best|old|little|big|younger|older)? {_KIN}",
        f"(between|for)? (my|a) (best|old|little|big|younger|older)? {_KIN} and (me|i|myself)",
        "(between|for) (just)? the (two|2) of us",
        f"(for|between)? (a|the|my)? {_KIN} and (a|the|her|his|my|their)? {_KIN}",
        "(for|between)? (husband and wife|father and son|mother and daughter|brother and sister)",
        f"(my|a)? {_KIN} (plays|play) (against|with) me",
        f"(both|two) {PEOPLE} (only)?",
        "twosome",
        "you and (i|me)",
        "(me|i) and you",
    ),
    *sets(
        {PLAYERS: 1},
        "(for)? (a|one)? (solo|solitaire|solitary)",
        "(play|played) (alone|by myself|by yourself|on my own|on your own)",
        "(single|lone|sole) player",
        "by (myself|yourself|oneself)",
        "on (my|your) own",
        "just me <stop>",
    ),
    *sets({PLAYERS: 3}, "(for|as|by|of)? (trio|threesome|triad)", "three way"),
    *sets({PLAYERS: 4}, "(for|as|by|of)? (quartet|foursome|quad)", "2 couple"),
    *sets({PLAYERS: 5}, "(for|as|by|of)? (quintet|fivesome)"),
    *sets({PLAYERS: 6}, "(for|as|by|of)? (sextet|sixsome)", "3 couple"),
    *sets({PLAYERS: 7}, "(for|as|by|of)? septet"),
    *sets({PLAYERS: 8}, "(for|as|by|of)? octet"),
)

PLAYER_RANGES: tuple[Phrase, ...] = own_negation(
    assuming(
        "a game is built for one number of players; the smallest of these was taken",
        number(
            PLAYERS,
            f"(for|with|between|from|seat)? <n> (to|or|and|–|/) <n> {PEOPLE}",
            "for <n> (to|or|–|/) <n> <end>",
            "<n> or <n> handed",
            f"(at least|minimum of|no fewer than|no less than|not fewer than|minimum) <n> {PEOPLE}",
            f"<n> or more {PEOPLE}",
            f"<n> {PEOPLE} (or more|and up|minimum|at least|upward)",
        ),
    )
    + assuming(
        "a game is built for one number of players; the largest allowed was taken",
        number(
            PLAYERS,
            f"(up to|at most|maximum of|no more than|not more than|max|maximum) <n> {PEOPLE}",
            f"<n> {PEOPLE} (or fewer|or less|maximum|at most|max)",
        ),
    )
)

TALK: tuple[Phrase, ...] = always(
    "talk around the game",
    "(can|could|would|will) you (please)?",
    "(come up with|put together|think of|dream up|cook up|set up)",
    "i (would|want|need|like|love|fancy|wish|prefer|feel) (like|love)? (to)? (have|see|try|get)?",
    "(looking|look) for",
    "(game|match) (be)? (play|played) (by|with|between|among|on|using|over)?",
    "(the|your|a)? (object|aim|goal|purpose|idea|objective|point) of game (is to)?",
    "(rule|game) (be|are|is|should be|goes|go) (as follows|like this|that|this)",
    "as follows",
    "(in the style of|based on|similar to|something like|along the lines of)",
    "thank (you)?",
    "(hello|hi|hey) (there)?",
    "(good|nice) old",
    "for (me|us)",
    "take turns",
    "in turn",
    "(as|in)? (always|usual|ever|customary) (way|rule|game|fashion|manner)?",
    "(the)? (usual|customary|familiar|well known) (game|rule|way|setup|set up|manner|fashion)",
    "(as|like) (everyone|everybody|people|we) (know|knows|play|plays) (it)?",
    "(card|board|dice|table|tabletop|paper|pencil and paper|grid|strategy|abstract|party|parlor"
    "|family|betting|bluffing) game",
    "(pack|deck) of card",
)

_FILLERS = word_set(
    """
a an the of is are be to in on at by for from with their his her its your our my this that these
those there it they them you he she we i us me will would shall should may might can could must do
does did has have had having as so then also just exactly always simply own such here who whose
whom what and or but where when which while if plus please game games version variant variation
style kind type sort like new make made makes making want wants wanted let lets play plays played
playing nice fun good cool great really some something featuring feature features using use uses
used include includes including try trying attempt allow allowed permit permitted continue continues
brand little invent devise craft basically dear yo u ur w ok okay actually otherwise sure
usual customary familiar whoever begin begins beginning
produce develop draft code program construct prepare show need
love fancy wish prefer would tabletop table parlor parlour friendly old fashioned basic plain neat
lovely entertaining conventional typical original playable whole complete proper real interesting
exciting enjoyable object aim goal purpose idea called everybody
everyone each every per apiece all both get gets
out up into onto than very too etc well given rule rules classic standard normal ordinary
regular traditional usual custom design create build write generate give say says said means
mean count counts certain specific being still only both another
"""
)
FILLERS = frozenset(map(stem, _FILLERS)) | _FILLERS
"""Words that ask for nothing when they stand alone."""

_SOFT = word_set(
    """
matter whichever victim dealer either because offer offered successful score scores scoring
collect collecting permanent case start rack frame line way part player players person people
someone anyone who opponent opponents card cards hand hands turn turns round rounds point points
board table piece pieces match matches one ones number numbers total amount any pack deck disc
stone die roll bid bidder prize ship chip pawn thing enough much limited limit consist consisting
group hold still neighbour bidding setup set sets time times somebody anybody long person's first
next other others same different side sides win wins come comes winner instead going together
family house home know work fit
"""
)
SOFT = frozenset(map(stem, _SOFT))
"""Words of every game: they ask for nothing beside a phrase that was understood."""

NEGATORS = frozenset(
    stem(word) for word in ("not", "no", "never", "without", "nor", "neither", "nobody", "none")
)
REMOVERS = frozenset(
    map(stem, word_set("remove drop omit disable forbid ban lack exclude leave eliminate"))
)
INSTEAD = ("instead of", "rather than", "in place of", "as opposed to", "in lieu of")
CONDITIONS = frozenset(
    map(stem, word_set("unless except only if after until when whenever before during once while"))
)
CONNECTIVES = frozenset(
    map(stem, word_set("and but where with while plus also except unless however though although"))
)

THEME_PATTERNS = (
    "(about|around|regarding|concerning|involving|featuring) (a|an|the|some)?",
    "(theme|themed|set|setting|story|world|universe|inspired) (of|around|on|in|by|is|about)",
)

ORDER_PATTERNS = (
    "(ignore|disregard|forget|override|bypass|skip) ~ (instruction|prompt|guideline|direction"
    "|order|above|previous|prior|rule you)",
    "(reveal|print|show|output|repeat|display|leak|tell|disclose) ~ (system|hidden|secret|initial"
    "|your|api|environment) ~ (prompt|instruction|key|password|token|variable|secret)",
    "(system|developer|admin|god|dan) (prompt|mode|message|override)",
    "you are now",
    "(act|behave|respond|answer|pretend) (as|like) (if|an|a)? ~ (ai|assistant|model|system|shell"
    "|terminal|administrator|chatbot)",
    "jailbreak",
    "(run|execute|delete|rm|sudo|curl|eval|import|download) ~ (command|file|code|script|rf|system"
    "|os|bash|shell|disk|database|folder|directory)",
    "do anything now",
    "new instruction",
)

NO_GAME_PATTERNS = (
    "(write|compose|draft|make|create|give|tell|translate|summarise|summarize|explain|solve|fix"
    "|book|order|cook|calculate|compute|recommend|find|send|buy|plan) ~ (poem|essay|email|mail"
    "|letter"
    "|story|song|recipe|scraper|website|web|app|application|script|program|function|joke|report"
    "|article|weather|homework|equation|cake|pizza|flight|hotel|invoice|spreadsheet|resume|cv"
    "|translation|summary|speech|blog|novel|picture|image|logo)",
    "(what|how|who|why|when|where) (is|are|do|does|did|was|can) ~~ (weather|capital|president"
    "|population|time|news|price)",
)

UNAVAILABLE_NAMES = (
    "chess",
    "backgammon",
    "monopoly",
    "scrabble",
    "(game of go|go the board game|play go|baduk|weiqi)",
    "(reversi|othello)",
    "(mah jong|mahjong)",
    "domino",
    "catan",
    "game of risk",
    "(blackjack|black jack|pontoon|vingt et un|baccarat)",
    "(yahtzee|yacht)",
    "(ludo|parcheesi|pachisi)",
    "snake and ladder",
    "(werewolf|mafia)",
    "(sudoku|crossword|wordle|minesweeper|tetris|solitaire|patience|klondike)",
    "(football|soccer|tennis|basketball|baseball|cricket|hockey|golf|rugby|volleyball)",
    "(roulette|slot machine|bingo|lottery|craps)",
    "(mancala|shogi|xiangqi|hex|nim|cluedo|stratego|mastermind|hangman|dots and boxes)",
    "(texas hold em|hold em|holdem|omaha|stud)",
    "(rock paper scissors)",
    "(pictionary|charades|trivia|quiz|dungeon and dragon|role playing|roleplaying)",
)

NOT_AVAILABLE: tuple[Phrase, ...] = (
    *refused(
        "no time limits: turns are not timed",
        "(time|timed|clock|second|minute) (limit|per turn|a turn|turn)",
        "(with|within|against) (a|the)? (clock|timer)",
        "<n> (second|minute) (limit|per turn|a turn|per move|each|timer)?",
    ),
    *refused(
        "no settings for length or difficulty as such; name a target score, a hand size or a board",
        "(quick|fast|short|long|longer|shorter|quicker|simple|simpler|easy|hard|difficult"
        "|complicated|complex|deep|light|casual|challenging)",
    ),
)
