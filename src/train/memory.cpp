#include "train/memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/format.h"
#include "data/batcher.h"
#include "evaluate/scorer.h"
#include "show/film.h"
#include "step/optimizer.h"

namespace heed {
namespace {

// Numbers kept per row of one block, about: what the Saved structs of its layers hold.
double block_row(const ModelConfig& c, bool cross, double keys) {
  const double d = c.d_model, kv = kv_width(c);
  const double attention = 4 * d + 2 * kv + (c.qk_norm ? d + kv : 0) + c.n_heads * keys;
  return (cross ? 2 : 1) * attention + 2 * d + 1.0 * feed_forward_matrices(c) * c.d_ff;
}

}  // namespace

MemoryPlan predict_memory(const Transformer& model, const RunConfig& config, int threads,
                          int longest, double ids, double held_out) {
  const ModelConfig& c = config.model;
  MemoryPlan plan;
  const double copies = kept_arrays(model.table, step_options(config)) + config.train.shards;
  plan.parameters = 4.0 * (static_cast<double>(model.table.size()) * copies +
                           1.0 * optimizer_workspace(model.table, config.optimizer) * threads);

  const double rows =
      std::max(longest, std::min(config.train.batch_tokens, micro_batch_tokens(config)));
  const bool both = model.has_encoder() && model.has_decoder();
  const double side = both ? rows / 2 : rows;
  const double keys = std::min<double>(side, both ? longest / 2.0 : longest);
  double floats = 2.0 * kLossRows * std::max(model.target_vocab, c.d_model);
  floats += side * c.encoder_layers * block_row(c, false, keys);
  floats += side * c.decoder_layers * block_row(c, both, keys);
  floats += rows * (8.0 * c.d_model +
                    1.0 * feed_forward_matrices(c) * c.d_ff);  // embeddings, gradients in flight
  const int workers = std::min(threads, config.train.shards);
  plan.activations = 4.0 * floats * workers;
  plan.data = ids;

  plan.record = film_memory(model.table);
  // Forward only: the room of one block.
  const double scored = std::max<double>({1.0 * longest, 1.0 * kForwardTokens, 2 * held_out});
  const double scored_side = both ? scored / 2 : scored;
  plan.scoring =
      4.0 * (config.data.has_validation() ? threads : 1) *
      (scored_side *
           block_row(c, both, std::min<double>(scored_side, std::max<double>(longest, held_out))) +
       scored * 3.0 * c.d_model + 1.0 * kLossRows * model.target_vocab);
  return plan;
}

void check_memory(const MemoryPlan& plan, const std::string& held_out) {
  const double available = available_memory();
  if (plan.training() <= available) return;
  if (!held_out.empty() && plan.training() - plan.scoring <= available)
    throw Error(
        Exit::memory,
        fmt::format("validation needs about {} of memory for its longest sentence ({}), but "
                    "{} are available.",
                    format_bytes(plan.scoring), held_out, format_bytes(available)),
        "without that line, or fewer --threads; data.max_length drops such pairs from the "
        "training data alone");
  throw Error(
      Exit::memory,
      fmt::format("training needs about {} of memory (parameters, moments and gradients {}, "
                  "activations {}, validation {}), but {} are available.",
                  format_bytes(plan.training()), format_bytes(plan.parameters),
                  format_bytes(plan.activations), format_bytes(plan.scoring),
                  format_bytes(available)),
      "a smaller model or vocabulary (tokenizer.vocab_size, tokenizer.min_frequency), fewer "
      "train.shards, a smaller train.micro_batch_tokens, or fewer --threads");
}

}  // namespace heed
