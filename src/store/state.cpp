#include "store/state.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>

#include "base/files.h"
#include "base/json_object.h"
#include "base/sha256.h"

namespace heed {
namespace {

using nlohmann::ordered_json;

constexpr int kFormat = 5;
constexpr std::string_view kBeforeChecksum = ",\n  \"checksum\": \"";
constexpr std::string_view kAfterChecksum = "\"\n}\n";
constexpr std::size_t kDigits = 64;
constexpr std::int64_t kMostSteps = 1'000'000'000'000;  // train.max_steps

bool is_sha256(const std::string& text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// JSON has no infinity; every other double is read back bit for bit.
ordered_json from_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double to_double(JsonObject& object, const char* key) {
  const auto fits = [](const nlohmann::json& x) {
    return x.is_number() || x == "inf" || x == "-inf" || x == "nan";
  };
  const nlohmann::json value = object.take(key, "a number", fits);
  return value.is_number() ? value.get<double>() : std::stod(value.get<std::string>());
}

// Of all bytes but the checksum's own; `before`: the bytes before it.
std::string checksum(std::string_view before) {
  return sha256(std::string(before).append(kAfterChecksum));
}

void check_own_checksum(std::string_view bytes, const std::string& file) {
  const std::size_t tail = kDigits + kAfterChecksum.size();
  const bool framed = bytes.size() > tail + kBeforeChecksum.size() &&
                      bytes.ends_with(kAfterChecksum) &&
                      bytes.substr(0, bytes.size() - tail).ends_with(kBeforeChecksum);
  if (!framed)
    throw Error(Exit::store, file + ": it does not end in a checksum: cut short or altered");
  const std::string_view digits = bytes.substr(bytes.size() - tail, kDigits);
  if (checksum(bytes.substr(0, bytes.size() - tail)) != digits)
    throw Error(Exit::store, file + ": its bytes do not match its own checksum: altered");
}

}  // namespace

std::string format_state(const StateFile& file) {
  const State& state = file.state;
  ordered_json files = ordered_json::object();
  for (const auto& [name, digits] : file.files) files[name] = digits;
  const ordered_json object = {
      {"format", kFormat},
      {"step", state.step},
      {"cursor", {{"epoch", state.cursor.epoch}, {"index", state.cursor.index}}},
      {"tokens_seen", state.tokens_seen},
      {"seed", state.seed},
      {"valid_loss", from_double(state.valid_loss)},
      {"valid_metric", from_double(state.valid_metric)},
      {"best_loss", from_double(state.best_loss)},
      {"best_metric", from_double(state.best_metric)},
      {"best_step", state.best_step},
      {"stalled", state.stalled},
      {"validation_due", state.validation_due},
      {"data_hash", state.data_hash},
      {"longest_source", state.longest_source},
      {"longest_target", state.longest_target},
      {"loss_sum", from_double(state.loss_sum)},
      {"label_sum", from_double(state.label_sum)},
      {"training", file.training},
      {"files", files},
  };
  std::string text = object.dump(2);
  text.resize(text.size() - 2);  // "\n}" comes after the checksum
  text += kBeforeChecksum;
  return text + checksum(text) + std::string(kAfterChecksum);
}

StateFile parse_state(std::string_view bytes, const std::string& file) {
  check_own_checksum(bytes, file);
  JsonObject top = JsonObject::parse(bytes, {.name = file});
  StateFile result;
  State& state = result.state;
  if (const std::int64_t format = top.count("format"); format != kFormat)
    throw Unreadable(Exit::store,
                     fmt::format("{}: a run of {} heed: format {}, expected {}", file,
                                 format < kFormat ? "an older" : "a newer", format, kFormat),
                     format < kFormat ? "train it again" : "a newer heed");
  state.step = top.count("step");
  if (state.step > kMostSteps) top.fail(fmt::format("step is {}", state.step));
  JsonObject cursor = top.object("cursor");
  state.cursor = {cursor.count("epoch"), cursor.count("index")};
  cursor.finish();
  state.tokens_seen = top.count("tokens_seen");
  state.seed = top.unsigned_number("seed");
  state.valid_loss = to_double(top, "valid_loss");
  state.valid_metric = to_double(top, "valid_metric");
  state.best_loss = to_double(top, "best_loss");
  state.best_metric = to_double(top, "best_metric");
  state.best_step = top.count("best_step", -1);
  state.stalled = top.count("stalled");
  state.validation_due = top.flag("validation_due");
  state.data_hash = top.text("data_hash");
  state.longest_source = top.count("longest_source");
  state.longest_target = top.count("longest_target");
  state.loss_sum = to_double(top, "loss_sum");
  state.label_sum = to_double(top, "label_sum");
  result.training = top.flag("training");
  JsonObject files = top.object("files");
  for (const std::string& key : files.keys()) {
    result.files[key] = files.text(key);
    if (!is_sha256(result.files[key])) files.fail("a checksum is not 64 hexadecimal digits");
    if (key.find('/') != key.npos) files.fail("a file is in another folder");
  }
  top.text("checksum");
  top.finish();
  return result;
}

}  // namespace heed
