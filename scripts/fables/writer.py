"""Writes a story sentence by sentence and remembers what each noun and pronoun refers to.

A template is plain text with two kinds of markup:
  [a|b|c]      one of the alternatives (which may be empty)
  {R:form}     the character or thing in role R; without a form it is "the fox" or its name
The forms of a role are named after the masculine singular:
  a            first mention: "a clever fox", "a miller named Tom", "a pair of red boots"
  n  's        the bare noun; the possessive of the noun
  he him his himself            third person, by gender and number
  I me my mine you your yours   inside quoted speech; plural roles give we, us, our, ours
  was is has s                  words that agree in number ("s" is the ending of a verb)
  {word}       fixed for the story: {home}; {place}, {at} and {to} its place; {hiding}, {other}
A role of two letters, such as AB, is the pair of A and B: {AB:he} writes "they".
A pronoun of the third person is written only if a reader can resolve it. Otherwise the noun is
written, unless the form ends in "!".
"""

import re

THIRD = {
    "m": dict(he="he", him="him", his="his", himself="himself"),
    "f": dict(he="she", him="her", his="her", himself="herself"),
    "n": dict(he="it", him="it", his="its", himself="itself"),
    "p": dict(he="they", him="them", his="their", himself="themselves"),
}
FIRST = {"I": "we", "me": "us", "my": "our", "mine": "ours"}
SECOND = ("you", "your", "yours")
AGREEING = {"was": ("was", "were"), "is": ("is", "are"), "has": ("has", "have"), "s": ("s", "")}
PRONOUNS = {w for forms in THIRD.values() for w in forms.values()} | set(FIRST) | set(
    FIRST.values()) | set(SECOND)
PRONOUNS = {w.lower() for w in PRONOUNS}


class Entity:
    """A character or thing of one story. A pair has two members and no noun of its own."""

    def __init__(self, noun="", gender="n", plural=False, name="", before="", adjective="",
                 members=(), owner=None):
        self.noun, self.name, self.before, self.adjective = noun, name, before, adjective
        self.kind = "p" if plural or members else gender
        self.members = members
        self.owner = owner  # whose mother or father: "her father" rather than "the father"
        self.mentions = []  # (begin, end) of each noun or name
        self.seen = -99  # the last sentence that mentioned it, by noun or pronoun


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.text = ""
        self.sentence = 0
        self.roles = {}
        self.fixed = {}  # other words of this story: its place, its hiding place
        self.pronouns = []  # (begin, end, mentions of each referent so far)

    def pick(self, items):
        return items[int(self.rng.random() * len(items))]

    def chance(self, probability):
        return self.rng.random() < probability

    def add(self, role, entity):
        self.roles[role] = entity
        return entity

    def role(self, letters):
        if letters not in self.roles:
            self.add(letters, Entity(members=[self.roles[c] for c in letters]))
        return self.roles[letters]

    def say(self, *templates):
        """One of the templates, as a sentence or several."""
        template = re.sub(r"\[([^]]*)\]", lambda m: self.pick(m[1].split("|")),
                          self.pick(templates))
        template = re.sub(r"\{([a-z]+)\}", self.fill, template)
        template = re.sub(" +", " ", template).strip()
        if self.text:
            self.text += " "
        start = True
        for literal, role, form in re.findall(r"([^{]*)(?:\{(\w+):?([\w'!]*)\})?", template):
            if literal:
                self.emit(literal, start)
                start = False
            if role:
                self.insert(self.role(role), form, start)
                start = False
        self.sentence += 1

    def fill(self, match):
        """A fixed word; "under a stone" becomes "under the stone" the second time."""
        words = self.fixed[match[1]]
        self.fixed[match[1]] = re.sub(r"\b(a|an)\b", "the", words)
        return words

    def emit(self, text, start=False):
        """Appends text, with a capital where a sentence or quoted speech begins."""
        before = self.text.rstrip(" ")
        opened = before.endswith('"') and self.text == before and self.text.count('"') % 2
        if text and (start or opened or before.endswith((".", "!", "?"))):
            at = 1 if text[0] == '"' else 0
            text = text[:at] + text[at:at + 1].upper() + text[at + 1:]
        self.text += text
        self.sentence += len(re.findall(r"[.!?] ", text))

    def insert(self, entity, form, start):
        certain = form.endswith("!")
        form = form.rstrip("!")
        if form[:1].isupper() and form.lower() in THIRD["m"]:
            form, start = form.lower(), True
        if form in AGREEING:
            self.emit(AGREEING[form][entity.kind == "p"], start)
        elif form in FIRST or form in SECOND:
            word = FIRST[form] if form in FIRST and entity.kind == "p" else form
            self.pronoun(entity, word, start)
        elif form in THIRD["m"]:
            if certain or form == "himself" or self.resolvable(entity):
                self.pronoun(entity, THIRD[entity.kind][form], start)
                self.see(entity)
            else:
                self.mention(entity, "'s" if form == "his" else "", start)
        else:
            self.mention(entity, form, start)

    def pronoun(self, entity, word, start):
        referents = entity.members or [entity]
        assert all(e.mentions for e in referents), (word, self.text)
        begin = len(self.text)
        self.emit(word, start)
        self.pronouns.append((begin, len(self.text), [list(e.mentions) for e in referents]))

    def mention(self, entity, form, start):
        if entity.members:
            first, last = entity.members
            self.mention(first, "", start)
            self.emit(" and ")
            self.mention(last, form, False)
            self.see(entity)
            return
        if form == "a":
            words = f"{entity.before} {entity.adjective} ".split()
            if not entity.before and entity.kind != "p":
                words.insert(0, "an" if (words + [entity.noun])[0][0] in "aeiou" else "a")
            self.emit(" ".join(words) + " ", start)
            self.noun(entity, entity.noun, False)
            if entity.name:
                self.emit(" named ")
                self.noun(entity, entity.name, False)
        elif entity.name and form != "n" and self.chance(0.5):
            self.noun(entity, entity.name, start)
        else:
            if form != "n" and entity.owner and self.resolvable(entity.owner):
                self.insert(entity.owner, "his", start)
                self.emit(" ")
                start = False
            elif form != "n":
                described = entity.kind in "np" and entity.adjective and self.chance(0.25)
                self.emit(f"the {entity.adjective} " if described else "the ", start)
                start = False
            self.noun(entity, entity.noun, start)
        if form == "'s":
            self.text += "'" if entity.kind == "p" and entity.noun.endswith("s") else "'s"
        self.see(entity)

    def noun(self, entity, word, start):
        begin = len(self.text)
        self.emit(word, start)
        entity.mentions.append((begin, len(self.text)))

    def see(self, entity):
        entity.seen = self.sentence

    def resolvable(self, entity):
        """Whether a reader can tell whom he, she, it or they would mean here."""
        if any(not e.mentions for e in entity.members or [entity]):
            return False
        rivals = [e.seen for e in self.roles.values() if e is not entity and e.kind == entity.kind
                  and not (entity.members and e in entity.members)]
        rival = max(rivals, default=-99)
        seen = max([entity.seen, min((e.seen for e in entity.members), default=-99)])
        if seen == self.sentence and rival < self.sentence:
            return True
        return seen >= self.sentence - 2 and rival < self.sentence - 1
