#include "train/start.h"

#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "base/format.h"
#include "base/signals.h"
#include "math/blas.h"
#include "store/open_checkpoint.h"
#include "store/origin.h"
#include "store/trained_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

void refuse_misfit(const RunConfig& config, const RunConfig& other, const std::string& run) {
  const auto differs = [&](const std::string& key) {
    throw Error(Exit::usage,
                fmt::format("--init-from {}: its {} differs from this config's.", run, key));
  };
  if (other.tokenizer.type != config.tokenizer.type) differs("tokenizer.type");
  if (other.tokenizer.punctuation != config.tokenizer.punctuation) differs("tokenizer.punctuation");
  if (further_specials(other) != further_specials(config))
    differs(other.objective.type != config.objective.type
                ? "objective.type"
                : "number of special tokens (from the lengths in objective)");
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

PreparedStart prepare_start(const TrainRequest& request, const RunConfig& config,
                            const std::string& folder) {
  std::optional<Checkpoint> initial;
  Tokenizers tokenizers;
  std::vector<std::string> changes;
  if (!request.init_from.empty()) {
    initial = open_checkpoint(request.init_from);
    const RunConfig trained = checkpoint_config(*initial);
    refuse_misfit(config, trained, request.init_from);
    changes = other_function(trained, config);
    tokenizers = Tokenizers::load(initial->tokenizers(), initial->folder());
  }
  PreparedRun prepared = prepare_run(config, folder, std::move(tokenizers), request.run.threads,
                                     *request.run.exchange);
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
  }
  watch_signals();
  return {std::move(prepared), std::move(weights), folder, nullptr};
}

RunResult begin_run(PreparedStart& start, const TrainRequest& request, Log& log) {
  const PreparedRun& prepared = start.prepared;
  const Origin origin{start.folder, prepared.data.hash, request.init_from, request.run.command,
                      blas_core_type()};
  check_room(prepared, request.run.folder);
  RunWriter run = RunWriter::create(
      request.run.folder, request.run.force,
      {origin_json(origin), dump_config(prepared.config), start.text ? start.text->path() : ""});
  start.text.reset();

  return with_errors_in_log(run, log, [&] {
    return train_to_the_end(prepared, request.run, run, log, [&](Trainer& trainer) {
      run.append(kMetrics, line_of(RunEvent{0, "start", request.run.command, origin.core_type}));
      if (start.weights) trainer.start_from(*start.weights);
      start.weights.reset();
    });
  });
}

RunResult train_run(TrainRequest request, Log& log) {
  const RunConfig config = load_config(request.config, request.run.sets);
  const fs::path path = fs::absolute(request.config).lexically_normal();
  if (request.run.folder.empty()) request.run.folder = (fs::path("runs") / path.stem()).string();
  RunWriter::require_free(request.run.folder, request.run.force);
  PreparedStart start = prepare_start(request, config, path.parent_path().string());
  return begin_run(start, request, log);
}

}  // namespace heed
