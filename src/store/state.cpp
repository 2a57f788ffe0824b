#include "store/state.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>

#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/sha256.h"
#include "base/std_names.h"

namespace heed {
namespace {

constexpr string_view kBeforeChecksum = ",\n  \"checksum\": \"";
constexpr string_view kAfterChecksum = "\"\n}\n";
constexpr size_t kDigits = 64;
constexpr int64_t kMostSteps = 1'000'000'000'000;  // train.max_steps

// Of all bytes but the checksum's own; `before`: the bytes before it.
string checksum(string_view before) {
  return sha256(string(before).append(kAfterChecksum));
}

// The bytes before the checksum, which is right.
string_view checked(string_view bytes, const string& file) {
  const size_t tail = kDigits + kAfterChecksum.size();
  string_view before = bytes.substr(0, bytes.size() - min(bytes.size(), tail));
  if (!bytes.ends_with(kAfterChecksum) || !before.ends_with(kBeforeChecksum))
    throw store_error("{}: it does not end in a checksum: cut short or altered", file);
  if (checksum(before) != bytes.substr(before.size(), kDigits))
    throw store_error("{}: its bytes do not match its own checksum: altered", file);
  before.remove_suffix(kBeforeChecksum.size());
  return before;
}

}  // namespace

string format_state(const StateFile& file) {
  Json object = file;
  for (Json& value : object)  // JSON has no infinity; every other double is read back bit for bit
    if (const double x = value.is_number_float() ? value.get<double>() : 0; !isfinite(x))
      value = isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
  string text = object.dump(2);
  text.resize(text.size() - 2);  // "\n}" comes after the checksum
  text += kBeforeChecksum;
  return text + checksum(text) + string(kAfterChecksum);
}

StateFile parse_state(string_view bytes, const string& file) {
  const JsonSource source{.name = file};
  StateFile result;
  Faults faults;
  read_json(parse_strict_json(string(checked(bytes, file)) + "}", source), result, faults);
  if (result.format != kStateFormat)
    throw Unreadable(Exit::store,
                     fmt::format("{}: a run of another heed: format {}, expected {}", file,
                                 result.format, kStateFormat),
                     "that heed; or train it again");
  const State& s = result.state;
  if (max(s.step, s.best_step) > kMostSteps ||
      min({s.step, s.cursor.epoch, s.cursor.index, s.tokens_seen, s.best_step + 1, s.stalled,
           s.longest_source, s.longest_target}) < 0)
    faults.wrong = "a number is out of range.";
  for (const auto& [name, digits] : result.files)
    if (digits.size() != kDigits || digits.find_first_not_of("0123456789abcdef") != digits.npos ||
        name.find('/') != name.npos)
      faults.wrong =
          "files: " + shown(name) + " with " + shown(digits) + ", no file here with a SHA-256.";
  if (!faults.first().empty()) source.fail(faults.first());
  return result;
}

}  // namespace heed
