#include "show/learning_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "show/parameters.h"

namespace heed {

using Json = nlohmann::ordered_json;

namespace {

bool is_watched(const ParamInfo& info) {
  const auto has = [&](const char* part) { return info.name.find(part) != std::string::npos; };
  return !info.vector && (has("_attn.") || has("embed"));
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

std::size_t recorded_size(const ParamTable& table) {
  std::size_t size = 0;
  for (const ParamInfo& info : table.infos())
    if (is_watched(info)) size += info.param.size();
  return size;
}

LearningRecord::LearningRecord(const ParamTable& table) {
  for (const ParamInfo& info : table.infos())
    if (is_watched(info)) matrices_.push_back(&info);
}

std::vector<std::vector<float>> LearningRecord::watched(const ParamVec<float>& values) const {
  std::vector<std::vector<float>> copies;
  for (const ParamInfo* info : matrices_) {
    const float* from = values.data() + info->param.offset;
    copies.emplace_back(from, from + info->param.size());
  }
  return copies;
}

void LearningRecord::before_update(const ParamVec<float>& values,
                                   const ParamVec<float>& gradients) {
  before_ = watched(values);
  gradient_norms_.clear();
  for (const ParamInfo* info : matrices_) {
    const float* g = gradients.data() + info->param.offset;
    gradient_norms_.push_back(compare(g, g, info->param.size()).norm);
  }
}

std::vector<MatrixLearning> LearningRecord::measure(const ParamVec<float>& values, Pool& pool) {
  std::vector<MatrixLearning> matrices(matrices_.size());
  pool.run(static_cast<int>(matrices_.size()), [&](int i, int) {
    const Param& p = matrices_[i]->param;
    const float* now = values.data() + p.offset;
    MatrixLearning& m = matrices[i];
    m.name = matrices_[i]->name;
    m.weight_norm = compare(now, now, p.size()).norm;
    m.cosine = initial_.empty() ? std::numeric_limits<double>::quiet_NaN()
                                : compare(now, initial_[i].data(), p.size()).cosine;
    if (before_.empty()) return;
    const Comparison update = compare(now, before_[i].data(), p.size());
    m.gradient_norm = gradient_norms_[i];
    m.update_ratio = update.other_norm > 0 ? update.distance / update.other_norm : 0;
  });
  before_.clear();
  return matrices;
}

std::vector<MatrixLearning> record_of(const ParamTable& table, const ParamVec<float>& values,
                                      const ParamVec<float>& initial) {
  LearningRecord record(table);
  record.began_with(initial);
  Pool pool(1);
  return record.measure(values, pool);
}

std::vector<KindEntropy> entropy_of(const AttentionMaps& maps) {
  std::vector<KindEntropy> all;
  for (const AttentionKind name : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, name);
    if (map.empty()) continue;
    KindEntropy kind{name, 0, {}};
    for (int q = 0; q < map.queries; ++q)
      kind.uniform += std::log(name == AttentionKind::decoder_self ? q + 1 : map.keys);
    kind.uniform /= map.queries;
    for (int layer = 0; layer < map.layers; ++layer) {
      std::vector<double>& heads = kind.heads.emplace_back();
      for (int h = 0; h < map.heads; ++h) {
        const Mat<const float> weights = map.head(layer, h);
        double sum = 0;  // p ln p is 0 at p = 0
        for (int q = 0; q < map.queries; ++q)
          for (int k = 0; k < map.keys; ++k)
            if (const double p = weights.row(q)[k]; p > 0) sum -= p * std::log(p);
        heads.push_back(sum / map.queries);
      }
    }
    all.push_back(std::move(kind));
  }
  return all;
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

std::optional<Learning> learning_of(const Json& json) try {
  Learning learning;
  for (const auto& [name, numbers] : members(json.at("matrices"))) {
    MatrixLearning& m = learning.matrices.emplace_back();
    m.name = name;
    for (const auto& [key, member] : kMatrixNumbers) m.*member = number(numbers.at(key));
  }
  for (const auto& [name, entropy] : members(json.at("entropy"))) {
    const auto named = std::ranges::find(kAttentionKinds, name, attention_name);
    if (named == kAttentionKinds.end()) continue;
    KindEntropy kind{*named, number(entropy.at("uniform")), {}};
    for (const Json& layer : elements(entropy.at("heads"))) {
      std::vector<double>& heads = kind.heads.emplace_back();
      for (const Json& x : elements(layer)) heads.push_back(number(x));
    }
    learning.entropy.push_back(std::move(kind));
  }
  if (learning.matrices.empty()) return std::nullopt;
  return learning;
} catch (const Json::exception&) {
  return std::nullopt;
}

}  // namespace heed
