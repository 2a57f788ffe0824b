"""Gold links: which tokens each row of a model's attention should look at, read from a gold file for scripts/gold.py."""
import json
import re
import sys

UNKNOWN = 0  # the id of <unk>


class GoldLine:
    """A JSON object on a line of the gold file; an error names file and line."""

    def __init__(self, file, number, text):
        self.where = f"{file}:{number}"
        try:
            self.object = json.loads(text)
        except json.JSONDecodeError as e:
            self.fail(f"this is not JSON: {e.msg} at character {e.pos + 1}.")
        if not isinstance(self.object, dict):
            self.fail(f"expected a JSON object; found {text.strip()}.")

    def fail(self, what):
        sys.exit(f"gold.py: {self.where}: {what}")

    def __getitem__(self, key):
        if key not in self.object:
            self.fail(f'"{key}" is missing.')
        return self.object[key]

    def list(self, value, what):
        return value if isinstance(value, list) else self.fail(f"{what} must be a list.")

    def index(self, value, limit, what):
        """A whole number of at least 0 and below `limit`."""
        if type(value) is not int or not 0 <= value < limit:
            self.fail(f"{what} must be a whole number below {limit}; found {json.dumps(value)}. Does the gold file belong "
                      "to these texts?")
        return value

    def span(self, value, limit, what):
        """[begin, end, ...] with begin < end <= limit."""
        if len(self.list(value, what)) < 2:
            self.fail(f"{what} must be [begin, end].")
        begin, end = self.index(value[0], limit, what), self.index(value[1], limit + 1, what)
        if begin >= end:
            self.fail(f"{what} must not be empty.")
        return begin, end


class Text:
    """A line as the model reads it: `bytes` of each token, in its UTF-8."""

    def __init__(self, tokenized):
        self.text, self.ids, self.places = (tokenized[key] for key in ("text", "ids", "bytes"))
        self.utf8 = self.text.encode()

    def byte(self, character):
        return len(self.text[:character].encode())

    def tokens(self, begin, end):
        """The tokens that overlap some characters."""
        begin, end = self.byte(begin), self.byte(end)
        return [t for t, (b, e) in enumerate(self.places) if b < end and begin < e]

    def whole(self, begin):
        """The first token from `begin` on that begins with a character; a token may be a byte of one."""
        while begin < len(self.places) and self.utf8[self.places[begin][0]] & 0xC0 == 0x80:
            begin += 1
        return begin

    def cut(self, begin, end):
        """The text of some tokens; by itself it has the same tokens."""
        return self.utf8[self.places[begin][0]:self.places[end - 1][1]].decode() if begin < end else ""


class Link:
    def __init__(self, query, keys, right, distractors):
        self.query = query  # this row
        self.keys = keys  # should look at these
        self.right = right  # pronouns: all mentions in reach, `keys` among them
        self.distractors = [d for d in distractors if not set(d) & set(keys)]  # wrong answers of the right kind


class Example:
    """What is read at once, a line of each side (None: there is no such side), and its links."""

    def __init__(self, group, rows, source, target):
        self.group, self.rows, self.source, self.target = group, rows, source, target
        self.links = []


class GoldSet:
    def __init__(self, kind, group_name):
        self.kind, self.group_name = kind, group_name
        self.examples, self.notes = [], []

    def note(self, count, text):
        if count > 0:
            self.notes.append(f"{count} {text}")


def pair_sets(options, gold, heed, config):
    """The gold of pairs of lines."""
    source, target = (tokenized(heed, options.run, file, "--side", side)
                      for file, side in ((options.file, "source"), (options.target_file, "target")))
    for file, lines in ((options.file, source), (options.target_file, target)):
        if len(lines) != len(gold):
            sys.exit(f"gold.py: {options.gold} has {len(gold)} lines, but {file} has {len(lines)}. Does the gold file belong "
                     "to these texts?")
    most = max(config["model"]["max_length"], config["data"]["max_length"] + 1)  # tokens of a side
    found = GoldSet("cross", "lines")
    too_long = unknown = 0
    for i, text in enumerate(gold[:options.limit]):
        line = GoldLine(options.gold, i + 1, text)
        if line.index(line["line"], len(gold), '"line"') != i:
            line.fail(f'"line" must be {i}: one object for each line, in order.')
        s, t = source[i], target[i]
        if len(s.ids) + 1 > most or len(t.ids) > most:  # with </s>; with <s>, without the last
            too_long += 1
            continue
        # Row t of the decoder predicts token t, so the last token need not be read.
        example = Example(i, len(t.ids), s.text, t.cut(0, len(t.ids) - 1))
        aligned = [sorted(keys) for keys in aligned_tokens(line, s, t)]
        distractors = [list(d) for d in dict.fromkeys(map(tuple, aligned)) if d]
        example.links = [Link(row, keys, [], distractors) for row, keys in enumerate(aligned) if keys]
        if example.links:
            found.examples.append(example)
            unknown += UNKNOWN in s.ids or UNKNOWN in t.ids[:-1]
    found.note(too_long, "lines left out: longer than the model reads")
    found.note(unknown, "inputs have tokens unknown to the model")
    return [found]


def aligned_tokens(line, source, target):
    """For each target token the set of source tokens that decide it: of all units it overlaps."""
    unit = line["unit"]
    if unit not in ("token", "char"):
        line.fail(f'"unit" must be "token" or "char"; found {json.dumps(unit)}.')
    pattern = re.compile(r"\S+" if unit == "token" else r"(?s).")
    sources, targets = ([text.tokens(*m.span()) for m in pattern.finditer(text.text)] for text in (source, target))
    alignment = line.list(line["alignment"], '"alignment"')
    if len(alignment) != len(targets):
        line.fail(f'"alignment" is about {len(alignment)} target positions, but the target line has {len(targets)}. Does the '
                  "gold file belong to these texts?")
    aligned = [set() for _ in target.ids]
    for tokens, positions in zip(targets, alignment):
        for position in line.list(positions, '"alignment"'):
            for token in tokens:
                aligned[token].update(sources[line.index(position, len(sources), "a source position")])
    return aligned


def pronoun_sets(options, gold, heed, config):
    """The gold of pronouns: a set for each half of the model."""
    objective, kind = config["objective"], config["objective"]["type"]
    most_source, most_target = objective["source_length"], objective["target_length"]
    stories = read_stories(options, gold, tokenized(heed, options.run, options.file))
    sets = []
    if kind != "causal_lm":
        begins = int(kind == "masked_lm")  # with <s>, which is one more than source_length
        needs_target = "" if config["model"]["decoder_layers"] else None
        sets.append(pronoun_set("encoder", stories, most_source, begins,
                                lambda text, begin, end: (text.cut(begin, end), needs_target)))
    if kind in ("causal_lm", "prefix_lm"):  # a decoder that reads text
        sets.append(pronoun_set("decoder", stories, most_target - 1, 1, lambda text, begin, end: (
            text.cut(text.whole(max(0, begin - most_source)), begin) if kind == "prefix_lm" else None,
            text.cut(begin, end))))
    return sets


def read_stories(options, gold, lines):
    """[(text of the line, pronouns)], a pronoun as tokens: (its own, those of its nouns, those of all mentions)."""
    begins = [0]  # of the lines, in characters
    for line in lines:
        begins.append(begins[-1] + len(line.text) + 1)
    stories, last = [], None
    for number, raw in enumerate(gold[:options.limit], 1):
        line = GoldLine(options.gold, number, raw)
        story = line.span(line["story"], begins[-1], '"story"')
        at = max(i for i, begin in enumerate(begins) if begin <= story[0])
        if story[1] >= begins[at + 1]:
            line.fail('"story" goes beyond the end of its line; expected each story on a line of its own.')
        if story != last:
            stories.append((lines[at], []))
            last = story
        text = lines[at]

        def tokens(value, what):
            begin, end = line.span(value, begins[-1], what)
            if begin < story[0] or end > story[1]:
                line.fail(f"{what} lies outside its story.")
            begin, end = begin - begins[at], end - begins[at]
            if len(value) > 2 and value[2].lower() != text.text[begin:end].lower():
                line.fail(f'{what} is "{value[2]}", but the text has "{text.text[begin:end]}" there. Does the gold file '
                          "belong to this text?")
            return text.tokens(begin, end)

        nouns = [tokens(noun, '"noun"') for noun in line.list(line["noun"], '"noun"')]
        if not nouns:
            line.fail('"noun" must not be empty.')
        mentions = [tokens(m, '"mentions"') for m in line.list(line.object.get("mentions", []), '"mentions"')]
        stories[-1][1].append((tokens(line["pronoun"], '"pronoun"'), nouns, mentions))
    return stories


def pronoun_set(kind, stories, room, shift, sides):
    """`room`: tokens that fit; `shift`: the row of the first; `sides`: the lines that are read for some tokens."""
    found = GoldSet(kind, "stories")
    out_of_reach = unknown = 0
    for group, (text, pronouns) in enumerate(stories):
        examples = {}  # by what they read
        for at, nouns, mentions in pronouns:
            end = at[-1] + 1
            begin = text.whole(max(0, end - room))

            def rows(spans, until=end):
                """The rows that read these tokens; none unless all of them are in sight."""
                tokens = sorted({t for span in spans for t in span})
                return [t - begin + shift for t in tokens] if tokens and begin <= tokens[0] and tokens[-1] < until else []

            keys = rows(nouns)
            if not keys or at[0] < begin:
                out_of_reach += 1
                continue
            right = sorted({*keys, *(row for mention in mentions for row in rows([mention]))})
            distractors = {tuple(rows(others, at[0])) for _, others, _ in pronouns}
            distractors = [d for d in distractors if d and not set(d) & set(right)]
            # A decoder's row does not depend on the rows after it: pronouns share what begins with the story.
            until = min(len(text.ids), room) if kind == "decoder" and begin == 0 else end
            if (begin, until) not in examples:
                examples[begin, until] = Example(group, until - begin + shift, *sides(text, begin, until))
            examples[begin, until].links += [Link(row, keys, right, distractors) for row in rows([at])]
            unknown += UNKNOWN in text.ids[begin:end]
        found.examples += examples.values()
    found.note(out_of_reach, "pronouns left out: their noun is farther back than the model reads")
    found.note(unknown, "inputs have tokens unknown to the model")
    return found


def tokenized(heed, run, file, *side):
    return [Text(line) for line in heed.lines("tokenize", run, "--file", file, *side)]
