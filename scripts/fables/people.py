"""Plots about people: rulers, workers, children, and the animals they meet."""

from . import words
from .casting import ANIMALS, GROWN, HEIRS, PARENTS, RULERS, cast, group, once, place, thing


def wolf(s):
    cast(s, "A", words.CHILD, adjectives=["bored", "young", "lazy"], named=0.5)
    group(s, "G", s.pick(words.HERDS))
    place(s, "meadow", "hill", "lake")
    group(s, "V", s.pick(["farmers", "neighbors", "shepherds"]), before="the")
    s.say("{A:a} looked after {G:a} {at}.",
          "Every day {A:a} led {G:a} {to} and watched {G:him} there.")
    s.say("The days were long, and {A:he} was tired of sitting alone.",
          "Nothing ever happened there, and {A:he} wanted some fun.")
    s.say('"A wolf! A wolf!" {A:he} cried. "{A:my} {G:n} are in danger!"',
          'One day {A:he} shouted, "Help! A wolf is eating {A:my} {G:n}!"')
    s.say("{V:a} came running with sticks, but there was no wolf.",
          "{V:a} dropped {V:his!} work and ran {to}, but {V:he} saw no wolf.")
    s.say("{A} laughed at {V:him}.", "{A} thought that was funny and laughed.")
    s.say("The next day {A:he} played the same trick, and again {V} came for nothing.",
          "{A:He} did the same thing again, and {V} came again and went home angry.")
    s.say("Then one evening a real wolf came out of the forest.",
          "But on the third day a wolf really came.")
    s.say('"A wolf! Help {A:me}!" cried {A}, but nobody came.',
          "{A} shouted as loudly as {A:he} could, but {V} did not believe {A:him}.")
    if s.chance(0.5):
        s.say("The wolf chased {G}, and {G:he} ran away in all directions.",
              "{G} were so afraid that {G:he} ran into the forest.")
        s.say("{A} looked for {G:him} all night long.", "{A} needed three days to find {G:him}.")
    else:
        s.say("{A} climbed a tree, and the wolf took the fattest of {G}.",
              "The wolf took two of {G}, and {A} could do nothing.")
    s.say("Nobody believes a liar, not even when the liar tells the truth.",
          '"{A:I} will never lie again," said {A} to {V}.', "After that {A} always told the truth.")


def golden(s):
    cast(s, "A", words.FOLK, adjectives=["poor", "greedy", "old"])
    cast(s, "B", words.LAYERS, adjectives=["white", "grey", "fat"], named=0)
    once(s)
    s.say("{A:He} bought {B:a} at the market.", "A stranger gave {A:him} {B:a}.",
          "One day {A:he} found {B:a} in front of {A:his} door.")
    s.say("Every morning {B} laid a golden egg.",
          "The next morning there was a golden egg in {B:his} nest.")
    s.say("{A} sold the eggs one by one and became rich.",
          "{A} took the eggs to the market and came home with a purse full of coins.")
    s.say("But one egg a day was not enough for {A:him}.", "Soon {A:he} wanted more.")
    if s.chance(0.5):
        s.say('"{B} must be full of gold," said {A} to {A:himself}, and {A:he} killed {B:him}.',
              "{A:He} thought that {B} was made of gold, and so {A:he} took a knife and killed "
              "{B:him}.")
        s.say("But inside there was no gold at all.",
              "{A} looked for the gold, but there was none.")
        s.say("Now {A} had no {B:n} and no eggs.", "So {A} lost {B:his} eggs for ever.")
        s.say("Greed loses what patience wins.", "{A} cried, but no tears could bring {B} back.")
    else:
        s.say('"Lay two eggs a day," {A:he} told {B}, "or {A:I} will sell {B:you}!"',
              '"{B:you} are too slow," {A:he} said to {B}. "{A:I} want ten eggs a day."')
        s.say("{B} looked at {A:him}, spread {B:his} wings and flew away.",
              "That night {B} left the house and did not come back.")
        s.say("{A} never saw {B:him} again, and soon {A:he} was as poor as before.",
              '"If {A:I} had been content," said {A}, "{B} would still be here."')


def riddle(s):
    cast(s, "A", RULERS, adjectives=["old", "wise", "proud"])
    place(s)
    once(s)
    s.say('"Who can fill {A:my} great hall with one small coin?" {A:he} asked the people.',
          "{A:He} had a great empty hall. {A:He} said, \"Who can fill {A:my} hall for one small "
          "coin?\"")
    s.say("{A:He} promised a rich reward.", "The reward was a chest of gold.")
    cast(s, "B", GROWN, adjectives=["rich", "proud", "clever"], named=0)
    s.say("First came {B:a}. {B:He} bought straw, but the straw covered only the floor.",
          "{B:a} tried first. {B:He} bought feathers, and the wind blew the feathers away.")
    cast(s, "C", words.CHILD, unlike="A", named=0.5, adjectives=["poor", "little"])
    s.say("Then came {C:a}, and the people laughed at {C:him}.",
          "At last {C:a} stepped forward. {C:He} was so small that nobody had seen {C:him}.")
    thing(s, "K", [("candle", False, "", ["", "little", "white"])])
    s.say('"{C:I} have bought {K:a}," said {C}, and {C:he} lit {K:him}.',
          "{C} took {K:a} out of {C:his} pocket and lit {K:him}.")
    s.say("At once the whole hall was full of light.",
          "The light filled the hall to the last corner.")
    s.say('"{C:you} are the wisest of all," said {A}, and {A:he} gave {C:him} the gold.',
          "{A} smiled and gave {C} the reward with {A:his!} own hands.")
    s.say("{B} went home and said nothing.",
          "{C} ran home, and {C:his} family was never hungry again.",
          '"{B:I} am older," said {B}, "but {C} is wiser."')


def tree(s):
    cast(s, "A",
         {k: v for k,
          v in GROWN.items() if k in ("king", "queen", "man", "woman", "farmer", "widow")},
         adjectives=["old"])
    cast(s, "B", {**words.CHILD, **HEIRS}, unlike="A", adjectives=["young", "little", "curious"])
    thing(s, "F",
          words.FOODS[6:8] + [("cherries", True, "some", ["red"]),
                              ("plums", True, "some", ["blue"])])
    s.say("{A:a} was planting a small tree [in the garden|by the road|behind the house].",
          "In spring {A:a} dug a hole [in the garden|by the road] and planted a tree.")
    s.say("{B:a} stood and watched {A:him}.", "{B:a} came by and stopped.")
    s.say('"How long will {A:you} wait for the fruit?" asked {B}.',
          '"When will {A:you} eat from that tree?" asked {B}.')
    s.say('"Ten years," said {A}. "{A:I} will not live so long."',
          '"{A:I} never will," said {A} with a smile.')
    s.say('"Then why do {A:you} plant a tree?" {B:he} asked.',
          '"Then {A:your} work is for nothing," said {B}.')
    s.say('"Others planted the trees of {A:my} youth," said {A}. "Now {A:I} plant one for '
          '{B:you}."',
          '"{A:I} ate from trees that {A:I} did not plant," said {A}. "This one is {B:yours}."')
    s.say("The years went by, and {A} died. The tree grew tall.",
          "{A} died in the winter, but the tree lived and grew.")
    s.say("When {B} was grown, {B:he} picked {F:a} from the branches.",
          "Ten years later {B} sat in the shade of the tree and ate {F:a}.")
    s.say("{F:he} {F:was} sweet, and {B:he} thought of {A}.",
          "{B:He} thought of {A} and shared {F:him} with the children of the village.")
    s.say("The next day {B} planted a tree.", "And {B:he} kept the seeds to plant new trees.")


def astray(s):
    cast(s, "A", {**words.CHILD, **HEIRS}, adjectives=["little", "young", "brave"], named=0.6)
    cast(s, "M", PARENTS, adjectives=[""], named=0).owner = s.roles["A"]
    once(s)
    s.say("{A:his} {M:n} said, \"Do not go into the forest alone.\"",
          '"Never leave the path," {A:his} {M:n} told {A:him} every day.')
    thing(s, "F", words.FOODS, plural=True)
    s.say("But {A} saw {F:a} under the trees and went deeper and deeper into the forest."
          if s.roles["F"].noun in ("apples", "pears", "plums") else
          "But {A} wanted to pick flowers and went deeper and deeper into the forest.",
          "But one day {A} followed a butterfly, and {A:he} forgot the way.")
    s.say("Soon {A:he} did not know where {A:he} was.",
          "Night fell, and {A:he} could not find the path.")
    cast(s, "B", {**ANIMALS, "wolf": ("m", 1), "bear": ("m", 2), "deer": ("f", 2)}, unlike="A")
    s.say("{A:He} sat down and cried. Then {B:a} came out of the dark.",
          "{A:He} heard steps. Between the trees stood {B:a}.")
    s.say('"Do not be afraid of {B:me}," said {B}. "Why are {A:you} crying?"',
          '"Who are {A:you}," asked {B}, "and what are {A:you} doing in {B:my} forest?"')
    s.say('"{A:I} have lost {A:my} way," said {A}. "{A:I} want to go home to {A:my} {M:n}."',
          '"{A:my} {M:n} is waiting for {A:me}," said {A}, "and {A:I} cannot find the way."')
    s.say('"Follow {B:me}," said {B}. "{B:I} know every tree."',
          '"{B:I} know the way," said {B}. "Hold on to {B:me}!"')
    s.say("{A} walked behind {B}, over the stream and through the tall grass.",
          "All night {B} went ahead, and {A} followed {B:him}.")
    s.say("At last {AB:he} saw a light. {A:his} {M:n} stood at the door with a lamp.",
          "In the morning {AB:he} reached the house, and there stood {M}.")
    s.say("{M} took {A} into {M:his!} arms.", '"There {A:you} are!" cried {M} and kissed {A:him}.')
    s.say("{B} had already gone back into the forest.",
          "{A} turned to thank {B}, but {B:he} was gone.",
          "{M} gave {B} a big supper, and {B:he} often came back.")


def fish(s):
    cast(s, "A", {**words.FOLK, **RULERS}, adjectives=["poor", "old", "kind"])
    cast(s, "B", {"trout": ("f", 2), "turtle": ("m", 2), "seal": ("f", 1)}, unlike="A",
         adjectives=["golden", "little", "silver"], named=0)
    thing(s, "T", words.THINGS)
    once(s)
    s.say("One day {A:he} went to the sea and dropped {T:a} into the water.",
          "{A:He} was sitting in a boat when {T:a} fell from {A:his} pocket into the sea.")
    s.say("{A:He} threw out a net to catch {T:him}.",
          "{A:He} let down a net and hoped to find {T:him}.")
    s.say("But in the net there was only {B:a}.",
          "When {A} pulled up the net, {B:a} was in the net.")
    s.say('"Let {B:me} go," said {B}, "and {B:I} will help {A:you}."',
          '"Please do not eat {B:me}," begged {B}. "Put {B:me} back, and {A:you} shall have a '
          'wish."')
    s.say("{A} was sorry for {B:him} and put {B:him} back into the sea.",
          "{A} opened the net, and {B} swam away.")
    s.say("The next morning {A} found {T} on the sand.",
          "After an hour {B} came back and brought {T:him} from the bottom of the sea.")
    s.say('"{B:you} kept {B:your} word," {A} called over the water.',
          '"{A:you} gave {B:me} {B:my} life," said {B}, "so {B:I} give {A:you} {A:your} {T:n}."')
    s.say("A kind heart is never poor.", "{A} never caught {B:his} brothers and sisters again.",
          "Every year {A} came to the sea and brought {B} some bread.")


def illness(s):
    cast(s, "A", {**words.ROYAL, "man": ("m", 2), "woman": ("f", 2)})
    cast(s, "B", {**ANIMALS, **words.CHILD}, unlike="A", adjectives=["small", "brave", "little"])
    place(s, "forest", "hill", "lake", "river", "meadow")
    once(s)
    s.say("One winter {A:he} fell ill, and no doctor could help {A:him}.",
          "Then {A:he} became ill and could not leave {A:his} bed.")
    s.say('"Only the blue flower can make {A:you} well," said the doctor.',
          "The doctor said, \"{A} must drink tea from a blue flower.\"")
    s.say("The flower grew {at}, and the snow was deep.",
          "But the blue flower grew only {at}, far away.")
    s.say("Nobody dared to go. At last {B:a} said, \"{B:I} will bring the flower.\"",
          'Then {B:a} came to {A:his} bed. "{B:I} will go {to} for {A:you}," said {B}.')
    s.say("{B} walked for three days and three nights.",
          "The wind was cold, but {B:he} did not turn back.")
    s.say("At last {B:he} saw the flower {hiding} and took the flower home.",
          "{B:He} found the flower {hiding} and carried {B:his} treasure home.")
    s.say("{A} drank the tea, and the next morning {A:he} could stand up.",
          "{A} drank, and slowly {A:his} face turned red again.")
    s.say('"How can {A:I} thank {B:you}?" asked {A}.',
          '"Ask for anything {B:you} want," said {A} to {B}.')
    s.say('"{B:I} want nothing," said {B}. "{B:I} am glad that {A:you} are well."',
          '"Let {B:me} stay with {A:you}," said {B}, and so {B:he} stayed.')
    s.say("In spring {AB:he} planted blue flowers in {AB:his!} garden.",
          "And {A} loved {B:him} for the rest of {A:his} life.")


PLOTS = [wolf, golden, riddle, tree, astray, fish, illness]
