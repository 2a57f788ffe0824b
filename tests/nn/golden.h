// Reads the golden values from scripts/dev/make_golden.py (its docstring describes the files), and
// compares as described there: per tensor, relative to its largest absolute value.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/fields_json.h"
#include "nn/models.h"

namespace heed::test {

struct Golden {
  nlohmann::json about;
  std::map<std::string, std::vector<double>> tensors;
  ModelConfig config;
  Batch batch;
  int labels = 0;

  double smoothing() const { return about.at("objective").at("label_smoothing"); }
  const std::vector<double>& operator[](const std::string& name) const { return tensors.at(name); }
  Transformer model() const {
    return Transformer(config, about.at("source_vocab_size"), about.at("target_vocab_size"));
  }
};

inline std::filesystem::path golden_folder() {
  return std::filesystem::path(HEED_SOURCE_DIR) / "tests" / "golden";
}

inline std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder()))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::map<std::string, std::vector<double>> read_f64_safetensors(
    const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), 8);
  std::map<std::string, std::vector<double>> tensors;
  const nlohmann::json header = nlohmann::json::parse(bytes.substr(8, header_size));
  for (const auto& [name, entry] : header.items()) {
    const std::size_t begin = entry.at("data_offsets")[0], end = entry.at("data_offsets")[1];
    tensors[name].resize((end - begin) / 8);
    std::memcpy(tensors[name].data(), bytes.data() + 8 + header_size + begin, end - begin);
  }
  return tensors;
}

inline Golden read_golden(const std::string& name) {
  Golden g;
  g.about = nlohmann::json::parse(std::ifstream(golden_folder() / (name + ".json")));
  g.tensors = read_f64_safetensors(golden_folder() / (name + ".safetensors"));
  read_fields(JsonText{g.about.at("model"), name}, fields(g.config));
  for (const auto& s : g.about.at("sequences")) {
    const std::vector<int> source = s.at("source"), target = s.at("target"),
                           labels = s.at("labels");
    g.batch.add(g.config.encoder_layers > 0 ? source : std::vector<int>{},
                g.config.decoder_layers > 0 ? target : std::vector<int>{}, labels);
  }
  g.labels = static_cast<int>(std::count_if(g.batch.labels.begin(), g.batch.labels.end(),
                                            [](int label) { return label >= 0; }));
  return g;
}

template <class T>
ParamVec<T> initial_golden_values(const Golden& g, const Transformer& model) {
  ParamVec<T> values(model.table.size());
  for (const ParamInfo& info : model.table.infos()) {
    const std::vector<double>& from = g[info.name];
    EXPECT_EQ(from.size(), info.param.size()) << info.name;
    std::copy(from.begin(), from.end(), values.data() + info.param.offset);
  }
  return values;
}

// Softmax does not see a key bias that neither rotary nor a norm changes: its gradient is rounding.
inline bool is_seen(const Golden& g, const std::string& name) {
  return !name.ends_with("k_proj.bias") || g.config.qk_norm ||
         (g.config.positions == Positions::rotary && name.find("cross_attn") == std::string::npos);
}

template <class T>
constexpr double kGoldenTolerance = sizeof(T) == 4 ? 1e-5 : 1e-10;

template <class T>
void expect_golden(const Golden& g, const std::string& name, const T* actual, std::size_t size) {
  const std::vector<double>& expected = g[name];
  ASSERT_EQ(expected.size(), size) << name;
  double scale = 0, error = 0;
  for (std::size_t i = 0; i < size; ++i) {
    scale = std::max(scale, std::abs(expected[i]));
    const double e = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (!(e <= error)) error = e;
  }
  EXPECT_LE(error, kGoldenTolerance<T> * scale) << name;
}

template <class T>
void expect_golden_logits(const Golden& g, const Transformer& model, const ParamVec<T>& values,
                          const std::string& suffix) {
  Forward<T> run{model, values, g.batch};
  const Mat<T> logits = model.output.forward(run.pass, run.hidden);
  expect_golden(g, "logits" + suffix, logits.data, std::size_t{1} * logits.rows * logits.cols);
  const LossSums sums =
      heed::loss(run.pass, model.output, run.hidden, g.batch.labels, g.smoothing());
  ASSERT_EQ(sums.tokens, g.labels);
  const double loss = sums.objective / g.labels, plain = sums.nll / g.labels;
  EXPECT_NEAR(loss, g["loss" + suffix][0], kGoldenTolerance<T> * loss);
  EXPECT_NEAR(plain, g["plain_loss" + suffix][0], kGoldenTolerance<T> * plain);
}

}  // namespace heed::test
