#include "train/learning_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "store/initial_weights.h"

namespace heed {

using Json = nlohmann::ordered_json;

namespace {

bool is_watched(const ParamInfo& info) {
  const auto has = [&](const char* part) { return info.name.find(part) != std::string::npos; };
  return !info.vector && (has("_attn.") || has("embed"));
}

double squares(const float* x, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

// Adds up the entropies of the rows that it sees: - sum p ln p.
class EntropyProbe : public AttentionObserver<float> {
 public:
  explicit EntropyProbe(std::vector<KindEntropy>& entropy) : entropy_(entropy) {}

  void on_weights(const Seen& seen) override {
    KindEntropy& kind = *std::ranges::find(entropy_, seen.kind, &KindEntropy::kind);
    const bool first = seen.layer == 0 && seen.head == 0;
    double sum = 0;
    for (int q = 0; q < seen.weights.rows; ++q) {
      const float* p = seen.weights.row(q);
      float row = 0;  // p ln p is 0 at p = 0
      for (int k = 0; k < seen.weights.cols; ++k) row -= p[k] > 0 ? p[k] * std::log(p[k]) : 0.0f;
      sum += row;
      const int visible = seen.kind == AttentionKind::decoder_self ? q + 1 : seen.weights.cols;
      if (first) kind.uniform += std::log(visible);
    }
    kind.heads[seen.layer][seen.head] += sum;
  }

 private:
  std::vector<KindEntropy>& entropy_;
};

// Mean entropy of a row of each head on a batch, for each kind that the model has.
std::vector<KindEntropy> attention_entropy(const Transformer& model, const ParamVec<float>& values,
                                           const Batch& batch, Workspace& workspace) {
  const auto none = [&](const Stack& stack) {
    return std::vector<std::vector<double>>(stack.blocks.size(),
                                            std::vector<double>(model.config.n_heads));
  };
  std::vector<KindEntropy> entropy;
  if (model.has_encoder()) entropy.push_back({AttentionKind::encoder_self, 0, none(model.encoder)});
  if (model.has_decoder()) entropy.push_back({AttentionKind::decoder_self, 0, none(model.decoder)});
  if (model.has_encoder() && model.has_decoder())
    entropy.push_back({AttentionKind::cross, 0, none(model.decoder)});
  EntropyProbe probe(entropy);
  WorkspaceScope scope(workspace);
  Pass<float> pass{
      .values = values, .workspace = workspace, .forward_only = true, .observer = &probe};
  TransformerSaved<float> saved;
  model.forward(pass, batch, saved);
  for (KindEntropy& kind : entropy) {
    const Packed& queries = kind.kind == AttentionKind::encoder_self ? batch.source : batch.target;
    kind.uniform /= queries.count();
    for (std::vector<double>& heads : kind.heads)
      for (double& head : heads) head /= queries.count();
  }
  return entropy;
}

constexpr std::pair<const char*, double MatrixLearning::*> kMatrixNumbers[] = {
    {"gradient_norm", &MatrixLearning::gradient_norm},
    {"weight_norm", &MatrixLearning::weight_norm},
    {"update_ratio", &MatrixLearning::update_ratio},
    {"cosine", &MatrixLearning::cosine}};

// To six digits: a record has many numbers.
double rounded(double x) {
  return std::strtod(fmt::format("{:.6g}", x).c_str(), nullptr);
}

double number(const Json& x) {
  return x.is_null() ? std::numeric_limits<double>::quiet_NaN() : x.get<double>();
}

const Json::object_t& members(const Json& x) {
  return x.get_ref<const Json::object_t&>();
}

const Json::array_t& elements(const Json& x) {
  return x.get_ref<const Json::array_t&>();
}

}  // namespace

double cosine(double aa, double bb, double ab) {
  return aa == 0 && bb == 0 ? 1 : aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

std::size_t recorded_size(const ParamTable& table) {
  std::size_t size = 0;
  for (const ParamInfo& info : table.infos())
    if (is_watched(info)) size += info.param.size();
  return size;
}

LearningRecord::LearningRecord(const Transformer& model, const ExampleList& probe)
    : model_(&model) {
  for (const ParamInfo& info : model.table.infos())
    if (is_watched(info)) matrices_.push_back(&info);
  const int sides = model.has_encoder() && model.has_decoder() ? 2 : 1;
  const auto shown = [&](const TokenIds& ids) {
    return std::span(ids).first(std::min<std::size_t>(ids.size(), kProbeTokens / sides));
  };
  Example e;
  std::size_t tokens = 0;
  for (std::int64_t i = 0; i < probe.count; ++i) {
    probe.get(i, e);
    // A single key says nothing of a head. (Before the first tile of a text there is only <s>.)
    if (sides == 2 && e.source.size() == 1 && i + 1 < probe.count) continue;
    tokens += shown(e.source).size() + shown(e.target).size();
    if (tokens > kProbeTokens) break;
    probe_.add(shown(e.source), shown(e.target));
  }
}

std::vector<std::vector<float>> LearningRecord::watched(const ParamVec<float>& values) const {
  std::vector<std::vector<float>> copies;
  for (const ParamInfo* info : matrices_) {
    const float* from = values.data() + info->param.offset;
    copies.emplace_back(from, from + info->param.size());
  }
  return copies;
}

void LearningRecord::began_as(const std::filesystem::path& run, Log& log) {
  try {
    if (const auto kept = kept_initial_weights(*model_, run)) began_with(*kept);
  } catch (const Error& e) {
    if (e.exit() != Exit::store) throw;
    log.warn(fmt::format(
        "the learning record continues without the cosine to the first weights: {}", e.what()));
    initial_.clear();
  }
}

void LearningRecord::before_update(const ParamVec<float>& values,
                                   const ParamVec<float>& gradients) {
  learning_ = {};
  watching_ = true;
  before_ = watched(values);
  for (const ParamInfo* info : matrices_)
    learning_.matrices.push_back(
        {info->name,
         std::sqrt(squares(gradients.data() + info->param.offset, info->param.size()))});
}

std::optional<Learning> LearningRecord::after_update(const ParamVec<float>& values, Pool& pool) {
  if (!watching_) return std::nullopt;
  const int n = static_cast<int>(matrices_.size());
  pool.run(n + 1, [&](int task, int) {
    if (task > 0) return measure(task - 1, values);
    if (probe_.source.count() + probe_.target.count() > 0)
      learning_.entropy = attention_entropy(*model_, values, probe_, workspace_);
  });
  watching_ = false;
  return std::move(learning_);
}

void LearningRecord::measure(std::size_t i, const ParamVec<float>& values) {
  const Param& p = matrices_[i]->param;
  const float* now = values.data() + p.offset;
  const float* before = before_[i].data();
  const bool unknown = initial_.empty();
  const float* initial = unknown ? nullptr : initial_[i].data();
  double aa = 0, bb = 0, ab = 0, moved = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double a = now[k], b = unknown ? 0 : initial[k], d = a - before[k];
    aa += a * a;
    bb += b * b;
    ab += a * b;
    moved += d * d;
  }
  const double length = squares(before, p.size());
  MatrixLearning& m = learning_.matrices[i];
  m.weight_norm = std::sqrt(aa);
  m.update_ratio = length > 0 ? std::sqrt(moved / length) : 0;
  m.cosine = unknown ? std::numeric_limits<double>::quiet_NaN() : cosine(aa, bb, ab);
}

Json json_of(const Learning& learning) {
  Json matrices = Json::object(), entropy = Json::object();
  for (const MatrixLearning& m : learning.matrices)
    for (const auto& [key, member] : kMatrixNumbers) matrices[m.name][key] = rounded(m.*member);
  for (const KindEntropy& kind : learning.entropy) {
    Json layers = kind.heads;
    for (Json& layer : layers)
      for (Json& head : layer) head = rounded(head.get<double>());
    entropy[attention_name(kind.kind)] = {{"uniform", rounded(kind.uniform)}, {"heads", layers}};
  }
  return {{"matrices", matrices}, {"entropy", entropy}};
}

std::optional<Learning> learning_from_json(const Json& json) try {
  Learning learning;
  for (const auto& [name, numbers] : members(json.at("matrices"))) {
    MatrixLearning& m = learning.matrices.emplace_back();
    m.name = name;
    for (const auto& [key, member] : kMatrixNumbers) m.*member = number(numbers.at(key));
  }
  for (const auto& [name, entropy] : members(json.at("entropy"))) {
    const auto named = std::ranges::find(kAttentionKinds, name, attention_name);
    if (named == kAttentionKinds.end()) return std::nullopt;
    KindEntropy kind{*named, number(entropy.at("uniform")), {}};
    for (const Json& layer : elements(entropy.at("heads"))) {
      std::vector<double>& heads = kind.heads.emplace_back();
      for (const Json& x : elements(layer)) heads.push_back(number(x));
    }
    learning.entropy.push_back(std::move(kind));
  }
  return learning;
} catch (const Json::exception&) {
  return std::nullopt;
}

}  // namespace heed
