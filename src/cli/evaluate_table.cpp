#include "cli/evaluate_table.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/output.h"
#include "store/run_folder.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

void print_yardsticks(const Json& r) {
  print(fmt::format("{:20}{:>14}", "yardsticks", "nats per token"));
  const bool bits = r.contains("bits_per_byte");
  print(bits ? "   bits per byte\n" : "\n");
  const auto row = [&](const std::string& name, const Json& nats, const Json& in_bits) {
    print(fmt::format("  {:18}{:14.4f}", name, nats.get<double>()) +
          (bits && in_bits.is_number() ? fmt::format("{:16.4f}\n", in_bits.get<double>()) : "\n"));
  };
  for (const Json& y : r["yardsticks"])
    row(y["name"].get<std::string>(), y["nats_per_token"], y["bits_per_byte"]);
  row("this model", r["loss"], r.value("bits_per_byte", Json()));
}

}  // namespace

void print_evaluation(const Json& r, bool pseudo) {
  const auto line = [](const char* name, const std::string& value) {
    print(fmt::format("{:20}{}\n", name, value));
  };
  const auto number = [&](const char* key, int digits) {
    return format_fixed(r[key].get<double>(), digits);
  };
  const std::string data = r["data"], checkpoint = r["checkpoint"];
  const std::int64_t step = r["step"];
  line("data",
       fmt::format("{}, checkpoint {}{}", data, checkpoint,
                   checkpoint == step_folder_name(step) ? "" : fmt::format(", step {}", step)));
  line("tokens", format_count(r["tokens"].get<std::int64_t>()));
  line("loss", number("loss", 4) + " nats per token");
  line(pseudo ? "pseudo-perplexity" : "perplexity", number("perplexity", 3) + " per token");
  line(pseudo ? "masked accuracy" : "accuracy",
       number("accuracy", 4) + (pseudo ? " of the masked tokens" : " of the tokens"));
  if (r.contains("bits_per_byte"))
    line("bits per byte", number("bits_per_byte", 4) +
                              " (compares models with different tokenizers; perplexity does not)");
  if (r.contains("yardsticks")) print_yardsticks(r);
  if (!r.contains("bleu")) return;
  line("BLEU", number("bleu", 2) + "  " + r["bleu_line"].get<std::string>());
  line("", fmt::format("{}, beam size {}, length penalty {:g}", r["signature"].get<std::string>(),
                       r["beam_size"].get<int>(), r["length_penalty"].get<double>()));
  line("chrF2", number("chrf", 2) + "  " + r["chrf_signature"].get<std::string>());
  line("exact match", number("exact_match", 2) + " %");
}

}  // namespace heed
