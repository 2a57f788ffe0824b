#include "base/decompressor.h"

#include <lzma.h>
#include <zlib.h>

#include <cstdint>
#include <new>
#include <type_traits>

namespace heed {
namespace {

constexpr std::string_view kGzipMagic = "\x1F\x8B\x08";              // RFC 1952
constexpr std::string_view kXzMagic("\xFD\x37\x7A\x58\x5A\x00", 6);  // xz-file-format.txt
constexpr std::uint64_t kMostXzMemory = 1 << 30;                     // xz -9 needs 65 MiB

// z_stream and lzma_stream have the same members.
template <class Stream>
class StreamDecompressor : public Decompressor {
 public:
  Step unpack(std::string_view packed, std::span<std::byte> out) final {
    using Byte = std::remove_reference_t<decltype(*stream_.next_out)>;
    stream_.next_in = const_cast<Byte*>(reinterpret_cast<const Byte*>(packed.data()));
    stream_.avail_in = static_cast<decltype(stream_.avail_in)>(packed.size());
    stream_.next_out = reinterpret_cast<Byte*>(out.data());
    stream_.avail_out = static_cast<decltype(stream_.avail_out)>(out.size());
    const char* fault = nullptr;
    do fault = advance();
    while (!fault && stream_.avail_in > 0 && stream_.avail_out == out.size());
    return {packed.size() - stream_.avail_in, out.size() - stream_.avail_out, fault};
  }

 protected:
  virtual const char* advance() = 0;  // a fault or nullptr

  Stream stream_{};
};

class Gzip final : public StreamDecompressor<z_stream> {
 public:
  Gzip() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { inflateEnd(&stream_); }
  bool complete() override { return stream_.total_in == 0; }
  const char* program() const override { return "gzip"; }

 private:
  // A member ends with a reset. Zeros after it are padding: `gzip -t` skips them, zlib does not.
  const char* advance() override {
    while (complete() && stream_.avail_in > 0 && *stream_.next_in == 0)
      ++stream_.next_in, --stream_.avail_in;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) inflateReset(&stream_);
    const bool good = status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
    return good ? nullptr : stream_.msg ? stream_.msg : "damaged data";
  }
};

class Xz final : public StreamDecompressor<lzma_stream> {
 public:
  Xz() {
    if (lzma_stream_decoder(&stream_, kMostXzMemory, LZMA_CONCATENATED) != LZMA_OK)
      throw std::bad_alloc();
  }
  ~Xz() override { lzma_end(&stream_); }
  bool complete() override {
    stream_.avail_in = stream_.avail_out = 0;
    return lzma_code(&stream_, LZMA_FINISH) == LZMA_STREAM_END;
  }
  const char* program() const override { return "xz"; }

 private:
  const char* advance() override {
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status == LZMA_MEMLIMIT_ERROR) return "it needs more than 1 GiB of memory";
    const bool ended = status == LZMA_STREAM_END && stream_.avail_in == 0;
    return ended || status == LZMA_OK || status == LZMA_BUF_ERROR ? nullptr : "damaged data";
  }
};

}  // namespace

bool may_be_compressed(std::string_view bytes) {
  const auto may_be = [&](std::string_view magic) {
    return bytes.size() < magic.size() && magic.starts_with(bytes);
  };
  return may_be(kGzipMagic) || may_be(kXzMagic);
}

std::unique_ptr<Decompressor> decompressor_for(std::string_view bytes) {
  if (bytes.starts_with(kGzipMagic)) return std::make_unique<Gzip>();
  if (bytes.starts_with(kXzMagic)) return std::make_unique<Xz>();
  return nullptr;
}

}  // namespace heed
