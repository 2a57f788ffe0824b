// What the fuzz targets share. A target may throw heed::Error and nothing else; whatever it
// accepts must keep its promises, or expect() ends the process, which is a finding.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"

namespace heed {

inline void expect(bool promise) {
  if (!promise) std::abort();
}

// A folder in memory for targets whose subject reads files; removed at exit.
class FuzzFolder {
 public:
  FuzzFolder() {
    std::string name = "/dev/shm/heed-fuzz-XXXXXX";
    expect(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~FuzzFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace heed
