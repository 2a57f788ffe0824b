"""Chooses the characters, things and places of a story, and writes its beginning."""

from . import words
from .writer import Entity

PLAIN = ["", "", "", "young", "old", "kind", "clever"]
PEOPLE = {**words.ROYAL, **words.FOLK, **words.CHILD}
ANIMALS = {**words.MIDDLE, **words.SMALL}
GROWN = {**words.ROYAL, **words.FOLK}
RULERS = {"king": ("m", 1), "queen": ("f", 1)}
HEIRS = {"prince": ("m", 1), "princess": ("f", 1)}
PARENTS = {"mother": ("f", 1), "father": ("m", 1)}


def home_of(noun):
    for kind, nouns in (("royal", words.ROYAL), ("folk", words.FOLK), ("child", words.CHILD)):
        if noun in nouns:
            return words.HOMES[kind]
    return words.HOMES["animal"]


def cast(s, role, pool, unlike=None, gender=None, adjectives=PLAIN, named=0.35):
    """Draws a character from a pool. No noun occurs twice; its gender usually differs from that of role `unlike`."""
    taken = {e.noun for e in s.roles.values()}
    if unlike and s.chance(0.85):
        gender = "f" if s.roles[unlike].kind == "m" else "m"
    fits = {n: g for n, g in pool.items() if n not in taken}
    fits = {n: g for n, g in fits.items() if gender in (None, g[0])} or fits
    noun = s.pick([n for n, (_, weight) in fits.items() for _ in range(weight)])
    names = [n for n in words.NAMES[fits[noun][0]] if n not in {e.name for e in s.roles.values()}]
    name = s.pick(names) if s.chance(named) else ""
    adjective = s.pick(adjectives)
    if adjective == "old" and (noun in words.CHILD or noun in HEIRS):
        adjective = "little"
    s.fixed.setdefault("home", s.pick(home_of(noun)))
    return s.add(role, Entity(noun, fits[noun][0], name=name, adjective=adjective))


def thing(s, role, pool=words.THINGS, plural=None):
    """Something to have, lose and find."""
    taken = {e.noun for e in s.roles.values()}
    noun, many, before, adjectives = s.pick(
        [t for t in pool if t[0] not in taken and plural in (None, t[1])])
    return s.add(role, Entity(noun, "n", many, before=before, adjective=s.pick(adjectives)))


def group(s, role, noun, before="some"):
    return s.add(role, Entity(noun, "n", True, before=before))


def place(s, *nouns):
    """The story's place, and something to hide in or behind."""
    noun = s.pick([n for n in (nouns or list(words.PLACES)) if n not in s.fixed["home"]])
    at, to = words.PLACES[noun]
    s.fixed.update(place=f"the {noun}", at=f"{at} the {noun}", to=f"{to} the {noun}")
    hiding, other = s.pick(words.HIDING), s.pick(words.HIDING)
    while other.split()[-1] == hiding.split()[-1] or noun in hiding or noun in other:
        hiding, other = s.pick(words.HIDING), s.pick(words.HIDING)
    s.fixed.update(hiding=hiding, other=other)


def once(s, role="A"):
    s.say("Once there was {%s:a} who lived {home}." % role,
          "Long ago {%s:a} lived {home}." % role,
          "There once lived {home} {%s:a}." % role,
          "Once upon a time {%s:a} lived {home}." % role)
    trait(s, role)


def trait(s, role):
    """A remark about the character just introduced. It fits both king and queen, or both boy and girl."""
    e = s.roles[role]
    if not s.chance(0.5):
        return
    own = role + ":"
    if e.noun in ("king", "queen"):
        s.say("{%she} wore a golden crown and sat on a high throne." % own,
              "{%she} ruled the whole land, and the people loved {%shim}." % (own, own),
              "The soldiers at the gate stood up when {%she} passed." % own)
    elif e.noun in ("prince", "princess"):
        s.say("{%she} would wear the crown one day." % own,
              "{%she} was still young, and the throne was still too high for {%shim}." % (own, own))
    elif e.noun in words.CHILD:
        s.say("{%she} was small, but {%she} was not afraid of the dark." % (own, own),
              "{%she} was too young to work and old enough to help." % own,
              "{%she} liked to play in the fields until the evening." % own)
    elif e.noun in words.FOLK:
        s.say("{%she} worked hard from morning to night." % own,
              "{%she} was not rich, but {%she} had enough to eat." % (own, own),
              "Everyone in the country knew {%shim}." % own)
    else:
        s.say("{%she} slept in the day and walked in the night." % own if e.noun in (
                  "owl", "fox", "wolf", "cat", "mouse", "hedgehog")
              else "{%she} knew every path and every tree." % own,
              "{%she} was proud of {%shis} warm bed of straw." % (own, own),
              "The other animals liked {%shim} well." % own)
