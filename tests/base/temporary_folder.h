// A separate folder for each test, removed at the end; in memory if possible.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace heed {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = "/dev/shm/heed-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      name = ::testing::TempDir() + "heed-XXXXXX";
      if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    }
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace heed
