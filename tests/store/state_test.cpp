#include "store/state.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/sha256.h"
#include "store/small_checkpoint.h"

namespace heed {
namespace {

StateFile example() {
  StateFile file;
  file.state = SmallModel(17).state;
  file.training = true;
  file.files = {{"config.json", sha256("c")}, {"model.safetensors", sha256("m")}};
  return file;
}

// The text with one part replaced and the checksum updated.
std::string forged(const std::string& from, const std::string& to) {
  std::string text = format_state(example());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const std::size_t digits = text.size() - 68;
  const std::string digest = sha256(text.substr(0, digits) + text.substr(digits + 64));
  return text.replace(digits, 64, digest);
}

TEST(State, EveryBitComesBack) {
  StateFile file = example();
  const double inf = std::numeric_limits<double>::infinity();
  file.state.best_loss = inf;
  file.state.best_metric = 0.1 + 0.2;
  file.state.valid_loss = 1.0 / 7;
  file.state.loss_sum = -0.0;
  file.state.label_sum = 5e-324;
  const std::string text = format_state(file);
  const StateFile read = parse_state(text, "f");
  EXPECT_EQ(read.state.valid_loss, file.state.valid_loss);
  EXPECT_TRUE(std::isnan(read.state.valid_metric));
  EXPECT_EQ(read.files, file.files);
  EXPECT_EQ(read.training, file.training);
  EXPECT_TRUE(std::signbit(read.state.loss_sum));
  EXPECT_EQ(format_state(read), text);

  for (const double value : {1.7976931348623157e308, -inf, 1.0 / 3, 3.0}) {
    file.state.loss_sum = value;
    EXPECT_EQ(parse_state(format_state(file), "f").state.loss_sum, value);
  }
  file.state.loss_sum = std::nan("");
  EXPECT_TRUE(std::isnan(parse_state(format_state(file), "f").state.loss_sum));
}

TEST(State, ForgedContentsAreRefusedByName) {
  struct Case {
    std::string from, to;
    Facts facts;
  };
  const std::string sum = "\"label_sum\": 3.0";
  const std::vector<Case> cases = {
      {"\"format\": 5", "\"format\": 6", {"6", "5"}},
      {"\"step\": 17", "\"step\": -1", {"out of range"}},
      {"\"step\": 17", "\"step\": 1.5", {"step", "1.5"}},
      {"\"step\": 17", "\"step\": 9223372036854775808", {"step", "9223372036854775808"}},
      {"\"step\": 17", "\"stop\": 17", {"step"}},
      {"\"epoch\": 1,", "", {"cursor.epoch"}},
      // (The seed is 2^64 - 1.)
      {"\"seed\": 1", "\"seed\": -1", {"seed", "-1.8446744073709552e+19"}},
      {"\"best_loss\": 1.1", "\"best_loss\": \"low\"", {"best_loss", "low"}},
      {"\"training\": true", "\"training\": 1", {"training", "1"}},
      {sum, "\"label_sum\": []", {"label_sum", "[]"}},
      {sum, sum + ", \"label_sum\": 4.0", {"label_sum"}},
      {sum, sum + ", \"more\": 4.0", {"more", "unknown"}},
      {sum, "\"label_sum\": 1e999", {"JSON"}},
      {sum, "\"label_sum\": " + std::string(200000, '['), {}},
      {"\"files\": {", "\"files\": 5, \"s\": {", {"files", "5"}},
      {"\"config.json\": \"", "\"config.json\": \"z", {"config.json"}},
      {"\"config.json\": \"", "\"../config.json\": \"", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.to.substr(0, 80));
    const std::string message = error_of([&] { parse_state(forged(c.from, c.to), "FILE"); });
    expect_facts(message, {"FILE"});
    expect_facts(message, c.facts);
  }
}

}  // namespace
}  // namespace heed
