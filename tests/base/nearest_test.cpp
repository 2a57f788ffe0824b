#include "base/nearest.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "cli/command.h"
#include "data/run_config.h"

namespace heed {
namespace {

TEST(Nearest, FindsWhatWasMeantAndNothingElse) {
  const std::vector<std::string> names = {"train", "resume", "evaluate"};
  EXPECT_EQ(nearest("trian", names), "train");
  EXPECT_EQ(nearest("Evaluate", names), "evaluate");
  EXPECT_EQ(nearest("rexxme", names), "resume");
  EXPECT_EQ(nearest("eval", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), names), "");
}

std::vector<std::string> words_of(std::string_view words) {
  std::istringstream in{std::string(words)};
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(TradeWords, LeadToKeysAndCommandsThatExist) {
  RunConfig config;
  const std::vector<Field> all = fields(config);
  std::set<std::string> known, last_parts, known_commands;
  for (const Leaf& leaf : leaves(all)) {
    known.insert(leaf.key);
    last_parts.insert(leaf.field.key);
  }
  for (const Command& command : commands()) known_commands.insert(command.name);
  for (const TradeWord& row : trade_words()) {
    EXPECT_FALSE(row.heed.empty() && row.note.empty()) << row.words;
    if (row.kind == "option") continue;
    const bool key = row.kind == "key";
    EXPECT_TRUE(key || row.kind == "command") << row.kind;
    EXPECT_TRUE(row.heed.empty() || (key ? known : known_commands).contains(std::string(row.heed)))
        << row.words;
    for (const std::string& word : words_of(row.words))
      EXPECT_FALSE((key ? last_parts : known_commands).contains(word)) << word << " is of heed";
  }
}

TEST(TradeWords, AreFoundWithAnyCaseAndDashes) {
  const auto row = find_trade_word("key", "Max-Iters");
  ASSERT_TRUE(row);
  EXPECT_EQ(heed_calls_it(*row), "; heed calls it train.max_steps.");
  for (const char* word : {"", " ", "d_model", "n_head n_heads", "it_er"})
    EXPECT_FALSE(find_trade_word("key", word)) << word;
}

}  // namespace
}  // namespace heed
