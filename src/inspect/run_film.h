// The frames of a run's film: one fixed piece of the held-out text (of the training text if nothing
// is held out), in which the model is shown at every frame, and texts that it writes.
//
//   probe  "kinds": as kinds_json() gives them; "prompts": texts; "expected": what really follows
//   frame  "train_loss": of the step; "valid_loss": of the validation; "probe_loss": of the piece
//          that is shown, in nats per token (null: not measured);
//          "weights": packed_weights(); "written": what the model writes, for each prompt
//
// The piece is as long, and the texts too, as a frame may be large and take time; the config alone
// decides that. Texts are drawn with a fixed seed, and translations are the most probable ones.
#pragma once

#include <memory>

#include "store/trained_model.h"
#include "train/film.h"
#include "train/prepared_run.h"

namespace heed {

// Null if there is no example to show. References must outlive the film.
std::unique_ptr<Film> make_film(const RunConfig& config, const Transformer& model,
                                const Tokenizers& tokenizers, const Dataset& data);
// Are the frames of such a model small enough for film.jsonl? Up to some 1,400 heads they are.
bool is_filmed(const ModelConfig& model);
inline std::unique_ptr<Film> film_of(const PreparedRun& run) {
  if (!is_filmed(run.config.model)) return nullptr;
  return make_film(run.config, run.model, run.tokenizers, run.data);
}

}  // namespace heed
