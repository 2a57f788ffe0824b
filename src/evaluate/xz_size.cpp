#include "evaluate/xz_size.h"

#include <array>
#include <new>

namespace heed {

XzSize::XzSize() {
  if (lzma_easy_encoder(&stream_, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) != LZMA_OK)
    throw std::bad_alloc();
}

std::uint64_t XzSize::finish() {
  encode("", LZMA_FINISH);
  return stream_.total_out;
}

void XzSize::encode(std::string_view text, lzma_action action) {
  std::array<std::uint8_t, 4096> written;  // only its size matters
  stream_.next_in = reinterpret_cast<const std::uint8_t*>(text.data());
  stream_.avail_in = text.size();
  while (action == LZMA_FINISH || stream_.avail_in > 0) {
    stream_.next_out = written.data();
    stream_.avail_out = written.size();
    const lzma_ret result = lzma_code(&stream_, action);
    if (result == LZMA_STREAM_END) return;
    if (result != LZMA_OK) throw std::bad_alloc();  // all else is a mistake of the program
  }
}

}  // namespace heed
