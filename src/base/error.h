// Errors that a user can cause. An Error says what is wrong, where, what was expected, what was
// found and what to try, and carries the exit code of the process. Programming mistakes are
// asserts.
#pragma once

#include <stdexcept>
#include <string>

namespace heed {

// Exit codes of the command line (README, "Exit codes").
enum class Exit : int {
  ok = 0,
  internal = 1,
  usage = 2,         // command line, config, existing run, lock held, impossible request
  data = 3,          // corpora and prompts
  store = 4,         // anything about reading or writing a run
  diverged = 5,      // NaN, infinity, or weights far worse than untrained
  check_failed = 6,  // gradcheck
  memory = 7,
  interrupted = 130,
  terminated = 143,
};

class Error : public std::runtime_error {
 public:
  // `what`: one or more sentences that begin in lower case, after "heed: error: "; the last full
  // stop may be left out. `hint`: what to try.
  Error(Exit exit, const std::string& what, const std::string& hint = "")
      : std::runtime_error(sentence(what) + (hint.empty() ? "" : kTry + hint)), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  static constexpr const char* kTry = "\n  try: ";

  static std::string sentence(const std::string& what) {
    const bool complete = what.ends_with('.') || what.ends_with('?') || what.ends_with(':') ||
                          what.find(kTry) != std::string::npos;
    return complete ? what : what + '.';
  }

  Exit exit_;
};

}  // namespace heed
