// heed export RUN DIR

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "evaluate/figures.h"
#include "evaluate/writing.h"
#include "store/huggingface.h"
#include "store/run.h"
#include "store/run_folder.h"
#include "store/run_records.h"
#include "store/run_writer.h"

namespace heed {
namespace {

const vector<string> kTypes = {"f32", "f16", "q8_0"};  // of GgufType

// Greedy: heed writes the same.
Json generation_config(const Model& m, const Json& config) {
  Json json = {{"do_sample", false}};
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"})
    if (config.contains(key)) json[key] = config[key];
  // With the first id, which is given; the last one is not read.
  const int limit = translation_limit(m.state.longest_target), most = m.config.model.max_length;
  if (m.objective->traits().joined)
    json["max_new_tokens"] = min<int64_t>(limit, most - 2 - m.state.longest_source);
  else
    json["max_length"] =
        1 + (m.net.has_encoder() ? min(most, limit) : m.config.objective.target_length);
  json["suppress_tokens"] = m.objective->never_written(*m.tokenizers.target);
  return json;
}

// On one line of Markdown, in a table too: nothing in it has a meaning there.
string in_markdown(const string& text) {
  string out = printable(text);
  for (const string mark : {"\\", "`", "|", "*", "_", "[", "]", "<", "&", "$", "#"})
    out = replace_all(out, mark, "\\" + mark);
  return out;
}

// What heed knows of a model, and how to load it.
string model_card(const Model& m, const string& name, const string& family) {
  const bool pairs = m.net.has_encoder();
  string rows;
  const auto add = [&](const string& fact, const string& value) {
    rows += fmt::format("| {} | {} |\n", fact, in_markdown(value));
  };
  add("data", data_in_words(m.config.data));
  add("its hash", m.state.data_hash);
  add("exported by", "heed " HEED_VERSION);
  add("checkpoint of step", format_count(m.state.step));
  if (!isnan(m.state.valid_loss))
    add("held-out loss, nats per token", format_fixed(m.state.valid_loss, 4));
  for (const ValidEvent& valid : read_events(run_of_checkpoint(m.folder)).valid) {
    if (valid.step != m.state.step) continue;
    add("held-out tokens", format_count(valid.tokens));
    if (valid.bits_per_byte) add("bits per byte", format_fixed(*valid.bits_per_byte, 4));
    if (const Figure* metric = selecting_figure(m.config.train.select_by); metric && valid.metric)
      add(*valid.metric_name, format_fixed(*valid.metric, metric->digits));
  }
  const vector<string> card = foreign_table().at("card");
  // As JSON has it: Python reads the same, but for halves of characters.
  const string quoted =
      Json(name).dump(-1, ' ', printable(name) != name, Json::error_handler_t::replace);
  const bool two = m.tokenizers.separate_source != nullptr;
  return fmt::format(
      fmt::runtime(joined(card, "\n")), pairs ? "translation" : "text-generation",
      in_markdown(name), family, format_count(m.values.size()), rows,
      pairs ? "AutoModelForSeq2SeqLM" : "AutoModelForCausalLM",
      m.objective->traits().joined
          ? "\nA prompt ends in `</s>`, which this tokenizer adds; the answer follows.\n"
          : "",
      quoted, two ? ", subfolder=\"source\"" : "",
      two ? fmt::format("AutoTokenizer.from_pretrained({}, subfolder=\"target\")", quoted)
          : "tokenizer");
}

void write_huggingface(const Model& m, const string& name, const fs::path& folder) {
  const Json row = foreign_class("huggingface", m.config);
  const Json config =
      foreign_config(row, m.config, m.tokenizers.source().size(), m.tokenizers.target->size());
  vector<pair<fs::path, string>> texts = {
      {"config.json", config.dump(2) + "\n"},
      {"generation_config.json", generation_config(m, config).dump(2) + "\n"},
      {"README.md", model_card(m, name, row.at("class"))}};
  const auto add_tokenizer = [&](const fs::path& in, Side side) {
    for (const NamedBytes& file : huggingface_tokenizer(m, side))
      texts.emplace_back(in / file.name, file.bytes);
  };
  const bool two = m.tokenizers.separate_source != nullptr;
  add_tokenizer(two ? "target" : "", Side::target);
  if (two) add_tokenizer("source", Side::source);
  for (const auto& [file, text] : texts) {
    fs::create_directories(folder_of(folder / file));
    replace_file(folder / file, text);
  }
  vector<vector<float>> numbers;
  vector<TensorSlot> tensors;
  for (const ForeignTensor& t : foreign_tensors(row, m.net)) {
    numbers.push_back(numbers_of(t, m.values));
    tensors.push_back({t.name, t.shape, numbers.back().data()});
  }
  write_safetensors(folder / kModelFile, tensors);
}

void require_free(const fs::path& place) {
  const bool empty = is_folder(place) && names_in(place).empty();
  if (path_exists(place) && !empty)
    throw usage_error("{} exists already.", quoted_path(place)).hint("a new or an empty folder");
  for (fs::path p = fs::weakly_canonical(place).parent_path(); p != p.root_path();
       p = p.parent_path())
    if (is_run(p) || is_checkpoint(p))
      throw usage_error("{} is in a run or a model, {}.", quoted_path(place), quoted_path(p))
          .hint("a folder outside of it");
}

}  // namespace

Exit run_export(CommandLine& line) {
  string folder, to = "huggingface", type = "f16";
  line.add_model();
  line.add_file("DIR", folder, "the folder, new or empty")->required();
  line.add_choice("--to", to, "the program that opens it", {"huggingface", "gguf"});
  line.add_choice("--type", type, "with --to gguf: the numbers of matrices", kTypes);
  line.parse();
  const bool gguf = to == "gguf";
  line.only_where(gguf, {"--type"}, "with --to gguf");

  const fs::path place = with_name(fs::path(folder).lexically_normal());
  require_free(place);
  OpenModel model(line);
  fs::create_directories(folder_of(place));
  NewFolder made(place);
  const string name = place.filename().string();
  if (gguf)
    write_gguf(made.path() / "model.gguf", model, name,
               static_cast<GgufType>(ranges::find(kTypes, type) - kTypes.begin()));
  else
    write_huggingface(model, name, made.path());
  made.put_in_place();
  line.json ? print_line({{"folder", place.string()}}) : print(place.string() + "\n");
  if (!gguf) model.log.info("how to open it: " + (place / "README.md").string());
  return Exit::ok;
}

}  // namespace heed
