// The pages with a model inside.
#include <fmt/core.h>

#include <vector>

#include "base/error.h"
#include "base/float16.h"
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "show/attributions.h"
#include "show/page.h"
#include "store/run_folder.h"
#include "store/run_records.h"
#include "text/piece_model.h"

namespace heed {
namespace {

// The weights in the order of the table, base64.
string float16_weights(const Model& m, const string& hint) {
  const double bytes = 2.0 * double(m.net.table.size());
  if (bytes > kMostLiveBytes)
    throw usage_error("the page would hold {} of weights; the limit is {}.", format_bytes(bytes),
                      format_bytes(kMostLiveBytes))
        .hint(hint);
  vector<unsigned char> all;
  for (const ParamInfo& info : m.net.table.infos())
    for (size_t i = 0; i < info.param.size(); ++i) {
      const float x = m.values.data()[info.param.offset + i];
      const string two = bytes_of(to_float16(x, info.name, hint));
      all.insert(all.end(), two.begin(), two.end());
    }
  return base64(all);
}

Json tokenizer_data(const Tokenizer& tokenizer, const string& hint) {
  const string bytes = tokenizer.serialize(), file(tokenizer.file_name());
  if (!is_subword(tokenizer.type())) return Json::parse(bytes);
  const PieceModel model = read_piece_model(bytes, file);
  const PieceModel::Reading& r = model.reading;
  if (r.normalizer != "identity")
    throw usage_error("{} reads texts through a table, {}; a page has none.", file, r.normalizer)
        .hint(hint);
  Json json{{"type", type_name(tokenizer.type())},
            {"special", tokenizer.specials()},
            {"user_defined", Json::array()},
            {"by_line", model.by_line},
            {"reading",
             {{"add_dummy_prefix", r.add_dummy_prefix},
              {"remove_extra_whitespaces", r.remove_extra_whitespaces},
              {"escape_whitespaces", r.escape_whitespaces}}}};
  for (const PieceModel::Piece& piece : model.pieces) {
    if (piece.type == PieceModel::Piece::kUserDefined)
      json["user_defined"].push_back(json["pieces"].size());
    json["pieces"].push_back(piece.text);
    json["scores"].push_back(piece.score);
  }
  return json;
}

// What the run's film is about, and what this model wrote there; null without a film.
Json film_of(const Model& m) {
  const auto [probe, frames] = read_frames(run_of_checkpoint(m.folder));
  const auto frame = ranges::find(frames, m.state.step, &Frame::step);
  if (frames.empty()) return nullptr;
  return {{"prompts", probe.prompts},
          {"written", frame == frames.end() ? vector<string>() : frame->written},
          {"filled", frames.back().filled.value_or("")}};
}

}  // namespace

string live_page(const Model& m, const string& hint, const Json& more) {
  const ObjectiveTraits& traits = m.objective->traits();
  const Json config = Json::parse(dump_config(m.config));
  Json data{{"about", fmt::format("{}, step {}", m.run, m.state.step)},
            {"model", config["model"]},
            {"reading",
             {{"normalize", config["data"].value("normalize", "none")},
              {"lowercase", m.config.data.lowercase}}},
            {"objective",
             {{"type", m.config.objective.type},
              {"use", traits.use->command},
              {"instructions", traits.use->instructions},
              {"longest_source", traits.longest_source},
              {"longest_target", traits.longest_target},
              {"never_written", m.objective->never_written(*m.tokenizers.target)}}},
            {"film", film_of(m)},
            {"whence", attributions_of(m.folder)},
            {"tokenizer", tokenizer_data(*m.tokenizers.target, hint)},
            {"weights", float16_weights(m, hint)}};
  if (&m.tokenizers.source() != m.tokenizers.target.get())
    data["source_tokenizer"] = tokenizer_data(m.tokenizers.source(), hint);
  for (const ParamInfo& info : m.net.table.infos())
    data["tensors"].push_back({info.name, info.param.rows, info.param.cols});
  for (const auto& [key, value] : more.items()) data[key] = value;
  return page_with(live_html, data);
}

string pair_page(const Model& a, const Model& b, const string& hint) {
  const auto tokens = [](const Model& m) {
    return pair(m.tokenizers.source().serialize(), m.tokenizers.target->serialize());
  };
  if (tokens(a) != tokens(b) || a.config.objective.type != b.config.objective.type)
    throw usage_error("{} and {} do not read texts in the same tokens.", a.run, b.run)
        .hint("two steps, two seeds, or two settings of one model");
  Json data{{"same_run", fs::weakly_canonical(run_of_checkpoint(a.folder)) ==
                             fs::weakly_canonical(run_of_checkpoint(b.folder))}};
  for (const Model* m : {&a, &b}) {
    data["names"].push_back(fmt::format("{}, step {}", m->run, m->state.step));
    data["pages"].push_back(live_page(*m, hint, {}));
  }
  return page_with(pair_html, data);
}

}  // namespace heed
