#include "train/start.h"

#include <fmt/core.h>

#include <filesystem>
#include <optional>

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
    throw Error(Exit::usage, fmt::format("--init-from {}: its {} is not this config's.", run, key));
  };
  if (other.tokenizer.type != config.tokenizer.type) differs("tokenizer.type");
  if (other.tokenizer.punctuation != config.tokenizer.punctuation) differs("tokenizer.punctuation");
  if (make_objective(other)->traits().specials != make_objective(config)->traits().specials)
    differs(other.objective.type != config.objective.type
                ? "objective.type"
                : "number of special tokens (from the lengths in objective)");
}

}  // namespace

RunResult train_run(const TrainRequest& request, Log& log) {
  const RunConfig config = load_config(request.config, request.sets);
  const fs::path config_path = fs::absolute(request.config).lexically_normal();
  const std::string folder = config_path.parent_path().string();
  const std::string run_path =
      request.run.empty() ? (fs::path("runs") / config_path.stem()).string() : request.run;
  RunWriter::require_free(run_path, request.force);

  std::optional<Checkpoint> initial;
  Tokenizers tokenizers;
  if (!request.init_from.empty()) {
    initial = open_checkpoint(request.init_from);
    refuse_misfit(config, checkpoint_config(*initial), request.init_from);
    tokenizers = Tokenizers::load(initial->tokenizers(), initial->folder());
  }
  PreparedRun prepared = prepare_run(config, folder, std::move(tokenizers), request.threads);
  Pool pool(prepared.threads);  // may fail, and would leave a folder in the way of the next start
  watch_signals();

  // Read before --force may rename the folder that they are in.
  std::optional<ParamVec<float>> weights;
  if (initial) {
    prepared.data.notes.push_back(
        fmt::format("tokenizer: that of {}, {} ids; the other keys of tokenizer do nothing here",
                    request.init_from, prepared.tokenizers.target->size()));
    weights.emplace(prepared.model.table.size());
    initial->load_model(tensor_slots(prepared.model.table, *weights));
  }
  RunWriter run = RunWriter::create(run_path, request.force);
  const Origin origin{folder, prepared.data.hash, request.init_from, request.command,
                      blas_core_type()};
  run.describe(origin_json(origin), dump_config(config));

  log.open_file((run.path() / "train.log").string());
  return with_errors_in_log(log, [&] {
    return train_to_the_end(prepared, request, pool, run, log, [&](Trainer& trainer) {
      run.append_metrics(event_metrics(0, "start", request.command, origin.core_type));
      if (weights) trainer.start_from(*weights);
      weights.reset();
    });
  });
}

}  // namespace heed
