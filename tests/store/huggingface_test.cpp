// The table of classes, read backwards: models that Hugging Face's own code made (tests/golden/hf)
// become ours and give their logits; read forwards, it gives their tensors back.
#include "store/huggingface.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error_of.h"
#include "config/fields_json.h"
#include "nn/models.h"
#include "store/safetensors.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path kFolder =
    std::filesystem::path(HEED_SOURCE_DIR) / "tests" / "golden" / "hf";

Json json_of(const std::string& model, const char* file) {
  return Json::parse(std::ifstream(kFolder / model / file));
}

Json row_of(const Json& config) {
  const Json rows = foreign_classes("huggingface");
  for (const Json& row : rows)
    if (row.at("config").at("model_type") == config.at("model_type")) return row;
  throw std::runtime_error("no such class");
}

// heed's section model, from the keys that the row names.
RunConfig our_config(const Json& row, const Json& theirs) {
  Json ours = {{"dropout", 0}};
  RunConfig config;
  const Json known = dump_fields(fields(config.model)), needs = row.at("needs"),
             keys = row.at("config");
  for (const auto& [key, value] : needs.items())
    if (known.contains(key) && !(value.is_string() && value.get<std::string>().starts_with('=')))
      ours[key] = value;
  for (const auto& [key, value] : keys.items()) {
    if (!value.is_string() || !value.get<std::string>().starts_with('=')) continue;
    const std::string our_key = value.get<std::string>().substr(1);
    if (our_key == "tied") {
      ours["tie"] = theirs.at(key).get<bool>() ? "all" : "none";
    } else if (our_key == "longest") {
      ours["max_length"] = theirs.at(key);
    } else if (known.contains(our_key) && theirs.contains(key)) {
      ours[our_key] = theirs.at(key);
    }
  }
  if (ours["activation"] == "gelu_new") ours["activation"] = "gelu_tanh";
  if (ours["activation"] == "swish") ours["activation"] = "silu";
  if (ours["d_ff"].is_null()) ours["d_ff"] = 4 * ours["d_model"].get<int>();
  read_fields(JsonText{ours, "theirs"}, fields(config.model));
  config.model.n_kv_heads = kv_heads(config.model);
  const Json& type = needs.at("objective.type");
  config.objective.type = type.is_array() ? type[0] : type;
  config.objective.target_length = config.model.max_length;
  return config;
}

struct TheirFile {
  std::map<std::string, Shape> shapes;
  std::map<std::string, std::vector<float>> numbers;
};

TheirFile read_theirs(const std::string& model) {
  InputFile file(kFolder / model / "model.safetensors");
  TheirFile out;
  for (const auto& [name, entry] : list_safetensors(file)) {
    std::vector<float>& numbers = out.numbers[name];
    numbers.resize(numbers_in(entry.shape));
    file.read_exactly(std::as_writable_bytes(std::span(numbers)));
    out.shapes[name] = entry.shape;
  }
  return out;
}

template <class T>
void read_backwards(const ForeignTensor& tensor, const std::vector<float>& from,
                    ParamVec<T>& values) {
  std::size_t i = 0;
  for (const std::size_t row : tensor.rows)
    for (const std::size_t column : tensor.columns) values.data()[row + column] = from[i++];
}

class HuggingFaceModel : public testing::TestWithParam<const char*> {
 protected:
  Json theirs_ = json_of(GetParam(), "config.json");
  Json row_ = row_of(theirs_);
  RunConfig config_ = our_config(row_, theirs_);
  Transformer model_{config_.model, theirs_.at("vocab_size"), theirs_.at("vocab_size")};
  std::vector<ForeignTensor> tensors_ = foreign_tensors(row_, model_);
  TheirFile file_ = read_theirs(GetParam());
};

TEST_P(HuggingFaceModel, GivesTheirLogits) {
  ParamVec<double> values(model_.table.size());
  for (const ForeignTensor& t : tensors_) read_backwards(t, file_.numbers.at(t.name), values);
  const Json golden = json_of(GetParam(), "golden.json");
  const bool pairs = golden.contains("decoder_input_ids");
  const std::vector<int> input = golden.at("input_ids").get<std::vector<int>>();
  Batch batch;
  batch.add(pairs ? input : std::vector<int>{},
            pairs ? golden.at("decoder_input_ids").get<std::vector<int>>() : input);
  test::Forward<double> run{model_, values, batch};
  const Mat<double> logits = model_.output.forward(run.pass, run.hidden);
  const Json& expected = golden.at("logits");
  ASSERT_EQ(logits.rows, std::ssize(expected));
  for (int r = 0; r < logits.rows; ++r)
    for (int c = 0; c < logits.cols; ++c)
      EXPECT_NEAR(logits(r, c), expected[r][c].get<double>(), 1e-6) << r << ", " << c;
}

TEST_P(HuggingFaceModel, GivesBackTheirTensors) {
  ParamVec<float> values(model_.table.size());
  std::fill_n(values.data(), values.size(), -1e30f);
  for (const ForeignTensor& t : tensors_) {
    ASSERT_TRUE(file_.shapes.contains(t.name)) << t.name;
    EXPECT_EQ(file_.shapes.at(t.name), t.shape) << t.name;
    read_backwards(t, file_.numbers.at(t.name), values);
  }
  EXPECT_EQ(file_.shapes.size(), tensors_.size());
  EXPECT_EQ(std::count(values.data(), values.data() + values.size(), -1e30f), 0);
  for (const ForeignTensor& t : tensors_)
    EXPECT_EQ(numbers_of(t, values), file_.numbers.at(t.name)) << t.name;
}

// Of their config, what decides what is computed comes back.
TEST_P(HuggingFaceModel, GivesBackTheirConfig) {
  const Json ours =
      foreign_config(row_, config_, theirs_.at("vocab_size"), theirs_.at("vocab_size"));
  for (const auto& [key, value] : ours.items()) {
    if (!theirs_.contains(key) || theirs_.at(key).is_null() || key.ends_with("_token_id")) continue;
    const Json& expected = theirs_.at(key) == "swish" ? Json("silu") : theirs_.at(key);
    EXPECT_EQ(nlohmann::json(value), nlohmann::json(expected)) << key;
  }
  EXPECT_EQ(foreign_class("huggingface", config_), row_);
}

INSTANTIATE_TEST_SUITE_P(Golden, HuggingFaceModel,
                         testing::Values("gpt2", "gpt2-gelu", "gpt-neox", "llama-gqa", "llama-tied",
                                         "qwen3", "apertus", "marian", "pegasus"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

RunConfig qwen3() {
  return parse_config(R"({
    "data": {"train": "a.txt"},
    "objective": {"type": "causal_lm"},
    "model": {"encoder_layers": 0, "positions": "rotary", "norm_type": "rms", "bias": false,
              "qk_norm": true, "feed_forward": "gated"}})",
                      "c");
}

TEST(HuggingFaceClasses, ARefusalNamesTheNearestAndTheKeys) {
  RunConfig c = qwen3();
  EXPECT_EQ(foreign_class("huggingface", c).at("class"), "Qwen3");
  c.model.norm_type = NormType::layer;
  expect_error([&] { foreign_class("huggingface", c); }, Exit::usage,
               {"Qwen3", "model.norm_type", "layer", "rms", "--for huggingface"});
  c = qwen3();
  c.model.attention.decoder_self.uniform = true;
  expect_error([&] { foreign_class("huggingface", c); }, Exit::usage,
               {"model.attention.decoder_self.uniform from true to false"});
}

// Their configs are strict: a float has a point, an integer has none.
TEST(HuggingFaceClasses, NumbersKeepTheirKind) {
  RunConfig c = qwen3();
  c.model.norm_eps = 1;
  const std::string text = foreign_config(foreign_class("huggingface", c), c, 65, 65).dump();
  EXPECT_NE(text.find("\"rms_norm_eps\":1.0,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"rope_theta\":10000.0"), std::string::npos) << text;
  EXPECT_NE(text.find("\"vocab_size\":65,"), std::string::npos) << text;
}

}  // namespace
}  // namespace heed
