#include "store/run_records.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/fields.h"
#include "base/temporary_folder.h"

namespace heed {
namespace {

template <class T>
std::string read_and_written(const std::string& line) {
  T record;
  Faults faults;
  return read_json(Json::parse(line), record, faults) ? text_of(record) : "another form";
}

TEST(RunRecords, AreReadAsTheyWereWritten) {
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
  const std::string yardsticks =
      R"({"kind":"yardsticks","step":0,"values":[{"name":"xz","nats_per_token":1.125,)"
      R"("bits_per_byte":null}]})";
  EXPECT_EQ(read_and_written<YardsticksEvent>(yardsticks), yardsticks);
}

TEST(RunRecords, TolerateWhatIsMissingOrOfAnotherType) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / kMetrics)
      << R"({"kind":"valid","step":3,"loss":null,"metric":"bleu","bleu":"x","unknown":[1],"verdict":7})"
      << "\n{}\n"
      << R"({"kind":3,"step":1})"
      << "\n"
      << R"({"kind":"train","step":4})"
      << "\n";
  const LoggedEvents logged = read_events(folder.path());
  EXPECT_EQ(logged.train.size(), 1u);
  ASSERT_EQ(logged.valid.size(), 1u);
  const ValidEvent& event = logged.valid[0];
  EXPECT_EQ(event.step, 3);
  EXPECT_TRUE(std::isnan(event.loss));
  EXPECT_FALSE(event.metric);
  EXPECT_EQ(event.verdict, "");
}

TEST(RunRecords, OfAFilmAreReadAsTheyWereWritten) {
  const std::string probe =
      R"({"kind":"probe","step":0,"kinds":[{"name":"cross","layers":1,"heads":2,"queries":["a"],)"
      R"("keys":["b","c"]}],"expected":["q"],"prompts":["p"]})";
  EXPECT_EQ(read_and_written<Probe>(probe), probe);
  const std::string losses =
      R"({"kind":"frame","step":4,"train_loss":1.5,"valid_loss":null,"probe_loss":2.0,)";
  const std::string learning =
      R"("matrices":{"b":{"gradient_norm":1.23457,"weight_norm":2.0,"update_ratio":0.0,)"
      R"("cosine":null},"a":{"gradient_norm":1e-09,"weight_norm":1000000000.0,)"
      R"("update_ratio":0.5,"cosine":-1.0}},"entropy":{"encoder":{"uniform":3.0,)"
      R"("heads":[[0.25,null],[]]},"cross":{"uniform":null,"heads":[]}}})";
  for (
      const std::string rest :
      {R"("weights":[],"written":["x"],)",
       R"("weights":["/wAE3Q=="],"written":[],"end":true,"filled":"f","pull":[{"largest":0.5,)"
       R"("map":"/wAE3Q=="}],"heads":[{"kind":"cross","layer":0,"head":1,"name":"alignment",)"
       R"("score":0.75,"untrained":0.25,"shuffled":0.5}],"words":[{"first":1,"heads":["a","b"]}],)",
       R"("weights":[],"written":[],"heads":[],)"})
    EXPECT_EQ(read_and_written<Frame>(losses + rest + learning), losses + rest + learning);
}

TEST(RunRecords, OfAFilmHaveTheirForm) {
  const std::string frame =
      R"({"kind":"frame","step":4,"train_loss":1.5,"valid_loss":null,)"
      R"("probe_loss":2.0,"weights":[],"written":["x"],"matrices":{},"entropy":{}})";
  EXPECT_NE(read_and_written<Frame>(frame), "another form");
  for (const auto& [part, other] :
       {std::pair(R"("weights":[])", R"("weights":3)"),
        {R"("written":["x"],)", ""},
        {R"("matrices":{})", R"("matrices":[])"},
        {R"("matrices":{})", R"("matrices":{"a":{"gradient_norm":1}})"},
        {R"("entropy":{})", R"("entropy":{"cross":{"uniform":"1","heads":[]}})"},
        {R"("entropy":{})", R"("entropy":{"cross":{"uniform":1,"heads":[{}]}})"},
        {R"("entropy":{})", R"("entropy":{"cross":{"uniform":1,"heads":[[true]]}})"}}) {
    std::string changed = frame;
    changed.replace(changed.find(part), std::string(part).size(), other);
    EXPECT_EQ(read_and_written<Frame>(changed), "another form") << changed;
  }
}

TEST(RunRecords, OfAFilmFitItsProbe) {
  const TemporaryFolder folder;
  const auto kind = [](const std::string& name, int layers) {
    return MapKind{name, layers, 1, {"a", "b"}, {"c"}};
  };
  Probe probe{0, {kind("x", 2), kind("cross", 1)}, {"p"}, {"q"}};
  Frame frame{.step = 1,
              .weights = {"AAAAAA==", "BBB="},
              .written = {"w"},
              .pull = {{{2, "AAAAAA=="}, {3, "BBB="}}},
              .heads = {{{"cross", 0, 0, "n", 1, 0, 0}}},
              .words = {{{1, {"b", "c"}}, {0, {"d"}}}}};
  const auto read = [&] {
    std::ofstream(folder.path() / kFilm) << text_of(probe) << "\n" << text_of(frame) << "\n";
    return read_frames(folder.path());
  };
  EXPECT_EQ(read().frames.size(), 1u);
  check_lines(folder.path(), kFilm);

  const Frame whole = frame;
  const auto is_dropped = [&](const char* what) {
    EXPECT_TRUE(read().frames.empty()) << what;
    EXPECT_THROW(check_lines(folder.path(), kFilm), Error) << what;
    frame = whole;
  };
  frame.weights[0] = "AAAA";
  is_dropped("a map of another size");
  frame.weights[0] = "A*AAAA==";
  is_dropped("no base64");
  frame.weights.pop_back();
  is_dropped("too few maps");
  frame.pull->at(0).largest = kNotMeasured;
  is_dropped("a pull of no size");
  frame.heads->at(0).score = kNotMeasured;
  is_dropped("a name without a score");
  frame.written.clear();
  is_dropped("no text");
  frame.words->at(0).heads.pop_back();
  is_dropped("a head without words");
  frame.words->at(0).first = 2;
  is_dropped("a first head that the model lacks");
  probe.kinds[0].layers = probe.kinds[0].heads = std::int64_t{1} << 32;
  frame.weights = {"", ""};
  is_dropped("sizes that overflow");
}

}  // namespace
}  // namespace heed
