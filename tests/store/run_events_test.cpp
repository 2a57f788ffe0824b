#include "store/run_events.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

template <class Event>
std::string read_and_written(const std::string& line) {
  const auto event = event_from<Event>(Json::parse(line));
  return event ? line_of(*event) : "another kind";
}

TEST(RunEvents, AreReadAsTheyWereWritten) {
  const std::string train =
      R"({"kind":"train","step":7,"epoch":0.5,"loss":1.25,"perplexity":3.5,"gradient_norm":0.1,)"
      R"("learning_rate":0.001,"tokens_per_second":1e+6,"seconds":2.0})";
  EXPECT_EQ(Json::parse(read_and_written<TrainEvent>(train)), Json::parse(train));
  for (const char* valid :
       {R"({"kind":"valid","step":7,"loss":1.5,"perplexity":4.5,"accuracy":0.25,"tokens":9,)"
        R"("verdict":"new best"})",
        R"({"kind":"valid","step":7,"loss":1.5,"perplexity":4.5,"accuracy":0.25,"tokens":9,)"
        R"("bits_per_byte":2.5,"metric":"bleu","bleu":30.5,"verdict":"stalled 1"})"})
    EXPECT_EQ(read_and_written<ValidEvent>(valid), valid);
  for (const char* event :
       {R"({"kind":"event","step":0,"event":"start","text":"heed train"})",
        R"({"kind":"event","step":9,"event":"resume","text":"","core_type":"Zen"})"})
    EXPECT_EQ(read_and_written<RunEvent>(event), event);
}

TEST(RunEvents, OfAnotherKindAreNoEvents) {
  EXPECT_EQ(read_and_written<TrainEvent>(R"({"kind":"valid","step":1})"), "another kind");
  EXPECT_EQ(read_and_written<ValidEvent>("{}"), "another kind");
  EXPECT_EQ(read_and_written<RunEvent>(R"({"kind":3})"), "another kind");
}

TEST(RunEvents, ToleratesWhatIsMissingOrOfAnotherType) {
  const auto event = event_from<ValidEvent>(Json::parse(
      R"({"kind":"valid","step":3,"loss":null,"metric":"bleu","bleu":"x","unknown":[1],"verdict":7})"));
  ASSERT_TRUE(event);
  EXPECT_EQ(event->step, 3);
  EXPECT_TRUE(std::isnan(event->loss));
  EXPECT_FALSE(event->metric);
  EXPECT_EQ(event->verdict, "");
}

}  // namespace
}  // namespace heed
