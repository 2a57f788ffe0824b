// A folder of small corpora, and what is read from it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/error_of.h"
#include "base/temporary_folder.h"
#include "data/dataset.h"
#include "data/splits.h"

namespace heed {

class DataFolder : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Dataset load(const RunConfig& c) {
    tokenizers_ = {};
    return load_dataset(c, folder_, tokenizers_);
  }
  void refuses(const RunConfig& c, const Facts& facts) {
    expect_error([&] { load(c); }, Exit::data, facts);
  }
  std::string decoded(const Split& s) const {
    std::vector<int> ids;
    s.target.copy(0, s.target.size(), ids);
    return tokenizers_.target->decode(ids);
  }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  Tokenizers tokenizers_;
};

}  // namespace heed
