#include "cli/texts.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "base/input_file.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "data/corpus.h"
#include "data/dataset.h"

namespace heed {
namespace {

std::string shown_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

// Reads lines a few at a time, for commands that answer as they read.
class LineReader {
 public:
  LineReader(const std::string& path, const Lines& lines, bool any_bytes)
      : name_(shown_name(path)),
        lines_(lines),
        any_bytes_(any_bytes),
        input_(path, InputFile::Allow::anything, Exit::data) {}

  // The next lines; empty at the end.
  std::vector<GivenText> read() {
    if (failed_) std::rethrow_exception(failed_);
    std::vector<GivenText> texts;
    try {
      while (texts.size() < lines_.most && number_ < lines_.limit &&
             (texts.empty() || lines_.fill || input_.ready())) {
        std::optional<std::string> line = input_.next();
        if (!line) break;
        texts.push_back({checked(std::move(*line)), {}, fmt::format("line {}", number_), true});
      }
    } catch (const Error&) {
      if (texts.empty()) throw;
      failed_ = std::current_exception();
    }
    return texts;
  }

 private:
  std::string checked(std::string line) {
    ++number_;
    if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (line.ends_with('\r')) line.pop_back();
    if (!any_bytes_) check_utf8(line, fmt::format("{}, line {}", name_, number_));
    return line;
  }

  std::string name_;
  Lines lines_;
  bool any_bytes_;
  InputLines input_;
  std::size_t number_ = 0;
  std::exception_ptr failed_;  // thrown once the lines before it have been returned
};

std::vector<GivenText> read_both(const std::string& file, const std::string& target_file,
                                 bool any_bytes) {
  const ReadOptions options{.any_bytes = any_bytes};
  const std::vector<std::string> lines = read_lines(file, options);
  const std::vector<std::string> targets = read_lines(target_file, options);
  if (lines.size() != targets.size())
    throw Error(Exit::data, fmt::format("{} has {} lines, {} has {}.", shown_name(file),
                                        lines.size(), shown_name(target_file), targets.size()));
  std::vector<GivenText> texts;
  for (std::size_t i = 0; i < lines.size(); ++i)
    texts.push_back({lines[i], targets[i], fmt::format("line {}", i + 1), true});
  return texts;
}

void log_unknown(const Unknown& unknown, Log& log) {
  if (unknown.count > 0) log.info("read as <unk>: " + unknown.summary());
}

}  // namespace

Exit answer_texts(CommandLine& line, const PromptText& prompt, const Lines& lines,
                  const RunConfig& config, Log& log,
                  const std::function<Unknown(std::span<const GivenText>)>& answer) {
  const TextArguments& given = line.texts();
  const auto answer_one = [&](const std::string& text) {
    const GivenText one{text, given.target, "the text"};
    log_unknown(answer({&one, 1}), log);
  };
  if (!given.given() && can_prompt()) return prompt_for_texts(line, prompt, log, answer_one);
  if (given.text || given.target) {
    answer_one(given.text.value_or(""));
    return Exit::ok;
  }
  const std::string file = given.file.value_or("-");
  const bool any_bytes = read_options(config).any_bytes;
  Unknown unknown;
  const auto answer_lines = [&](std::span<const GivenText> texts) {
    unknown += answer(texts);
    flush_output();
  };
  if (given.target_file) {
    std::vector<GivenText> texts = read_both(file, *given.target_file, any_bytes);
    texts.resize(std::min(lines.limit, texts.size()));
    for (std::size_t i = 0; i < texts.size(); i += lines.most)
      answer_lines(std::span(texts).subspan(i, std::min(lines.most, texts.size() - i)));
  } else {
    LineReader reader(file, lines, any_bytes);
    for (std::vector<GivenText> texts; !(texts = reader.read()).empty();) answer_lines(texts);
  }
  log_unknown(unknown, log);
  return Exit::ok;
}

}  // namespace heed
