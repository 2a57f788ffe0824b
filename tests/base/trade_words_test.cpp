#include "base/trade_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "cli/command.h"
#include "data/run_config.h"

namespace heed {
namespace {

std::vector<std::string> words_of(std::string_view words) {
  std::istringstream in{std::string(words)};
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(TradeWords, LeadToKeysValuesAndCommandsThatExist) {
  RunConfig config;
  const std::vector<Field> all = fields(config);
  std::set<std::string> known, last_parts;
  std::set<std::string, std::less<>> values;
  for (const Leaf& leaf : leaves(all)) {
    known.insert(leaf.key);
    last_parts.insert(leaf.field->key);
    if (const auto* choice = std::get_if<Choice>(&leaf.field->ref))
      values.insert(choice->names.begin(), choice->names.end());
  }
  for (const TradeWord& row : trade_words(Trade::key)) {
    EXPECT_TRUE(row.heed.empty() ? !row.note.empty() : known.contains(std::string(row.heed)))
        << row.words;
    for (const std::string& word : words_of(row.words))
      EXPECT_FALSE(last_parts.contains(word)) << word << " is a key of heed";
  }
  for (const TradeWord& row : trade_words(Trade::value))
    EXPECT_TRUE(row.heed.empty() ? !row.note.empty() : values.contains(row.heed)) << row.words;
  for (const TradeWord& row : trade_words(Trade::command)) {
    const auto is = [](std::string_view name) {
      return std::ranges::any_of(commands(), [&](const Command& c) { return c.name == name; });
    };
    EXPECT_TRUE(row.heed.empty() ? !row.note.empty() : is(row.heed)) << row.words;
    for (const std::string& word : words_of(row.words)) EXPECT_FALSE(is(word)) << word;
  }
}

TEST(TradeWords, ArePlainAndStandOnceInKeysAndCommands) {
  for (const Trade kind : {Trade::key, Trade::value, Trade::command, Trade::option}) {
    std::set<std::string> seen;
    for (const TradeWord& row : trade_words(kind))
      for (const std::string& word : words_of(row.words)) {
        EXPECT_TRUE(std::ranges::all_of(word, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        })) << word;
        const bool once = kind == Trade::key || kind == Trade::command;
        EXPECT_TRUE(seen.insert(word).second || !once) << word;
      }
  }
}

TEST(TradeWords, AreFoundWithAnyCaseAndDashes) {
  const TradeWord* row = find_trade_word(Trade::key, "Max-Iters");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(heed_calls_it(*row), "; heed calls it train.max_steps.");
  EXPECT_THAT(heed_calls_it(*find_trade_word(Trade::key, "batch_size")),
              testing::MatchesRegex("; heed calls it train.batch_tokens .it counts the tokens .*"));
  EXPECT_THAT(heed_calls_it(*find_trade_word(Trade::command, "export")),
              testing::StartsWith("; a checkpoint's model.safetensors"));
  for (const char* word : {"", " ", "d_model", "n_head n_heads", "it_er"})
    EXPECT_EQ(find_trade_word(Trade::key, word), nullptr) << word;
}

}  // namespace
}  // namespace heed
