#include "store/model.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/std_names.h"
#include "store/checkpoint.h"
#include "store/run.h"
#include "store/run_folder.h"

namespace heed {
namespace {

RunConfig stored_config(string_view text, const fs::path& folder) try {
  return parse_config(text, (folder / kConfigFile).string());
} catch (const Error& e) {
  throw e.as(Exit::store);
}

}  // namespace

RunConfig checkpoint_config(const Checkpoint& checkpoint) {
  return stored_config(checkpoint.config, checkpoint.folder);
}

RunConfig config_of_run(const fs::path& run) {
  return stored_config(read_file(run / kConfigFile, kMaxConfigFile), run);
}

Model load_model(const Checkpoint& checkpoint) {
  RunConfig config = checkpoint_config(checkpoint);
  Tokenizers tokenizers = Tokenizers::load(checkpoint.tokenizers, checkpoint.folder);
  if (tokenizers.target->type() != config.tokenizer.of_target().type ||
      tokenizers.source().type() != config.tokenizer.type)
    throw store_error("{}: its tokenizer is not of the type named in its config.json",
                      checkpoint.folder.string());
  Transformer net(config.model, tokenizers.source().size(), tokenizers.target->size());
  ParamVec<float> values(net.table.size());
  checkpoint.load(kModelFile, tensor_slots(net.table, values));
  auto objective = make_objective(config);
  return {checkpoint.folder, std::move(config), std::move(objective), std::move(tokenizers),
          std::move(net),    std::move(values), checkpoint.state,     checkpoint.folder};
}

Model load_model(const string& run, const string& checkpoint) {
  const bool initial = checkpoint == "initial";
  Model t = load_model(open_checkpoint(run, initial ? "" : checkpoint));
  t.run = run;
  if (initial) {
    t.values = initial_weights(t.net, t.config.seed, run_of_checkpoint(t.folder));
    t.folder = t.folder.parent_path() / checkpoint;
    State begun;
    begun.data_hash = t.state.data_hash;
    begun.longest_source = t.state.longest_source;
    begun.longest_target = t.state.longest_target;
    t.state = begun;
  }
  return t;
}

Predictor Model::predictor() const {
  return {net, values, *products, mapped(others, &Model::predictor)};
}

DataPlace data_place(const Model& model) {
  RunConfig config = model.config;
  const fs::path run = run_of_checkpoint(model.folder);
  if (path_exists(run / kConfigFile)) config.data = config_of_run(run).data;
  return data_place(config, run, read_origin(run));
}

int thread_count(int asked, const RunConfig& config, int cores) {
  const int n = asked > 0 ? asked : config.train.threads;
  return n > 0 ? n : cores;
}

ParamVec<float> initial_weights(const Transformer& model, uint64_t seed, const fs::path& run) {
  const fs::path step_0 = run / kCheckpoints / step_folder_name(0);
  ParamVec<float> values(model.table.size());
  if (path_exists(step_0))
    Checkpoint::open(step_0).load(kModelFile, tensor_slots(model.table, values));
  else if (const string from = read_origin(run).init_from; from.empty())
    initialize(model.table, seed, values);
  else
    throw store_error(
        "the run began with the weights of {}, but {}, which keeps them, is "
        "missing: there is nothing to compare with.",
        quoted_path(from), quoted_path(step_0))
        .hint("restore that folder");
  return values;
}

}  // namespace heed
