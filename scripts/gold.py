#!/usr/bin/env python3
"""Does a head look where it should? Scores every attention head of a run against gold links.

    scripts/gold.py RUN --gold FILE --file FILE [--target-file FILE] [--limit N] [--checkpoint C] [--json]

The gold says which source positions decide a target position (a model of pairs, its cross-attention; --file and
--target-file are the lines it is about) or which noun a pronoun refers to (a model of text, its self-attention; --file is
the text). data/README.md describes both formats.

  mass on gold    weight on the gold tokens, mean over the links
  argmax is gold  how often the token with the largest weight is gold (ties share the point)
  AER             alignment error rate (Och and Ney 2003), one token proposed for each link, all gold sure:
                  1 - 2 |proposed and gold| / (|proposed| + |gold|); 0 is best, 1 worst

Gold of a pronoun is the nearest noun of its referent; "any" accepts every earlier mention of it. The model reads the story
up to the pronoun, or as much of its end as fits. Gold of a target token is about the row that predicts it.

Controls: "untrained" is the same head with the weights that the run began with (--checkpoint initial). "uniform" is even
attention, the same weight on every token in sight. "shuffled" is the trained head scored against the gold of other positions
of the line (or the nouns of other referents of the story), the mean over all that share no token with the right one.
Intervals: 95 % of 1000 bootstrap resamples (Efron 1979; for corpora Koehn 2004) of lines or stories, the same for all heads;
none if fewer than ten of them have a link.

The last line is the verdict. A head has learnt the links if more than half of its weight lies on gold, and at least twice as
much as in every control. --json prints the same figures of all heads.
"""
import argparse
import json
import operator
import pathlib
import re
import sys
import tempfile

from heed_runs import DEFAULT_HEED, Heed

RESAMPLES = 1000
LEAST_GROUPS = 10  # resamples of fewer groups say little about other groups
SHOWN_HEADS = 12  # of one kind of attention
UNKNOWN = 0  # the id of <unk>
# What is summed over links: from these follow all figures.
LINKS, MASS, CORRECT, GOLD, ANY_MASS, ANY_CORRECT = range(6)


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
    source, target = (tokenized(heed, options.run, file, side)
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
    stories = read_stories(options, gold, tokenized(heed, options.run, options.file, "target"))
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


def tokenized(heed, run, file, side):
    return [Text(line) for line in heed.lines("tokenize", run, "--file", file, "--side", side)]


def maps(heed, run, checkpoint, found, folder):
    """The attention of each example, [layer][head][query][key]; one at a time is in memory."""
    sides = [("source", [e.source for e in found.examples]), ("target", [e.target for e in found.examples])]
    arguments = []
    for name, lines in sides:
        if lines[0] is not None:
            path = folder / f"{name}.{found.kind}"
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            arguments += ["--target-file" if arguments else "--file", path]
    for example, line in zip(found.examples, heed.lines("attend", run, *checkpoint, *arguments)):
        weights = line[found.kind]
        if len(weights[0][0]) != example.rows:
            sys.exit(f"gold.py: heed reads {len(weights[0][0])} tokens where {example.rows} were expected")
        yield weights


def link_sums(row, link):
    most = max(row)
    share = 1 / row.count(most)

    def weight(keys):
        return sum(row[k] for k in keys)

    def first(keys):
        return share * sum(row[k] == most for k in keys)

    return [1, weight(link.keys), first(link.keys), len(link.keys), weight(link.right), first(link.right)], [
        [1, weight(d), first(d), len(d), weight(d), first(d)] for d in link.distractors]


def add(sums, more, times=1.0):
    for i, x in enumerate(more):
        sums[i] += times * x


def uniform_sums(link, visible):
    gold, right = len(link.keys) / visible, len(link.right) / visible
    return [1, gold, gold, len(link.keys), right, right]


class Bootstrap:
    """Turns sums of groups into figures; all heads use the same resamples."""

    def __init__(self, groups):
        self.times = []
        for b in range(RESAMPLES):
            key = combine(combine(hash64(0), 8), b)  # seed 0, Purpose::probe
            times = [0.0] * groups
            for i in range(groups):
                times[int((combine(key, i) >> 11) * 2.0**-53 * groups)] += 1
            self.times.append(times)

    def score(self, series, mentions):
        columns = list(zip(*series))
        whole = [sum(column) for column in columns]
        if whole[LINKS] == 0:
            return {"links": 0}
        resampled = []
        if sum(n > 0 for n in columns[LINKS]) >= LEAST_GROUPS:
            resampled = [[sum(map(operator.mul, times, column)) for column in columns] for times in self.times]
        figures = {"mass": lambda s: s[MASS] / s[LINKS], "accuracy": lambda s: s[CORRECT] / s[LINKS],
                   "aer": lambda s: 1 - 2 * s[CORRECT] / (s[LINKS] + s[GOLD])}
        if mentions:
            figures |= {"any_mass": lambda s: s[ANY_MASS] / s[LINKS], "any_accuracy": lambda s: s[ANY_CORRECT] / s[LINKS]}
        score = {"links": round(whole[LINKS])}
        for name, figure in figures.items():
            ordered = sorted(figure(s) for s in resampled if s[LINKS] > 0)
            low, high = (ordered[int(share * (len(ordered) - 1) + 0.5)] if ordered else None for share in (0.025, 0.975))
            score[name] = {"value": figure(whole), "low": low, "high": high}
        return score


# heed's counter-based random numbers (src/base/noise.h).
def hash64(x):
    x = x + 0x9E3779B97F4A7C15 & 2**64 - 1
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & 2**64 - 1
    x = (x ^ x >> 27) * 0x94D049BB133111EB & 2**64 - 1
    return x ^ x >> 31


def combine(key, part):
    return hash64(key ^ (part * 0xD6E8FEB86659FD93 + 0x2545F4914F6CDD1D & 2**64 - 1))


def score_heads(heed, run, checkpoint, found):
    """The figures of all heads of a set, as --json prints them."""
    if not found.examples:
        sys.exit("gold.py: the gold file leaves nothing to score." + "".join(f" Note: {note}." for note in found.notes))
    groups = {group: i for i, group in enumerate(dict.fromkeys(e.group for e in found.examples))}

    def zeros():
        return [[0.0] * 6 for _ in groups]

    uniform, heads = zeros(), {}
    with tempfile.TemporaryDirectory(prefix="heed-gold-") as folder:
        streams = [maps(heed, run, which, found, pathlib.Path(folder)) for which in (checkpoint, ("--checkpoint", "initial"))]
        for example, trained, untrained in zip(found.examples, *streams):
            group = groups[example.group]
            for link in example.links:
                visible = link.query + 1 if found.kind == "decoder" else len(trained[0][0][0])
                add(uniform[group], uniform_sums(link, visible))
                for layer, of_layer in enumerate(trained):
                    for head, weights in enumerate(of_layer):
                        series = heads.setdefault((layer, head), {w: zeros() for w in ("trained", "untrained", "shuffled")})
                        right, wrong = link_sums(weights[link.query], link)
                        add(series["trained"][group], right)
                        add(series["untrained"][group], link_sums(untrained[layer][head][link.query], link)[0])
                        for sums in wrong:
                            add(series["shuffled"][group], sums, 1 / len(wrong))
    links = [link for example in found.examples for link in example.links]
    mentions = any(link.right for link in links)
    bootstrap = Bootstrap(len(groups))
    if len(groups) < LEAST_GROUPS:
        found.notes.append(f"no intervals: fewer than {LEAST_GROUPS} {found.group_name}")
    return {"kind": found.kind, "links": len(links), "groups": len(groups), "group": found.group_name,
            "uniform": bootstrap.score(uniform, mentions),
            "heads": [{"layer": layer, "head": head, **{w: bootstrap.score(s, mentions) for w, s in series.items()}}
                      for (layer, head), series in sorted(heads.items())],
            "notes": found.notes}


def mass(score):
    return score["mass"]["value"] if score["links"] else 0.0


def best_head(kind, weights="trained"):
    """Of the heads of one kind of attention, the one with the most mass on gold."""
    return max(kind["heads"], key=lambda head: mass(head[weights]))


def verdict(kind):
    best = best_head(kind)
    untrained, even = mass(best_head(kind, "untrained")["untrained"]), mass(kind["uniform"])
    found = mass(best["trained"])
    learnt = found > 0.5 and found >= 2 * max(untrained, even, mass(best["shuffled"]))
    controls = f"untrained {100 * untrained:.1f} %, even {100 * even:.1f} %"
    if learnt:
        return f"layer {best['layer']}, head {best['head']} has learnt the links: {100 * found:.1f} %, {controls}"
    return f"no head has learnt the links: best {100 * found:.1f} %, {controls}"


def with_interval(e):
    return f"{e['value']:.3f}" + ("" if e["low"] is None else f" [{e['low']:.3f}, {e['high']:.3f}]")


def table(kind):
    """The heads with the most mass on gold, best first."""
    mentions = "any_mass" in kind["uniform"]
    names = {"mass": "mass on gold", "accuracy": "argmax is gold", "aer": "AER"}
    if mentions:
        names |= {"any_mass": "mass on any", "any_accuracy": "argmax is any"}

    def row(head, weights, score):
        cells = [with_interval(score[name]) for name in names if score["links"]]
        if not score["links"]:
            cells = ["nothing to score"]
        elif score["links"] != kind["links"]:
            cells.append(f"{score['links']} links")
        return (f"{head:12}{weights:11}" + "".join(f"{cell:22}" for cell in cells)).rstrip()

    intervals = kind["uniform"]["mass"]["low"] is not None
    lines = [f"{kind['kind']} attention: {kind['links']:,} links of {kind['groups']:,} {kind['group']}"
             + (", 95 % intervals" if intervals else "")]
    if mentions:
        lines.append('gold is the nearest noun of the referent; "any" counts its earlier mentions too')
    lines += [f"note: {note}" for note in kind["notes"]]
    lines.append(("layer head  weights    " + "".join(f"{name:22}" for name in names.values())).rstrip())
    lines.append(row("any   any", "uniform", kind["uniform"]))
    ordered = sorted(kind["heads"], key=lambda head: -mass(head["trained"]))
    for head in ordered[:SHOWN_HEADS]:
        for name, weights in ((f"{head['layer']:<6}{head['head']}", "trained"), ("", "untrained"), ("", "shuffled")):
            lines.append(row(name, weights, head[weights]))
    if len(ordered) > SHOWN_HEADS:
        lines.append(f"{len(ordered) - SHOWN_HEADS} more heads: --json")
    return "\n".join(lines) + "\n"


MEANING = """\
Heads are sorted by the mass of their weights that lies on gold. argmax is gold: how often the largest weight does. AER:
alignment error rate, the share of wrong links; 0 is best, 1 worst.
uniform: even attention, the same weight on every token. untrained: the same head before training. shuffled: scored
against the gold of other places. A head has learnt the links if more than half of its weight lies on gold, and at least
twice as much as in all three.
"""


def scores(heed, options):
    """The figures of each kind of attention that the gold is about."""
    run = options.run if options.run.exists() else pathlib.Path("runs") / options.run
    try:
        config = json.loads((run / "config.json").read_text(encoding="utf-8"))
        gold = options.gold.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as e:
        sys.exit(f"gold.py: {e}")
    if not gold:
        sys.exit(f"gold.py: {options.gold} is empty.")
    pairs = config["objective"]["type"] == "seq2seq"
    if "pronoun" in GoldLine(options.gold, 1, gold[0]).object:
        if pairs:
            sys.exit(f"gold.py: {options.gold} is about pronouns of a text; this model was trained on pairs.")
        if options.target_file:
            sys.exit(f"gold.py: --target-file: {options.gold} is about one text, given by --file.")
    else:
        GoldLine(options.gold, 1, gold[0])["alignment"]
        if not pairs:
            sys.exit(f"gold.py: {options.gold} is about pairs; this model was trained on text.")
        if not options.target_file:
            sys.exit("gold.py: expected --target-file, the file with the target lines.")
    sets = (pair_sets if pairs else pronoun_sets)(options, gold, heed, config)
    for folder in (run, run.parent.parent):  # of a run, or of one of its checkpoints
        if (folder / "origin.json").exists():
            if begun := json.loads((folder / "origin.json").read_text(encoding="utf-8")).get("init_from"):
                for found in sets:
                    found.notes.append(f'"untrained" means the weights this run began with, those of "{begun}"')
            break
    return [score_heads(heed, options.run, options.checkpoint, found) for found in sets]


def parse(arguments=None):
    about, _, _ = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=MEANING,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path, metavar="RUN", help="run folder or checkpoint folder")
    parser.add_argument("--gold", type=pathlib.Path, required=True, help="the links (data/README.md)")
    parser.add_argument("--file", type=pathlib.Path, required=True, help="the text, or the source lines, it is about")
    parser.add_argument("--target-file", type=pathlib.Path, help="the target lines it is about")
    parser.add_argument("--limit", type=int, help="use only this many lines of the gold file")
    parser.add_argument("--checkpoint", help="last, best, step-N or a path (default: best, else last)")
    parser.add_argument("--json", action="store_true", help="the figures of all heads as one JSON object")
    parser.add_argument("--heed", default=DEFAULT_HEED, help="the program (default: build/heed)")
    options = parser.parse_args(arguments)
    options.checkpoint = ("--checkpoint", options.checkpoint) if options.checkpoint else ()
    return options


def main():
    options = parse()
    kinds = scores(Heed(options.heed), options)
    verdicts = [(f"{k['kind']} attention: " if len(kinds) > 1 else "") + verdict(k) for k in kinds]
    if options.json:
        print(json.dumps({"kinds": [{**k, "verdict": verdict(k)} for k in kinds]}))
    else:
        print("\n".join(map(table, kinds)), MEANING, *verdicts, sep="\n")


if __name__ == "__main__":
    main()
