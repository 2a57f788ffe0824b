#include "cli/answers.h"

#include <algorithm>

#include "base/format.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/std_names.h"
#include "base/text_kind.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "data/corpus.h"
#include "data/dataset.h"
#include "math/blas.h"
#include "store/run.h"
#include "store/run_folder.h"
#include "text/utf8.h"

namespace heed {
namespace {

// Any text, as it is in a file of lines.
string as_line(string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.ends_with('\r')) text.remove_suffix(1);
  return string(text);
}

// Reads lines a few at a time, for commands that answer as they read.
class LineReader {
 public:
  LineReader(const string& path, size_t limit, OpenModel& model)
      : name_(path == "-" ? "standard input" : path),
        limit_(limit),
        log_(model.log),
        form_(read_options(model.config).form()),
        input_(path, form_) {}

  const string& name() const { return name_; }

  // The next lines, or all; empty at the end. Error where the file cannot be read any further.
  vector<GivenText> read(bool all = false) {
    vector<GivenText> texts;
    while (number_ < limit_ &&
           (all || texts.empty() || (texts.size() < kLinesAtOnce && input_.ready()))) {
      const optional<string> line = input_.next();
      if (!line) break;
      if (++number_ == 1) check_kind(*line);
      texts.push_back({as_line(*line), {}, fmt::format("{}:{}", name_, number_), true});
    }
    return texts;
  }

 private:
  void check_kind(const string& line) {
    if (form_ != InputFile::Allow::text || line.empty()) return;
    if (const string kind = other_kind(line);
        !kind.empty() && kind.find("binary data") == kind.npos)
      throw_no_text(name_, kind);
    warn_of_markup(name_, line, log_);
  }

  string name_;
  size_t limit_;
  Log& log_;
  InputFile::Allow form_;
  InputLines input_;
  size_t number_ = 0;
};

// All lines of a file with those of another as their targets, or one after the other.
vector<GivenText> read_both(LineReader lines, LineReader others, bool compared) {
  const vector<GivenText> texts = lines.read(true), beside = others.read(true);
  if (texts.size() != beside.size())
    throw Error(compared ? Exit::usage : Exit::data,
                fmt::format("{} has {} lines, {} has {}.", lines.name(), texts.size(),
                            others.name(), beside.size()));
  vector<GivenText> both;
  for (size_t i = 0; i < texts.size(); ++i) {
    both.push_back(texts[i]);
    if (compared)
      both.push_back(beside[i]);
    else
      both.back().target = beside[i].text;
  }
  return both;
}

// `precision`: "" is as each was trained.
void choose_products(const string& precision, Model& m, Log& log) {
  Precision used = m.config.train.precision;
  if (!precision.empty() && m.config.train.arithmetic == Arithmetic::native)
    used = precision == "bfloat16" ? Precision::bfloat16 : Precision::float32;
  m.products = make_products(used);
  if (const string info = m.products->info(); !info.empty())
    log.info("precision: bfloat16, " + info);
}

}  // namespace

OpenModel::OpenModel(CommandLine& line_, int most_threads)
    : Model(load_model(line_.run, line_.checkpoint)),
      line(line_),
      log({.quiet = line.quiet}),
      pool(min(thread_count(line.threads, config), most_threads)),
      texts(*objective, config, tokenizers, log) {
  if (const string now = still_training(line.run); !now.empty()) log.info(now);
  line.only_where(config.train.arithmetic == Arithmetic::native, {"--precision"},
                  "for a run of train.arithmetic native");
  line.only_where(config.model.encoder_layers > 0, {"--side"}, "for a model with an encoder");
  prepare_arithmetic(config.train.arithmetic, pool.threads());
  open_others(*this);
  if (!line.has("--precision")) return;
  choose_products(line.precision, *this, log);
  for (Model& other : others) choose_products(line.precision, other, log);
}

void warn_of_markup(const string& name, string_view text, Log& log) {
  if (const string marks = markup_in_words(name, text); !marks.empty()) log.warn(marks);
}

string with_masks(const OpenModel& m, const GivenText& given) {
  string text = given.text;
  for (const char* mask : {"<mask>", "<MASK>", "[mask]"}) text = replace_all(text, mask, kMaskText);
  for (size_t at = 0; (at = text.find("___", at)) != text.npos; at += kMaskText.size())
    text.replace(at, min(text.find_first_not_of('_', at), text.size()) - at, kMaskText);
  if (text.find(kMaskText) == text.npos)
    throw data_error("{} has no [MASK], <mask> or ___.", given.name)
        .hint(fmt::format("heed {} {} {}", m.line.command, m.line.run,
                          shell_word(shortened(text, 60) + " [MASK]")));
  const TokenizerConfig& t = m.config.tokenizer;
  if (t.type != TokenizerConfig::word || t.punctuation != Punctuation::keep) return text;
  for (const string_view word : split_words(text))
    if (word != kMaskText && word.find(kMaskText) != word.npos)
      throw data_error("{} has {}: words of this model keep their marks.", given.name,
                       excerpt(word))
          .hint("[MASK] with spaces around it; --top-k N lists answers like \"big.\" too");
  return text;
}

string OpenModel::refusal_of(const GivenText& text, const function<void()>& use) try {
  use();
  return "";
} catch (const Error& e) {
  if (!text.is_line || e.exit() != Exit::data) throw;
  refused = true;
  print_error(e.what());
  return e.text();
}

Exit answer_texts(OpenModel& m, TextSource source, const Answer& answer) {
  const CommandLine& line = m.line;
  if (line.has("--html")) source.settings.emplace_back("html");
  const auto answer_one = [&](const string& text) {
    const GivenText one{as_line(text), line.target, "the text"};
    answer({&one, 1});
    m.texts.say_unknown();
  };
  if (prompts(m.line)) return prompt_for_texts(m.line, source, m.log, answer_one);
  if (line.words || line.target) {
    answer_one(line.words.value_or(""));
    return Exit::ok;
  }
  const string file = line.file.value_or("-");
  // A terminal that gets the answers sees how far they are.
  const bool waits = line.against || !on_terminal();
  const auto answer_lines = [&](span<const GivenText> texts, double share) {
    answer(texts);
    flush_output();
    if (waits) m.log.share_done(share);
  };
  if (const auto& beside = line.against ? line.against : line.target_file) {
    const vector<GivenText> texts =
        read_both({file, source.limit, m}, {*beside, source.limit, m}, beside == line.against);
    for (size_t i = 0; i < texts.size(); i += kLinesAtOnce)
      answer_lines(span(texts).subspan(i, min(kLinesAtOnce, texts.size() - i)),
                   double(i) / double(texts.size()));
  } else {
    LineReader reader(file, source.limit, m);
    error_code none;
    const double all = fs::is_regular_file(file, none) ? double(fs::file_size(file, none)) : 0;
    double read = 0;
    for (vector<GivenText> texts; !(texts = reader.read()).empty();) {
      for (const GivenText& text : texts) read += double(text.text.size() + 1);
      answer_lines(texts, read < all ? read / all : 0);
    }
  }
  m.log.end_progress();
  m.texts.say_unknown();
  return m.refused ? Exit::data : Exit::ok;
}

Exit answer_each(OpenModel& m, const TextSource& source, const char* key,
                 const function<Json(const GivenText&)>& answer,
                 const function<void(const Json&)>& view) {
  return answer_texts(m, source, [&](span<const GivenText> texts) {
    for (const GivenText& text : texts) {
      const string error = m.refusal_of(text, [&] {
        const Json found = answer(text);
        m.line.json ? print_line(found) : view(found);
      });
      if (!error.empty())
        m.line.json ? print_line({{key, nullptr}, {"error", error}}) : print("\n");
    }
  });
}

}  // namespace heed
