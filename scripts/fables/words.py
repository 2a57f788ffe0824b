"""The words of the fables: characters, things and places.

Every noun has one gender (a fox is always he, a hen always she), so that a model can learn it.
"""

# noun: gender, how often it is cast
ROYAL = {"king": ("m", 4), "queen": ("f", 4), "prince": ("m", 2), "princess": ("f", 2)}
FOLK = {
    "man": ("m", 4), "woman": ("f", 4), "miller": ("m", 1), "baker": ("f", 1), "farmer": ("m", 1),
    "weaver": ("f", 1), "shepherd": ("m", 1), "gardener": ("f", 1), "tailor": ("m", 1),
    "cook": ("f", 1), "sailor": ("m", 1), "widow": ("f", 1), "merchant": ("m", 1), "maid": ("f", 1),
}
CHILD = {"boy": ("m", 1), "girl": ("f", 1)}
LARGE = {"lion": ("m", 2), "bear": ("m", 2), "wolf": ("m", 2), "cow": ("f", 2), "tigress": ("f", 2)}
MIDDLE = {
    "fox": ("m", 2), "hare": ("m", 1), "dog": ("m", 1), "donkey": ("m", 1), "rooster": ("m", 1),
    "cat": ("f", 1), "goat": ("f", 1), "hen": ("f", 1), "goose": ("f", 1), "stork": ("f", 1),
    "hedgehog": ("m", 1), "owl": ("f", 2),
}
SMALL = {
    "mouse": ("f", 2), "squirrel": ("f", 1), "sparrow": ("f", 1), "frog": ("m", 1),
         "mole": ("m", 1),
    "cricket": ("m", 1),
}
SLOW = {"tortoise": ("f", 2), "snail": ("m", 1), "hedgehog": ("m", 1), "duck": ("f", 1)}
FAST = {"hare": ("m", 2), "fox": ("m", 1), "deer": ("f", 2), "dog": ("m", 1), "cat": ("f", 1)}
BIRDS = {"crow": ("f", 3), "raven": ("m", 3), "magpie": ("f", 1), "rooster": ("m", 1)}
FLATTERERS = {"fox": ("m", 2), "cat": ("f", 2)}
THIEVES = {"magpie": ("f", 2), "fox": ("m", 1), "raven": ("m", 2), "cat": ("f", 1)}
WORKERS = {"ant": ("f", 2), "squirrel": ("f", 1), "mole": ("m", 2)}
SINGERS = {"cricket": ("m", 2), "sparrow": ("f", 2), "frog": ("m", 1)}
LAYERS = {"hen": ("f", 1), "goose": ("f", 1)}
HERDS = ["sheep", "goats", "geese", "cows"]

NAMES = {
    "m": ["Tom", "Hans", "Peter", "Otto", "Ben", "Will", "Felix", "Hugo"],
    "f": ["Anna", "Greta", "Rose", "Ella", "Nell", "Clara", "Ida", "Lucy"],
}

# head noun, plural?, words before the head when it is first met, adjectives
THINGS = [
    ("ring", False, "", ["golden", "silver"]), ("key", False, "", ["golden", "iron"]),
    ("bell", False, "", ["little", "silver"]), ("purse", False, "", ["red", "leather"]),
    ("lamp", False, "", ["little", "old"]), ("cup", False, "", ["silver", "golden"]),
    ("comb", False, "", ["silver", "wooden"]), ("flute", False, "", ["wooden", "silver"]),
    ("drum", False, "", ["red", "little"]), ("spoon", False, "", ["wooden", "silver"]),
    ("ball", False, "", ["red", "golden"]), ("hat", False, "", ["green", "red"]),
    ("mirror", False, "", ["little", "silver"]), ("scarf", False, "", ["blue", "green"]),
    ("boots", True, "a pair of", ["red", "black"]), ("gloves", True, "a pair of", ["white", "red"]),
    ("shoes", True, "a pair of", ["blue", "black"]), ("coins", True, "three", ["golden", "silver"]),
    ("beads", True, "seven", ["blue", "green"]), ("feathers", True, "two", ["white", "blue"]),
]
FOODS = [
    ("cheese", False, "a piece of", [""]), ("bread", False, "a loaf of", ["", "fresh"]),
    ("cake", False, "", ["sweet", "little"]), ("honey", False, "a pot of", [""]),
    ("fish", False, "", ["fat", "silver"]), ("pie", False, "", ["sweet", "fresh"]),
    ("apples", True, "three", ["red", "ripe"]), ("pears", True, "two", ["ripe", "yellow"]),
    ("nuts", True, "a bag of", [""]), ("berries", True, "a basket of", ["ripe", "red"]),
    ("plums", True, "five", ["blue", "sweet"]),
]

# place noun: being there, going there
PLACES = {
    "forest": ("in", "into"), "garden": ("in", "into"), "meadow": ("in", "across"),
    "market": ("at", "to"), "river": ("by", "down to"), "lake": ("by", "down to"),
    "hill": ("on", "up"), "mill": ("near", "to"), "well": ("by", "to"), "road": ("on", "down"),
    "village": ("in", "to"), "bridge": ("near", "to"),
}
HOMES = {
    "royal": ["in a castle on a hill", "in a white palace", "in a castle by the sea",
              "in a tall tower"],
    "folk": ["in a village", "in a cottage by the river", "in a small house near the mill",
             "on a farm", "at the edge of the forest"],
    "child": ["in a village", "in a small house near the mill", "on a farm",
              "in a cottage by the river"],
    "animal": ["in the forest", "on a hill", "near a farm", "at the edge of the meadow",
               "in an old garden", "by the lake"],
}
HIDING = ["under a stone", "in a hollow tree", "under the bridge", "behind the barn", "in the hay",
          "under an old cart", "behind the door", "in the tall grass", "at the foot of an oak",
          "under a bench"]

# Other nouns. No pronoun refers to them, but a control that bets on the nearest noun meets them.
# Words that the fables also use as verbs are left out.
SCENERY = set("""
    anger animals arms bag barn basket beak beauty bed belly bench birds bite boat bottom branch
    branches bread bridge brothers butterfly cart castle cave chest children coin coins corner
    cottage country crown crumb danger darkness day days dinner directions doctor door edge egg
    eggs evening eyes face family farm father feathers feet fields fire fish flesh floor flower
    flowers food foot forest friend friends fruit fun garden gate gold grain grass greed ground
    hall hands hay head heads heart hill hole hour house hunters jar joke judge knife knots lake
    land leaves liar life light lives loaf market meadow meal middle mill moment morning mother
    neck neighbors nest net night nights noise noon nose note oak palace path patience paw paws
    people piece pieces plate pocket pot pride purse race rain reward ring river road room rope
    ropes sand sea seeds shade shoulder side sides sign silence sisters sky snow soldiers song
    sound soup spring stars steps sticks stone stranger straw stream summer sun supper table
    tail tea tears things throne time tower trap treasure tree trees trick tricks truth village
    voice walls water way weeks well wind window wings winner winter wish wolf word words years
    youth
    """.split())
