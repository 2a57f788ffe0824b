// heed compare RUN RUN ...
#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "evaluate/test_text.h"
#include "evaluate/writing.h"
#include "math/blas.h"
#include "store/run.h"
#include "store/run_folder.h"

namespace heed {
namespace {

struct MeasuredRun {
  string run;
  RunConfig config;
  string tokenizer;  // of the target
  bool pairs, lossy;
  double seen;           // the share of the lines that it was trained on
  Split split;           // of the first run: the others' are the same
  SpeltText spelt = {};  // of a text
  System rows = {};
};
using MeasuredGroup = span<const MeasuredRun>;
using RunGroup = vector<string>;  // of one setting

string units_in_words(const Json& result) {
  return counted(result["units"].dump(), result["unit"] == "pair" ? "pair" : "text block") +
         different_in_words(result, "units");
}

// With four decimals, or two digits where these would be zeros.
string small(const Json& number) {
  const double x = number;
  return x != 0 && abs(x) < 5e-4 ? fmt::format("{:.1e}", x) : format_fixed(x, 4);
}

string range_text(const Json& interval) {
  return fmt::format("[{}, {}]", small(interval[0]), small(interval[1]));
}

[[noreturn]] void refuse(const MeasuredRun& first, const MeasuredRun& r, const string& why,
                         const string& hint = "") {
  throw usage_error("{} and {} cannot be compared: {}.", first.run, r.run, why).hint(hint);
}

// Error (usage) unless both read the same text, which neither was trained on more than the other.
void check(const MeasuredRun& first, const MeasuredRun& r) {
  constexpr double kMuch = 0.05;
  const string other = "--file FILE, a text that neither was trained on";
  if (r.pairs != first.pairs)
    refuse(first, r, "one learnt from pairs of lines, the other from text");
  if (r.split.facts.hashes != first.split.facts.hashes || r.spelt.text != first.spelt.text)
    refuse(first, r,
           "they do not read the same text: other held-out data, data.lowercase or data.normalize, "
           "or tokens that do not give it back",
           r.pairs ? "heed translate with each, and heed bleu A REF --to B" : other);
  if (abs(r.seen - first.seen) > kMuch)
    refuse(first, r,
           fmt::format("{} was trained on {:.0f} % of the lines, {} on {:.0f} %", first.run,
                       100 * first.seen, r.run, 100 * r.seen),
           other);
  if (r.split.lines != first.split.lines)
    refuse(first, r, "one reads pairs that are too long for the other",
           "--file FILE --target-file FILE, with shorter lines");
}

Json figure_json(const Figure& figure, const Difference& d) {
  const auto of = [](const ConfidenceInterval& i) { return Json::array({i.low, i.high}); };
  Json json{{"unit", figure.unit},
            {"first", d.first},
            {"first_interval", of(d.first_interval)},
            {"second", d.second},
            {"second_interval", of(d.second_interval)},
            {"difference", d.value},
            {"interval", of(d.interval)}};
  if (d.of_first.size() + d.of_second.size() > 2)
    json.update({{"p", d.p_seeds}, {"first_runs", d.of_first}, {"second_runs", d.of_second}});
  else
    json.update({{"p_bootstrap", d.p_bootstrap}, {"p_randomization", d.p_randomization}});
  return json;
}

// Which is better? `luck`: the two differ in that alone.
string verdict(const Figure& figure, const Difference& d, const Json& result, bool luck = false) {
  const vector<string> first = result["first"], second = result["second"];
  const bool rose = d.value >= 0;
  const auto& better = figure.less_is_better != rose ? second : first;
  const double sign = d.shown() && !rose ? -1 : 1;
  const auto [low, high] = std::minmax({sign * d.interval.low, sign * d.interval.high});
  const string by =
      fmt::format("{} {} [{}, {}]", small(sign * d.value),
                  replace_all(figure.unit, "% ", "percentage points of "), small(low), small(high));
  return isnan(d.interval.low) ? fmt::format("{}: too few to tell; expected at least {}",
                                             units_in_words(result), kFewestUnits)
         : d.shown()           ? fmt::format("{} {} {} by {}", listed(better),
                                   better.size() > 1 ? "are" : "is", luck ? "ahead" : "better", by)
                     : fmt::format("No difference is shown: {} less {} is {}", listed(second),
                                   listed(first), by);
}

// `changes`: between the configs.
string sentence(const Figure& figure, const Difference& d, const Json& result,
                const vector<KeyChange>& changes, bool luck) {
  const string so = verdict(figure, d, result, luck);
  if (isnan(d.interval.low)) return so + ".";
  if (!isnan(d.p_seeds))
    return fmt::format("{}, over {} and {} seeds.", so, result["first"].size(),
                       result["second"].size());
  if (changes.empty()) return so + ". Their configs are the same.";
  if (luck)
    return fmt::format(
        "They differ in seed alone: this is the luck of a seed, not a better setting. {}. Settings "
        "are compared by several seeds of each: heed compare A1 A2 --to B1 B2.",
        so);
  return fmt::format("{}. They differ in {}; whether that is why needs seeds.", so,
                     some_of(mapped(changes, &KeyChange::key)));
}

struct RunComparer {
  NamedText named;
  bool translates;
  Pool& pool;
  Log& log;
  vector<MeasuredRun> runs = {};
  vector<Json> unit_texts = {};  // of all of them

  // Of one setting, after those before it.
  void measure(const vector<string>& group) {
    const size_t begin = runs.size();
    for (const string& run : group) {
      measure(run);
      for (const KeyChange& change : changed_keys(runs[begin].config, runs.back().config))
        if (change.key != "seed" && named.told.insert(change.key).second)
          log.warn("the runs of a group differ in more than seed: " + change.key);
    }
  }

  // The first `n` runs with the last `m`: two groups.
  Json compared(size_t n, size_t m) const {
    const MeasuredGroup groups[] = {span(runs).first(n), span(runs).last(m)};
    vector<size_t> units;  // in which something is asked
    vector<string> texts;
    for (size_t i = 0; i < unit_texts.size(); ++i) {
      const auto asks = [&](const MeasuredRun& r) { return r.rows[i][kTokens] > 0; };
      if (ranges::none_of(groups[0], asks) && ranges::none_of(groups[1], asks)) continue;
      units.push_back(i);
      texts.push_back(unit_texts[i]["text"]);
    }
    if (units.empty())
      throw data_error("there is no token to predict (the text may be too short).");
    Json result{{"first", {}}, {"second", {}}};
    vector<System> systems[2];
    for (const int g : {0, 1})
      for (const MeasuredRun& r : groups[g]) {
        result[g == 0 ? "first" : "second"].push_back(r.run);
        const auto row = [&](size_t i) { return r.rows[i]; };
        systems[g].push_back(merged(mapped(units, row), texts));  // copies are one unit
      }
    result["data"] = named.files.empty() ? "validation" : named.files[0];
    result["unit"] = runs[0].pairs ? "pair" : "line";
    result["units"] = units.size();
    result["different"] = systems[0][0].size();
    const RunConfig &first = groups[0][0].config, &second = groups[1][0].config;
    const auto changes = changed_keys(first, second);
    const bool luck = runs.size() == 2 && changes.size() == 1 && changes[0].key == "seed";
    const string& by = first.train.select_by;
    const Figure* selects = second.train.select_by != by ? nullptr : selecting_figure(by);
    for (const Figure& figure : figures()) {
      const auto has_it = [&](const MeasuredRun& r) { return has(r, figure); };
      if (!ranges::all_of(groups[0], has_it) || !ranges::all_of(groups[1], has_it)) continue;
      const Difference d = difference(systems[0], systems[1], figure, pool);
      if (!result.contains("sentence") || &figure == selects)
        result["sentence"] = sentence(figure, d, result, changes, luck);
      result["figures"][figure.key] = figure_json(figure, d);
    }
    if (!result.contains("figures"))
      refuse(runs[0], groups[1][0],
             "the tokens that they are asked for are not the same, and there are no bits per byte: "
             "tokens do not give back the text, or an objective does not score every byte");
    result["most_different"] = Json::array();
    if (result["figures"].contains("loss") || result["figures"].contains("bits_per_byte"))
      result["most_different"] = most_different(groups[0], groups[1], units);
    return result;
  }

  void measure(const string& run) {
    if (const string now = still_training(run); !now.empty()) log.info(now);
    Model m = load_model(run, "");
    prepare_arithmetic(m.config.train.arithmetic, pool.threads());
    m.products = make_products(m.config.train.precision);
    const bool pairs = m.objective->traits().pairs(), first = runs.empty();
    if (!pairs && !named.files.empty()) refuse_pipe(named.files[0]);
    TestText text = test_text(m, named, pool, log);
    MeasuredRun r{run,
                  m.config,
                  m.tokenizers.target->serialize(),
                  pairs,
                  m.objective->scored_bytes(text.split) == 0,
                  text.seen,
                  std::move(text.split)};
    if (!pairs) r.spelt = spelt(r.split.target, *m.tokenizers.target);
    if (!first) check(runs[0], r);
    RunConfig config = m.config;
    if (!first) config.seed = runs[0].config.seed;  // the same masks
    r.rows = unit_sums(m, *make_objective(config), r.split, r.spelt, pool);
    if (pairs) add_targets(m, r);
    if (first)
      unit_texts = units_of(r);
    else
      r.split = {}, r.spelt = {};
    runs.push_back(std::move(r));
  }

  // {"line": the first one that is not empty, from 1; of a pair that in the file, "text"}
  vector<Json> units_of(const MeasuredRun& r) const {
    vector<Json> units;
    const auto add = [&](size_t line, const string& text) {
      units.push_back({{"line", line}, {"text", text}});
    };
    if (r.pairs)
      for (const size_t line : r.split.lines) {
        const size_t i = pair_on(*named.pairs, line);
        add(line, fmt::format("{} ||| {}", named.pairs->source[i], named.pairs->target[i]));
      }
    size_t begin = 0, line = 1;
    for (const size_t end : r.spelt.ends) {
      const string text = r.spelt.text.substr(begin, end - begin);
      add(line + min(text.find_first_not_of('\n'), text.size()), text);
      line += size_t(ranges::count(text, '\n'));
      begin = end;
    }
    return units;
  }

  // The bytes of the written targets, and the counts of translations.
  void add_targets(const Model& m, MeasuredRun& r) {
    const Pairs& written = written_pairs(m, named);
    for (size_t i = 0; i < r.rows.size(); ++i)
      r.rows[i][kBytes] = double(written.target[pair_on(written, r.split.lines[i])].size() + 1);
    if (!translates) return;
    const BeamOptions beam{.max_length = translation_limit(m.state.longest_target)};
    const System counts = translate_pairs(m, r.split, written, beam,
                                          {.lowercase = m.config.data.lowercase}, pool, log)
                              .counts;
    for (size_t i = 0; i < r.rows.size(); ++i) r.rows[i] += counts[i];
  }

  bool has(const MeasuredRun& r, const Figure& figure) const {
    const MeasuredRun& first = runs[0];
    const auto tokens = [](const Sums& row) { return row[kTokens]; };
    if (figure.end == 0) return false;
    if (figure.needs == Figure::translations) return r.pairs && translates;
    if (figure.needs == Figure::bytes) return !r.lossy && !first.lossy;
    return r.tokenizer == first.tokenizer && ranges::equal(r.rows, first.rows, {}, tokens, tokens);
  }

  vector<Json> most_different(MeasuredGroup first, MeasuredGroup second,
                              const vector<size_t>& units) const {
    const auto nats = [](MeasuredGroup group, size_t i) {
      double sum = 0;
      for (const MeasuredRun& r : group) sum += r.rows[i][kNats];
      return sum / double(group.size());
    };
    vector<Json> rows;
    for (const size_t i : units) {
      const double a = nats(first, i), b = nats(second, i);
      rows.push_back(unit_texts[i]);
      rows.back().update({{"first", a}, {"second", b}, {"difference", b - a}});
    }
    return largest(std::move(rows), "difference", 10);
  }
};

void print_compared(const Json& r) {
  const auto name = [&](const char* key) {  // "runs/a1 +2": of three
    const Json& runs = r[key];
    return plain(runs[0]) + (runs.size() > 1 ? fmt::format(" +{}", runs.size() - 1) : "");
  };
  vector<Json> figures(r["figures"].begin(), r["figures"].end());
  ranges::stable_partition(figures, [](const Json& f) { return f["unit"] == "accuracy"; });
  print_table(figures, {{"", "unit"},
                        {name("first"), "first", fixed<4>, 3},
                        {name("second"), "second", fixed<4>, 4},
                        {"difference", "difference", small},
                        {"95 % interval", "interval", range_text},
                        {"p", figures[0].contains("p") ? "p" : "p_randomization", fixed<4>, 5}});
  const bool losses = r["figures"].contains("loss") || !r.contains("most_different");
  print_prose(fmt::format("\n{} Measured on {} of {}.{}\n", plain(r["sentence"]), units_in_words(r),
                          r["data"] == "validation" ? "the held-out data" : plain(r["data"]),
                          losses ? "" : " Their tokens differ, so losses do not compare."));
}

// Each further group with the first: `take` gets the objects that heed compare --json prints
// (docs/formats.md), one after the other. `translates`: pairs are also translated. Error (usage) if
// two runs cannot be compared.
void compare_groups(const vector<RunGroup>& groups, NamedText text, bool translates, Pool& pool,
                    Log& log, const function<void(const Json&)>& take) {
  RunGroup all;
  for (const RunGroup& group : groups) all.insert(all.end(), group.begin(), group.end());
  if (const string same = same_models(all); !same.empty()) {
    if (all.size() > groups.size())
      throw usage_error("{}: that tells nothing of luck.", same)
          .hint("runs of other seeds: heed train CONFIG --set seed=2");
    log.warn(same);
  }
  RunComparer comparer{std::move(text), translates, pool, log};
  for (const RunGroup& group : groups) {
    comparer.measure(group);
    if (&group != &groups[0]) take(comparer.compared(groups[0].size(), group.size()));
  }
}

}  // namespace

void compare_outputs(const array<string, 2>& files, const array<System, 2>& counts,
                     const string& references, CommandLine& line) {
  Pool pool(available_cores());
  Json result{{"first", {files[0]}}, {"second", {files[1]}},      {"data", references},
              {"unit", "pair"},      {"units", counts[0].size()}, {"different", counts[0].size()}};
  string_view judge = "bleu";  // 0 if no line has four words
  for (const Figure& figure : figures()) {
    if (figure.needs != Figure::translations) continue;
    const Difference d = difference({&counts[0], 1}, {&counts[1], 1}, figure, pool);
    if (figure.key == judge && d.first == 0 && d.second == 0) judge = "exact";
    if (figure.key == judge) result["sentence"] = verdict(figure, d, result) + ".";
    result["figures"][figure.key] = figure_json(figure, d);
  }
  line.json ? print_line(result) : print_compared(result);
}

void add_comparisons(Json& runs, Log& log) {
  const auto without_seed = [](Json keys) {
    keys.erase("seed");
    return keys;
  };
  const bool by_seed = ranges::all_of(runs, [&](const Json& run) {
    return without_seed(run["keys"]) == without_seed(runs[0]["keys"]);
  });
  const auto setting = [&](const Json& keys) { return by_seed ? keys : without_seed(keys); };
  nlohmann::ordered_map<Json, RunGroup> groups;
  for (const Json& run : runs) groups[setting(run["keys"])].push_back(run["run"]);
  Pool pool(available_cores());
  for (Json& run : runs) {
    const RunGroup &first = groups.begin()->second, &others = groups[setting(run["keys"])];
    if (&others == &first || run["run"] != others.front()) continue;
    try {
      compare_groups({first, others}, {}, false, pool, log,
                     [&](const Json& compared) { run["compared"] = compared; });
    } catch (const Error& e) {
      run["compared"] = {{"error", e.text()}};
    }
  }
}

Exit run_compare(CommandLine& line) {
  RunGroup runs, to;
  NamedText text;
  line.add_run(runs)->required(false);  // else it takes the last one of --to
  line.add_run(to, "the runs of another setting: compares the two groups", "--to");
  line.add_file("--file", line.file, "a text, or source lines (default: the held-out data)");
  line.add_file("--target-file", line.target_file, "the target lines");
  line.add_threads();
  line.parse();
  if (runs.empty()) throw usage_error("RUN is missing; it comes before --to.");
  if (line.file) text.files = {*line.file == "-" ? "/dev/stdin" : *line.file};  // each run reads it
  if (line.target_file) text.target_files = {*line.target_file};
  if (runs.size() + to.size() < 2)
    throw usage_error("one run is given; expected another to compare it with.").hint("heed runs");
  auto groups = mapped(runs, [](const string& run) { return RunGroup{run}; });
  if (!to.empty()) groups = {runs, to};
  Log log({.quiet = line.quiet});
  Pool pool(line.threads > 0 ? line.threads : available_cores());
  compare_groups(groups, std::move(text), true, pool, log, [&](const Json& compared) {
    line.json ? print_line(compared) : print_compared(compared);
  });
  return Exit::ok;
}

}  // namespace heed
