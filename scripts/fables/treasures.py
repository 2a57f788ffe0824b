"""Plots about things: lost and found, stolen, moved, swapped and broken."""

from . import words
from .casting import ANIMALS, HEIRS, PARENTS, PEOPLE, RULERS, cast, once, place, thing


def lost(s):
    cast(s, "A", PEOPLE)
    thing(s, "T")
    place(s)
    once(s)
    s.say("{A:He} had {T:a}, and {A:he} loved {T:him} more than anything else.",
          "{A:He} had {T:a} and took {T:him} everywhere.",
          "{A:He} owned {T:a}, and {T:he} {T:was} {A:his} greatest treasure.",
          "{A:He} had {T:a}, and everyone praised {T:him} for {T:his!} beauty.")
    s.say("One [day|morning|evening] {A} went {to} and lost {T:him}.",
          "But one day, when {A} was {at}, {T:he} {T:was} lost.",
          "One day {A} lost {T} {at}.")
    s.say("{A:He} looked everywhere, but {A:he} could not find {T:him}.",
          "{A:He} looked {other}, but {T} {T:was} not there.",
          "{A:He} searched until dark and came home with empty hands.")
    cast(s, "B", {**ANIMALS, **PEOPLE}, unlike="A")
    s.say("On the way {A:he} met {B:a}.", "The next day {B:a} came by.",
          "Then {A:he} saw {B:a} {at}.")
    s.say('"Have {B:you} seen {A:my} {T:n}?" asked {A}.',
          '"{A:I} have lost {A:my} {T:n}," said {A}.',
          '"Why are {A:you} crying?" asked {B}. "{A:I} have lost {A:my} {T:n}," said {A}.')
    if s.chance(0.5):
        s.say('"{B:I} have seen {T:him}," said {B}. "{T:he} {T:is} {hiding}."',
              '"Look {hiding}," said {B}. "{B:I} saw {T:him} there this morning."')
        s.say("{A} ran {to} and looked {hiding}, and there {T:was} {T}.",
              "{A} looked {hiding} and found {T:him}.")
    else:
        s.say('"{B:I} have not seen {T:him}," said {B}, "but {B:I} will help {A:you}."',
              '"Let {B:me} look for {T:him} with {A:you}," said {B}.')
        s.say("{AB:he} went {to} together, and {B} found {T} {hiding}.",
              "{B} looked {hiding} and came back with {T}.")
        s.say('"Here {T:is} {A:your} {T:n}," said {B}, and {B:he} gave {T:him} to {A}.',
              '"{T:he} {T:was} {hiding}," said {B}. "Now {T:he} {T:is} {A:yours} again."')
    s.say("{A} was so happy that {A:he} [danced|sang|laughed] all the way home.",
          '"Thank {B:you}!" said {A}. "{B:you} are a true friend."',
          "{A} thanked {B:him} and asked {B:him} to supper.")
    s.say("{A:He} never lost {T:him} again.", "From that day on {AB} were friends.",
          "{AB:he} stayed friends for the rest of {AB:his!} lives.",
          "And {T} {T:was} never lost again.")


def thief(s):
    cast(s, "A", ANIMALS)
    cast(s, "B", words.THIEVES, unlike="A", adjectives=["sly", "hungry", "clever"], named=0.2)
    thing(s, "T")
    place(s)
    once(s, "A")
    s.say("{A:He} had {T:a}, and {A:he} kept {T:him} {hiding}.",
          "{A:He} owned {T:a} and hid {T:him} {hiding} every evening.")
    s.say("One night, while {A} slept, {B:a} came and took {T:him}.",
          "But {B:a} had seen {T}. {B:He} waited until {A} slept, and then {B:he} stole {T:him}.")
    s.say("In the morning {A} looked {hiding}, but {T} {T:was} gone.",
          "When {A} woke up, {A:he} could not find {T}.")
    cast(s, "C", ANIMALS, unlike="B", adjectives=["wise", "little", "old"], named=0)
    s.say('"Who has taken {A:my} {T:n}?" {A:he} cried.',
          '"{A:my} {T:n} {T:is} gone!" {A:he} cried.')
    s.say('{C:a} had seen everything. "{B} has {T:him}," said {C}. "{B:he} hid {T:him} {other}."',
          '{C:a} came and said, "{B} took {T:him}. Look {other}!"')
    s.say("{A} went there, and {other} {A:he} found {T}.",
          "So {A} looked {other}, and there {T:was} {T}.")
    s.say("{B} came home and saw {A} with {T}.", "Just then {B} came back and stood still.")
    s.say('"{A:you} have found {T:him}," said {B}. "{B:I} am sorry that {B:I} took {T:him}."',
          '{B} looked at the ground. "{T:he} {T:was} so beautiful," {B:he} said, "and {B:I} have '
          'nothing."')
    s.say("{A} forgave {B:him}, but from then on {A:he} slept with one eye open.",
          '"{B:you} could have asked {A:me}," said {A}, and {A:he} took {T} home.')
    s.say("And {A} thanked {C} with a good supper.",
          "{C} got the best piece of {A:his} supper that day.")


def moved(s):
    cast(s, "A", {**PEOPLE}, named=0.5)
    cast(s, "B", PEOPLE, unlike="A", adjectives=["merry", "young", "clever"], named=0.5)
    thing(s, "T")
    place(s)
    once(s)
    s.say("{A:He} put {T:a} {hiding} and went {to}.",
          "Before {A:he} went {to}, {A:he} hid {T:a} {hiding}.")
    s.say("While {A:he} was away, {B:a} came and found {T:him}.",
          "Then {B:a} came along and saw {T}.")
    s.say('"{B:I} will play a trick on {A}," said {B} to {B:himself}, and {B:he} hid {T:him} '
          '{other}.',
          "For a joke {B} took {T} and put {T:him} {other}.")
    s.say("In the evening {A} came back and looked {hiding}, for there {A:he} had left {T}.",
          "When {A} came home, {A:he} went to look {hiding}. {A:He} did not know that {B} had "
          "been there.")
    s.say("{T:He} {T:was} not there.", "But {T} {T:was} gone.", "There was nothing.")
    s.say('"A thief has taken {A:my} {T:n}!" cried {A}.', '"Where {T:is} {A:my} {T:n}?" cried {A}.',
          "{A} sat down and cried.")
    s.say("{B} saw {A:his} tears and was sorry.",
          "{B} heard {A} and no longer thought that the joke was good.")
    s.say('"Look {other}," said {B}. "{B:I} put {T:him} there."',
          '"{T:he} {T:is} {other}," said {B}. "{B:I} wanted to make {A:you} laugh."')
    s.say("{A} looked {other}, and there {T:was} {T}.", "{A} went and found {T} {other}.")
    s.say("First {A:he} was angry, and then {AB:he} laughed until {AB:his!} eyes were wet.",
          '"That was a bad joke," said {A}, but {A:he} forgave {B}.')


def swaps(s):
    cast(s, "A", {**words.CHILD, **{k: words.FOLK[k] for k in ("man", "woman")}}, named=0.6)
    place(s)
    once(s)
    thing(s, "T", words.THINGS)
    s.say("One day {A:he} found {T:a} on the road.", "One morning {A} found {T:a} by the well.")
    current = "T"
    for role, what, pool in (("B", "F", words.FOODS), ("C", "U", words.THINGS),
                             ("D", "W", words.FOODS)):
        if role == "D" and s.chance(0.5):
            break
        cast(s, role, {**words.FOLK, **words.MIDDLE}, unlike="A", named=0)
        thing(s, what, pool)
        r, w, c = "{%s" % role, "{%s" % what, "{%s" % current
        s.say(f"{{A}} met {r}:a}} who had {w}:a}}.",
              f"Then {{A}} came to {r}:a}}, and {r}:he}} had {w}:a}}.",
              f"On the road {{A}} saw {r}:a}} with {w}:a}}.")
        s.say(f'"Give {{A:me}} {r}:your}} {w}:n}}," said {{A}}, "and {r}:you}} shall have '
              f'{{A:my}} {c}:n}}."',
              f'"{r}:I}} like {{A:your}} {c}:n}}," said {r}}}. "Take {r}:my}} {w}:n}} for '
              f'{c}:him}}."')
        s.say(f"{{A}} agreed, and now {{A:he}} had {w}}} and {r}}} had {c}}}.",
              f"So {r}}} got {c}}}, and {{A}} went on with {w}}}.")
        current = what
    c = "{%s" % current
    if s.roles[current].noun in [f[0] for f in words.FOODS]:
        s.say(f"{{A}} was hungry, so {{A:he}} sat down and ate {c}:him}}.",
              f"In the evening {{A:he}} sat under a tree and ate {c}}}.")
        s.say("Then {A:he} had nothing again, but {A:he} was happy.",
              '"A full belly is worth more than silver," said {A}.')
    else:
        s.say(f"{{A}} took {c}}} home and showed {c}:him}} to {{A:his}} friends.",
              f"{{A}} carried {c}}} home and kept {c}:him}} {{hiding}}.")
        s.say(f'"{{A:I}} found {{T}}," {{A:he}} said, "and now {{A:I}} have {c}}}."')


def broken(s):
    cast(s, "A", HEIRS if s.chance(0.5) else words.CHILD, adjectives=["young", "little", "wild"])
    rulers = s.roles["A"].noun in HEIRS
    cast(s, "B", RULERS if rulers else PARENTS, unlike="A", adjectives=[""], named=0)
    s.roles["B"].owner = None if rulers else s.roles["A"]
    thing(s, "T",
          [("cup", False, "", ["blue", "golden"]), ("mirror", False, "", ["silver", "great"]),
                   ("jar", False, "", ["blue", "old"]), ("plates", True, "two", ["white", "blue"]),
                   ("lamp", False, "", ["old", "beautiful"]),
           ("glasses", True, "three", ["green", "fine"])])
    once(s)
    parent = "mother" if s.roles["B"].kind == "f" else "father"
    owner = "{A:his} %s, {B}," % parent if rulers else "{A:his} {B:n}"
    s.say(owner + " had {T:a} and loved {T:him} dearly.",
          "On the table of " + owner + " stood {T:a}.")
    s.say("One day {A} was playing with a ball and broke {T}.",
          "One day {A} ran through the room, and {T} fell down and broke.")
    cast(s, "C", {"cat": ("f", 1), "dog": ("m", 1), "maid": ("f", 1), "cook": ("f", 1)}, unlike="A",
         adjectives=[""], named=0)
    s.say('"Who has broken {B:my} {T:n}?" asked {B}.',
          '{B} saw the pieces. "{B:my} {T:n}!" {B:he} cried. "Who did that?"')
    if s.chance(0.4):
        s.say('"{C} did that," said {A}.',
              '"{C} has broken {T:him}," said {A}, for {A:he} was afraid.')
        s.say("So {C} had to sleep outside in the rain.", "So {B} sent {C} out into the cold.")
        s.say("{A} lay awake and thought of {C}. {A:He} could not sleep.",
              "{A} heard {C} outside, and {A:he} was ashamed.")
        s.say('{A:He} went to {B} and said, "{C} did nothing. {A:I} broke {T}."')
        s.say("{B} let {C} in again, and {A} gave {C:him} {A:his!} own warm bed.",
              '"Say that to {C}," said {B}, and {A} told {C} everything.')
    else:
        s.say("{A} was afraid, but {A:he} did not want to lie.",
              "{A} wanted to hide. Then {A:he} took heart.")
        s.say('"{A:I} broke {T:him}," {A:he} said. "{A:I} am sorry."',
              '"{T:he} fell when {A:I} ran," said {A}. "Please forgive {A:me}."')
        s.say("{B} was silent for a while. Then {B:he} took {A} by the hand.",
              "{B} looked at {A:him} for a long time and smiled.")
        s.say('"{B:I} can buy new ones," said {B}, "but {B:I} cannot buy the truth."'
              if s.roles["T"].kind == "p" else
              '"{B:I} can buy a new {T:n}," said {B}, "but {B:I} cannot buy the truth."',
              '"{A:you} told {B:me} the truth," said {B}, "and that is worth more than {T}."')
    s.say("From that day on {A} did not play inside.", "{A} never forgot that day.",
          "And {A} took better care of the things in the house.")


PLOTS = [lost, lost, thief, moved, swaps, swaps, broken]
