#include "config/fields_json.h"

#include <gtest/gtest.h>

#include "base/error_of.h"

namespace heed {
namespace {

TEST(JsonText, KnowsTheLineOfEveryKey) {
  const JsonText text =
      parse_json("{ // of two\n \"a\": {\n  \"b\": [1,\n 2],\n \"c\": 3}}", "a.json");
  EXPECT_EQ(text.json, Json::parse(R"({"a": {"b": [1, 2], "c": 3}})"));
  EXPECT_EQ(text.where("a"), "a.json:2");
  EXPECT_EQ(text.where("a.b"), "a.json:3");
  EXPECT_EQ(text.where("a.c"), "a.json:5");
  EXPECT_EQ(text.where("a.missing"), "a.json:2");
  EXPECT_EQ(text.where("missing"), "a.json");
}

TEST(JsonText, ErrorsNameThePlace) {
  const std::pair<std::string, Facts> cases[] = {
      {"", {"a.json"}},
      {" \n ", {"a.json"}},
      {"{\n \"a\": }", {"a.json:2:7", "JSON"}},
      {"{\"a\": 1,}", {"a.json:1:9", "JSON"}},
      {"{\"a\": NaN}", {"a.json:1:7", "JSON"}},
      {"{\"a\": \"\xff\"}", {"a.json:1:8", "JSON"}},
      {"{\"a\": {\"b\": 1,\n\"b\": 2}}", {"a.json:2", "a.b"}},
      {std::string(100'000, '['), {"a.json:1"}},
      {"{\"" + std::string(300, 'k') + "\": 1}", {"a.json:1"}},
      {std::string(300'000, ' '), {"a.json", "256 KB"}},
  };
  for (const auto& [text, facts] : cases) {
    const std::string message = error_of([&] { parse_json(text, "a.json"); }, Exit::usage);
    expect_facts(message, facts);
    for (const char ch : message) EXPECT_TRUE(ch >= ' ' && ch <= '~') << int(ch);
  }
}

}  // namespace
}  // namespace heed
