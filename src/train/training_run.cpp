#include "train/training_run.h"

#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/signals.h"
#include "math/blas.h"
#include "store/origin.h"
#include "store/safetensors.h"
#include "store/trained_model.h"
#include "train/run_loop.h"
#include "train/run_messages.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

void refuse_misfit(const RunConfig& config, const RunConfig& other, const std::string& run) {
  const auto differs = [&](const std::string& key) {
    throw Error(Exit::usage, fmt::format("--init-from {}: its {} is not this config's.", run, key));
  };
  if (other.tokenizer.type != config.tokenizer.type) differs("tokenizer.type");
  if (make_objective(other)->traits().specials != make_objective(config)->traits().specials)
    differs("objective.type");
}

// Weights and tokenizers of another run; read before that run's folder may be renamed.
struct Initial {
  Checkpoint checkpoint;
  Tokenizers tokenizers;
};

Initial open_initial(const std::string& run, const RunConfig& config) {
  Initial initial{open_checkpoint(run), {}};
  refuse_misfit(config, checkpoint_config(initial.checkpoint), run);
  initial.tokenizers =
      Tokenizers::load(initial.checkpoint.tokenizers(), initial.checkpoint.folder());
  return initial;
}

}  // namespace

RunResult train_run(const TrainRequest& request, Log& log) {
  const double begin = seconds_now();
  const RunConfig config = load_config(request.config, request.sets);
  const fs::path config_path = fs::absolute(request.config).lexically_normal();
  const std::string folder = config_path.parent_path().string();
  const std::string run_path =
      request.run.empty() ? (fs::path("runs") / config_path.stem()).string() : request.run;
  RunWriter::require_free(run_path, request.force);

  std::optional<Initial> initial;
  Tokenizers tokenizers;
  if (!request.init_from.empty()) {
    initial = open_initial(request.init_from, config);
    tokenizers = std::move(initial->tokenizers);
  }
  const Dataset data = load_dataset(config, folder, tokenizers);
  const Transformer model(config.model, tokenizers.source().size(), tokenizers.target->size());
  const int threads = thread_count(request.threads, config);
  prepare_blas(threads);
  const PreparedRun prepared{config, model, data, tokenizers, threads};
  const MemoryPlan memory = plan_memory(prepared);
  watch_signals();

  std::optional<ParamVec<float>> weights;
  if (initial) {
    weights.emplace(model.table.size());
    initial->checkpoint.load_model(tensor_slots(model.table, *weights));
  }
  RunWriter run = RunWriter::create(run_path, request.force);
  Origin origin{folder, data.hash, request.init_from, "", request.command};
  if (weights)
    origin.initial_sha256 =
        write_safetensors(run.path() / kInitialWeights, tensor_views(model.table, *weights));
  run.write_origin(origin_json(origin));
  // The config last: with it the folder can be resumed.
  run.write_config(dump_config(config));

  log.open_file((run.path() / "train.log").string());
  return with_errors_in_log(log, [&] {
    say_start(log, prepared, memory, 0);
    Pool pool(threads);
    Trainer trainer(config, model, data, tokenizers, run, pool, log);
    if (request.profile) trainer.stepper().gradients().enable_profile();
    run.append_metrics(event_metrics(0, "start", request.command));
    if (weights) trainer.start_from(*weights);
    weights.reset();
    return train_to_the_end({trainer, run, request.stop_at, request.profile, begin}, log);
  });
}

}  // namespace heed
