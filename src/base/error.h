// Errors that a user can cause. An Error says what is wrong, where, what was expected, what was
// found and what to try, and carries the exit code of the process. Programming mistakes are
// asserts.
#pragma once

#include <stdexcept>
#include <string>

#include "base/std_names.h"

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
  // `text`: one or more sentences that begin in lower case, after "heed: error: "; the last full
  // stop is optional. `hint`: what to try.
  Error(Exit exit, const string& text, const string& hint = "")
      : std::runtime_error(sentence(text) + (hint.empty() ? "" : kTry + hint)),
        exit_(exit),
        text_(sentence(text)),
        hint_(hint) {}
  Exit exit() const { return exit_; }
  const string& text() const { return text_; }  // what() without the hint

  // The same with a hint.
  Error hint(const string& what) const { return as(exit_, what); }
  // The same with another exit code and, unless empty, one more hint.
  Error as(Exit exit, const string& more = "") const {
    return {exit, text_, hint_ + (hint_.empty() || more.empty() ? "" : kTry) + more};
  }

 private:
  static constexpr const char* kTry = "\n  try: ";

  static string sentence(const string& text) {
    return text.ends_with('.') || text.ends_with('?') || text.ends_with(':') ? text : text + '.';
  }

  Exit exit_;
  string text_, hint_;
};

}  // namespace heed
