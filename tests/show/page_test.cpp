#include "show/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "base/error_of.h"
#include "base/json.h"
#include "show/model_in_memory.h"
#include "text/piece_model.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

TEST(Page, HoldsItsDataWhateverThatIs) {
  const Json data{{"text", "</script>\xff{{data}}"},
                  {"number", 0.1f},
                  {"none", std::numeric_limits<float>::quiet_NaN()},
                  {"most", std::numeric_limits<float>::infinity()}};
  EXPECT_EQ(page_with("<b>{{data}}</b>", data),
            "<b>{\"text\":\"\\u003c/script>\xEF\xBF\xBD{{data}}\",\"number\":0.1,"
            "\"none\":null,\"most\":null}</b>");
}

TEST(Page, EveryPageIsWhole) {
  for (const std::string page : {comparison_html, live_html, report_html}) {
    EXPECT_EQ(page.find("{{"), page.find("{{data}}"));
    EXPECT_EQ(page.find("{{", page.find("{{") + 1), std::string::npos);
    EXPECT_EQ(page.find("<!doctype html>"), 0u);
  }
}

Model gpt_of(std::unique_ptr<Tokenizer> tokenizer, int d_model) {
  return model_in_memory(
      R"({"data": {"train": "x"}, "model": {"d_model": )" + std::to_string(d_model) +
          R"(, "n_heads": 1, "d_ff": 8, "encoder_layers": 0, "decoder_layers": 1},
      "objective": {"type": "causal_lm"}})",
      std::move(tokenizer));
}

TEST(LivePage, RefusesWhatItCannotHold) {
  const auto refused = [](const Model& model, const Facts& facts) {
    expect_facts(error_of([&] { live_page(model, "or --json", {}); }, Exit::usage), facts);
  };
  refused(gpt_of(train(TokenizerConfig::char_, "abc\n"), 2304), {"32 MiB", "or --json"});

  Model large = gpt_of(train(TokenizerConfig::char_, "abc\n"), 8);
  const ParamInfo& last = large.net.table.infos().back();
  large.values.data()[last.param.offset] = 65520;
  refused(large, {last.name, "65504", "or --json"});

  PieceModel pieces{.pieces = {{"a", -1}}, .by_line = true, .reading = {.normalizer = "nfkc"}};
  refused(gpt_of(tokenizer_of(pieces, "p"), 8), {"tokenizer.model", "nfkc", "or --json"});
  pieces.reading.normalizer = "identity";
  EXPECT_THAT(live_page(gpt_of(tokenizer_of(pieces, "p"), 8), "", {}),
              testing::HasSubstr("\"by_line\":true"));
}

}  // namespace
}  // namespace heed
