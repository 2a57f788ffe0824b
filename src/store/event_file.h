// An event file of TensorBoard: records with checksums (TFRecord), each an Event in the encoding of
// Protocol Buffers (tensorflow/core/util/event.proto, framework/{summary,tensor}.proto).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"

namespace heed {

// CRC-32C, Castagnoli's polynomial (RFC 3720, appendix B.4).
std::uint32_t crc32c(std::string_view bytes);

// A new file; a kill may tear its last record. It begins with a start at step 0, at which readers
// drop what they have read in earlier files of the folder.
class EventFile : private OutputFile {
 public:
  // In a folder that is made if it is not there. Errors (store) as in base/files.h.
  explicit EventFile(const std::filesystem::path& folder);

  void scalar(std::int64_t step, const std::string& tag, float value);
  void text(std::int64_t step, const std::string& tag, const std::string& text);

 private:
  void add(std::int64_t step, const std::string& fields);
};

}  // namespace heed
