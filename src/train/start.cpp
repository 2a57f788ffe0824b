#include "train/start.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/signals.h"
#include "data/data_facts.h"
#include "store/checkpoint.h"
#include "store/trained_model.h"

namespace heed {
namespace {

// Error (usage) if the tokenizers, special tokens or tensors of two configs differ.
void refuse_misfit(const RunConfig& config, const RunConfig& other, const Tokenizers& tokenizers,
                   const std::string& run) {
  const auto refuse = [&](const std::vector<std::string>& keys) {
    RunConfig there = other, here = config;
    there.model = without_training(there.model);
    here.model = without_training(here.model);
    std::vector<std::string> differ;
    for (const KeyChange& change : changed_keys(there, here))
      if (std::ranges::any_of(keys, [&](const auto& key) { return change.key.starts_with(key); }))
        differ.push_back(
            fmt::format("{} is {} there and {} here", change.key, change.before, change.after));
    throw Error(Exit::usage, fmt::format("--init-from {}: {}.", run, joined(differ, "; ")),
                "--set with the values there");
  };
  const TokenizerConfig &a = other.tokenizer, &b = config.tokenizer;
  if (a.type != b.type || a.punctuation != b.punctuation)
    refuse({"tokenizer.type", "tokenizer.punctuation"});
  if (further_specials(other) != further_specials(config)) refuse({"objective."});
  const auto tensors = [&](const RunConfig& c) {
    return Transformer(c.model, tokenizers.source().size(), tokenizers.target->size())
        .table.infos();
  };
  const auto same = [](const ParamInfo& x, const ParamInfo& y) {
    return x.name == y.name && x.param.rows == y.param.rows && x.param.cols == y.param.cols;
  };
  if (!std::ranges::equal(tensors(other), tensors(config), same)) refuse({"model."});
}

// Keys of the model that fit the weights and yet change the function that they compute.
std::vector<std::string> other_function(const RunConfig& weights, const RunConfig& config) {
  RunConfig before, after;
  before.model = without_training(weights.model);
  after.model = without_training(config.model);
  std::vector<std::string> changes;
  for (const KeyChange& change : changed_keys(before, after)) changes.push_back(in_words(change));
  return changes;
}

}  // namespace

std::string earlier_leaks(std::string from, const LineFacts& held_out) try {
  while (!from.empty()) {
    TrainedModel m = load_trained_model(open_checkpoint(from));
    const Dataset data = load_dataset(config_of_data(m), data_folder(m), m.tokenizers);
    if (const std::string leak = leaks(data.train.facts, held_out); !leak.empty())
      return leak + " of " + from;
    from = read_origin(m.run).init_from;
  }
  return "";
} catch (const Error&) {
  return "";
}

Beginning prepare_start(const TrainRequest& request, const RunConfig& config,
                        const std::string& folder) {
  std::optional<Checkpoint> initial;
  Tokenizers tokenizers;
  std::vector<std::string> changes;
  if (!request.init_from.empty()) {
    initial = open_checkpoint(request.init_from);
    const RunConfig trained = checkpoint_config(*initial);
    tokenizers = Tokenizers::load(initial->tokenizers(), initial->folder());
    refuse_misfit(config, trained, tokenizers, request.init_from);
    changes = other_function(trained, config);
  }
  PreparedRun prepared =
      prepare_run(config, folder, std::move(tokenizers), request.run.threads, request.run.crew);
  if (initial || !config.tokenizer.file.empty())
    refuse_foreign_vocabulary(prepared.data, initial ? "--init-from " + request.init_from
                                                     : "tokenizer.file " + config.tokenizer.file);
  // Read before --force may rename the folder that they are in.
  std::optional<ParamVec<float>> weights;
  if (initial) {
    prepared.data.notes.push_back(
        fmt::format("tokenizer from {}, {} ids; the other keys of tokenizer have no effect",
                    request.init_from, prepared.tokenizers.target->size()));
    if (!changes.empty())
      prepared.data.notes.push_back(fmt::format("weights from {}, trained with other settings: {}",
                                                request.init_from, joined(changes)));
    weights.emplace(prepared.model.table.size());
    initial->load_model(tensor_slots(prepared.model.table, *weights));
    if (std::string leak = earlier_leaks(request.init_from, prepared.data.valid.facts);
        !leak.empty())
      prepared.data.warnings.push_back(std::move(leak));
  }
  watch_signals();
  Origin origin{folder, prepared.data.hash, request.init_from, request.run.command};
  for (const auto& [key, place] : request.run.given.keys) origin.given.push_back(key);
  return {
      .prepared = std::move(prepared), .origin = std::move(origin), .weights = std::move(weights)};
}

RunResult train_run(const TrainRequest& request, const RunConfig& config, const std::string& folder,
                    Log& log) {
  RunWriter::require_free(request.run.folder, request.run.force);
  Beginning beginning = prepare_start(request, config, folder);
  return go_in_new_folder(beginning, request.run, request.run.folder, log);
}

}  // namespace heed
