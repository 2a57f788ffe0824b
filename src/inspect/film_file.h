// Reading film.jsonl of a run, as train/film.h and inspect/run_film.h write it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace heed {

struct FilmFile {
  nlohmann::ordered_json probe = nlohmann::ordered_json::object();  // empty without frames
  std::vector<nlohmann::ordered_json> frames;  // of all kinds and prompts of the probe

  std::int64_t last_step() const {  // -1: there are no frames
    return frames.empty() ? -1 : frames.back()["step"].get<std::int64_t>();
  }
};

// The frames up to `step`, oldest first; none if there is no film. Damaged lines are passed over.
FilmFile read_film(const std::filesystem::path& run, std::int64_t step);

}  // namespace heed
