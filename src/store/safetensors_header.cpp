#include "store/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"

namespace heed {
namespace {

using nlohmann::json;

// A name from a file, safe to print.
std::string printable(const std::string& name) {
  return json(name.substr(0, 200)).dump(-1, ' ', true, json::error_handler_t::replace);
}

// Receives the events of the JSON parser and keeps nothing but entries, so that memory stays in
// proportion to the header whatever it holds; the first surprise is an Error.
class HeaderReader {
 public:
  using number_integer_t = json::number_integer_t;
  using number_unsigned_t = json::number_unsigned_t;
  using number_float_t = json::number_float_t;
  using string_t = json::string_t;
  using binary_t = json::binary_t;

  explicit HeaderReader(std::string file) : file_(std::move(file)) {}

  std::vector<TensorEntry> take() { return std::move(entries_); }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Exit::store, file_ + ": " + what);
  }
  [[noreturn]] void fail_tensor(const std::string& name, const std::string& what) const {
    fail("tensor " + printable(name) + ": " + what);
  }

  bool null() { unexpected("null"); }
  bool boolean(bool) { unexpected("a truth value"); }
  bool number_integer(number_integer_t) { unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) { unexpected("a fraction or a huge number"); }
  bool binary(binary_t&) { unexpected("bytes"); }

  bool number_unsigned(number_unsigned_t value) {
    if (place_ == Place::shape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        fail_tensor(entry_.name, "a size of its shape is too large");
      }
      if (shape_->size() == kMaxTensorRank) {
        fail_tensor(entry_.name,
                    "more than " + std::to_string(kMaxTensorRank) + " sizes in its shape");
      }
      shape_->push_back(static_cast<std::int64_t>(value));
    } else if (place_ == Place::offsets) {
      if (offsets_->size() == 2) fail_tensor(entry_.name, "more than two data_offsets");
      offsets_->push_back(value);
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(string_t& value) {
    if (place_ == Place::metadata) return true;
    if (place_ != Place::tensor || key_ != "dtype") unexpected("text");
    if (dtype_) fail_tensor(entry_.name, "two times dtype");
    if (value != "F32") {
      fail_tensor(entry_.name, "dtype is " + printable(value) + ", expected \"F32\"");
    }
    dtype_ = true;
    return true;
  }

  bool start_object(std::size_t) {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top && key_ == "__metadata__") {
      if (metadata_) fail("two times __metadata__");
      metadata_ = true;
      place_ = Place::metadata;
    } else if (place_ == Place::top) {
      place_ = Place::tensor;
      entry_ = {.name = key_, .shape = {}};
      shape_.reset();
      offsets_.reset();
      dtype_ = false;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(string_t& value) {
    key_ = value;
    if (place_ == Place::tensor && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      fail_tensor(entry_.name, "unknown key " + printable(key_));
    }
    return true;
  }

  bool end_object() {
    if (place_ == Place::tensor) finish_tensor();
    place_ = place_ == Place::top ? Place::outside : Place::top;
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ == Place::tensor && key_ == "shape") {
      if (shape_) fail_tensor(entry_.name, "two times shape");
      shape_.emplace();
      place_ = Place::shape;
    } else if (place_ == Place::tensor && key_ == "data_offsets") {
      if (offsets_) fail_tensor(entry_.name, "two times data_offsets");
      offsets_.emplace();
      place_ = Place::offsets;
    } else {
      unexpected("a list");
    }
    return true;
  }

  bool end_array() {
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const json::exception&) {
    fail("its header is not JSON (byte " + std::to_string(position) + " of the header)");
  }

 private:
  enum class Place { outside, top, metadata, tensor, shape, offsets };

  [[noreturn]] void unexpected(const std::string& what) const {
    if (place_ == Place::outside) fail("its header is " + what + ", expected an object");
    if (place_ == Place::top) fail_tensor(key_, what + " where an object is expected");
    if (place_ == Place::metadata) fail("__metadata__ holds " + what + ", expected text");
    fail_tensor(entry_.name, what + " is not what " + printable(key_) + " can be");
  }

  void finish_tensor() {
    const std::string& name = entry_.name;
    if (!dtype_) fail_tensor(name, "dtype is missing");
    if (!shape_) fail_tensor(name, "shape is missing");
    if (!offsets_ || offsets_->size() != 2) fail_tensor(name, "it needs two data_offsets");
    entry_.shape = std::move(*shape_);
    entry_.begin = (*offsets_)[0];
    entry_.end = (*offsets_)[1];
    if (entry_.begin > entry_.end) fail_tensor(name, "data_offsets end before they begin");
    std::uint64_t bytes = sizeof(float);
    for (const std::int64_t size : entry_.shape) {
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
        fail_tensor(name, "shape " + to_string(entry_.shape) + " is too large");
      }
    }
    if (entry_.end - entry_.begin != bytes) {
      fail_tensor(name, "shape " + to_string(entry_.shape) + " needs " + std::to_string(bytes) +
                            " bytes, data_offsets give it " +
                            std::to_string(entry_.end - entry_.begin));
    }
    entries_.push_back(std::move(entry_));
  }

  std::string file_;
  std::vector<TensorEntry> entries_;
  Place place_ = Place::outside;
  std::string key_;
  bool metadata_ = false;
  TensorEntry entry_;  // the one being read
  std::optional<Shape> shape_;
  std::optional<std::vector<std::uint64_t>> offsets_;
  bool dtype_ = false;
};

}  // namespace

std::string to_string(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape) {
    if (!text.empty()) text += ", ";
    text += std::to_string(size);
  }
  return '[' + text + ']';
}

std::vector<TensorEntry> parse_safetensors_header(std::string_view text, std::uint64_t data_size,
                                                  const std::string& file) {
  HeaderReader reader(file);
  json::sax_parse(text, &reader);
  std::vector<TensorEntry> entries = reader.take();

  std::vector<std::string_view> names;
  for (const TensorEntry& entry : entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) reader.fail_tensor(std::string(*twin), "it is there twice");

  std::stable_sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t end = 0;  // of the data covered so far
  const TensorEntry* before = nullptr;
  for (const TensorEntry& entry : entries) {
    const std::string where =
        "data_offsets [" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + "] ";
    if (entry.end > data_size) {
      reader.fail_tensor(entry.name, where + "reach beyond the " + std::to_string(data_size) +
                                         " bytes of data the file has");
    }
    if (entry.begin % sizeof(float) != 0) {
      reader.fail_tensor(entry.name, where + "begin at no multiple of 4");
    }
    if (entry.begin < end) {
      reader.fail_tensor(entry.name, where + "overlap those of " + printable(before->name));
    }
    if (entry.begin > end) {
      reader.fail_tensor(entry.name, where + "leave a hole after byte " + std::to_string(end));
    }
    end = entry.end;
    before = &entry;
  }
  if (end != data_size) {
    reader.fail(std::to_string(data_size - end) + " bytes after the last tensor");
  }
  return entries;
}

std::string format_safetensors_header(const std::vector<TensorEntry>& entries) {
  std::string text = R"({"__metadata__":{"format":"pt"})";
  for (const TensorEntry& entry : entries) {
    std::string shape;
    for (const std::int64_t size : entry.shape) {
      if (!shape.empty()) shape += ',';
      shape += std::to_string(size);
    }
    text += ',' + json(entry.name).dump() + R"(:{"dtype":"F32","shape":[)" + shape +
            R"(],"data_offsets":[)" + std::to_string(entry.begin) + ',' +
            std::to_string(entry.end) + "]}";
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  return length + text;
}

}  // namespace heed
