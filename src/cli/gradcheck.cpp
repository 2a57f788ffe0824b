// heed gradcheck CONFIG
#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/noise.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/run_config.h"
#include "math/blas.h"
#include "show/gradient_check.h"

namespace heed {
namespace {

constexpr int kVocab = 11;
constexpr int kDraws = 100;  // of weights, batch and dropout, until no relu is near its corner

// The config's architecture, with sizes small enough for quick and exact differences. It starts
// from weights of ordinary size whatever the config starts from: tiny ones have gradients that are
// lost in the rounding of the loss. Rows of fewer than 12 numbers would be too short: where dropout
// leaves one number of a row, or none, a norm bends too much for differences.
ModelConfig shrunk(const ModelConfig& c) {
  ModelConfig small = c;
  const bool grouped = kv_heads(c) != c.n_heads;
  small.n_heads = min(c.n_heads, grouped ? 4 : 3);
  small.n_kv_heads = grouped ? min(kv_heads(c), small.n_heads / 2) : small.n_heads;
  small.d_model = max(12, 4 * small.n_heads);
  small.d_ff = 10;
  small.encoder_layers = min(c.encoder_layers, 2);
  small.decoder_layers = min(c.decoder_layers, 2);
  small.max_length = 8;
  small.init = Init::xavier_uniform;
  small.zero_init = false;
  return small;
}

Batch random_batch(const Transformer& model, uint64_t seed, bool dropout) {
  Batch batch;
  for (int i = 0; i < 3; ++i) {
    const auto tokens = [&](uint64_t what, int n) {
      vector<int> ids(n);
      for (int j = 0; j < n; ++j)
        ids[j] = int(noise_key(seed, Purpose::probe, what, i, j) % kVocab);
      return ids;
    };
    const int n = 2 + i, m = 4 - i;
    const bool encoder = model.has_encoder(), decoder = model.has_decoder();
    batch.add(tokens(0, encoder ? n : 0), tokens(1, decoder ? m : 0), tokens(2, decoder ? m : n),
              dropout ? noise_key(seed, Purpose::dropout, 1, i) : 0);
  }
  return batch;
}

// Random values without special cases (zero biases, unit gains), and a batch, where no relu input
// is near 0.
pair<ParamVec<double>, Batch> draw_values(const Transformer& model, uint64_t seed, bool dropout,
                                          const string& path) {
  ParamVec<double> values(model.table.size());
  for (int draw = 0; draw < kDraws; ++draw, ++seed) {
    Batch batch = random_batch(model, seed, dropout);
    initialize(model.table, seed + 1, values);
    for (size_t i = 0; i < values.size(); ++i)
      values.data()[i] += 0.2 * (uniform01(noise_key(seed + 1, Purpose::probe), i) - 0.5);
    if (smallest_relu_input(model, values, batch) >= 10 * kGradientStep)
      return {std::move(values), std::move(batch)};
  }
  throw usage_error(
      "{}: in each of {} draws an input of relu is too near 0, where differences cannot check a "
      "gradient.",
      path, kDraws)
      .hint("--set model.activation=gelu, or a smaller model.dropout");
}

Json checks_json(const vector<Json>& checks) {
  size_t cannot_tell = 0;
  for (const Json& c : checks) cannot_tell += c["cannot_tell"].get<size_t>();
  return {{"ok", ranges::all_of(checks, [](const Json& c) { return c["ok"] == true; })},
          {"cannot_tell", cannot_tell},
          {"tolerance", kGradientTolerance},
          {"tensors", checks}};
}

string verdict(const Json& check) {
  const bool ok = check["ok"];
  if (ok && check["cannot_tell"] == 0) return "ok";
  return fmt::format("{} at entry {}: backward gives {:.6g}, central differences give {:.6g}",
                     ok ? "cannot tell" : "FAILED", check["worst_entry"].dump(),
                     check["analytic"].get<double>(), check["numeric"].get<double>());
}

void print_checks(const Json& result) {
  print_table(result["tensors"], {{"tensor", "tensor"},
                                  {"error", "worst_error", "{:.1e}"},
                                  {"", "", verdict, 0, Column::broken}});
  const int64_t unclear = result["cannot_tell"];
  print(fmt::format("{}{}\n",
                    result["ok"] ? "every gradient agrees to 1e-6" : "some gradients are wrong",
                    unclear > 0 ? fmt::format("; cannot tell: {}", unclear) : ""));
}

}  // namespace

Exit run_gradcheck(CommandLine& line) {
  string path;
  line.add_file("CONFIG", path, "config file (JSON), or the name of one that comes with heed")
      ->required();
  line.add_sets();
  line.parse();
  path = config_path(path);
  prepare_blas();
  const RunConfig config = load_config(path, line.given());
  const ModelConfig small = shrunk(config.model);
  const Transformer model(small, kVocab, kVocab);
  const auto [values, batch] = draw_values(model, config.seed, has_dropout(small), path);
  const Json result =
      checks_json(check_gradients(model, values, batch, config.objective.label_smoothing));
  if (line.json) {
    print_line(result);
  } else {
    print_prose(fmt::format(
        "the architecture of {} at d_model {}, {} heads, {} parameters, central differences in "
        "double\n",
        printable(path), small.d_model, small.n_heads, format_count(int64_t(values.size()))));
    print_checks(result);
  }
  return result["ok"] ? Exit::ok : Exit::check_failed;
}

}  // namespace heed
