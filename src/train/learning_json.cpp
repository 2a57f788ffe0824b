#include "train/learning_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

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
