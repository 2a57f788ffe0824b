// heed fill RUN TEXT
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/user_text.h"
#include "inspect/fill.h"
#include "math/blas.h"
#include "store/trained_model.h"

namespace heed {
Exit run_fill(CommandLine& line) {
  std::string run, checkpoint, text;
  int top_k = 5;
  bool json = false;
  line.add_run(run);
  line.app().add_option("TEXT", text, "a text with one [MASK] or more")->required();
  line.add_checkpoint(checkpoint);
  line.app()
      .add_option("--top-k", top_k, "so many words for each [MASK]")
      ->check(CLI::Range(1, 1'000'000));
  line.add_json(json);
  line.app().footer(
      "With --json, one object: text, ids (what the model reads), masks: for each its position in\n"
      "ids and the candidates (token, id, probability).");
  if (!line.parse()) return Exit::ok;

  prepare_blas();
  const TrainedModel m = load_trained_model(run, checkpoint);
  const Tokenizer& tokenizer = *m.tokenizers.target;
  if (!m.objective->traits().fills_masks)
    throw Error(Exit::usage,
                "this model was not trained on masked words (" +
                    objectives_with(&ObjectiveTraits::fills_masks) + ").",
                "heed sample " + run);
  if (text.find(kMaskText) == std::string::npos)
    throw Error(Exit::data, "the text has no [MASK].",
                "heed fill " + run + " \"the [MASK] barked\"");
  const TokenIds tokens =
      encode_known(m.objective->with_mask_tokens(text), tokenizer, m.config, "the text");
  const TokenIds ids = m.objective->framed_source(tokens);
  const int too_many = static_cast<int>(ids.size()) - m.objective->traits().longest_source;
  if (too_many > 0)
    throw Error(Exit::data, "the text has " + std::to_string(tokens.size()) +
                                " tokens; the model was trained on at most " +
                                std::to_string(tokens.size() - too_many) + ".");

  std::vector<int> rows;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (m.objective->is_mask(ids[i])) rows.push_back(static_cast<int>(i));
  nlohmann::ordered_json masks = nlohmann::ordered_json::array();
  for (const std::vector<ScoredToken>& best : fill(m, ids, rows, top_k)) {
    const std::size_t i = masks.size();
    nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
    if (!json) print((i == 0 ? "" : "\n") + std::string("[MASK] ") + std::to_string(i + 1) + "\n");
    for (const ScoredToken& t : best) {
      const double p = std::exp(t.log_probability);
      candidates.push_back({{"token", tokenizer.piece(t.id)}, {"id", t.id}, {"probability", p}});
      if (!json) print("  " + format_fixed(p, 4) + "  " + tokenizer.piece(t.id) + "\n");
    }
    masks.push_back({{"position", rows[i]}, {"candidates", candidates}});
  }
  if (json)
    print(nlohmann::ordered_json{{"text", text}, {"ids", ids}, {"masks", masks}}.dump() + "\n");
  return Exit::ok;
}

}  // namespace heed
