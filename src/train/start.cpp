// heed train CONFIG: a run that begins anew.
#include "train/training_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>

#include "base/format.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "data/split.h"
#include "evaluate/test_text.h"
#include "store/checkpoint.h"
#include "store/model.h"
#include "store/run_folder.h"
#include "store/run_writer.h"

namespace heed {
namespace {

// Error (usage) if the tokenizers, special tokens or tensors of two configs differ: it names the
// keys that make the difference. Else the keys of the model that change the function that the
// weights compute.
vector<string> checked_fit(const RunConfig& config, const RunConfig& other,
                           const Tokenizers& tokenizers, const string& run) {
  const auto words = [](const TokenizersConfig& t) {
    return std::tuple(t.type, t.punctuation, t.target.type, t.target.punctuation);
  };
  const auto tensors = [&](const RunConfig& c) {
    return Transformer(c.model, tokenizers.source().size(), tokenizers.target->size())
        .table.infos();
  };
  const auto same = [](const ParamInfo& x, const ParamInfo& y) {
    return x.name == y.name && x.param.rows == y.param.rows && x.param.cols == y.param.cols;
  };
  const string differs = words(other.tokenizer) != words(config.tokenizer)       ? "tokenizer."
                         : further_specials(other) != further_specials(config)   ? "objective."
                         : !ranges::equal(tensors(other), tensors(config), same) ? "model."
                                                                                 : "";
  RunConfig there = other, here = config;
  for (RunConfig* c : {&there, &here}) {
    const int length = c->model.max_length;
    c->model = without_training(c->model);
    if (config.model.positions == Positions::learned) c->model.max_length = length;
  }
  vector<string> misfits, changes;
  for (const KeyChange& change : changed_keys(there, here)) {
    if (!differs.empty() && change.key.starts_with(differs))
      misfits.push_back(
          fmt::format("{} is {} there and {} here", change.key, change.before, change.after));
    if (change.key.starts_with("model.")) changes.push_back(in_words(change));
  }
  if (!differs.empty())
    throw usage_error("--init-from {}: {}.", run, joined(misfits, "; "))
        .hint(
            "--set with the values there; model.max_length follows from data.max_length and "
            "the lengths of the objective");
  return changes;
}

// Where --init-from is, for commands in any folder, once --force has renamed the run that it may be
// in.
string kept_at(const RunRequest& request) {
  if (request.init_from.empty()) return "";
  const fs::path inside = fs::relative(request.init_from, fs::absolute(request.folder));
  const fs::path old = free_name(request.folder);
  const fs::path kept = *inside.begin() == ".." ? fs::path(request.init_from)
                        : inside == "."         ? old
                                                : old / inside;
  return fs::absolute(kept).lexically_normal().string();
}

}  // namespace

RunResult train_run(const RunRequest& request, const RunConfig& config, const string& folder,
                    Log& log, const function<void(PreparedRun&)>& plan,
                    unique_ptr<StoredInput>&& text) {
  RunWriter::require_free(request.folder, request.force);
  optional<Checkpoint> initial;
  Tokenizers tokenizers;
  vector<string> changes;
  if (!request.init_from.empty()) {
    initial = open_checkpoint(request.init_from);
    const RunConfig trained = checkpoint_config(*initial);
    tokenizers = Tokenizers::load(initial->tokenizers, initial->folder);
    changes = checked_fit(config, trained, tokenizers, request.init_from);
  }
  PreparedRun prepared =
      prepare_run(config, folder, std::move(tokenizers), request.threads, request.crew);
  const TokenizersConfig& t = config.tokenizer;
  const string& file = t.file.empty() ? t.target.file : t.file;
  if (initial || !file.empty())
    refuse_foreign_vocabulary(
        prepared.data, initial ? "--init-from " + request.init_from : "tokenizer.file " + file);
  // Read before --force may rename the folder that they are in.
  optional<ParamVec<float>> weights;
  if (initial) {
    prepared.data.notes.push_back(
        fmt::format("tokenizer and weights from {}{}", request.init_from,
                    changes.empty() ? "" : ", trained with other settings: " + joined(changes)));
    weights.emplace(prepared.model.table.size());
    initial->load(kModelFile, tensor_slots(prepared.model.table, *weights));
    if (const string leak = leaks(training_lines(request.init_from), prepared.data.valid.facts);
        !leak.empty())
      prepared.data.warnings.push_back(leak + " of " + request.init_from);
    initial.reset();
  }
  watch_signals();
  Origin origin{folder, prepared.data.hash, kept_at(request), request.command};
  for (const auto& [key, place] : request.given.keys) origin.given.push_back(key);
  if (plan) plan(prepared);
  require_room(prepared, request.folder);
  RunWriter run = RunWriter::create(
      request.folder, request.force,
      {origin_json(origin), dump_config(prepared.config), text ? text->path() : ""});
  text.reset();
  return go(prepared, request, run, log, [&](Trainer& trainer) {
    if (weights) trainer.start_from(*weights);
    weights.reset();
  });
}

}  // namespace heed
