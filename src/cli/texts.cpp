#include "cli/texts.h"

#include <algorithm>
#include <exception>
#include <regex>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/text_kind.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "cli/table.h"
#include "data/corpus.h"
#include "data/dataset.h"
#include "text/utf8.h"

namespace heed {
namespace {

// Any text, as it is in a file of lines.
std::string as_line(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.ends_with('\r')) text.remove_suffix(1);
  return std::string(text);
}

// Reads lines a few at a time, for commands that answer as they read.
class LineReader {
 public:
  LineReader(const std::string& path, const Lines& lines, const UserTexts& as_read)
      : name_(path == "-" ? "standard input" : path),
        lines_(lines),
        log_(as_read.log()),
        is_text_(form_of_texts(as_read.config()) == InputFile::Allow::text),
        input_(path, form_of_texts(as_read.config()), Exit::data) {}

  const std::string& name() const { return name_; }

  // The next lines; empty at the end.
  std::vector<GivenText> read() {
    if (failed_) std::rethrow_exception(failed_);
    std::vector<GivenText> texts;
    try {
      while (texts.size() < lines_.most && number_ < lines_.limit &&
             (texts.empty() || input_.ready())) {
        std::optional<std::string> line = input_.next();
        if (!line) break;
        if (++number_ == 1) begin(*line);
        texts.push_back({as_line(*line), {}, fmt::format("{}:{}", name_, number_), true});
      }
    } catch (const Error&) {
      if (texts.empty()) throw;
      failed_ = std::current_exception();
    }
    return texts;
  }

 private:
  void begin(const std::string& line) {
    const std::string kind = is_text_ && !line.empty() ? other_kind(line) : "";
    if (!kind.empty() && kind.find("binary data") == kind.npos) throw_no_text(name_, kind);
    say_form(name_, line, input_.utf16(), log_);
  }

  std::string name_;
  Lines lines_;
  Log& log_;
  bool is_text_;  // not any bytes
  InputLines input_;
  std::size_t number_ = 0;
  std::exception_ptr failed_;  // thrown once the lines before it have been returned
};

// All lines; Error where the file cannot be read any further.
std::vector<GivenText> read_all(LineReader& lines) {
  std::vector<GivenText> all;
  for (auto part = lines.read(); !part.empty(); part = lines.read())
    std::ranges::move(part, std::back_inserter(all));
  return all;
}

// All lines of a file with those of another as their targets, or one after the other.
std::vector<GivenText> read_both(LineReader lines, LineReader others, bool compared) {
  const std::vector<GivenText> texts = read_all(lines), beside = read_all(others);
  if (texts.size() != beside.size())
    throw Error(compared ? Exit::usage : Exit::data,
                fmt::format("{} has {} lines, {} has {}.", lines.name(), texts.size(),
                            others.name(), beside.size()));
  std::vector<GivenText> both;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    both.push_back(texts[i]);
    if (compared)
      both.push_back(beside[i]);
    else
      both.back().target = beside[i].text;
  }
  return both;
}

constexpr std::size_t kNamed = 10;  // lines that could not be answered, at most

}  // namespace

InputFile::Allow form_of_texts(const RunConfig& config) {
  return read_options(config).any_bytes ? InputFile::Allow::anything : InputFile::Allow::text;
}

void say_form(const std::string& name, std::string_view text, bool utf16, Log& log) {
  if (utf16) log.info(utf16_in_words({name}));
  if (const std::string marks = markup_in_words(name, text); !marks.empty()) log.warn(marks);
}

std::string with_masks(const CommandLine& line, const GivenText& given, const RunConfig& config) {
  static const std::regex gap("<mask>|\\[mask\\]|_{3,}", std::regex::icase);
  std::string text = std::regex_replace(given.text, gap, std::string(kMaskText));
  if (text.find(kMaskText) == std::string::npos)
    throw Error(Exit::data, given.name + " has no [MASK], <mask> or ___.",
                fmt::format("heed {} {} {}", line.name(), line.run(),
                            shell_word(shortened(given.text, 60) + " [MASK]")));
  if (config.tokenizer.type != TokenizerConfig::word ||
      config.tokenizer.punctuation != Punctuation::keep)
    return text;
  for (const std::string_view word : split_words(text))
    if (word != kMaskText && word.find(kMaskText) != word.npos)
      throw Error(
          Exit::data,
          fmt::format("{} has {}: the words of this model keep their marks, so what stands "
                      "beside a [MASK] is part of its answer.",
                      given.name, excerpt(word)),
          "[MASK] with spaces around it" +
              std::string(line.name() == "fill" ? ", and --top-k N for answers like \"big.\""
                                                : ""));
  return text;
}

void check_page(const CommandLine& line, const std::string& html, bool prompts) {
  const bool lines = !prompts && !line.texts().text && !line.texts().target;
  if (lines && !html.empty())
    throw Error(Exit::usage, "--html writes the page of one text; lines of a file may be many.",
                "one of them as TEXT, no --html, or --json");
  if (html != "-") return;
  if (line.json()) throw Error(Exit::usage, "--json and --html - both need standard output.");
  if (prompts) throw Error(Exit::usage, "--html -: a prompt needs standard output; name a file.");
}

std::string Refusals::refusal_of(const GivenText& text, const std::function<void()>& use) try {
  use();
  return "";
} catch (const Error& e) {
  if (!text.is_line || e.exit() != Exit::data) throw;
  if (count_++ < kNamed) print_error(e.what());
  return e.text();
}

void Refusals::answer(const GivenText& text, const char* key, bool json,
                      const std::function<void()>& use) {
  const std::string refused = refusal_of(text, use);
  if (!refused.empty()) json ? print_line({{key, nullptr}, {"error", refused}}) : print("\n");
}

Exit Refusals::end() const {
  if (count_ > kNamed)
    print_error((counted(std::to_string(count_ - kNamed), "line") + " more could not be answered.")
                    .c_str());
  return count_ > 0 ? Exit::data : Exit::ok;
}

Exit answer_texts(CommandLine& line, const PromptText& prompt, const Lines& lines,
                  UserTexts& as_read, const Answer& answer) {
  const TextArguments& given = line.texts();
  Refusals refusals;
  const auto answer_one = [&](const std::string& text) {
    const GivenText one{as_line(text), given.target, "the text"};
    answer({&one, 1}, refusals);
    as_read.say_unknown();
  };
  if (!given.given() && can_prompt())
    return prompt_for_texts(line, prompt, as_read.log(), answer_one);
  if (given.text || given.target) {
    answer_one(given.text.value_or(""));
    return Exit::ok;
  }
  const std::string file = given.file.value_or("-");
  const auto answer_lines = [&](std::span<const GivenText> texts) {
    answer(texts, refusals);
    flush_output();
  };
  if (const auto& beside = given.against ? given.against : given.target_file) {
    constexpr Lines kAll{.most = Lines{}.limit};
    std::vector<GivenText> texts =
        read_both({file, kAll, as_read}, {*beside, kAll, as_read}, beside == given.against);
    texts.resize(std::min(lines.limit, texts.size()));
    for (std::size_t i = 0; i < texts.size(); i += lines.most)
      answer_lines(std::span(texts).subspan(i, std::min(lines.most, texts.size() - i)));
  } else {
    LineReader reader(file, lines, as_read);
    for (std::vector<GivenText> texts; !(texts = reader.read()).empty();) answer_lines(texts);
  }
  as_read.say_unknown();
  return refusals.end();
}

}  // namespace heed
