#include "report/report.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "data/examples.h"
#include "decode/best_tokens.h"
#include "inspect/own_output.h"
#include "report/page_maps.h"
#include "store/run_folder.h"
#include "train/learning_record.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMapBytes = 4'000'000;  // of the page, for the maps of all steps
constexpr int kPairs = 4;                     // prompts of a model of pairs
constexpr int kWritten = 60;                  // tokens at most
constexpr double kTemperature = 0.7;          // of texts; translations are the most probable ones

// What is asked at every step.
struct Question {
  ModelInput map;                         // what the maps are of
  std::vector<std::vector<int>> prompts;  // of the encoder; of a decoder alone, its own
  std::vector<int> labels;                // masked_lm: of the rows of the map, -1: not masked
};

template <class T>
void shorten(std::vector<T>& x, int n) {
  if (static_cast<int>(x.size()) > n) x.resize(n);
}

// So many a side that the maps of all steps fit.
int tokens_that_fit(const ModelConfig& c) {
  const std::size_t attentions =
      c.encoder_layers + c.decoder_layers * (c.encoder_layers > 0 ? 2 : 1);
  const std::size_t maps = attentions * c.n_heads * (kReportSteps + 1);  // and before training
  int n = kReportTokens;
  while (n > 4 && packed_size(maps * n * n) > kMapBytes) --n;
  return n;
}

// The tile whose maps are shown: the second, since the first of a text has nothing before it; of
// masked words the first from there on with a mask among its first n tokens.
std::int64_t tile_to_ask(const Examples& examples, bool masked, int n) {
  const std::int64_t count = examples.count(Examples::kEvaluation);
  const std::int64_t second = std::min<std::int64_t>(1, count - 1);
  Example e;
  for (std::int64_t i = second; masked && i < count; ++i) {
    examples.make(Examples::kEvaluation, i, e);
    shorten(e.labels, n);
    if (std::ranges::any_of(e.labels, [](int label) { return label >= 0; })) return i;
  }
  return second;
}

// The text from the beginning of a tile on, `most` tokens of it if there are so many.
std::vector<int> text_from(const Examples& examples, std::int64_t tile, std::size_t most) {
  std::vector<int> text;
  Example e;
  for (; tile < examples.count(Examples::kEvaluation) && text.size() < most; ++tile) {
    examples.make(Examples::kEvaluation, tile, e);
    text.insert(text.end(), e.labels.begin(), e.labels.end());
  }
  return text;
}

std::string pieces(const std::vector<int>& ids, const Tokenizer& tokenizer) {
  std::string text;
  for (const int id : ids) text += (text.empty() ? "" : ", ") + tokenizer.piece(id);
  return text;
}

Question ask(const TrainedModel& m, const Examples& examples, Report& report) {
  const std::int64_t count = examples.count(Examples::kEvaluation);
  const Tokenizer& target = *m.tokenizers.target;
  const ObjectiveType type = m.config.objective.type;
  const int n = tokens_that_fit(m.config.model);
  Question q;
  Example e;
  const std::int64_t tile = tile_to_ask(examples, type == ObjectiveType::masked_lm, n);
  examples.make(Examples::kEvaluation, tile, e);
  q.map = {e.source, e.target};
  if (type == ObjectiveType::seq2seq) {
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, kPairs); ++i) {
      examples.make(Examples::kEvaluation, i, e);
      report.prompts.push_back(m.tokenizers.source().decode(e.source));
      report.expected.push_back(target.decode(e.target));
      q.prompts.push_back(e.source);
    }
  } else if (type == ObjectiveType::masked_lm) {
    q.labels = e.labels;
    shorten(q.labels, n);
    std::vector<int> right;
    for (const int label : q.labels)
      if (label >= 0) right.push_back(label);
    std::vector<int> read = q.map.source;
    shorten(read, n);
    std::string text;
    for (const int id : read) text += (text.empty() ? "" : " ") + target.piece(id);
    report.prompts.push_back(text);
    report.expected.push_back(pieces(right, target));
    q.prompts.push_back({});
  } else {
    // The beginning of the tile is the prompt of a decoder alone, what stands before it that of an
    // encoder and decoder.
    const bool encoder = type == ObjectiveType::prefix_lm;
    std::vector<int> prompt = encoder ? e.source : e.target;
    if (!encoder) shorten(prompt, n / 2);
    // A decoder's first row reads the token before the tile: its prompt ends one token earlier.
    const std::size_t begin = encoder ? 0 : prompt.size() - 1;
    std::vector<int> after = text_from(examples, tile, begin + kWritten);
    after.erase(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(begin));
    if (!encoder && prompt.front() == Tokenizer::kBos) prompt.erase(prompt.begin());
    shorten(after, kWritten);
    report.prompts.push_back(target.decode(prompt));
    report.expected.push_back(target.decode(after));
    q.prompts.push_back(prompt);
  }
  shorten(q.map.source, n);
  shorten(q.map.target, n);
  report.tokens = input_tokens(q.map, m.tokenizers);
  return q;
}

// The most probable word for each mask.
std::string filled(const TrainedModel& m, const Question& q) {
  Batch batch;
  batch.source.add_sequence(q.map.source.data(), static_cast<int>(q.map.source.size()));
  Workspace workspace;
  TransformerSaved<float> saved;
  Pass<float> pass{.values = m.values, .workspace = workspace, .forward_only = true};
  const Mat<float> hidden = m.model.forward(pass, batch, saved);
  const Mat<float> logits = m.model.output.forward(pass, hidden);
  std::vector<int> special, words;
  for (int id = 0; id < m.tokenizers.target->first_ordinary_id(); ++id) special.push_back(id);
  for (std::size_t r = 0; r < q.labels.size(); ++r)
    if (q.labels[r] >= 0)
      words.push_back(
          best_tokens({logits.row(static_cast<int>(r)), static_cast<std::size_t>(logits.cols)}, 1,
                      special)
              .front()
              .id);
  return pieces(words, *m.tokenizers.target);
}

ReportStep answer(const TrainedModel& m, const Question& q, std::int64_t step) {
  ReportStep out;
  out.step = step;
  Workspace workspace;
  out.maps = attention_maps(m.model, m.values, q.map, workspace);
  const bool pairs = m.config.objective.type == ObjectiveType::seq2seq;
  const int most = pairs ? std::min(kWritten, longest_target(m.config) - 1) : kWritten;
  for (const std::vector<int>& prompt : q.prompts)
    out.written.push_back(m.model.has_decoder() ? m.tokenizers.target->decode(own_output(
                                                      m, prompt, most, pairs ? 0 : kTemperature))
                                                : filled(m, q));
  return out;
}

std::vector<std::int64_t> steps_to_show(const fs::path& run, std::int64_t last, Report& report) {
  std::vector<std::int64_t> all, chosen;
  for (const std::int64_t step : list_steps(run))
    if (step <= last) all.push_back(step);
  for (const std::size_t i : spread_indices(all.size(), kReportSteps)) chosen.push_back(all[i]);
  if (chosen.size() < all.size())
    report.notes.push_back(std::to_string(chosen.size()) + " of " + std::to_string(all.size()) +
                           " kept checkpoints are shown.");
  return chosen;
}

void look_through_training(const fs::path& run, TrainedModel& last, Report& report) {
  const Dataset data = load_dataset(last.config, data_folder(last), last.tokenizers);
  if (data.hash.all() != last.state.data_hash)
    report.notes.push_back("The data has changed since the run was trained.");
  const bool held_out = last.config.data.has_validation();
  const Examples examples(held_out ? data.valid : data.train, last.config,
                          last.tokenizers.target->size(), last.tokenizers.target->mask_id());
  if (examples.count(Examples::kEvaluation) == 0) return;
  if (!held_out) report.notes.push_back("Nothing was held out: the texts are training data.");
  const Question question = ask(last, examples, report);
  for (const std::int64_t step : steps_to_show(run, last.state.step, report)) {
    if (step == last.state.step) continue;
    try {
      report.steps.push_back(
          answer(load_trained_model(run.string(), "step-" + std::to_string(step)), question, step));
    } catch (const Error& e) {
      report.notes.push_back("Passed over: " + std::string(e.what()));
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
    throw Error(Exit::store, "No checkpoint of " + quoted_path(folder) + " is whole.");
  Report report;
  report.run = run;
  report.folder = folder;
  for (const DamagedCheckpoint& d : newest.damaged)
    report.notes.push_back("Passed over: " + d.reason);
  TrainedModel last = load_trained_model(folder.string(),
                                         "step-" + std::to_string(newest.checkpoint->state().step));
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
    report.notes.push_back("No samples and no maps, because the data cannot be read: " +
                           std::string(e.what()));
  }
  return report;
}

}  // namespace heed
