// heed compare RUN RUN ...
#include "cli/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <span>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "evaluate/translation.h"
#include "evaluate/units.h"
#include "math/arithmetic.h"
#include "store/origin.h"
#include "store/run_folder.h"
#include "train/start.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

struct MeasuredRun {
  std::string run;
  RunConfig config;
  std::string tokenizer;  // of the target
  bool pairs = false, lossy = false;
  Split split = {};
  SpeltText spelt = {};  // of a text
  double known = 0;      // the share of the lines that it was trained on
  System rows = {};
};

std::string units_in_words(const Json& result) {
  return counted(result["units"].dump(), result["unit"] == "pair" ? "pair" : "block") +
         (result["unit"] == "pair" ? "" : " of text") + different_in_words(result, "units");
}

// With four decimals, or two digits where these would be zeros.
std::string small(double x) {
  return x != 0 && std::abs(x) < 5e-4 ? fmt::format("{:.1e}", x) : format_fixed(x, 4);
}

class RunComparer {
 public:
  RunComparer(const ComparedText& given, Pool& pool, Log& log)
      : given_(given), pool_(pool), log_(log) {}

  void measure(const std::string& run) {
    TrainedModel m = load_trained_model(run, "");
    prepare_arithmetic(m.config.train.arithmetic, pool_.threads());
    m.score_in(m.config.train.precision);
    const auto arithmetic = [](const MeasuredRun& r) { return r.config.train.arithmetic; };
    if (m.config.train.arithmetic == Arithmetic::native &&
        std::ranges::count(runs_, Arithmetic::portable, arithmetic) > 0)
      log_.warn(run + " is measured with portable arithmetic, as a run before it");
    MeasuredRun r{run, m.config, m.tokenizers.target->serialize(), m.objective->traits().pairs()};
    RunConfig asked = m.config;
    if (!runs_.empty() && m.objective->fills()) asked.seed = runs_[0].config.seed;  // same masks
    read(m, r);
    if (!runs_.empty()) check(r);
    r.pairs ? measure_pairs(m, r) : measure_text(m, *make_objective(asked), r);
    if (!runs_.empty()) r.split = {}, r.spelt = {};  // the first run's are the same
    runs_.push_back(std::move(r));
  }

  // The first runs with those in [from, to): two groups.
  Json compared(std::size_t first, std::size_t from, std::size_t to) const {
    const auto one = std::span(runs_).first(first),
               other = std::span(runs_).subspan(from, to - from);
    std::vector<std::size_t> units;  // in which something is asked
    for (std::size_t i = 0; i < runs_[0].rows.size(); ++i) {
      const auto asks = [&](const MeasuredRun& r) { return r.rows[i][kTokens] > 0; };
      if (std::ranges::any_of(one, asks) || std::ranges::any_of(other, asks)) units.push_back(i);
    }
    if (units.empty())
      throw Error(Exit::data, "there is no token to predict (the text may be too short).");
    const auto asked = [&](const MeasuredRun& r) {
      System rows;
      for (const std::size_t i : units) rows.push_back(r.rows[i]);
      return rows;
    };
    std::vector<System> a, b;
    Json result{{"first", Json::array()}, {"second", Json::array()}};
    for (const MeasuredRun& r : one) result["first"].push_back(r.run), a.push_back(asked(r));
    for (const MeasuredRun& r : other) result["second"].push_back(r.run), b.push_back(asked(r));
    result["data"] = given_.file.empty() ? "validation" : given_.file;
    result["unit"] = runs_[0].pairs ? "pair" : "line";
    result["units"] = units.size();
    std::vector<std::string> texts;
    for (const std::size_t i : units) texts.push_back(unit_text(i));
    std::vector<System> of_one, of_other;  // copies are one unit
    for (const System& system : a) of_one.push_back(merged(system, texts));
    for (const System& system : b) of_other.push_back(merged(system, texts));
    result["different"] = of_one[0].size();
    for (const Figure& metric : compared_figures()) {
      const auto has_it = [&](const MeasuredRun& r) { return has(r, metric.needs); };
      if (!std::ranges::all_of(one, has_it) || !std::ranges::all_of(other, has_it)) continue;
      const Difference d = difference(of_one, of_other, metric, pool_);
      if (!result.contains("sentence"))
        result["sentence"] =
            sentence(metric, d, result, changed_keys(one[0].config, other[0].config));
      result["figures"][metric.key] = figure(metric, d);
    }
    if (!result.contains("figures"))
      refuse(other[0],
             "the tokens that they are asked for are not the same, and there are no bits per byte: "
             "tokens do not give back the text, or an objective does not score every byte");
    result["most_different"] = Json::array();
    if (result["figures"].contains("loss") || result["figures"].contains("bits_per_byte"))
      result["most_different"] = most_different(a, b, units);
    return result;
  }

 private:
  [[noreturn]] void refuse(const MeasuredRun& r, const std::string& why,
                           const std::string& hint = "") const {
    throw Error(Exit::usage,
                fmt::format("{} and {} cannot be compared: {}.", runs_[0].run, r.run, why), hint);
  }

  void read(TrainedModel& m, MeasuredRun& r) {
    const bool held = given_.file.empty();
    const auto doubt = [&](const std::string& why) {
      log_.warn(fmt::format("{} may have been trained on this text: {}", r.run, why));
    };
    if ((r.pairs && !held) == given_.target_file.empty())
      throw Error(Exit::usage, "--file and --target-file belong together, for models of pairs.");
    std::optional<HeldOut> run;
    try {
      run = held_out(m);
    } catch (const Error& e) {
      if (held) throw;
      doubt(e.what());
    }
    if (!held && !r.pairs) refuse_pipe(given_.file);
    if (run && run->changed)
      log_.warn(fmt::format("the data of {} has changed since it was trained", r.run));
    if (r.pairs && !pairs_)
      pairs_ =
          held ? read_held_out_pairs(as_written(config_of_data(m)), data_folder(m))
               : read_parallel(given_.file, given_.target_file, read_options(as_written(m.config)));
    r.split = held      ? std::move(run->data.valid)
              : r.pairs ? load_pairs(as_read(*pairs_, read_options(m.config)), m.config,
                                     m.tokenizers, pool_.threads())
                        : load_text({given_.file}, m.config, m.tokenizers);
    if (r.split.target.size() == 0)
      throw Error(Exit::usage, r.run + " has no held-out text.", "--file FILE");
    for (const std::string& warning : r.split.warnings)
      if (said_.insert(warning).second) log_.warn(warning);
    if (r.split.unknown.count > 0) log_.info(r.run + ": " + r.split.unknown.summary());
    for (const std::string& note : r.split.notes)
      if (said_.insert(note).second) log_.info(note);
    r.lossy = m.objective->scored_bytes(r.split) == 0;
    if (!r.pairs) r.spelt = spelt(r.split.target, *m.tokenizers.target);
    if (!run) return;
    const LineFacts& asked = (runs_.empty() ? r : runs_[0]).split.facts;
    const std::string from = read_origin(m.run).init_from;
    EarlierFacts known = earlier_facts(from);
    if (!known.whole) doubt("it began with " + from + ", whose data cannot be read.");
    const std::vector<std::uint64_t>& own = run->data.train.facts.hashes;
    known.hashes.insert(known.hashes.end(), own.begin(), own.end());
    r.known = static_cast<double>(common(known, asked)) /
              std::max(1.0, static_cast<double>(asked.hashes.size()));
  }

  void check(const MeasuredRun& r) const {
    constexpr double kByChance = 0.01, kMuch = 0.05;
    const MeasuredRun &first = runs_[0], &most = r.known > first.known ? r : first;
    const std::string other = "--file FILE, a text that neither was trained on";
    if (r.pairs != first.pairs) refuse(r, "one learnt from pairs of lines, the other from text");
    const auto read_as = [](const DataConfig& c) { return std::pair(c.lowercase, c.normalize); };
    const bool same = r.split.facts.hashes == first.split.facts.hashes;
    if (!same || r.spelt.text != first.spelt.text) {
      if (read_as(r.config.data) != read_as(first.config.data))
        refuse(r, "one changes what it reads (data.lowercase, data.normalize)");
      if (same && (r.split.lossy || first.split.lossy))
        refuse(r, "tokens of one do not give back the text");
      refuse(r, "their held-out texts are not the same", other);
    }
    if (std::abs(r.known - first.known) > kMuch)
      refuse(r, fmt::format("{} was trained on {:.0f} % of the lines", most.run, 100 * most.known),
             other);
    if (most.known > kByChance)
      log_.warn(fmt::format("{} was trained on {:.0f} % of the lines, {} on {:.0f} %", first.run,
                            100 * first.known, r.run, 100 * r.known));
    if (r.split.lines != first.split.lines)
      refuse(r, "one reads pairs that are too long for the other",
             "--file FILE --target-file FILE, with shorter lines");
  }

  bool has(const MeasuredRun& r, Figure::Needs needs) const {
    const MeasuredRun& first = runs_[0];
    const auto tokens = [](const Sums& row) { return row[kTokens]; };
    if (needs == Figure::translations) return r.pairs && given_.translate;
    if (needs == Figure::bytes) return !r.lossy && !first.lossy;
    return r.tokenizer == first.tokenizer &&
           std::ranges::equal(r.rows, first.rows, {}, tokens, tokens);
  }

  void measure_text(const TrainedModel& m, const Objective& objective, MeasuredRun& r) {
    r.rows = unit_sums(m, objective, r.split, r.spelt, pool_);
    for (std::size_t i = 0, begin = 0; i < r.rows.size(); begin = r.spelt.ends[i++])
      r.rows[i][kBytes] = static_cast<double>(r.spelt.ends[i] - begin);
  }

  void measure_pairs(const TrainedModel& m, MeasuredRun& r) {
    r.rows = unit_sums(m, *m.objective, r.split, {}, pool_);
    std::vector<TokenIds> sources;
    BeamOptions beam;
    beam.max_length = translation_limit(m.state.longest_target);
    for (std::size_t i = 0; given_.translate && i < r.rows.size(); ++i)
      sources.push_back(r.split.sentence(Side::source, static_cast<std::int64_t>(i)));
    const auto found = translate(m, pool_, sources, beam);
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
      const std::string target(pairs_->target[pair_on(r.split.lines[i])]);
      r.rows[i][kBytes] = static_cast<double>(target.size() + 1);
      if (!given_.translate) continue;
      const Sums counts = translation_counts(found[i].empty() ? "" : found[i].front().text, target,
                                             m.config.data.lowercase);
      r.rows[i].insert(r.rows[i].end(), counts.begin(), counts.end());
    }
  }

  std::size_t pair_on(std::size_t line) const {  // its place in pairs_
    return std::ranges::lower_bound(pairs_->lines, line) - pairs_->lines.begin();
  }

  std::string unit_text(std::size_t i) const {
    const MeasuredRun& r = runs_[0];
    const std::size_t at = r.pairs ? pair_on(r.split.lines[i]) : 0;
    if (r.pairs) return fmt::format("{} ||| {}", pairs_->source[at], pairs_->target[at]);
    const std::size_t begin = i == 0 ? 0 : r.spelt.ends[i - 1];
    return r.spelt.text.substr(begin, r.spelt.ends[i] - begin);
  }

  // Its first line that is not empty, and its text.
  Json unit(std::size_t i) const {
    const MeasuredRun& r = runs_[0];
    const std::string text = unit_text(i);
    if (r.pairs) return {{"line", r.split.lines[i]}, {"text", text}};
    const auto first = r.spelt.text.begin() + std::ptrdiff_t(r.spelt.ends[i] - text.size()) +
                       std::ptrdiff_t(std::min(text.find_first_not_of('\n'), text.size()));
    return {{"line", 1 + std::count(r.spelt.text.begin(), first, '\n')}, {"text", text}};
  }

  static std::string sentence(const Figure& metric, const Difference& d, const Json& result,
                              const std::vector<KeyChange>& settings) {
    if (std::isnan(d.interval.low))
      return fmt::format("{}: too few to tell; expected at least {}{}.", units_in_words(result),
                         kFewestUnits,
                         result["unit"] == "pair" ? "" : ", each of a line or 256 bytes of lines");
    const std::vector<std::string> first = result["first"], second = result["second"];
    const bool rose = d.value >= 0, second_wins = metric.less_is_better != rose;
    const auto& better = second_wins ? second : first;
    const double sign = d.shown() && !rose ? -1 : 1;
    const auto [low, high] = std::minmax({sign * d.interval.low, sign * d.interval.high});
    const std::string by =
        fmt::format("{} {} [{}, {}]", small(sign * d.value), metric.unit, small(low), small(high));
    const std::string so = d.shown() ? fmt::format("{} {} better by {}", listed(better),
                                                   better.size() > 1 ? "are" : "is", by)
                                     : fmt::format("No difference is shown: {} less {} is {}",
                                                   listed(second), listed(first), by);
    if (!std::isnan(d.p_seeds))
      return fmt::format("{}, over {} and {} seeds.", so, first.size(), second.size());
    if (settings.empty()) return so + ". Their configs are the same.";
    if (settings.size() == 1 && settings[0].key == "seed")
      return so + ". Their configs differ in seed alone.";
    return so + (d.shown() ? ": these two models differ; whether their settings do needs seeds."
                           : ". Whether their settings differ needs seeds.");
  }

  static Json figure(const Figure& metric, const Difference& d) {
    const auto of = [](const ConfidenceInterval& i) { return Json::array({i.low, i.high}); };
    Json json{{"unit", metric.unit},
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

  Json most_different(const std::vector<System>& first, const std::vector<System>& second,
                      const std::vector<std::size_t>& units) const {
    constexpr std::size_t kShown = 10;
    struct Nats {
      std::size_t unit;
      double first, second, difference;
    };
    std::vector<Nats> rows;
    const auto mean = [](const std::vector<System>& group, std::size_t i) {
      double nats = 0;
      for (const System& system : group) nats += system[i][kNats];
      return nats / static_cast<double>(group.size());
    };
    for (std::size_t i = 0; i < units.size(); ++i) {
      const double a = mean(first, i), b = mean(second, i);
      rows.push_back({units[i], a, b, b - a});
    }
    std::ranges::stable_sort(rows, std::greater{},
                             [](const Nats& row) { return std::abs(row.difference); });
    Json most = Json::array();
    for (const auto& [i, a, b, by] : std::span(rows).first(std::min(kShown, rows.size()))) {
      most.push_back(unit(i));
      most.back().update({{"first", a}, {"second", b}, {"difference", by}});
    }
    return most;
  }

  const ComparedText& given_;
  Pool& pool_;
  Log& log_;
  std::optional<Pairs> pairs_;  // as they are written
  std::vector<MeasuredRun> runs_;
  std::set<std::string> said_;  // notes and warnings
};

// Says where two runs are one model, which is an Error in groups, and in which other keys than seed
// a group differs.
void check_runs(const std::vector<RunGroup>& groups, Log& log) {
  RunGroup all;
  for (const RunGroup& group : groups) all.insert(all.end(), group.begin(), group.end());
  const std::string same = same_models(all);
  if (!same.empty()) log.warn(same);
  if (all.size() == groups.size()) return;
  if (!same.empty())
    throw Error(Exit::usage, same + ": that tells nothing of luck.",
                "runs of other seeds: heed train CONFIG --set seed=2");
  for (const RunGroup& group : groups) {
    std::set<std::string> differing;
    const auto config = [](const std::string& run) {
      return checkpoint_config(open_checkpoint(run));
    };
    for (const std::string& run : group)
      for (const KeyChange& change : changed_keys(config(group[0]), config(run)))
        if (change.key != "seed") differing.insert(change.key);
    if (!differing.empty())
      log.warn("the runs of a group differ in more than seed: " +
               joined({differing.begin(), differing.end()}));
  }
}

std::string small_text(const Json& number) {
  return number.is_null() ? "" : small(number);
}

std::string range_text(const Json& interval) {
  return fmt::format("[{}, {}]", small_text(interval[0]), small_text(interval[1]));
}

// Paths differ at their ends.
std::string shortened_path(const std::string& path) {
  constexpr std::size_t kMost = 24;
  const std::size_t over = std::max(path.size(), kMost) - kMost;
  return over == 0 ? path : "\u2026" + path.substr(utf8_floor(path, over + 1));
}

std::string one_line(const Json& text) {
  return replace_all(text.get<std::string>(), "\n", " ");
}

void print_compared(const Json& r) {
  const auto name = [&](const char* key) {  // "runs/a1 +2": of three
    const Json& runs = r[key];
    return shortened_path(runs[0]) +
           (runs.size() > 1 ? fmt::format(" +{}", runs.size() - 1) : std::string());
  };
  const std::vector<Json> figures(r["figures"].begin(), r["figures"].end());
  std::vector<Column> columns = {{"", "unit"},
                                 {name("first"), "first", fixed<4>, 3},
                                 {name("second"), "second", fixed<4>, 4},
                                 {"difference", "difference", small_text},
                                 {"95 % interval", "interval", range_text}};
  if (figures[0].contains("p"))
    columns.push_back({"p", "p", fixed<4>});
  else
    columns.insert(columns.end(), {{"p, bootstrap", "p_bootstrap", fixed<4>, 1},
                                   {"p, exchanges", "p_randomization", fixed<4>, 2}});
  const Column of_units[] = {{"line", "line"},
                             {name("first"), "first", fixed<2>, 1},
                             {name("second"), "second", fixed<2>, 2},
                             {"nats more", "difference", fixed<2>},
                             {"text", "text", one_line, 0, Column::cut}};
  print_table(figures, columns);
  print_prose(fmt::format(
      "\n{} Measured on {} of {}.{}\n\n", r["sentence"].get<std::string>(), units_in_words(r),
      r["data"] == "validation" ? "the held-out data" : plain(r["data"]),
      r["figures"].contains("loss") ? "" : " Their tokens differ, so losses do not compare."));
  if (!r["most_different"].empty()) print_table(r["most_different"], of_units);
}

}  // namespace

void compare_groups_of_runs(const std::vector<RunGroup>& groups, const ComparedText& text,
                            Pool& pool, Log& log, const std::function<void(const Json&)>& take) {
  RunComparer comparer(text, pool, log);
  check_runs(groups, log);
  std::size_t from = 0;
  for (const RunGroup& group : groups) {
    for (const std::string& run : group) comparer.measure(run);
    if (from > 0) take(comparer.compared(groups[0].size(), from, from + group.size()));
    from += group.size();
  }
}

Exit run_compare(CommandLine& line) {
  RunGroup runs, to;
  ComparedText text;
  line.add_runs(runs);
  line.add_runs(to, "the runs of another setting: compares the two groups", "--to");
  line.add_file("--file", text.file, "a text, or source lines (default: the held-out data)",
                "FILE");
  line.add_file("--target-file", text.target_file, "the target lines", "FILE");
  line.add_threads();
  if (!line.parse()) return Exit::ok;
  CommandLine::require_one_input({text.file, text.target_file});
  if (text.file == "-") text.file = "/dev/stdin";  // each run reads it
  if (runs.size() + to.size() < 2)
    throw Error(Exit::usage, "one run is given; expected another to compare it with.", "heed runs");
  std::vector<RunGroup> groups;
  for (const std::string& run : runs) groups.push_back({run});
  if (!to.empty()) groups = {runs, to};
  Log log({.quiet = line.quiet()});
  Pool pool(line.threads() > 0 ? line.threads() : available_cores());
  compare_groups_of_runs(groups, text, pool, log, [&](const Json& compared) {
    line.json() ? print_line(compared) : print_compared(compared);
  });
  return Exit::ok;
}

}  // namespace heed
