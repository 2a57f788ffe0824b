// The film of a run, film.jsonl: where the model looks, what it writes, and what a step does to its
// matrices, as it learns. All frames are about one fixed piece of the held-out text (of the
// training text if nothing is held out). The first line says which:
//
//   {"kind": "probe", "step": 0, "kinds": as kinds_json() gives them, "prompts": [TEXT, ...],
//    "expected": [TEXT, ...]}     what really follows the prompts
//   {"kind": "frame", "step": s,
//    "train_loss", "valid_loss"   of the step, of its validation; null: not measured
//    "probe_loss"                 of the piece that is shown, in nats per token
//    "weights": [BASE64, ...]     packed_weights(), for each of the kinds
//    "pull": [{"largest", "map": BASE64}, ...]   packed_pull(), the same
//    "written": [TEXT, ...]       what the model writes, for each prompt
//    "filled": TEXT               where it fills in masks: the first prompt, with ›its answers‹
//    "heads": [...],              show/head_names.h, over held-out text
//    "matrices", "entropy"}       show/learning_record.h
//
// A frame that only the end of a run has, at no step of is_frame(), has "end": true. A run that
// goes on drops it.
//
// The config alone decides how long the piece and the texts are, so that a frame is neither large
// nor slow. The frames of a model of more than some 1,400 heads carry no maps. Texts
// are drawn with a fixed seed, and translations are the most probable ones. A reader ignores keys
// that it does not know.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/objective.h"
#include "show/head_names.h"
#include "show/learning_record.h"
#include "store/run_events.h"
#include "store/trained_model.h"

namespace heed {

// For each kind that the model has, [layer][head][query][key] in base64: a byte b for each weight
// (b / 255)^2, so that small ones can be told apart. web/maps.js unpacks them.
std::vector<std::string> packed_weights(const AttentionMaps& maps);
// The tokens of a probe, and the weights of a frame that is_whole() and has them.
struct ShownMaps {
  InputTokens tokens;
  AttentionMaps maps;  // without lengths
};
ShownMaps unpacked(const nlohmann::ordered_json& probe, const nlohmann::ordered_json& frame);

// The pull of the piece's loss (show/pull.h), in the same order: a byte b for each stands for
// largest (b - 128) |b - 128| / 127^2 nats per unit of score.
nlohmann::ordered_json packed_pull(const AttentionMaps& maps);

// What a frame is made of.
struct Shot {
  std::int64_t step = 0;
  const ParamVec<float>& values;  // those that validation and samples use
  std::vector<MatrixLearning> matrices = {};
  double train_loss = kNotMeasured, valid_loss = kNotMeasured;
  bool all_maps = false;  // those too that are too large for film.jsonl
  bool end = false;       // only the end of the run has it
};

struct Frame {
  std::string line;    // of film.jsonl
  std::string sample;  // what the model writes, as text, for the log
};

class Film {
 public:
  // References must outlive the film.
  Film(const RunConfig& config, const Transformer& model, const Tokenizers& tokenizers,
       const Dataset& data);

  // The weights that the run began with: from now on frames name heads.
  void began_with(const ParamVec<float>& initial);
  bool empty() const { return question_.read.tokens() == 0; }  // no example to show: no film
  std::string probe() const;                                   // the first line of film.jsonl
  double cost() const;  // of a frame, at most, in steps of training
  // Error (diverged) if the model's numbers are not finite.
  Frame frame(const Shot& shot) const;

 private:
  std::string shown(const TokenIds& ids, const Tokenizer& tokenizer, const char* between) const;
  std::string shown_answer(const TokenIds& ids) const;
  int most_written(std::size_t prompt) const;
  TokenIds written(const ModelView& m, std::size_t prompt) const;
  std::string completed(const TokenIds& ids, const char* open, const char* close) const;
  std::string sample(const TokenIds& ids) const;
  double probe_loss(const ModelView& m) const;

  const Transformer& model_;
  const Tokenizers& tokenizers_;
  const int batch_tokens_, threads_, written_;
  const bool with_maps_;
  std::unique_ptr<const Objective> objective_;
  Question question_;
  const Split& split_;
  std::optional<HeadProbe> heads_;
  HeadScores untrained_;
};

struct FrameStep {
  std::int64_t step = 0;
  bool validated = false;
};

// Is there a frame at this step, after these? At 0, 1, 2, 4, 8, ..., and spread over the rest: at
// the first validation in each stretch of equal length. The stretches are powers of two, and grow
// with the step so that there are at most 24 of them; from 8 on only as many as would take 2 % of
// the time. The steps and the config alone decide, so stopping, resuming and extending a run does
// not change which frames its film has.
bool is_frame(const std::vector<FrameStep>& film, std::int64_t step, bool validated, double cost);
// The steps of frames that is_frame() would not make any more at the step of the last one, because
// the stretches have grown.
std::set<std::int64_t> surplus(const std::vector<FrameStep>& film, double cost);

// Does a frame fit film.jsonl's probe: weights of the right sizes in base64, an answer to each
// prompt?
bool is_whole(const nlohmann::ordered_json& frame, const nlohmann::ordered_json& probe);

// film.jsonl as it was read.
struct FilmFile {
  nlohmann::ordered_json probe = nlohmann::ordered_json::object();  // empty without frames
  std::vector<nlohmann::ordered_json> frames;  // of all kinds and prompts of the probe

  std::int64_t last_step() const {  // -1: there are no frames
    return frames.empty() ? -1 : frames.back()["step"].get<std::int64_t>();
  }
};
// The frames up to `step`, oldest first; none if there is no film. Damaged lines are passed over.
FilmFile read_film(const std::filesystem::path& run, std::int64_t step);

struct LearningStep {
  std::int64_t step = 0;
  Learning learning;
};
// {"step", "matrices", "entropy"}
nlohmann::ordered_json json_of(const LearningStep& record);
// The learning record: that of each frame whose matrices and heads are those of the last one.
std::vector<LearningStep> learning_steps(const FilmFile& film);

}  // namespace heed
