#include "inspect/film_file.h"

#include <string>

#include "base/base64.h"
#include "store/metrics_file.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

// The sizes of a frame's "weights"; throws or returns nothing if this is no probe.
std::vector<std::size_t> sizes_of(const Json& probe) {
  std::vector<std::size_t> sizes;
  for (const Json& kind : probe.at("kinds").get_ref<const Json::array_t&>()) {
    if (kind.size() != 5) return {};
    kind.at("name").get<std::string>();
    const auto queries = kind.at("queries").get<Texts>(), keys = kind.at("keys").get<Texts>();
    sizes.push_back(base64_size(kind.at("layers").get<std::size_t>() *
                                kind.at("heads").get<std::size_t>() * queries.size() *
                                keys.size()));
  }
  return sizes;
}

bool is_whole(const Json& frame, const Json& probe) try {
  std::vector<std::size_t> sizes;
  for (const std::string& kind : frame.at("weights").get<Texts>()) sizes.push_back(kind.size());
  return !sizes.empty() && sizes == sizes_of(probe) &&
         frame.at("written").get<Texts>().size() == probe.at("prompts").get<Texts>().size() &&
         probe.at("expected").get<Texts>().size() == probe.at("prompts").get<Texts>().size();
} catch (const Json::exception&) {
  return false;
}

}  // namespace

FilmFile read_film(const std::filesystem::path& run, std::int64_t step) {
  FilmFile film;
  if (!has_film(run)) return film;
  const auto add = [&](Json& line) {
    if (line["kind"] == "probe" && film.probe.empty())
      film.probe = std::move(line);
    else if (line["kind"] == "frame" && line["step"] <= step && is_whole(line, film.probe))
      film.frames.push_back(std::move(line));
  };
  for_each_event(run, add, kFilm);
  return film.frames.empty() ? FilmFile{} : film;
}

}  // namespace heed
