// heed whence RUN TEXT
#include "train/whence.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/cgroup.h"
#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/noise.h"
#include "base/sha256.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "show/attributions.h"
#include "train/resume.h"

namespace heed {
namespace {

constexpr size_t kTouched = 3;  // trainings with the last bit of a weight changed

// The run's training up to the model's step, ready to be done again.
PreparedRun prepared_again(OpenModel& m) {
  if (m.config.train.precision != Precision::float32)
    throw usage_error("its steps round to bfloat16, which has no derivative.")
        .hint("a run with --set train.precision=float32");
  if (m.state.step == 0) throw usage_error("step 0 has learnt nothing.").hint("--checkpoint last");
  const fs::path run = run_of_checkpoint(m.folder);
  StoredRun stored = read_stored_run(run, newest_checkpoint(run), m.log);
  load_data(stored, stored.asked, m.log);
  return prepare_run(m.config, std::move(stored.data), std::move(stored.tokenizers), m.line.threads,
                     m.line.crew);
}

// Spearman's: the correlation of the ranks.
double rank_correlation(const vector<double>& x, const vector<double>& y) {
  const auto rank = [](double a, const vector<double>& of) {  // from the middle, doubled
    double sum = 0;
    for (const double b : of) sum += (b < a) - (b > a);
    return sum;
  };
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = rank(x[i], x), b = rank(y[i], y);
    xy += a * b;
    xx += a * a;
    yy += b * b;
  }
  return xy / sqrt(xx * yy);
}

constexpr double kBelievable = 0.15;  // nats, of one unit
constexpr double kForetold = 0.8;     // rank correlation

// Changes up to this are noise.
double noise_of(const Json& result) {
  return ranges::max(result["noise"].get<vector<double>>());
}

// Of the units that were left out: what was foretold against what came. Of all: whether that can be
// believed.
void add_judgement(Json& result) {
  vector<double> foretold, came;
  for (Json& row : result["units"]) {
    if (!row.contains("retrained")) continue;
    foretold.push_back(row["value"]);
    came.push_back(row["retrained"]);
    row["provable"] = abs(came.back()) > noise_of(result);
  }
  if (!came.empty()) result["rank_correlation"] = rank_correlation(foretold, came);
  const auto value = [](const Json& row) { return abs(row["value"].get<double>()); };
  const Json& units = result["units"];
  result["smooth"] = max(value(units.front()), value(units.back())) < kBelievable &&
                     result.value("rank_correlation", 1.0) > kForetold;
}

class Attribution {
 public:
  // `questions`: what was asked, as the address of the live page has it.
  Attribution(OpenModel& m, vector<Prediction> asked, const Json& questions, size_t retrain)
      : m_(m),
        prepared_(prepared_again(m)),
        objective_(make_objective(prepared_.config)),
        units_(units_of(prepared_.data.train, prepared_.tokenizers)),
        batches_(*objective_, prepared_.data.train, prepared_.config, units_),
        begin_(initial_weights(m.net, m.config.seed, run_of_checkpoint(m.folder))),
        setup_{prepared_.model,
               step_options(prepared_.config),
               prepared_.crew,
               batches_,
               units_.all.size(),
               m.state.step,
               begin_,
               [this](double steps) { worked(steps); }},
        answer_(answers_of(m.net, asked)) {
    Sha256 hash;  // of the model and the question
    hash.update(std::as_bytes(span(m.values.data(), m.values.size())));
    for (const Prediction& p : asked)
      for (const TokenIds& ids : {p.read.source, p.read.target, p.answer, {p.row}})
        hash.update(Json(ids).dump());
    const fs::path run = run_of_checkpoint(m.folder);
    file_ = run / kWhence / (hash.hex().substr(0, 16) + ".json");
    Json answers;
    for (const Prediction& p : asked)
      answers.push_back(m.tokenizers.target->piece(p.answer.front()));
    result_ = {{"run", m.run},
               {"checkpoint", checkpoint_name(m.folder)},
               {"step", m.state.step},
               {"answer", asked.size() == 1 ? answers[0] : answers},
               {"questions", questions}};
    if (path_exists(file_))
      result_ = parse_strict_json(read_file(file_, 1u << 30), {file_.string()});
    watch_signals();
    const bool known = result_.contains("units");
    if (!known) calculate();
    if (retrain > 0) prove(retrain);
    m.log.end_progress();
    add_judgement(result_);
    if (!known || retrain > 0) {
      save();
      if (is_listed(run / kLivePage)) write_live(run.string(), m.config.train.live, m.log);
    }
    if (!result_["smooth"])
      m.log.warn(fmt::format(
          "this training is not smooth: one unit would change the log-probability by more than {}, "
          "or the rank correlation is below {}. Such values may foretell nothing{}; heed whence "
          "--help names the settings of a smooth one.",
          kBelievable, kForetold,
          result_.contains("rank_correlation") ? "" : ", which --retrain 2 shows"));
  }

  const Json& result() const { return result_; }

 private:
  void worked(double steps) {
    done_ += steps / double(m_.state.step);
    m_.log.share_done(min(1.0, done_ / all_));
    if (stop_signal() != 0)
      throw Error(exit_of_signal(stop_signal()),
                  "stopped; the same command goes on after what is calculated and proved.");
  }
  void save() const try {
    make_folder(file_.parent_path());
    replace_file(file_, text_of(result_) + "\n");
  } catch (const Error& e) {
    m_.log.warn(string("this result is not kept: ") + e.what());
  }

  void calculate() {
    require_reverse(setup_);
    // Passes in float and in double fill half of what they reserve, and 8 MB of what every training
    // is said to take are for what is not done here.
    const double filled = min(1.0, double(m_.config.train.batch_tokens) / setup_.options.shards /
                                       micro_batch_tokens(m_.config));
    const MemoryPlan memory{.parameters = influence_memory(setup_) - 8e6,
                            .activations = 1.5 * filled * prepared_.memory.activations};
    m_.log.info(fmt::format("{}, {}: about the time of six such trainings, and {} of memory",
                            counted(format_count(int64_t(units_.all.size())), "unit"),
                            counted(format_count(m_.state.step), "step"),
                            format_bytes(memory.training())));
    check_memory(memory, available_memory());
    const Phi checked = [&](const ParamVec<double>& weights, ParamVec<double>& gradient) {
      if (!std::equal(weights.data(), weights.data() + weights.size(), m_.values.data()))
        throw usage_error(
            "the training, done again, does not give the weights of {}: it is no step "
            "of the run, or heed resume --set changed the config on the way, or "
            "another type of processor trained it.",
            checkpoint_name(m_.folder))
            .hint(fmt::format("heed rewind {} {} tells which", shell_word(m_.run), m_.state.step));
      const double phi = answer_(weights, gradient);
      result_["logprob"] = phi;
      return phi;
    };
    const vector<double> values = influences<float>(setup_, checked);
    if (!ranges::all_of(values, [](double value) { return isfinite(value); }))
      throw Error(Exit::diverged,
                  "the derivatives are infinite: whatever changes grows with every step back.",
                  "--checkpoint with an earlier step, or a run with a lower learning rate");
    vector<Json> rows;
    for (size_t u = 0; u < values.size(); ++u)
      rows.push_back({{"unit", u},
                      {"lines", units_.all[u].lines},
                      {"text", units_.all[u].text},
                      {"value", values[u]}});
    ranges::stable_sort(rows, ranges::greater(),
                        [](const Json& row) { return row["value"].get<double>(); });
    result_["units"] = rows;
    save();
  }

  // The most helpful and the most harmful ones, and as many drawn by chance, left out one by one.
  void prove(size_t k) {
    const double phi = result_["logprob"];
    Json &noise = result_["noise"], &rows = result_["units"];  // (a new key moves the others)
    set<size_t> chosen;
    for (size_t i = 0; i < min(k, rows.size()); ++i) {
      chosen.insert({i, rows.size() - 1 - i});
      for (int draw = 0; chosen.size() < min(rows.size(), 3 * (i + 1)); ++draw)
        chosen.insert(noise_key(m_.config.seed, Purpose::probe, i + kTouched, draw) % rows.size());
    }
    erase_if(chosen, [&](size_t i) { return rows[i].contains("retrained"); });
    const vector<TrainEvent> lines = read_events(run_of_checkpoint(m_.folder), m_.state.step).train;
    done_ = 0;
    all_ = double(chosen.size() + kTouched - noise.size());
    if (all_ > 0 && !lines.empty())
      m_.log.info(fmt::format("{:.0f} trainings without some units: {} at the speed of the run",
                              all_, format_duration(60 * all_ * lines.back().minutes)));
    while (noise.size() < kTouched) {
      size_t at = noise_key(m_.config.seed, Purpose::probe, noise.size()) % begin_.size();
      while (begin_.data()[at] == 0) at = (at + 1) % begin_.size();
      float& touched = begin_.data()[at];
      const float before = std::exchange(touched, std::nextafter(touched, INFINITY));
      noise.push_back(abs(retrained(setup_, answer_, {}) - phi));
      touched = before;
      save();
    }
    for (const size_t i : chosen) {
      LeftOut left_out(units_.all.size());
      left_out[rows[i]["unit"]] = true;
      rows[i]["retrained"] = phi - retrained(setup_, answer_, left_out);
      save();
    }
  }

  OpenModel& m_;
  PreparedRun prepared_;
  unique_ptr<const Objective> objective_;
  Units units_;
  UnitBatches batches_;
  ParamVec<float> begin_;
  TrainingSetup setup_;
  Phi answer_;
  fs::path file_;  // what is known so far
  Json result_;
  double done_ = 0, all_ = 6;  // trainings
};

string unit_text(const Json& text) {
  return replace_all(plain(text), "\t", "  →  ");
}

string lines_text(const Json& lines) {
  return plain(lines[0]);
}

string proof_text(const Json& row) {
  if (!row.contains("retrained")) return "-";
  return fmt::format("{:+.5f}{}", row["retrained"].get<double>(),
                     row["provable"] ? "" : " (noise)");
}

void print_units(const Json& result) {
  const Json& answer = result["answer"];
  const double logprob = result["logprob"];
  const string of = answer.is_array()
                        ? fmt::format("the {} answers together have log-probability {:.4f}",
                                      answer.size(), logprob)
                        : fmt::format("“{}” has log-probability {:.4f} ({})", token_text(answer),
                                      logprob, percent(exp(logprob)));
  print_prose(
      fmt::format("{} at step {}. It would lose, without one:\n", of, plain(result["step"])));
  vector<Column> columns = {{"value", "value", "{:+.5f}"},
                            {"line", "lines", lines_text},
                            {"text", "text", unit_text, 0, Column::cut}};
  if (result.contains("rank_correlation"))
    columns.insert(columns.begin() + 1, {"retrained", "", proof_text});
  print_table(shown_units(result["units"]), columns, "  ");
  if (result.contains("rank_correlation"))
    print_prose(
        fmt::format("rank correlation of foretold and retrained: {:.3f}; up to {:.0e} is noise\n",
                    result["rank_correlation"].get<double>(), noise_of(result)));
}

}  // namespace

Exit run_whence(CommandLine& line) {
  optional<string> answer;
  size_t retrain = 0;
  line.add_model();
  line.add_texts("the text before the answer; for masked models with a [MASK]",
                 "its lines instead: the sum of their answers; - is standard input");
  line.add_targets("what the decoder has written before the answer");
  line.app.add_option("--answer", answer, "this token (default: the most probable)");
  line.add_number("--retrain", retrain,
                  "prove it: train again without each of the N most helpful and N most harmful "
                  "units, and N drawn by chance; the same command goes on where it was stopped",
                  1, 10'000)
      ->default_str("");
  line.parse();
  if (!line.has_text()) throw usage_error("expected TEXT or --file, of whose answer is asked.");
  OpenModel m(line);
  vector<Prediction> asked;
  Json questions = Json::array();
  answer_texts(m, {""}, [&](span<const GivenText> texts) {
    for (const GivenText& text : texts) {
      asked.push_back(prediction_of(m, text, answer));
      asked.back().answer = {explain(m.net, m.values, asked.back())["answer"]["id"]};
      questions.push_back({{"text", text.text},
                           {"target", text.target.value_or("")},
                           {"answer", asked.back().answer.front()}});
    }
  });
  if (asked.empty()) throw data_error("there is no line.");
  const Json result = Attribution(m, std::move(asked), questions, retrain).result();
  line.json ? print_line(result) : print_units(result);
  return Exit::ok;
}

}  // namespace heed
