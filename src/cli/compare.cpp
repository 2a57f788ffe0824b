// heed compare RUN RUN ...
#include "cli/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "evaluate/translation.h"
#include "evaluate/units.h"
#include "math/arithmetic.h"
#include "store/origin.h"
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
    runs_.push_back(std::move(r));
  }

  // The first runs with those in [from, to): two groups.
  Json compared(std::size_t first, std::size_t from, std::size_t to) const {
    const auto one = std::span(runs_).first(first),
               other = std::span(runs_).subspan(from, to - from);
    std::vector<System> a, b;
    Json result{{"first", Json::array()}, {"second", Json::array()}};
    for (const MeasuredRun& r : one) result["first"].push_back(r.run), a.push_back(r.rows);
    for (const MeasuredRun& r : other) result["second"].push_back(r.run), b.push_back(r.rows);
    result["data"] = given_.file.empty() ? "validation" : given_.file;
    result["unit"] = runs_[0].pairs ? "pair" : "line";
    result["units"] = units_.size();
    for (const Figure& metric : compared_figures()) {
      const auto has_it = [&](const MeasuredRun& r) { return has(r, metric.needs); };
      if (!std::ranges::all_of(one, has_it) || !std::ranges::all_of(other, has_it)) continue;
      const Difference d = difference(a, b, metric, pool_);
      if (!result.contains("sentence"))
        result["sentence"] =
            sentence(metric, d, result, differ_in_seed_alone(one[0].config, other[0].config));
      result["figures"][metric.key] = figure(metric, d);
    }
    if (!result.contains("figures"))
      refuse(other[0],
             "their tokens are not the same, and there are no bits per byte: tokens do not give "
             "back the text, or an objective does not score every byte");
    result["most_different"] = most_different(a, b);
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
    if (run && run->changed) log_.warn("its data has changed since it was trained: " + r.run);
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
    for (const std::string& warning : r.split.warnings) log_.warn(warning);
    for (const std::string& note : r.split.notes)
      if (said_.insert(note).second) log_.info(note);
    r.lossy = m.objective->scored_bytes(r.split) == 0;
    if (!r.pairs) r.spelt = spelt(r.split.target, *m.tokenizers.target);
    if (!run) return;
    const LineFacts& asked = (runs_.empty() ? r : runs_[0]).split.facts;
    const std::string from = read_origin(m.run).init_from;
    LineFacts known = earlier_facts(from);
    if (!from.empty() && known.hashes.empty())
      doubt("it began with " + from + ", whose data cannot be read.");
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
    if (!same && read_as(r.config.data) != read_as(first.config.data))
      refuse(r, "one changes what it reads (data.lowercase, data.normalize)");
    if (!same || r.spelt.text != first.spelt.text)
      refuse(r,
             same && (r.split.lossy || first.split.lossy)
                 ? "tokens of one do not give back the text"
                 : "their held-out texts are not the same",
             other);
    if (std::abs(r.known - first.known) > kMuch)
      refuse(r, fmt::format("{} was trained on {:.0f} % of the lines", most.run, 100 * most.known),
             other);
    if (most.known > kByChance)
      log_.warn(fmt::format("{} was trained on {:.0f} % of the lines, {} on {:.0f} %", first.run,
                            100 * first.known, r.run, 100 * r.known));
    if (r.split.lines != first.split.lines)
      refuse(r, "one reads pairs that are too long for the other", other);
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
    const std::vector<std::size_t>& ends = r.spelt.ends;
    r.rows = unit_sums(m, objective, r.split, r.spelt, pool_);
    units_.clear();
    for (std::size_t i = 0, begin = 0, line = 1; i < ends.size(); begin = ends[i++]) {
      const std::string text = r.spelt.text.substr(begin, ends[i] - begin);
      r.rows[i][kBytes] = static_cast<double>(text.size());
      units_.push_back({{"line", line}, {"text", text}});
      line += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    }
    for (std::size_t i = r.rows.size(); r.lossy && i-- > 0;) {  // of some nothing is asked
      if (r.rows[i][kTokens] > 0) continue;
      r.rows.erase(r.rows.begin() + static_cast<std::ptrdiff_t>(i));
      units_.erase(units_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void measure_pairs(const TrainedModel& m, MeasuredRun& r) {
    r.rows = unit_sums(m, *m.objective, r.split, {}, pool_);
    units_.clear();
    std::vector<TokenIds> sources;
    BeamOptions beam;
    beam.max_length = translation_limit(m.state.longest_target);
    for (std::size_t i = 0; given_.translate && i < r.rows.size(); ++i)
      sources.push_back(r.split.sentence(Side::source, static_cast<std::int64_t>(i)));
    const auto found = translate(m, pool_, sources, beam);
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
      const std::size_t line = r.split.lines[i];
      const auto at = std::ranges::lower_bound(pairs_->lines, line) - pairs_->lines.begin();
      const std::string source(pairs_->source[at]), target(pairs_->target[at]);
      units_.push_back({{"line", line}, {"text", source + " ||| " + target}});
      r.rows[i][kBytes] = static_cast<double>(target.size() + 1);
      if (!given_.translate) continue;
      const Sums counts = translation_counts(found[i].empty() ? "" : found[i].front().text, target,
                                             m.config.data.lowercase);
      r.rows[i].insert(r.rows[i].end(), counts.begin(), counts.end());
    }
  }

  static bool differ_in_seed_alone(const RunConfig& a, RunConfig b) {
    if (a.seed == b.seed) return false;
    b.seed = a.seed;
    return keys_of(a) == keys_of(b);
  }

  static std::string sentence(const Figure& metric, const Difference& d, const Json& result,
                              bool seed_alone) {
    if (std::isnan(d.interval.low))
      return fmt::format("{}: too few to tell; expected at least {}{}.",
                         counted(result["units"].dump(), result["unit"]), kFewestUnits,
                         result["unit"] == "pair" ? "" : ", or blocks of 256 bytes");
    const std::vector<std::string> first = result["first"], second = result["second"];
    const bool rose = d.value >= 0, second_wins = metric.less_is_better != rose;
    const auto& better = second_wins ? second : first;
    const double sign = d.shown() && !rose ? -1 : 1;
    const auto [low, high] = std::minmax({sign * d.interval.low, sign * d.interval.high});
    const std::string by =
        fmt::format("{:.4f} {} [{:.4f}, {:.4f}]", sign * d.value, metric.unit, low, high);
    const std::string so = d.shown() ? fmt::format("{} {} better by {}", listed(better),
                                                   better.size() > 1 ? "are" : "is", by)
                                     : fmt::format("No difference is shown: {} less {} is {}",
                                                   listed(second), listed(first), by);
    if (!std::isnan(d.p_seeds))
      return fmt::format("{}, over {} and {} seeds.", so, first.size(), second.size());
    if (seed_alone) return so + ". Their configs differ in seed alone.";
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

  Json most_different(const std::vector<System>& first, const std::vector<System>& second) const {
    constexpr std::size_t kShown = 10;
    std::vector<Json> rows = units_;
    const auto mean = [](const std::vector<System>& group, std::size_t i) {
      double nats = 0;
      for (const System& system : group) nats += system[i][kNats];
      return nats / static_cast<double>(group.size());
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double a = mean(first, i), b = mean(second, i);
      rows[i].update({{"first", a}, {"second", b}, {"difference", b - a}});
    }
    std::ranges::stable_sort(rows, std::greater{}, [](const Json& row) {
      return std::abs(row["difference"].get<double>());
    });
    rows.resize(std::min(kShown, rows.size()));
    return rows;
  }

  const ComparedText& given_;
  Pool& pool_;
  Log& log_;
  std::optional<Pairs> pairs_;  // as they are written
  std::vector<Json> units_;     // {"line", "text"}
  std::vector<MeasuredRun> runs_;
  std::set<std::string> said_;  // notes
};

// Error if a run of groups stands twice; says in which other keys than seed a group differs.
void check_groups(const std::vector<RunGroup>& groups, Log& log) {
  std::map<ConfigKeys, std::string> seen;
  for (const RunGroup& group : groups) {
    std::vector<ConfigKeys> keys(group.size());
    std::vector<ConfigKeys*> all;
    std::set<std::string> differing;
    for (const std::string& run : group) {
      ConfigKeys& of_run = *all.emplace_back(&keys[all.size()]);
      of_run = keys_of(checkpoint_config(open_checkpoint(run)));
      if (const auto [other, is_new] = seen.try_emplace(of_run, run); !is_new)
        throw Error(
            Exit::usage,
            fmt::format("{} and {} have one config and one seed: that tells nothing of luck.",
                        other->second, run),
            "runs of other seeds: heed train CONFIG --set seed=2");
    }
    keep_differences(all);
    for (const ConfigKeys& of_run : keys)
      for (const auto& [key, value] : of_run) differing.insert(key);
    differing.erase("seed");
    if (!differing.empty())
      log.warn("the runs of a group differ in more than seed: " +
               joined({differing.begin(), differing.end()}));
  }
}

std::string range_text(const Json& interval) {
  return fmt::format("[{}, {}]", fixed<4>(interval[0]), fixed<4>(interval[1]));
}

std::string one_line(const Json& text) {
  return replace_all(text.get<std::string>(), "\n", " ");
}

void print_compared(const Json& r) {
  const auto name = [&](const char* key) {  // "runs/a1 +2": of three
    const Json& runs = r[key];
    return shortened(runs[0], 24) +
           (runs.size() > 1 ? fmt::format(" +{}", runs.size() - 1) : std::string());
  };
  const std::vector<Json> figures(r["figures"].begin(), r["figures"].end());
  std::vector<Column> columns = {{"", "unit"},
                                 {name("first"), "first", fixed<4>},
                                 {name("second"), "second", fixed<4>},
                                 {"difference", "difference", fixed<4>},
                                 {"95 % interval", "interval", range_text}};
  if (figures[0].contains("p"))
    columns.push_back({"p", "p", fixed<4>});
  else
    columns.insert(columns.end(), {{"p, bootstrap", "p_bootstrap", fixed<4>, 2},
                                   {"p, randomization", "p_randomization", fixed<4>, 1}});
  const Column of_units[] = {{"line", "line"},
                             {name("first"), "first", fixed<2>, 1},
                             {name("second"), "second", fixed<2>, 2},
                             {"nats more", "difference", fixed<2>},
                             {"text", "text", one_line, 0, Column::cut}};
  print_table(figures, columns);
  print_prose(fmt::format(
      "\n{} Measured on {} of {}.{}\n\n", r["sentence"].get<std::string>(),
      counted(r["units"].dump(), r["unit"]),
      r["data"] == "validation" ? "the held-out data" : plain(r["data"]),
      r["figures"].contains("loss") ? "" : " Their tokens differ, so losses do not compare."));
  print_table(r["most_different"], of_units);
}

}  // namespace

Json compare_groups_of_runs(const std::vector<RunGroup>& groups, const ComparedText& text,
                            Pool& pool, Log& log) {
  RunComparer comparer(text, pool, log);
  if (std::ranges::any_of(groups, [](const RunGroup& group) { return group.size() > 1; }))
    check_groups(groups, log);
  for (const RunGroup& group : groups)
    for (const std::string& run : group) comparer.measure(run);
  Json all = Json::array();
  std::size_t from = 0;
  for (const RunGroup& group : groups) {
    if (from > 0) all.push_back(comparer.compared(groups[0].size(), from, from + group.size()));
    from += group.size();
  }
  return all;
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
  for (const Json& compared : compare_groups_of_runs(groups, text, pool, log))
    line.json() ? print_line(compared) : print_compared(compared);
  return Exit::ok;
}

}  // namespace heed
