#include "train/film.h"

#include <fmt/core.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "store/metrics_file.h"

namespace heed {
namespace {

constexpr std::int64_t kFreeFrames = 16;
constexpr double kShare = 0.02;   // of the steps
constexpr double kSparser = 300;  // after n frames the next one is 1 + n / kSparser times as late
constexpr std::size_t kSampleColumns = 76;

std::string sample_line(std::int64_t step, const std::string& sample) {
  const std::string text = printable(sample);
  const bool fits = text.size() <= kSampleColumns;
  return fmt::format("sample{:5} | {}", step, fits ? text : whole_words(text, kSampleColumns));
}

}  // namespace

bool is_frame(const FilmLength& film, std::int64_t step, bool validated, double cost) {
  if (step <= film.last) return false;
  const double frames = static_cast<double>(film.frames), now = static_cast<double>(step);
  if (film.frames >= kFreeFrames && (frames + 1) * cost > kShare * now) return false;
  return step == 0 || std::has_single_bit(static_cast<std::uint64_t>(step)) ||
         (validated && now >= static_cast<double>(film.last) * (1 + frames / kSparser));
}

FilmWriter::FilmWriter(const Film& film, std::int64_t step, RunWriter& run, Log& log)
    : film_(film), run_(run), log_(log) {
  if (!has_film(run.path())) return;
  const std::string probe = film.probe();
  bool begun = false;
  const auto count = [&](const nlohmann::ordered_json& event) {
    if (!begun) on_ = event.dump() == probe;
    if (begun && event["kind"] == "frame")
      length_ = {length_.frames + 1, event["step"].get<std::int64_t>()};
    begun = true;
  };
  for_each_event(run.path(), count, kFilm);
  if (!begun && step == 0) {
    run.append_film(probe);
    on_ = true;
  }
  if (!on_) log.info("film.jsonl does not begin with this run's probe: it gets no frames");
}

void FilmWriter::add(const Moment& moment, bool validated) {
  if (!on_ || !is_frame(length_, moment.step, validated, film_.cost())) return;
  Frame frame;
  try {
    frame = film_.frame(moment);
  } catch (const Error& e) {
    if (e.exit() != Exit::diverged) throw;
    return;  // if the run has diverged, training itself finds out
  }
  run_.append_film(frame.line);
  length_ = {length_.frames + 1, moment.step};
  if (validated) log_.info(sample_line(moment.step, frame.sample));
}

}  // namespace heed
