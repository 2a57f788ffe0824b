// Standard input as a file in memory, so that its path can be read more than once.
#pragma once

#include <string>

namespace heed {

class StoredInput {
 public:
  // Reads standard input to its end. Error (data) if it cannot be read or is empty; Error
  // (memory) if it does not fit.
  StoredInput();
  ~StoredInput();
  StoredInput(const StoredInput&) = delete;
  StoredInput& operator=(const StoredInput&) = delete;

  std::string path() const;  // valid while this object lives

 private:
  int fd_;
};

// The name of an input in messages: "standard input" for the path() of a StoredInput.
std::string shown_path(const std::string& path);

}  // namespace heed
