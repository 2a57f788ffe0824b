"""Plots among animals. The stories are as old as Aesop, the words are our own."""

from . import words
from .casting import cast, place, thing


def flattery(s):
    cast(s, "A", words.BIRDS, adjectives=["proud", "young", "old"])
    cast(s, "B", words.FLATTERERS, unlike="A", adjectives=["hungry", "clever", "thin"])
    thing(s, "F", words.FOODS, plural=False if s.chance(0.8) else None)
    s.say("{A:a} had found {F:a} and carried {F:him} up into a tree.",
          "One [morning|evening] {A:a} took {F:a} from a window and flew with {F:him} to a high "
          "branch.",
          "{A:a} sat on a branch with {F:a} in {A:his} beak.")
    s.say("{B:a} came by and looked up, for {B:he} had eaten nothing all day.",
          "Under the tree sat {B:a}, and {B:he} wanted {F} for {B:himself}.",
          "{B:a} smelled {F} and came running.")
    s.say('"How beautiful {A:you} are!" said {B}. "{A:your} wings shine like the night."',
          '"Good day, dear {A:n}," said {B}. "{B:I} have never seen such fine wings as {A:yours}."',
          '"Dear {A:n}," said {B}, "{A:you} are the most beautiful of all birds."')
    s.say('{B:He} smiled. "{A:your} voice must be as fine as {A:your} wings. Will {A:you} sing '
          'for {B:me}?"',
          '{B:He} came nearer. "People say that {A:you} can sing. {B:I} would give much to hear '
          '{A:your} song."')
    s.say("{A} was so pleased that {A:he} opened {A:his} beak and began to sing.",
          "{A} wanted to show {A:his} voice. {A:He} lifted {A:his} head and sang.")
    s.say("{F} fell down at once, and {B} caught {F:him}.",
          "At the first note {F} fell to the ground. {B} ate {F:him} in one bite."
          if s.roles["F"].kind == "n" else "Down fell {F}, and {B} took {F:him} all.")
    s.say('"{A:your} voice is good," said {B}, "but {A:your} head is not."',
          '"Thank {A:you} for the song and for the dinner," said {B}, and {B:he} ran away.')
    s.say("{A} stayed in the tree. {A:He} was hungry, but {A:he} was wiser.",
          "So {A} learned not to trust sweet words.",
          "From then on {A} kept {A:his} beak shut when others praised {A:him}.")


def small_help(s):
    cast(s, "A", words.LARGE, adjectives=["great", "strong", "old"])
    cast(s, "B", words.SMALL, unlike="A", adjectives=["little", "small", "young"])
    s.say("{A:a} lay asleep [in the shade|under a tree|in the tall grass].",
          "One hot [day|noon] {A:a} slept [in the shade|in front of a cave].")
    s.say("{B:a} did not see {A:him} and ran right over {A:his} nose.",
          "{B:a} was playing nearby and jumped on {A:his} back.")
    s.say("{A} woke up and caught {B:him}.", "{A:He} woke in anger and held {B} by the tail."
          if s.roles["B"].noun in ("mouse", "squirrel") else "{A:He} woke in anger and caught {B}.")
    s.say('"Let {B:me} go," cried {B}, "and one day {B:I} will help {A:you}."',
          '"Please do not eat {B:me}!" said {B}. "{B:I} am small, but {B:I} never forget a '
          'friend."')
    s.say('{A} laughed. "How could {B:you} ever help {A:me}?" But {A:he} let {B:him} go.',
          "That made {A} laugh, and because {A:he} was not hungry, {A:he} opened {A:his} paw."
          if s.roles["A"].noun != "cow" else "That made {A} laugh, and {A:he} let {B:him} go.")
    s.say("Some [days|weeks] later {A} fell into a trap.",
          "Before the [summer|winter] was over {A} was caught in a net.",
          "Soon after, hunters came and tied {A} to a tree with a rope.")
    s.say("{A:He} pulled and pulled, but {A:he} could not get free.",
          "{A:He} cried so loudly that the whole forest heard {A:him}.")
    s.say("{B} heard {A:his} voice and came at once.",
          "{B} knew the voice of {A} and ran to help {A:him}.")
    s.say("{B:He} worked at the ropes all night, and in the morning {A} was free.",
          "{B:He} bit through the knots one by one until {A:he} could stand up.")
    s.say('"{A:you} laughed at {B:me}," said {B}. "Now {A:you} see that the small can help the '
          'great."',
          '"{A:I} was wrong to laugh at {B:you}," said {A}. "{B:you} saved {A:my} life."')
    s.say("From that day on {A} and {B} were friends.",
          "After that {AB:he} shared {AB:his!} food every winter.",
          "And {A} never laughed at the small again.")


def race(s):
    cast(s, "A", words.FAST, adjectives=["proud", "quick", "young"])
    cast(s, "B", words.SLOW, unlike="A", adjectives=["slow", "old", "patient"])
    place(s, "forest", "river", "mill", "hill", "bridge", "village")
    s.say("{A:a} laughed at {B:a} because {B:he} was so slow.",
          "{A:a} met {B:a} on the road. \"Do {B:you} ever get anywhere?\" {A:he} asked and "
          "laughed.")
    s.say('"Run a race with {B:me}," said {B}, "and then {A:you} may laugh."',
          '"{B:I} may be slow," said {B}, "but {B:I} can beat {A:you} in a race."')
    cast(s, "C", {"owl": ("f", 1), "goat": ("f", 1), "rooster": ("m", 1)}, named=0)
    s.say("{AB:he} agreed to run to {place}, and {C:a} was to be the judge.")
    s.say('"[One, two, three|Ready, steady], go!" cried {C}, and the race began.',
          "When the sun rose, {C} gave the sign.")
    s.say("{A} was soon so far ahead that {A:he} could not see {B} any more.",
          "{A} ran off like the wind, while {B} took one small step after another.")
    s.say('"{A:I} have time for a little sleep," {A:he} said to {A:himself}, and {A:he} lay down '
          'in the grass.',
          "The day was hot, and {A} sat down under a tree. Soon {A:he} was asleep.")
    s.say("But {B} did not stop. {B:He} walked past {A} without a sound.",
          "{B} never rested. Step by step {B:he} came nearer, and {B:he} passed {A} in silence.")
    s.say("When {A} woke up, {A:he} ran as fast as {A:he} could, but {A:he} came too late.",
          "In the evening {A} opened {A:his} eyes and jumped up. The race was over.")
    s.say("{B} was already there, and {C} laid flowers at {B:his} feet.",
          '"The winner is {B}," said {C}, and all the animals cheered.')
    s.say("{A} never laughed at {B} again.", "Slow and steady is better than quick and careless.",
          '"Being quick is not enough," said {B}. "One must also go on."')


def winter(s):
    cast(s, "A", words.WORKERS, adjectives=["busy", "careful", "old"])
    cast(s, "B", words.SINGERS, unlike="A", adjectives=["merry", "lazy", "young"])
    s.say("All summer long {A:a} carried food into {A:his} house.",
          "In summer {A:a} worked in the fields from morning to night.")
    s.say("{B:a} sat in the sun and sang.",
          "{B:a} lived next door. {B:He} danced and sang and did no work at all.")
    s.say('"Why do {A:you} work so hard?" asked {B}. "Come and sing with {B:me}!"',
          '"Leave the work and dance with {B:me}," said {B}. "The days are long and warm."')
    s.say('"Winter will come," said {A}, "and {A:I} want to have food in {A:my} house."',
          '"{A:I} am thinking of the snow," said {A}. "{B:you} should do the same."')
    s.say("But {B} only laughed and went on singing.",
          "{B} looked at the blue sky and did not believe {A:him}.")
    s.say("Then winter came, and the snow lay deep on the fields.",
          "Soon the leaves fell, the wind grew cold, and the snow came.")
    s.say("{B} had nothing to eat. {B:He} was cold, and {B:he} knocked at the door of {A}.",
          "{B} looked for food, but {B:he} did not find a crumb. So {B:he} went to {A}.")
    s.say('"Please give {B:me} something to eat," {B:he} said. "{B:I} am so hungry."',
          '"Dear {A:n}," {B:he} said, "will {A:you} share {A:your} food with {B:me}?"')
    if s.chance(0.5):
        s.say('"What did {B:you} do all summer?" asked {A}. "{B:I} sang," said {B}.',
              '"{B:you} sang all summer," said {A}. "Now {B:you} can dance all winter."')
        s.say("And {A} shut the door.", "Then {A:he} shut the door, and {B} went away hungry.")
    else:
        s.say("{A} was sorry for {B:him}. {A:He} opened the door and gave {B:him} bread and soup.",
              '"Come in," said {A}. "{A:I} have enough for two, and {B:you} can sing for {A:me}."')
        s.say("Next summer {B} worked beside {A}, and in the evening {AB:he} sang together.",
              "All winter {B} sang by the fire, and {A} had never been so merry.")


def judge(s):
    cast(s, "A", words.MIDDLE, named=0.2)
    cast(s, "B", words.SMALL, unlike="A", named=0.2)
    cast(s, "C", {"monkey": ("m", 1), "fox": ("m", 1), "cat": ("f", 1), "owl": ("f", 1)},
         adjectives=["clever", "wise", "old"], named=0)
    thing(s, "F", words.FOODS[:5])
    s.say("{A:a} and {B:a} found {F:a} on the road.",
          "{A:a} and {B:a} were walking together when {AB:he} saw {F:a} in the grass.")
    s.say('"{A:I} saw {F:him} first," said {A}. "{F:he} {F:is} {A:mine}!"',
          '"{F:he} belong{F:s} to {A:me}," said {A}, "because {A:I} saw {F:him} first."')
    s.say('"No, {B:I} picked {F:him} up," said {B}. "{F:he} {F:is} {B:mine}!"',
          '"But {B:I} was the one who picked {F:him} up," said {B}.')
    s.say("{AB:he} quarreled until {C:a} came along.",
          "So {AB:he} went to {C:a} and asked {C:him} to be the judge.")
    s.say('"{C:I} will cut {F:him} into two equal pieces," said {C}.',
          '"Nothing is easier," said {C}. "{C:I} will share {F:him} between {AB:you}."')
    s.say("But one piece was too big, so {C} took a bite of that piece.",
          "{C} made one piece bigger than the other. Then {C:he} took a bite to make the two "
          "equal.")
    s.say("Now the other piece was too big, and {C:he} took a bite of that one too.",
          "Then the other was bigger, and {C} took a bite again.")
    s.say("So {C:he} went on, bite after bite, until there was nothing left.",
          "Bite by bite {F} became smaller, and at last {F:he} {F:was} gone.")
    s.say("{A} and {B} went home hungry.", "{AB:he} looked at {AB:his!} empty paws and went home.",
          '"If {AB:I} had shared, {AB:I} would have eaten," said {B}.')
    s.say("Those who quarrel feed the judge.", "The next time {AB:he} shared and did not quarrel.",
          '"Next time {AB:I} will share without a judge," said {A} to {B}.')


def well(s):
    cast(s, "A", {"fox": ("m", 2), "wolf": ("m", 2), "cat": ("f", 2)},
         adjectives=["careless", "thirsty", "sly"])
    cast(s, "B", {"goat": ("f", 3), "donkey": ("m", 2), "goose": ("f", 1), "bear": ("m", 2)},
         unlike="A",
         adjectives=["simple", "thirsty", "good"])
    s.say("{A:a} fell into a [deep|dry|dark] well and could not get out.",
          "One [night|evening] {A:a} slipped and fell into a well.")
    s.say("The walls were high, and {A:he} jumped and jumped in vain.",
          "{A:He} sat at the bottom the whole night and looked up at the stars.")
    s.say("In the morning {B:a} came to drink and saw {A:him} there.",
          "After a while {B:a} looked down into the darkness. {B:He} was thirsty.")
    s.say('"What are {A:you} doing down there?" asked {B}.', '"Is the water good?" asked {B}.')
    s.say('"The water is the best in the country," said {A}. "Jump in and try!"',
          '"{A:I} am enjoying the cool water," said {A}. "There is enough for {AB:me}!"')
    s.say("{B} did not think long. {B:He} jumped in.", "{B} believed {A:him} and jumped down.")
    s.say("At once {A} climbed on the back of {B} and sprang out of the well.",
          "{A} stood on {B:his} shoulder, jumped, and was free.")
    s.say('"Help {B:me} out too!" cried {B}.', '"And what about {B:me}?" called {B} from below.')
    if s.chance(0.5):
        s.say('"{B:you} should have looked before {B:you} jumped," said {A}, and {A:he} went away.',
              '{A} laughed. "Next time think first," {A:he} said, and {A:he} was gone.')
        s.say("A wise head looks first and jumps later.", "That night was a long one for {B}.")
    else:
        s.say("{A} was ashamed. {A:He} found a rope and pulled {B} out.",
              "{A} wanted to run, but then {A:he} was sorry for {B} and came back with a rope.")
        s.say('"{A:I} played a bad trick on {B:you}," said {A}. "Forgive {A:me}."',
              'Then {AB:he} drank from the river together, and {A} never lied to {B} again.')


def dinner(s):
    cast(s, "A", {"fox": ("m", 1), "cat": ("f", 1), "dog": ("m", 1)},
         adjectives=["sly", "clever", "merry"])
    cast(s, "B", {"stork": ("f", 2), "crane": ("m", 2), "heron": ("m", 1)}, unlike="A",
         adjectives=["tall", "polite", "wise"])
    s.say("One day {A:a} asked {B:a} to dinner.",
          "{A:a} met {B:a} and said, \"Come and eat with {A:me} tonight.\"")
    s.say("{A:He} served the soup on a flat plate.", "On the table stood a flat plate of soup.")
    s.say("{A} ate quickly, but {B} could only wet {B:his} long beak.",
          "{B} had a long beak, and {B:he} could not eat a drop, while {A} ate everything.")
    s.say('"Do {B:you} not like {A:my} soup?" asked {A} with a smile.',
          '"What a pity that {B:you} are not hungry," said {A}.')
    s.say('"{A:you} have been so kind," said {B}. "Tomorrow {A:you} must eat with {B:me}."',
          "{B} said nothing. {B:He} thanked {A} and asked {A:him} to dinner for the next day.")
    s.say("The next evening {A} came to the house of {B}, and {A:he} was very hungry.",
          "{A} came early, for {A:he} had smelled the [fish|meal] from far away.")
    s.say("{B} served the fish in a tall jar with a narrow neck.",
          "There stood a tall jar, and the fish lay at the bottom.")
    s.say("{B} put {B:his} long beak in and ate, but {A} could only lick the outside of the jar.",
          "{A} could not reach the food at all. {A:He} sat there and watched {B} eat.")
    s.say('"Do {A:you} not like {B:my} fish?" asked {B}.',
          '"What a pity that {A:you} are not hungry," said {B}.')
    s.say("{A} went home hungry and knew why.", "{A} understood, and {A:he} was ashamed.",
          "Those who play tricks must not complain of tricks.")


def bridge(s):
    cast(s, "A", words.MIDDLE, adjectives=["proud", "stubborn", "strong"], named=0.3)
    cast(s, "B", words.MIDDLE, unlike="A", adjectives=["proud", "stubborn", "strong"], named=0.3)
    s.say("{A:a} and {B:a} met in the middle of a narrow bridge.",
          "A narrow bridge led over the stream, and there {A:a} met {B:a}.")
    s.say("There was no room for two.", "The bridge was so narrow that only one could pass.")
    s.say('"Go back and let {A:me} pass," said {A}.',
          '"{A:I} was here first," said {A}. "{B:you} must go back."')
    s.say('"Why should {B:I} go back?" said {B}. "{A:you} are younger."',
          '"{B:I} am older than {A:you}," said {B}. "{A:you} must make room."')
    if s.chance(0.6):
        s.say("Neither would give way. {AB:he} pushed and pushed each other.",
              "{AB:he} put down {AB:his!} heads and ran at each other.")
        s.say("Both fell into the cold water.",
              "The bridge shook, and down fell {A} and {B} into the stream.")
        s.say("Wet and sorry, {AB:he} climbed out on the two sides of the stream.",
              "{B} lost {B:his} pride in the water, and so did {A}.")
        s.say("The one who gives way gets home dry.", '"{AB:I} could both be dry now," said {B}.')
    else:
        s.say("Then {B} looked down into the deep water and thought.", "{B} thought for a moment.")
        s.say('"If {AB:I} fight, {AB:I} will both fall," {B:he} said. "{B:I} will lie down, '
              'and {A:you} can step over {B:me}."')
        s.say("So {B} lay down, and {A} stepped over {B:him} with great care.",
              "{A} stepped over {B} with great care and thanked {B:him}.")
        s.say("Then {AB:he} went on, each to the other side, and nobody got wet.",
              "{AB:he} reached the two sides of the stream and waved to each other.")


PLOTS = [flattery, small_help, race, winter, judge, well, dinner, bridge]
