// heed fill RUN TEXT
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/model_text.h"
#include "decode/best_tokens.h"
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
  if (m.config.objective.type != ObjectiveType::masked_lm)
    throw Error(Exit::usage, "this model was not trained on masked words (masked_lm).",
                "heed sample " + run);
  if (text.find(Tokenizer::kMaskText) == std::string::npos)
    throw Error(Exit::data, "the text has no [MASK].",
                "heed fill " + run + " \"the [MASK] barked\"");
  std::vector<int> ids = encode_known(text, tokenizer, m.config, "the text");
  ids.insert(ids.begin(), Tokenizer::kBos);  // as in training
  const int longest = m.config.objective.source_length + 1;
  if (static_cast<int>(ids.size()) > longest)
    throw Error(Exit::data, "the text has " + std::to_string(ids.size() - 1) +
                                " tokens; the model was trained on at most " +
                                std::to_string(longest - 1) + ".");

  Batch batch;
  batch.source.add_sequence(ids.data(), static_cast<int>(ids.size()));
  Workspace workspace;
  TransformerSaved<float> saved;
  Pass<float> pass{.values = m.values, .workspace = workspace, .forward_only = true};
  const Mat<float> hidden = m.model.forward(pass, batch, saved);
  const Mat<float> logits = m.model.output.forward(pass, hidden);
  std::vector<int> special;
  for (int id = 0; id < tokenizer.first_ordinary_id(); ++id) special.push_back(id);

  nlohmann::ordered_json masks = nlohmann::ordered_json::array();
  for (int r = 0; r < logits.rows; ++r) {
    if (ids[r] != tokenizer.mask_id()) continue;
    const std::span<const float> row(logits.row(r), static_cast<std::size_t>(logits.cols));
    nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
    if (!json)
      print((masks.empty() ? "" : "\n") + std::string("[MASK] ") +
            std::to_string(masks.size() + 1) + "\n");
    for (const ScoredToken& t : best_tokens(row, top_k, special)) {
      const double p = std::exp(t.log_probability);
      candidates.push_back({{"token", tokenizer.piece(t.id)}, {"id", t.id}, {"probability", p}});
      if (!json) print("  " + format_fixed(p, 4) + "  " + tokenizer.piece(t.id) + "\n");
    }
    masks.push_back({{"position", r}, {"candidates", candidates}});
  }
  if (json)
    print(nlohmann::ordered_json{{"text", text}, {"ids", ids}, {"masks", masks}}.dump() + "\n");
  return Exit::ok;
}

}  // namespace heed
