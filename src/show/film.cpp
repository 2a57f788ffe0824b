#include "show/film.h"

#include <openssl/evp.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "base/format.h"
#include "base/utf8.h"
#include "evaluate/scorer.h"
#include "show/fill.h"
#include "show/generate.h"
#include "show/pull.h"
#include "store/run_folder.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostTokens = 28, kFewestTokens = 6;  // shown, on each side
constexpr int kFrameWeights = 12'600;               // 16 heads of 28 x 28
constexpr int kMostFrameWeights = 48 << 10;         // 64 KB in base64
constexpr int kMostWritten = 60, kFewestWritten = 24;
constexpr double kTemperature = 0.7;
constexpr std::size_t kLongWord = 20;  // bytes: without a space for longer, text has none
// A token that is written reads all weights for itself and takes about as long as this many in a
// batch that is trained on. A text of the length below then takes at most half a step of one
// thread, unless steps are very short.
constexpr int kWrittenCost = 8;
// One thread makes a frame, and as many as there are shards make a step. How many the machine has
// must not matter, so this many are assumed, as in a laptop.
constexpr int kThreads = 4;
constexpr double kNamingCost = 700;  // of naming heads: at most 2,000 tokens, read only
constexpr double kRecordCost = 0.3;  // of measuring the matrices, in steps
constexpr double kFewestStretches = 8, kMostStretches = 24;
constexpr double kShare = 0.02;  // of the steps

int frame_weights(const ModelConfig& c, int tokens) {
  const int kinds = c.encoder_layers + c.decoder_layers * (c.encoder_layers > 0 ? 2 : 1);
  return kinds * c.n_heads * tokens * tokens;
}

int tokens_shown(const ModelConfig& c) {
  int n = kMostTokens;
  while (n > kFewestTokens && frame_weights(c, n) > kFrameWeights) --n;
  return n;
}

std::string text_of(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The most probable word for each label.
TokenIds filled(const ModelView& m, const Example& e) {
  std::vector<int> rows;
  for (std::size_t r = 0; r < e.labels.size(); ++r)
    if (e.labels[r] >= 0) rows.push_back(static_cast<int>(r));
  TokenIds words;
  for (const auto& best : fill(m, e.source, rows, 1)) words.push_back(best.front().ids[0]);
  return words;
}

using Texts = std::vector<std::string>;

constexpr std::size_t base64_size(std::size_t bytes) {
  return (bytes + 2) / 3 * 4;
}

// With padding (RFC 4648, section 4).
std::string base64(const std::vector<unsigned char>& bytes) {
  std::string text(base64_size(bytes.size()) + 1, '\0');  // libcrypto adds a zero at the end
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

// The sizes of a frame's "weights". Throws if this is not a probe.
std::vector<std::size_t> sizes_of(const Json& probe) {
  std::vector<std::size_t> sizes;
  for (const Json& kind : probe.at("kinds").get_ref<const Json::array_t&>()) {
    kind.at("name").get<std::string>();
    const auto queries = kind.at("queries").get<Texts>(), keys = kind.at("keys").get<Texts>();
    sizes.push_back(base64_size(kind.at("layers").get<std::size_t>() *
                                kind.at("heads").get<std::size_t>() * queries.size() *
                                keys.size()));
  }
  return sizes;
}

bool is_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return std::ranges::all_of(text, [](char c) {
    return ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '+' ||
           c == '/';
  });
}

// Do both have the same matrices, kinds, layers and heads in the same order?
bool same_shape(const Learning& a, const Learning& b) {
  const auto same_heads = [](const KindEntropy& x, const KindEntropy& y) {
    return x.kind == y.kind &&
           std::ranges::equal(x.heads, y.heads, {}, std::ranges::size, std::ranges::size);
  };
  return std::ranges::equal(a.matrices, b.matrices, {}, &MatrixLearning::name,
                            &MatrixLearning::name) &&
         std::ranges::equal(a.entropy, b.entropy, same_heads);
}

bool is_power_of_two(std::int64_t step) {  // or 0
  return step == 0 || std::has_single_bit(static_cast<std::uint64_t>(step));
}

// The length of the stretches in which the first validation has a frame, at a step.
std::int64_t stretch(std::int64_t step, double cost) {
  const double now = static_cast<double>(step);
  const double length =
      std::max(now / kMostStretches, std::min(now / kFewestStretches, cost / kShare));
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::ceil(std::max(1.0, length)))));
}

// The split that the film shows.
const Split& shown_split(const RunConfig& config, const Dataset& data) {
  return config.data.has_validation() ? data.valid : data.train;
}

}  // namespace

Film::Film(const RunConfig& config, const Transformer& model, const Tokenizers& tokenizers,
           const Dataset& data)
    : model_(model),
      tokenizers_(tokenizers),
      batch_tokens_(config.train.batch_tokens),
      threads_(std::min(config.train.shards, kThreads)),
      written_(std::clamp(batch_tokens_ / (2 * kWrittenCost), kFewestWritten, kMostWritten)),
      with_maps_(frame_weights(config.model, kFewestTokens) <= kMostFrameWeights),
      objective_(make_objective(config)),
      split_(shown_split(config, data)) {
  if (objective_->evaluation(split_).count == 0) return;
  const int n = tokens_shown(config.model);
  question_ = objective_->question(split_, n, written_);
  Example& read = question_.read;
  for (TokenIds* ids : {&read.source, &read.target, &read.labels})
    ids->resize(std::min<std::size_t>(ids->size(), n));
}

void Film::began_with(const ParamVec<float>& initial) {
  if (!with_maps_ || empty()) return;
  heads_.emplace(model_, tokenizers_, *objective_, split_);
  untrained_ = heads_->score(initial);
}

std::string Film::probe() const {
  Json line{{"kind", "probe"}, {"step", 0}};
  line["kinds"] =
      kinds_json(input_tokens(question_.read, tokenizers_), empty_maps(model_, question_.read));
  line["prompts"] = line["expected"] = Json::array();
  for (const TokenIds& ids : question_.prompts)
    line["prompts"].push_back(shown(ids, tokenizers_.source(), " "));
  for (const TokenIds& ids : question_.expected) line["expected"].push_back(shown_answer(ids));
  return text_of(line);
}

double Film::cost() const {
  double tokens = 2.0 * question_.read.tokens() + (with_maps_ ? kNamingCost : 0);
  for (std::size_t i = 0; i < question_.prompts.size(); ++i)
    tokens += static_cast<double>(question_.prompts[i].size()) + kWrittenCost * most_written(i);
  return kRecordCost + threads_ * tokens / batch_tokens_;
}

Frame Film::frame(const Shot& shot) const {
  const ModelView m{*objective_, tokenizers_, model_, shot.values};
  Workspace workspace;
  AttentionMaps maps = attention_maps(model_, m.values, question_.read, workspace);
  Json line{
      {"kind", "frame"},
      {"step", shot.step},
      {"train_loss", shot.train_loss},
      {"valid_loss", shot.valid_loss},
      {"probe_loss", probe_loss(m)},
      {"weights", with_maps_ || shot.all_maps ? packed_weights(maps) : std::vector<std::string>()},
      {"written", Json::array()}};
  if (shot.end) line["end"] = true;
  Frame frame;
  for (std::size_t i = 0; i < question_.prompts.size(); ++i) {
    const TokenIds ids = written(m, i);
    if (i == 0) frame.sample = sample(ids);
    if (i == 0 && objective_->fills()) line["filled"] = completed(ids, "›", "‹");
    line["written"].push_back(shown_answer(ids));
  }
  if (!line["weights"].empty() && std::isfinite(line["probe_loss"].get<double>())) {
    add_pull(model_, m.values, question_.read, workspace, maps);
    line["pull"] = packed_pull(maps);
  }
  if (heads_) line["heads"] = json_of(heads_->names(heads_->score(m.values), untrained_));
  line.update(json_of(Learning{shot.matrices, entropy_of(maps)}));
  frame.line = text_of(line);
  return frame;
}

// An answer that is far longer than the right one is wrong whatever follows.
int Film::most_written(std::size_t prompt) const {
  if (!model_.has_decoder()) return 0;
  if (objective_->continues()) return written_;
  const int right = static_cast<int>(question_.expected[prompt].size());
  return std::min({kMostWritten, objective_->longest(Side::target) - 1, 2 * right + 4});
}

// Token by token, special ones too, where masks are filled in.
std::string Film::shown(const TokenIds& ids, const Tokenizer& tokenizer,
                        const char* between) const {
  return objective_->fills() ? joined(tokenizer.pieces(ids), between) : tokenizer.decode(ids);
}

std::string Film::shown_answer(const TokenIds& ids) const {
  return shown(ids, *tokenizers_.target, model_.has_decoder() ? " " : ", ");
}

TokenIds Film::written(const ModelView& m, std::size_t prompt) const {
  if (!model_.has_decoder()) return filled(m, question_.read);
  return generate(m, question_.prompts[prompt], most_written(prompt),
                  objective_->continues() ? kTemperature : 0);
}

// The first prompt with its masks filled in: "the ›fox‹ saw".
std::string Film::completed(const TokenIds& ids, const char* open, const char* close) const {
  const TokenIds& prompt = question_.prompts[0];
  TokenIds text;
  std::string out;
  std::size_t shown = 0;
  const auto gained = [&] {  // as text, since the last call
    const std::string all = tokenizers_.target->decode(text);
    return all.substr(std::min(std::exchange(shown, all.size()), all.size()));
  };
  auto next = ids.begin();
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    const bool decodes = model_.has_decoder();
    if (decodes ? !objective_->is_mask(prompt[i]) : question_.read.labels[i] < 0) {
      text.push_back(prompt[i]);
      continue;
    }
    out += gained();
    if (!decodes)
      text.push_back(*next++);
    else if (next = std::ranges::find(ids, prompt[i]); next != ids.end())
      while (++next != ids.end() && !objective_->is_mask(*next)) text.push_back(*next);
    const std::string answer = gained();
    const bool spaced = answer.size() > 1 && answer[0] == ' ';
    out += (spaced ? " " : "") + (open + answer.substr(spaced)) + close;
  }
  return out + gained();
}

// What is written first, as text: from the beginning of a word to the end of one, where it has
// spaces.
std::string Film::sample(const TokenIds& ids) const {
  const Tokenizer& tokenizer = *tokenizers_.target;
  if (!objective_->continues() && !objective_->fills()) return tokenizer.decode(ids);
  std::string text;
  if (objective_->fills()) {
    text = completed(ids, "", "");
    text.erase(0, text.find(' ') + 1);
  } else {
    TokenIds all = question_.prompts[0];
    const std::size_t end = tokenizer.decode(all).size();
    all.insert(all.end(), ids.begin(), ids.end());
    text = tokenizer.decode(all);
    const std::size_t begin = text.find_last_of(" \n", end) + 1;
    text.erase(0, end - std::min(begin, end) <= kLongWord
                      ? begin
                      : utf8_floor(text, std::min(end, text.size())));
  }
  return std::string(whole_words(text, text.size()));
}

double Film::probe_loss(const ModelView& m) const {
  Pool pool(1);
  double sum = 0;
  const auto log_probs = label_log_probs(m.model, m.values, {question_.read}, pool).front();
  for (const double x : log_probs) sum -= x;
  return sum / static_cast<double>(log_probs.size());  // NaN where no label is shown
}

std::vector<std::string> packed_weights(const AttentionMaps& maps) {
  std::vector<std::string> kinds;
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    std::vector<unsigned char> bytes;
    for (const float w : map.weights)
      bytes.push_back(static_cast<unsigned char>(std::lround(255 * std::sqrt(w))));
    kinds.push_back(base64(bytes));
  }
  return kinds;
}

Json packed_pull(const AttentionMaps& maps) {
  Json kinds = Json::array();
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    double largest = 0;
    for (const double x : map.pull) largest = std::max(largest, std::abs(x));
    std::vector<unsigned char> bytes;
    for (const double x : map.pull) {
      const double root = largest > 0 ? std::sqrt(std::abs(x) / largest) : 0;
      bytes.push_back(static_cast<unsigned char>(128 + std::lround(std::copysign(127 * root, x))));
    }
    kinds.push_back({{"largest", static_cast<float>(largest)}, {"map", base64(bytes)}});
  }
  return kinds;
}

ShownMaps unpacked(const Json& probe, const Json& frame) {
  ShownMaps shown;
  std::size_t place = 0;
  for (const Json& kind : probe.at("kinds")) {
    const auto found =
        std::ranges::find(kAttentionKinds, kind.at("name").get<std::string>(), attention_name);
    const std::string packed = frame.at("weights").at(place++).get<std::string>();
    if (found == kAttentionKinds.end()) continue;
    const Texts queries = kind.at("queries").get<Texts>(), keys = kind.at("keys").get<Texts>();
    (*found == AttentionKind::encoder_self ? shown.tokens.source : shown.tokens.target) = queries;
    (*found == AttentionKind::decoder_self ? shown.tokens.target : shown.tokens.source) = keys;
    AttentionMap& map = shown.maps[static_cast<std::size_t>(*found)];
    map = {kind.at("layers").get<int>(),
           kind.at("heads").get<int>(),
           static_cast<int>(queries.size()),
           static_cast<int>(keys.size()),
           {},
           {}};
    std::vector<unsigned char> bytes(packed.size());
    EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(packed.data()),
                    static_cast<int>(packed.size()));
    bytes.resize(static_cast<std::size_t>(map.layers) * map.heads * map.queries * map.keys);
    for (const unsigned char b : bytes)
      map.weights.push_back(static_cast<float>(b) * static_cast<float>(b) / (255.0f * 255.0f));
  }
  return shown;
}

bool is_frame(const std::vector<FrameStep>& film, std::int64_t step, bool validated, double cost) {
  if (!film.empty() && step <= film.back().step) return false;
  if (is_power_of_two(step)) return true;
  const auto before = std::find_if(film.rbegin(), film.rend(), std::mem_fn(&FrameStep::validated));
  const std::int64_t length = stretch(step, cost);
  return validated && (before == film.rend() || before->step / length < step / length);
}

std::set<std::int64_t> surplus(const std::vector<FrameStep>& film, double cost) {
  std::set<std::int64_t> steps;
  const std::int64_t length = stretch(film.back().step, cost);
  std::int64_t last = -1;  // stretch with a validation
  for (const FrameStep& frame : film) {
    if (!frame.validated) continue;
    if (frame.step / length == last && !is_power_of_two(frame.step)) steps.insert(frame.step);
    last = frame.step / length;
  }
  return steps;
}

bool is_whole(const Json& frame, const Json& probe) try {
  const auto fits = [&](const Texts& maps) {
    std::vector<std::size_t> sizes;
    for (const std::string& map : maps) {
      if (!is_base64(map)) return false;
      sizes.push_back(map.size());
    }
    return sizes.empty() || sizes == sizes_of(probe);
  };
  Texts pulls;
  for (const Json& kind : frame.value("pull", Json::array())) {
    if (!kind.at("largest").is_number()) return false;
    pulls.push_back(kind.at("map").get<std::string>());
  }
  for (const Json& head : frame.value("heads", Json::array())) {
    for (const char* key : {"kind", "name"}) head.at(key).get_ref<const std::string&>();
    for (const char* key : {"layer", "head", "score", "untrained", "shuffled"})
      if (!head.at(key).is_number()) return false;
  }
  return fits(frame.at("weights").get<Texts>()) && fits(pulls) &&
         frame.at("written").get<Texts>().size() == probe.at("prompts").get<Texts>().size() &&
         probe.at("expected").get<Texts>().size() == probe.at("prompts").get<Texts>().size();
} catch (const Json::exception&) {
  return false;
}

FilmFile read_film(const std::filesystem::path& run, std::int64_t step) {
  FilmFile film;
  if (!has_lines(run, kFilm)) return film;
  const auto add = [&](Json& line) {
    if (line["kind"] == "probe" && film.probe.empty())
      film.probe = std::move(line);
    else if (line["kind"] == "frame" && line["step"] <= step && is_whole(line, film.probe))
      film.frames.push_back(std::move(line));
  };
  for_each_event(run, add, kFilm);
  return film.frames.empty() ? FilmFile{} : film;
}

Json recorded_names(const TrainedModel& model) {
  const FilmFile film = read_film(run_of_checkpoint(model.folder), model.state.step);
  Json out{{"named_at", nullptr},
           {"held_out", model.config.data.has_validation()},
           {"head_names", Json::array()}};
  for (const Json& frame : film.frames)
    if (frame.contains("heads")) {
      out["named_at"] = frame["step"];
      out["head_names"] = frame["heads"];
    }
  return out;
}

Json json_of(const LearningStep& record) {
  Json json{{"step", record.step}};
  json.update(json_of(record.learning));
  return json;
}

std::vector<LearningStep> learning_steps(const FilmFile& film) {
  std::vector<LearningStep> steps;
  for (const Json& frame : film.frames)
    if (auto learning = learning_of(frame))
      steps.push_back({frame["step"].get<std::int64_t>(), std::move(*learning)});
  if (steps.empty()) return steps;
  const Learning last = steps.back().learning;
  std::erase_if(steps, [&](const LearningStep& x) { return !same_shape(x.learning, last); });
  return steps;
}

}  // namespace heed
