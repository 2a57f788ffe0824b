// Starts the program as a user does.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "base/format.h"

namespace heed::test {

struct Result {
  int status = 0;  // as a shell sees it
  std::string out;
};

// Runs `heed ARGS` in bash; args may redirect. Standard output is caught.
inline Result run_heed(const std::string& args) {
  const std::string line = "bash -c " + shell_word("\"" HEED_BINARY "\" " + args);
  FILE* pipe = popen(line.c_str(), "r");
  Result result;
  char bytes[4096];
  while (const std::size_t n = std::fread(bytes, 1, sizeof bytes, pipe))
    result.out.append(bytes, n);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace heed::test
