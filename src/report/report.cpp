#include "report/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "data/dataset.h"
#include "inspect/fill.h"
#include "inspect/generate.h"
#include "report/page_maps.h"
#include "store/initial_weights.h"
#include "store/open_checkpoint.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMapBytes = 4'000'000;  // for the maps of all steps
constexpr int kWritten = 60;                  // tokens at most
constexpr double kTemperature = 0.7;          // of texts; translations are the most probable ones

// The largest number of tokens per side with which the maps of all steps fit.
int tokens_that_fit(const ModelConfig& c) {
  const std::size_t attentions =
      c.encoder_layers + c.decoder_layers * (c.encoder_layers > 0 ? 2 : 1);
  const std::size_t maps = attentions * c.n_heads * (kReportSteps + 1);  // and step 0
  int n = kReportTokens;
  while (n > 4 && packed_size(maps * n * n) > kMapBytes) --n;
  return n;
}

// Token by token, special ones too, where masks are filled in.
std::string shown(const TrainedModel& m, const TokenIds& ids, const Tokenizer& tokenizer,
                  const char* between) {
  return m.objective->traits().fills_masks ? joined(tokenizer.pieces(ids), between)
                                           : tokenizer.decode(ids);
}

Question ask(const TrainedModel& m, const Split& split, Report& report) {
  const int n = tokens_that_fit(m.config.model);
  Question q = m.objective->question(split, n, kWritten);
  const Tokenizer &source = m.tokenizers.source(), &target = *m.tokenizers.target;
  for (const TokenIds& ids : q.prompts) report.prompts.push_back(shown(m, ids, source, " "));
  for (const TokenIds& ids : q.expected)
    report.expected.push_back(shown(m, ids, target, m.model.has_decoder() ? " " : ", "));
  for (TokenIds* ids : {&q.read.source, &q.read.target, &q.read.labels})
    ids->resize(std::min<std::size_t>(ids->size(), n));
  report.tokens = input_tokens(q.read, m.tokenizers);
  return q;
}

// The most probable word for each label.
std::string filled(const TrainedModel& m, const Example& e) {
  std::vector<int> rows;
  for (std::size_t r = 0; r < e.labels.size(); ++r)
    if (e.labels[r] >= 0) rows.push_back(static_cast<int>(r));
  TokenIds words;
  for (const auto& best : fill(m, e.source, rows, 1)) words.push_back(best.front().ids[0]);
  return joined(m.tokenizers.target->pieces(words));
}

ReportStep answer(const TrainedModel& m, const Question& q, std::int64_t step) {
  ReportStep out;
  out.step = step;
  Workspace workspace;
  out.maps = attention_maps(m.model, m.values, q.read, workspace);
  const ObjectiveTraits& traits = m.objective->traits();
  const bool answers = traits.prompt_is_source;
  const int most = answers ? std::min(kWritten, traits.longest_target - 1) : kWritten;
  for (const TokenIds& prompt : q.prompts)
    out.written.push_back(!traits.decoder()
                              ? filled(m, q.read)
                              : shown(m, generate(m, prompt, most, answers ? 0 : kTemperature),
                                      *m.tokenizers.target, " "));
  return out;
}

std::vector<std::int64_t> steps_to_show(const fs::path& run, std::int64_t last, Report& report) {
  std::vector<std::int64_t> all, chosen;
  for (const std::int64_t step : list_steps(run))
    if (step > 0 && step <= last) all.push_back(step);
  for (const std::size_t i : spread_indices(all.size(), kReportSteps)) chosen.push_back(all[i]);
  if (chosen.size() < all.size())
    report.notes.push_back(
        fmt::format("{} of {} kept checkpoints are shown.", chosen.size(), all.size()));
  return chosen;
}

void look_through_training(const fs::path& run, TrainedModel& last, Report& report) {
  const Dataset data = load_dataset(last.config, data_folder(last), last.tokenizers);
  if (data.hash.all() != last.state.data_hash)
    report.notes.push_back("The data has changed since the run was trained.");
  const bool held_out = last.config.data.has_validation();
  const Split& split = held_out ? data.valid : data.train;
  if (last.objective->evaluation(split).count == 0) return;
  if (!held_out) report.notes.push_back("Nothing was held out: the texts are training data.");
  const Question question = ask(last, split, report);
  for (const std::int64_t step : steps_to_show(run, last.state.step, report)) {
    if (step == last.state.step) continue;
    try {
      report.steps.push_back(
          answer(load_trained_model(run.string(), fmt::format("step-{}", step)), question, step));
    } catch (const Error& e) {
      // A saver may have removed it since the steps were listed.
      if (path_exists(run / "checkpoints" / step_folder_name(step)))
        report.notes.push_back(fmt::format("Skipped: {}", e.what()));
    }
  }
  report.steps.push_back(answer(last, question, last.state.step));
  last.values = initial_weights(last.model, last.config.seed, run);
  report.steps.insert(report.steps.begin(), answer(last, question, 0));
}

}  // namespace

std::vector<std::size_t> spread_indices(std::size_t size, std::size_t n) {
  std::vector<std::size_t> at;
  if (size <= n) n = size;
  for (std::size_t i = 0; i < n; ++i) at.push_back(n == 1 ? size - 1 : i * (size - 1) / (n - 1));
  return at;
}

Report make_report(const std::string& run) {
  const fs::path folder = run_of_checkpoint(find_checkpoint(run));
  NewestCheckpoint newest = newest_checkpoint(folder);
  if (!newest.checkpoint)
    throw Error(Exit::store, fmt::format("no checkpoint of {} is intact.", quoted_path(folder)));
  Report report;
  report.run = run;
  report.folder = folder;
  for (const DamagedCheckpoint& d : newest.damaged) report.notes.push_back("Skipped: " + d.reason);
  TrainedModel last = load_trained_model(*newest.checkpoint);
  last.run = folder.string();
  report.config = newest.checkpoint->config();
  report.last_step = last.state.step;
  report.best_step = last.state.best_step;
  report.best_by_bleu = last.config.train.select_by == SelectBy::bleu;
  report.parameter_count = last.model.table.size();
  report.parameters = parameter_table(last.model, last.values,
                                      initial_weights(last.model, last.config.seed, folder));
  try {
    look_through_training(folder, last, report);
  } catch (const Error& e) {
    if (e.exit() != Exit::data) throw;
    report.notes.push_back(
        fmt::format("No samples and no maps, because the data cannot be read: {}", e.what()));
  }
  return report;
}

}  // namespace heed
