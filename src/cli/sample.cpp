// heed sample RUN [TEXT]
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "decode/sampling.h"
#include "decode/text_stream.h"
#include "store/trained_model.h"

namespace heed {
namespace {

class SamplePrinter {
 public:
  // `prompt`: the text of request.prompt. The model must outlive the printer.
  SamplePrinter(const TrainedModel& m, const SampleRequest& r,
                const std::vector<std::string>& stops, bool json, std::string prompt,
                bool before_space)
      : tokenizer_(*m.tokenizers.target), json_(json), prompt_(std::move(prompt)) {
    const bool continues = m.objective->continues();
    shows_prompt_ = continues && !json;
    streams_ = r.num_samples == 1;
    begun_ = !streams_ || !shows_prompt_;
    const int previous = !continues || r.prompt.empty() ? -1 : r.prompt.back();
    for (int i = 0; i < r.num_samples; ++i)
      samples_.push_back({TextStream(tokenizer_, previous, stops, before_space)});
  }

  // A token of sample i. False: a text in `stops` ended the sample.
  bool add(int i, const TokenOdds& token) {
    begin();
    Sample& s = samples_[i];
    s.ids.push_back(token.id);
    const std::string text = s.stream.push(token.id);
    if (json_) s.odds.push_back(token);
    s.text += text;
    if (streams_) {
      json_ ? print_line(token_json(i, token, text)) : print_data(text);
      flush_output();
    }
    return !s.stream.stopped();
  }

  void complete(int i) {
    begin();
    Sample& s = samples_[i];
    const std::string rest = s.stream.finish();
    s.text += rest;
    if (streams_ && !json_) print_data(rest);
    s.complete = true;
    for (; next_ < samples_.size() && samples_[next_].complete; ++next_) {
      print_sample(next_);
      samples_[next_].text.clear();
      samples_[next_].odds = {};
    }
    flush_output();
  }

 private:
  struct Sample {
    TextStream stream;
    std::string text = "";
    std::vector<int> ids = {};
    std::vector<TokenOdds> odds = {};  // for JSON
    bool complete = false;
  };

  // A stream's prompt waits for its first token: a model that fails before it prints nothing.
  void begin() {
    if (!begun_) print_data(to_valid_utf8(prompt_));
    begun_ = true;
  }

  Json token_json(int i, const TokenOdds& token, const std::string& text) const {
    return {{"sample", i},
            {"id", token.id},
            {"token", tokenizer_.piece(token.id)},
            {"text", text},
            {"logprob", token.log_probability},
            {"rank", token.rank},
            {"entropy", token.entropy},
            {"alternatives", odds_json({&token, 1}, tokenizer_)["alternatives"][0]}};
  }

  Json sample_json(std::size_t i) const {
    const Sample& s = samples_[i];
    Json j{{"sample", i},
           {"prompt", to_valid_utf8(prompt_)},
           {"text", s.text},
           {"ids", s.ids},
           {"tokens", tokenizer_.pieces(s.ids)}};
    j.update(odds_json(s.odds, tokenizer_));
    return j;
  }

  void print_sample(std::size_t i) {
    const Json sample = sample_json(i);
    if (json_) return print_line(sample);
    std::string shown = sample["text"];
    if (shows_prompt_) shown.insert(0, sample["prompt"].get<std::string>());
    if (i > 0) print("\n");
    if (!streams_) print_data(shown);
    if (!shown.ends_with('\n')) print("\n");
  }

  const Tokenizer& tokenizer_;
  bool json_, shows_prompt_, streams_, begun_;
  std::string prompt_;
  std::vector<Sample> samples_;
  std::size_t next_ = 0;
};

struct SampleOptions {
  TextArguments texts;
  std::vector<std::string> stops;
  SampleRequest request;
};

// Error (usage) if the model's tokens have not all of the text's characters.
void check_stop(const Tokenizer& tokenizer, const std::string& stop) {
  if (tokenizer.type() != TokenizerConfig::char_ && tokenizer.type() != TokenizerConfig::word)
    return;
  std::set<char32_t> written = {' '};  // between words
  for (int id = tokenizer.first_ordinary_id(); id < tokenizer.size(); ++id)
    each_code_point(tokenizer.decode(std::array{id}),
                    [&](CodePoint c, std::size_t) { written.insert(c.value); });
  each_code_point(stop, [&](CodePoint c, std::size_t) {
    if (written.contains(c.value)) return;
    throw Error(Exit::usage,
                fmt::format("--stop \"{}\" never matches: no token of the model has {}.",
                            excerpt(stop), code_point_name(c.value)),
                "heed tokenize shows what it knows");
  });
}

// A whole file, pipe or standard input ("-"), without its final \n.
std::string prompt_from(const std::string& path, OpenModel& m) {
  constexpr std::uint64_t kMost = 64u << 20;
  InputFile file(path, form_of_texts(m.config), Exit::data);
  std::string text = read_file(file, kMost, Exit::data);
  say_form(file.name(), text, file.utf16(), m.log);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// --file, else standard input if it is a pipe or a file, else "".
std::string read_prompt(const SampleOptions& o, OpenModel& m) {
  if (o.texts.file) return prompt_from(*o.texts.file, m);
  struct stat status = {};
  if (::fstat(STDIN_FILENO, &status) != 0) return "";
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) ? prompt_from("-", m) : "";
}

// Adds what depends on the model: prompt ids, banned ids, the limit on tokens.
void complete_request(const TrainedModel& m, const TokenizedText& prompt, Log& log,
                      SampleRequest& r) {
  const Tokenizer& tokenizer = *m.tokenizers.target;
  r.prompt = prompt.ids();
  r.banned = m.objective->never_written(tokenizer);
  r.writing.not_next = prompt.not_next;
  if (m.objective->continues()) return;
  const int longest = most_positions(m.config.model);
  if (r.max_tokens > longest)
    log.info(fmt::format("max-tokens {}: the model has no more positions", longest));
  r.max_tokens = std::min(r.max_tokens, longest);
}

void add_sample_options(CommandLine& line, SampleOptions& o) {
  SampleRequest& r = o.request;
  CLI::App& app = line.app();
  line.add_model();
  line.add_with();
  line.add_texts(o.texts,
                 "text to continue (default: standard input if it is a pipe or a file; on a "
                 "terminal heed asks for it); its words need no quotes",
                 "read the text from this file; - is standard input");
  app.add_option("--max-tokens", r.max_tokens, "how many tokens to write")
      ->check(in_range(1, 100'000'000));
  app.add_option("--num-samples,-n", r.num_samples, "how many samples")
      ->check(in_range(1, 1'000'000));
  app.add_option("--temperature", r.rules.temperature,
                 "below 1 favours likely tokens; 0: always the most probable token")
      ->check(in_range(0.0));
  app.add_option("--top-k", r.rules.top_k, "keep only the k most probable tokens; 0: all")
      ->check(in_range(0));
  app.add_option("--top-p", r.rules.top_p,
                 "keep the smallest set of tokens with at least this total probability (above 0, "
                 "up to 1)")
      ->check(in_range(1e-9, 1.0));
  app.add_option("--min-p", r.rules.min_p,
                 "keep tokens with at least this fraction of the top probability")
      ->check(in_range(0.0, 1.0));
  app.add_option("--repetition-penalty", r.rules.repetition_penalty,
                 "above 1: tokens that have occurred become less likely")
      ->check(in_range(0.01, 100.0));
  line.add_rules(r.writing);
  line.add_list(
      "--stop", o.stops,
      "end a sample before this text; \\n and \\t in it are a newline and a tab, any other \\ is "
      "itself (may be repeated)",
      "TEXT");
  app.add_option("--seed", r.seed, "seed of the random draws")->check(in_range(std::uint64_t{0}));
  line.only_where({"--min-tokens"}, "for a model whose texts end (pairs, spans)",
                  [](auto* model) { return !model || !make_objective(*model)->continues(); });
  line.only_where({"--top-p", "--min-p", "--seed"}, "with a --temperature above 0",
                  [&r](auto*) { return r.rules.draws(); });
  line.only_where({"--top-k"}, "with a --temperature above 0, or --json",
                  [&](auto*) { return r.rules.draws() || line.json(); });
}

}  // namespace

Exit run_sample(CommandLine& line) {
  SampleOptions o;
  SampleRequest& r = o.request;
  r.rules.temperature = 0.8;
  add_sample_options(line, o);
  if (!line.parse()) return Exit::ok;
  for (std::string& stop : o.stops) {
    if (stop.empty())
      throw Error(Exit::usage, "--stop: expected a text, found an empty one.",
                  "heed sample --help");
    stop = replace_all(replace_all(stop, "\\n", "\n"), "\\t", "\t");
  }

  if (line.json()) r.n_best = r.rules.top_k > 0 ? r.rules.top_k : 5;
  OpenModel m(line);
  for (const std::string& stop : o.stops) check_stop(*m.tokenizers.target, stop);
  m.objective->check_use("sample", m.run);
  UserTexts texts(*m.objective, m.config, m.tokenizers, m.log);
  const auto answer = [&](std::span<const GivenText> given, Refusals&) {
    const std::string& prompt = given.front().text;
    const TokenizedText read = texts.prompt(prompt);
    complete_request(m, read, m.log, r);
    SamplePrinter printer(m, r, o.stops, line.json(), prompt, read.before_space);
    draw_samples(
        m.model, m.values, *m.objective, m.pool, r,
        [&](int i, const TokenOdds& token) { return printer.add(i, token); },
        [&](int i) { printer.complete(i); });
    ++r.seed;
  };
  if (!o.texts.text && (o.texts.file || !can_prompt())) o.texts.text = read_prompt(o, m);
  return answer_texts(line,
                      {.instructions = std::string(m.objective->use().instructions),
                       .settings = {"temperature", "top-k", "top-p", "min-p", "repetition-penalty",
                                    "no-repeat", "min-tokens", "max-tokens", "num-samples", "seed"},
                       .allow_empty = true},
                      {}, texts, answer);
}

}  // namespace heed
