#include "inspect/context_vectors.h"

#include <fmt/core.h>

#include <cctype>
#include <numeric>

#include "base/error.h"
#include "data/user_text.h"
#include "nn/finite.h"
#include "text/utf8.h"
#include "train/learning_record.h"

namespace heed {
namespace {

// Where the word occurs in the text; within longer words of letters or digits only if `inside`.
std::vector<std::pair<std::size_t, std::size_t>> places_of(std::string_view word,
                                                           std::string_view text, bool inside) {
  const auto is_letter = [&](std::size_t i) {
    const auto c = static_cast<unsigned char>(text[i]);
    return c >= 0x80 || std::isalnum(c);
  };
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos;) {
    const std::size_t end = at + word.size();
    const bool whole = (at == 0 || !is_letter(at - 1)) && (end == text.size() || !is_letter(end));
    if (whole || inside) places.emplace_back(at, end);
    at = end;
  }
  return places;
}

// [rows, d] after each layer: the input of the next block; after the last one the stack's output.
std::vector<Mat<const float>> layer_outputs(const StackSaved<float>& saved, NormPlacement placement,
                                            Mat<const float> last) {
  std::vector<Mat<const float>> outputs;
  for (std::size_t i = 1; i < saved.blocks.size(); ++i) {
    const ResidualSaved<float>& next = saved.blocks[i].self_residual;
    outputs.push_back(placement == NormPlacement::pre ? next.in : next.branch);
  }
  outputs.push_back(last);
  return outputs;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

ContextResult ask_in_context(const TrainedModel& t, const std::string& word,
                             const std::string& given, std::size_t k) {
  const bool encoder = t.model.has_encoder();
  const EmbeddingView embedding = embedding_of(t, encoder ? Side::source : Side::target);
  ContextResult result{word_vector(embedding, word), {}};
  const std::string context = as_read(given, embedding.reading);

  Batch batch;
  const auto read = encoder ? source_tokens : target_tokens;
  TokenIds ids = read(*t.objective, t.config, t.tokenizers, context, "--context");
  ids = encoder ? t.objective->framed_source(std::move(ids))
                : Objective::framed_target(std::move(ids));
  batch.add(encoder ? ids : TokenIds{}, encoder ? TokenIds{} : ids);
  const std::size_t shift =
      encoder ? t.objective->traits().before_source : 1;  // of the first token
  const auto tokens = embedding.tokenizer.encode_with_offsets(context);
  for (const std::string& special : t.objective->traits().specials)
    if (context.find(special) != std::string::npos)
      throw Error(Exit::data,
                  fmt::format("--context: {} has no static vector; leave it out.", special));

  Workspace workspace;
  Pass<float> pass{.values = t.values, .workspace = workspace};
  StackSaved<float> saved;
  const Mat<float> last = encoder ? t.model.encode(pass, batch.source, saved)
                                  : t.model.decode(pass, {.rows = &batch.target}, saved);
  require_finite(last);
  const std::vector<double>& of_word = result.word.vector;
  const auto layers = layer_outputs(saved, t.config.model.norm, last);
  const bool small_units = embedding.tokenizer.type() == TokenizerConfig::char_ ||
                           embedding.tokenizer.type() == TokenizerConfig::byte;
  for (const auto& [begin, end] : places_of(result.word.word, context, small_units)) {
    std::vector<int> rows;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i].begin < end && begin < tokens[i].end)
        rows.push_back(static_cast<int>(i + shift));
    Occurrence occurrence{begin, end, {}};
    for (const Mat<const float> layer : layers) {
      const std::vector<double> vector = mean_row(layer, rows);
      const double c = cosine(dot(vector, vector), dot(of_word, of_word), dot(vector, of_word));
      occurrence.layers.push_back({vector, c, nearest_rows(embedding, vector, k, {})});
    }
    result.occurrences.push_back(std::move(occurrence));
  }
  if (result.occurrences.empty())
    throw Error(Exit::data, fmt::format("\"{}\" does not occur in --context.", printable(word)));
  return result;
}

}  // namespace heed
