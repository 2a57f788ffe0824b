#include "cli/prompt.h"

#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <iterator>

#include "base/error.h"
#include "text/corpus.h"
#include "text/utf8.h"

namespace heed {

std::vector<int> encode_known(std::string text, const Tokenizer& tokenizer, const RunConfig& config,
                              const std::string& what) {
  if (tokenizer.type() != TokenizerConfig::byte) check_utf8(text, what);
  if (config.data.lowercase) text = to_lower(text);
  const Unknown unknown = tokenizer.unknown(text);
  if (unknown.count > 0)
    throw Error(Exit::data,
                what + " has " + unknown.summary() + ". The model has not seen " +
                    (unknown.count == 1 ? "it" : "them") + " in training.",
                "heed tokenize shows what it knows");
  return tokenizer.encode(text);
}

std::string piped_input() {
  struct stat status = {};
  if (::fstat(STDIN_FILENO, &status) != 0) return "";
  if (!S_ISFIFO(status.st_mode) && !S_ISREG(status.st_mode)) return "";
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string without_final_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace heed
