// What a run writes as lines: the events of metrics.jsonl, and the probe and the frames of
// film.jsonl (docs/formats.md says what each key means). train/listeners.cpp and film_listener.cpp
// write those of steps, and what begins, branches, resumes on another processor, or diverges its
// event. Each kind is a struct with one list of fields (base/fields.h): text_of() makes its line of
// it, and lines are read by it. Whatever shows a training reads these structs, and nothing else of
// the run but its states and configs. What is read fits: the maps of a frame have the sizes of the
// probe's kinds. Names may be any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json_fwd.h"
#include "base/std_names.h"
#include "store/run_folder.h"

namespace heed {

// A log line.
struct TrainEvent {
  static constexpr const char* kKind = "train";
  int64_t step = 0;
  double epoch = kNotMeasured;
  double loss = kNotMeasured, perplexity = kNotMeasured;  // nats per token, unsmoothed, since the
                                                          // last line
  double gradient_norm = kNotMeasured, learning_rate = kNotMeasured;
  double tokens_per_second = kNotMeasured;
  double seconds = kNotMeasured;  // since the process began to train
  // Not written: the first step of the loss, and how long training took so far, in all processes.
  double from = 1, minutes = kNotMeasured;
};
void fields(TrainEvent& e, auto visit) {
  visit("step", e.step, "epoch", e.epoch, "loss", e.loss, "perplexity", e.perplexity,
        "gradient_norm", e.gradient_norm, "learning_rate", e.learning_rate, "tokens_per_second",
        e.tokens_per_second, "seconds", e.seconds);
}

// A validation.
struct ValidEvent {
  static constexpr const char* kKind = "valid";
  int64_t step = 0;
  double loss = kNotMeasured, perplexity = kNotMeasured, accuracy = kNotMeasured;
  int64_t tokens = 0;
  optional<double> bits_per_byte = {}, metric = {};  // where they are measured
  optional<string> metric_name = {};                 // train.select_by: the metric's key
  string verdict = {};  // "new best", "stalled 2/10 (best 1.8810 @ 750)", ...
};
void fields(ValidEvent& e, auto visit) {
  visit("step", e.step, "loss", e.loss, "perplexity", e.perplexity, "accuracy", e.accuracy,
        "tokens", e.tokens, "bits_per_byte", e.bits_per_byte, "metric", e.metric_name);
  visit(e.metric_name.value_or("").c_str(), e.metric, "verdict", e.verdict);
}

// "start", "resume", "branch", "diverged".
struct RunEvent {
  static constexpr const char* kKind = "event";
  int64_t step = 0;
  string event, text;
  optional<string> core_type = {};  // OpenBLAS's name of the processor, and
                                    // what multiplies bfloat16 numbers
};
void fields(RunEvent& e, auto visit) {
  visit("step", e.step, "event", e.event, "text", e.text, "core_type", e.core_type);
}

// What simpler predictors reach (evaluate/yardsticks.h).
struct Yardstick {
  string name;
  double nats_per_token = kNotMeasured;
  double bits_per_byte = kNotMeasured;  // where the model's loss has this unit too
};
void fields(Yardstick& y, auto visit) {
  visit("name", y.name, "nats_per_token", y.nats_per_token, "bits_per_byte", y.bits_per_byte);
}
using Yardsticks = vector<Yardstick>;
struct YardsticksEvent {
  static constexpr const char* kKind = "yardsticks";
  int64_t step = 0;
  Yardsticks values;
};
void fields(YardsticksEvent& e, auto visit) {
  visit("step", e.step, "values", e.values);
}

// A kind of attention that the maps of frames show.
struct MapKind {
  string name;  // attention_name()
  int64_t layers = 0, heads = 0;
  vector<string> queries, keys;  // tokens
};
void fields(MapKind& k, auto visit) {
  visit("name", k.name, "layers", k.layers, "heads", k.heads, "queries", k.queries, "keys", k.keys);
}

// What the frames after it are about.
struct Probe {
  static constexpr const char* kKind = "probe";
  int64_t step = 0;
  vector<MapKind> kinds;
  vector<string> prompts, expected;
  optional<string> follows = {};  // the token after the last one of a decoder
};
void fields(Probe& p, auto visit) {
  visit("step", p.step, "kinds", p.kinds, "expected", p.expected, "prompts", p.prompts, "follows",
        p.follows);
}

// A head that has a name over the held-out text (show/head_words.h).
struct HeadName {
  string kind;  // attention_name()
  int64_t layer = 0, head = 0;
  string name;
  double score = kNotMeasured, untrained = kNotMeasured, shuffled = kNotMeasured;
};
void fields(HeadName& h, auto visit) {
  visit("kind", h.kind, "layer", h.layer, "head", h.head, "name", h.name, "score", h.score,
        "untrained", h.untrained, "shuffled", h.shuffled);
}

// What a step did to a matrix (show/learning_record.h). NaN: not known.
struct MatrixChange {
  double gradient_norm = kNotMeasured, weight_norm = kNotMeasured, update_ratio = kNotMeasured,
         cosine = kNotMeasured;
};
void fields(MatrixChange& m, auto visit) {
  visit("gradient_norm", m.gradient_norm, "weight_norm", m.weight_norm, "update_ratio",
        m.update_ratio, "cosine", m.cosine);
}

// The mean entropy of a row of each head of a kind, and that of uniform attention, in nats.
struct Entropy {
  double uniform = kNotMeasured;
  vector<vector<double>> heads;  // [layer][head]
};
void fields(Entropy& e, auto visit) {
  visit("uniform", e.uniform, "heads", e.heads);
}

// The pulls of one kind (show/film.h).
struct PackedPull {
  double largest = kNotMeasured;
  string map;
};
void fields(PackedPull& p, auto visit) {
  visit("largest", p.largest, "map", p.map);
}

// What the heads of one kind do in the piece that is shown (show/head_words.h).
struct KindInWords {
  int64_t first = 0;     // the number of the head to show first
  vector<string> heads;  // a sentence for each, layer by layer
};
void fields(KindInWords& k, auto visit) {
  visit("first", k.first, "heads", k.heads);
}

// What a step has left.
struct Frame {
  static constexpr const char* kKind = "frame";
  int64_t step = 0;
  double train_loss = kNotMeasured, valid_loss = kNotMeasured, probe_loss = kNotMeasured;
  vector<string> weights = {};  // of each of the probe's kinds (show/film.h), or none
  vector<string> written = {};  // for each of its prompts
  optional<bool> end = {};      // true: of where a run stopped, or of its best; a run
                                // that goes on drops it
  optional<string> filled = {};
  optional<vector<PackedPull>> pull = {};  // of each kind
  optional<vector<HeadName>> heads = {};
  optional<vector<KindInWords>> words = {};  // of each kind; an older heed wrote none
  ByName<MatrixChange> matrices = {};        // none in a frame of an earlier step's weights
  ByName<Entropy> entropy = {};              // by kind
};
void fields(Frame& f, auto visit) {
  visit("step", f.step, "train_loss", f.train_loss, "valid_loss", f.valid_loss, "probe_loss",
        f.probe_loss, "weights", f.weights, "written", f.written, "end", f.end, "filled", f.filled,
        "pull", f.pull, "heads", f.heads, "words", f.words, "matrices", f.matrices, "entropy",
        f.entropy);
}

// Is film.jsonl a file, no link, of less than 16 MiB, as films are? It may still be empty.
bool can_be_film(const fs::path& run);

// What metrics.jsonl says of the steps up to one, in its order. Damaged lines are passed over; what
// is missing in an event or has another type stays as it is in an Event{}.
struct LoggedEvents {
  vector<TrainEvent> train;
  vector<ValidEvent> valid;
  vector<RunEvent> events = {};
  Yardsticks yardsticks = {};
};
// Error (Exit::store) if there is a file that cannot be read.
LoggedEvents read_events(const fs::path& run, int64_t up_to = kAnyStep);

// The same of film.jsonl: its last probe, and the frames of that by step. Without a film, or if it
// has no whole probe, the probe has no kinds and there are no frames.
struct RecordedFrames {
  Probe probe;
  vector<Frame> frames;
};
RecordedFrames read_frames(const fs::path& run, int64_t up_to = kAnyStep);

// Error (Exit::store) that names the first line that is not an object, or is not in order, or does
// not fit, or if there is none although steps up to `saved` are. A last line that is cut short may
// be there: heed resume drops it. chain.jsonl may have no line, and go back.
void check_lines(const fs::path& run, const char* file, int64_t saved = 0);

// Copies `file` of the run `from` to the run `to`, without lines of steps after `step`, without a
// torn last one and, unless with `ends`, without frames that are marked `end`. Both may be the same
// run; if not, `from` may be growing meanwhile.
void copy_lines(const fs::path& from, const fs::path& to, const char* file, int64_t step,
                bool ends);

}  // namespace heed
