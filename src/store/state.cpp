#include "store/state.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/sha256.h"

namespace heed {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kFormat = 2;
constexpr std::string_view kBeforeChecksum = ",\n  \"checksum\": \"";
constexpr std::string_view kAfterChecksum = "\"\n}\n";
constexpr std::size_t kDigits = 64;

bool is_sha256(const std::string& text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// JSON has no infinity; every other double is printed so that reading gives the same bits.
ordered_json from_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// Reads the members of one object, each exactly once, and complains about what is left over.
class Members {
 public:
  Members(json object, const std::string& file) : object_(std::move(object)), file_(file) {
    if (!object_.is_object()) fail("an object is expected where something else is");
  }

  std::int64_t count(const char* key, std::int64_t lowest = 0) {
    const json value = take(key);
    if (!value.is_number_integer()) fail(std::string(key) + " is no whole number");
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
      fail(std::string(key) + " is too large");
    }
    if (value.get<std::int64_t>() < lowest) {
      fail(std::string(key) + " is below " + std::to_string(lowest));
    }
    return value.get<std::int64_t>();
  }
  std::uint64_t unsigned_number(const char* key) {
    const json value = take(key);
    if (!value.is_number_unsigned()) fail(std::string(key) + " is no number from 0");
    return value.get<std::uint64_t>();
  }
  double number(const std::string& key) {
    const json value = take(key);
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    fail(key + " is no number");
  }
  std::string text(const std::string& key) {
    const json value = take(key);
    if (!value.is_string()) fail(key + " is no text");
    return value.get<std::string>();
  }
  bool flag(const char* key) {
    const json value = take(key);
    if (!value.is_boolean()) fail(std::string(key) + " is neither true nor false");
    return value.get<bool>();
  }
  Members object(const char* key) { return Members(take(key), file_); }
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (const auto& item : object_.items()) names.push_back(item.key());
    return names;
  }
  void finish() const {
    if (!object_.empty()) fail("unknown key \"" + object_.begin().key() + '"');
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Exit::store, file_ + ": " + what);
  }

 private:
  json take(const std::string& key) {
    const auto found = object_.find(key);
    if (found == object_.end()) fail('"' + key + "\" is missing");
    json value = std::move(*found);
    object_.erase(found);
    return value;
  }

  json object_;
  std::string file_;
};

void check_own_checksum(std::string_view bytes, const std::string& file) {
  const std::size_t tail = kDigits + kAfterChecksum.size();
  const bool framed = bytes.size() > tail + kBeforeChecksum.size() &&
                      bytes.ends_with(kAfterChecksum) &&
                      bytes.substr(0, bytes.size() - tail).ends_with(kBeforeChecksum);
  if (!framed) {
    throw Error(Exit::store, file + ": it does not end in a checksum: cut short or altered");
  }
  const std::string_view digits = bytes.substr(bytes.size() - tail, kDigits);
  Sha256 hash;
  hash.update(bytes.substr(0, bytes.size() - tail));
  hash.update(kAfterChecksum);
  if (hash.hex() != digits) {
    throw Error(Exit::store, file + ": its bytes do not fit its own checksum: altered");
  }
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
      {"best_loss", from_double(state.best_loss)},
      {"best_metric", from_double(state.best_metric)},
      {"best_step", state.best_step},
      {"stalled", state.stalled},
      {"best_is_of_end", state.best_is_of_end},
      {"validation_due", state.validation_due},
      {"data_hash", state.data_hash},
      {"loss_sum", from_double(state.loss_sum)},
      {"label_sum", from_double(state.label_sum)},
      {"training", file.training},
      {"files", files},
  };
  std::string text = object.dump(2);
  text.resize(text.size() - 2);  // "\n}" comes after the checksum
  text += kBeforeChecksum;
  Sha256 hash;
  hash.update(text);
  hash.update(kAfterChecksum);
  return text + hash.hex() + std::string(kAfterChecksum);
}

StateFile parse_state(std::string_view bytes, const std::string& file) {
  check_own_checksum(bytes, file);
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    if (depth > 3) throw Error(Exit::store, file + ": nested too deeply");
    return true;
  };
  json object;
  try {
    object = json::parse(bytes, shallow);
  } catch (const json::exception&) {
    throw Error(Exit::store, file + ": it is not JSON");
  }
  Members top(std::move(object), file);
  StateFile result;
  State& state = result.state;
  if (const std::int64_t format = top.count("format"); format != kFormat) {
    top.fail("format " + std::to_string(format) +
             ", written by another version of heed; this one "
             "reads format " +
             std::to_string(kFormat));
  }
  state.step = top.count("step");
  Members cursor = top.object("cursor");
  state.cursor = {cursor.count("epoch"), cursor.count("index")};
  cursor.finish();
  state.tokens_seen = top.count("tokens_seen");
  state.seed = top.unsigned_number("seed");
  state.best_loss = top.number("best_loss");
  state.best_metric = top.number("best_metric");
  state.best_step = top.count("best_step", -1);
  state.stalled = top.count("stalled");
  state.best_is_of_end = top.flag("best_is_of_end");
  state.validation_due = top.flag("validation_due");
  state.data_hash = top.text("data_hash");
  state.loss_sum = top.number("loss_sum");
  state.label_sum = top.number("label_sum");
  result.training = top.flag("training");
  Members files = top.object("files");
  for (const std::string& key : files.keys()) {
    result.files[key] = files.text(key);
    if (!is_sha256(result.files[key])) files.fail("a checksum is not 64 hexadecimal digits");
  }
  top.text("checksum");
  top.finish();
  return result;
}

}  // namespace heed
