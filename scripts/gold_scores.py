"""How much each attention head looks where gold links say, for scripts/gold.py and the experiments."""
import operator
import pathlib
import sys
import tempfile

RESAMPLES = 1000
LEAST_GROUPS = 10  # resamples of fewer groups say little about other groups
# What is summed over links: from these follow all figures.
LINKS, MASS, CORRECT, GOLD, ANY_MASS, ANY_CORRECT = range(6)


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
