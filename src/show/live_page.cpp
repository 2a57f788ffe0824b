#include "show/live_page.h"

#include <fmt/core.h>

#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/float16.h"
#include "base/format.h"
#include "show/packed_maps.h"
#include "show/page.h"
#include "text/piece_model.h"

namespace heed {
namespace {

constexpr double kMostLiveBytes = 32 << 20;  // browsers take seconds to open larger pages

// The weights in the order of the table, base64.
std::string float16_weights(const Model& m) {
  const double bytes = 2.0 * static_cast<double>(m.net.table.size());
  if (bytes > kMostLiveBytes)
    throw Error(Exit::usage,
                fmt::format("the page would hold {} of weights; the limit is {}.",
                            format_bytes(bytes), format_bytes(kMostLiveBytes)),
                "a smaller model; heed report without --live");
  std::vector<unsigned char> all;
  for (const ParamInfo& info : m.net.table.infos())
    for (std::size_t i = 0; i < info.param.size(); ++i) {
      const float x = m.values.data()[info.param.offset + i];
      const std::string two = bytes_of(to_float16(x, info.name, "heed report without --live"));
      all.insert(all.end(), two.begin(), two.end());
    }
  return base64(all);
}

ShortJson tokenizer_data(const Tokenizer& tokenizer) {
  const std::string bytes = tokenizer.serialize(), file(tokenizer.file_name());
  if (!is_subword(tokenizer.type())) return ShortJson::parse(bytes);
  const PieceModel model = read_piece_model(bytes, file);
  const PieceModel::Reading& r = model.reading;
  if (r.normalizer != "identity")
    throw Error(
        Exit::usage,
        fmt::format("{} reads texts through a table, {}; a page has none.", file, r.normalizer),
        "heed report without --live");
  ShortJson json{{"type", type_name(tokenizer.type())},
                 {"special", tokenizer.specials()},
                 {"pieces", ShortJson::array()},
                 {"scores", ShortJson::array()},
                 {"user_defined", ShortJson::array()},
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

}  // namespace

std::string live_page(const Model& m) {
  const ObjectiveTraits& traits = m.objective->traits();
  const ShortJson config = ShortJson::parse(dump_config(m.config));
  ShortJson data{{"about", fmt::format("{}, step {}", m.run, m.state.step)},
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
                 {"tokenizer", tokenizer_data(*m.tokenizers.target)},
                 {"tensors", ShortJson::array()},
                 {"weights", float16_weights(m)}};
  if (&m.tokenizers.source() != m.tokenizers.target.get())
    data["source_tokenizer"] = tokenizer_data(m.tokenizers.source());
  for (const ParamInfo& info : m.net.table.infos())
    data["tensors"].push_back({info.name, info.param.rows, info.param.cols});
  // Typing stays smooth because a worker computes. No other page may start one.
  return page_with(replace_all(live_html, "img-src data:", "img-src data:; worker-src blob:"),
                   data);
}

}  // namespace heed
