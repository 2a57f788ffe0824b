#include "config/fields_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "config/json_text.h"

namespace heed {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const std::string& text) {
  try {
    parse_json(text, "a.json");
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::usage);
    return e.what();
  }
  return "";
}

TEST(JsonText, KnowsTheLineOfEveryKey) {
  const JsonText text =
      parse_json("{ // of two\n \"a\": {\n  \"b\": [1,\n 2],\n \"c\": 3}}", "a.json");
  EXPECT_EQ(text.json, nlohmann::json::parse(R"({"a": {"b": [1, 2], "c": 3}})"));
  EXPECT_EQ(text.where("a"), "a.json:2");
  EXPECT_EQ(text.where("a.b"), "a.json:3");
  EXPECT_EQ(text.where("a.c"), "a.json:5");
  EXPECT_EQ(text.where("a.missing"), "a.json:2");
  EXPECT_EQ(text.where("missing"), "a.json");
}

TEST(JsonText, TheSameKeyInTwoObjectsOfAListIsNoDuplicate) {
  EXPECT_EQ(parse_json(R"({"a": [{"b": 1}, {"b": 2}]})", "a.json").json.at("a").size(), 2u);
}

TEST(JsonText, ErrorsNameThePlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "a.json: the file is empty"},
      {" \n ", "a.json: the file is empty"},
      {"{\n \"a\": }", "a.json:2:7: this is not JSON"},
      {"{\"a\": 1", "a.json:1:8: this is not JSON"},
      {"{\"a\": 1} x", "a.json:1:10: this is not JSON"},
      {"{\"a\": 1,}", "a.json:1:9: this is not JSON"},
      {"{\"a\": NaN}", "a.json:1:7: this is not JSON"},
      {"{\"a\": Infinity}", "a.json:1:7: this is not JSON"},
      {"{\n\"a\": 1e999}", "a.json:2:"},
      {"{\"a\": \"\xff\"}", "a.json:1:8: this is not JSON"},
      {"{\n\"a\": 1,\n\"a\": 2}", "a.json:3: the key \"a\" occurs twice"},
      {"{\"a\": {\"b\": 1,\n\"b\": 2}}", "a.json:2: the key \"a.b\" occurs twice"},
      {std::string(100'000, '['), "a.json:1: this is nested too deeply"},
      {"{\"" + std::string(300, 'k') + "\": 1}", "a.json:1: the key \"kkk"},
      {std::string(300'000, ' '), "a.json: this is longer than 256 KB"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(error_of(text), StartsWith(message)) << text.substr(0, 60);
    for (const char ch : error_of(text)) EXPECT_TRUE(ch >= ' ' && ch <= '~') << int(ch);
  }
}

TEST(JsonText, MissingFilesAndFoldersAreErrors) {
  EXPECT_THROW(read_json_file("/nonexistent/a.json"), Error);
  EXPECT_THROW(read_json_file("/tmp"), Error);
}

TEST(JsonText, WhateverTheBytesThereIsAValueOrAnError) {
  const std::string good =
      "{\"seed\": 1, // c\n \"model\": {\"d\": [1e3, -2, \"\\u00e9\"], \"n\": null}, \"t\": true}";
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good.substr(0, i % 5 ? good.size() : random() % good.size());
    for (unsigned n = random() % 4; n > 0 && !text.empty(); --n)
      text[random() % text.size()] = static_cast<char>(random());
    try {
      parse_json(text, "a.json");
      ++read;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace heed
