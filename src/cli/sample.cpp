// heed sample RUN [TEXT]
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "data/dataset.h"
#include "decode/sampling.h"
#include "text/utf8.h"

namespace heed {
namespace {

class SamplePrinter {
 public:
  // `prompt`: the text of request.prompt. The model must outlive the printer.
  SamplePrinter(const OpenModel& m, const SampleRequest& r, const vector<string>& stops,
                const string& prompt, bool before_space)
      : tokenizer_(*m.tokenizers.target),
        json_(m.line.json),
        streams_(r.num_samples == 1),
        prompt_(to_valid_utf8(prompt)) {
    const bool continues = m.objective->continues();
    const TextStream stream(tokenizer_, continues && !r.prompt.empty() ? r.prompt.back() : -1,
                            stops, before_space);
    samples_ = vector<Sample>(r.num_samples, Sample{stream, continues && !json_ ? prompt_ : ""});
  }

  // A token of sample i. False: a text in `stops` ended the sample.
  bool add(int i, const TokenOdds& token) {
    Sample& s = samples_[i];
    s.ids.push_back(token.id);
    const string text = s.stream.push(token.id);
    if (json_) s.odds.push_back(token);
    s.text += text;
    if (streams_) {
      json_ ? print_line(token_json(i, token, text)) : print_rest(s);
      flush_output();
    }
    return !s.stream.stopped();
  }

  void complete(int i) {
    Sample& s = samples_[i];
    s.text += s.stream.finish();
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
    string text;       // where it is no JSON, behind the prompt that it continues
    size_t shown = 0;  // bytes of it that are printed
    vector<int> ids = {};
    vector<TokenOdds> odds = {};  // for JSON
    bool complete = false;
  };

  // (A prompt waits for the first token: a model that fails before it prints nothing.)
  void print_rest(Sample& s) {
    print_data(string_view(s.text).substr(exchange(s.shown, s.text.size())));
  }

  Json token_json(int i, const TokenOdds& token, const string& text) const {
    return {{"sample", i},
            {"id", token.id},
            {"token", tokenizer_.piece(token.id)},
            {"text", text},
            {"logprob", token.log_probability},
            {"rank", token.rank},
            {"entropy", token.entropy},
            {"alternatives", odds_json({&token, 1}, tokenizer_)["alternatives"][0]}};
  }

  void print_sample(size_t i) {
    Sample& s = samples_[i];
    if (json_) {
      Json j{{"sample", i},
             {"prompt", prompt_},
             {"text", s.text},
             {"ids", s.ids},
             {"tokens", tokenizer_.pieces(s.ids)}};
      j.update(odds_json(s.odds, tokenizer_));
      return print_line(j);
    }
    if (i > 0) print("\n");
    print_rest(s);
    if (!s.text.ends_with('\n')) print("\n");
  }

  const Tokenizer& tokenizer_;
  bool json_, streams_;
  string prompt_;
  vector<Sample> samples_;
  size_t next_ = 0;
};

// A whole file, pipe or standard input ("-"), without its final \n. `path` unset: standard input if
// it is a pipe or a file, else "".
string read_prompt(const optional<string>& path, OpenModel& m) {
  constexpr uint64_t kMost = 64u << 20;
  struct stat status = {};
  if (!path && (::fstat(STDIN_FILENO, &status) != 0 ||
                !(S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode))))
    return "";
  InputFile file(path.value_or("-"), read_options(m.config).form());
  string text = read_file(file, kMost);
  warn_of_markup(file.name(), text, m.log);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void add_sample_options(CommandLine& line, SampleRequest& r) {
  line.add_model();
  line.add_with();
  line.add_texts(
      "text to continue (default: standard input if it is a pipe or a file; on a "
      "terminal heed asks for it); its words need no quotes",
      "read the text from this file; - is standard input");
  line.add_number("--max-tokens", r.max_tokens, "how many tokens to write", 1, 100'000'000);
  line.add_number("--num-samples,-n", r.num_samples, "how many samples", 1, 1'000'000);
  line.add_number("--temperature", r.rules.temperature,
                  "below 1 favours likely tokens; 0: always the most probable token", 0.0);
  line.add_number("--top-k", r.rules.top_k, "keep only the k most probable tokens; 0: all", 0);
  line.add_number("--top-p", r.rules.top_p,
                  "keep the smallest set of tokens with at least this total probability (above 0, "
                  "up to 1)",
                  1e-9, 1.0);
  line.add_number("--min-p", r.rules.min_p,
                  "keep tokens with at least this fraction of the top probability", 0.0, 1.0);
  line.add_number("--repetition-penalty", r.rules.repetition_penalty,
                  "above 1: tokens that have occurred become less likely", 0.01, 100.0);
  line.add_rules(r.writing);
  line.add_number("--seed", r.seed, "seed of the random draws", uint64_t{0});
}

}  // namespace

Exit run_sample(CommandLine& line) {
  vector<string> stops;
  SampleRequest r;
  r.rules.temperature = 0.8;
  add_sample_options(line, r);
  line.add_list(
      "--stop", stops,
      "end a sample before this text; \\n in it is a newline, \\t a tab (may be repeated)", "TEXT");
  line.parse();
  line.only_where(r.rules.temperature > 0, {"--top-p", "--min-p", "--seed"},
                  "with a --temperature above 0");
  line.only_where(r.rules.temperature > 0 || line.json, {"--top-k"},
                  "with a --temperature above 0, or --json");
  if (line.json) r.n_best = r.rules.top_k > 0 ? r.rules.top_k : 5;
  OpenModel m(line);
  m.objective->check_use("sample", m.run);
  line.only_where(!m.objective->continues(), {"--min-tokens"},
                  "for a model whose texts end (pairs, spans)");
  for (string& stop : stops) stop = replace_all(replace_all(stop, "\\n", "\n"), "\\t", "\t");
  if (!line.words && !prompts(line)) line.words = read_prompt(line.file, m);
  r.banned = m.objective->never_written(*m.tokenizers.target);
  const auto answer = [&](span<const GivenText> texts) {
    const string& prompt = texts.front().text;
    const TokenizedText read = m.texts.prompt(prompt);
    r.prompt = read.ids();
    r.writing.not_next = read.not_next;
    SamplePrinter printer(m, r, stops, prompt, read.before_space);
    draw_samples(
        m.predictor(), *m.objective, m.pool, r,
        [&](int i, const TokenOdds& token) { return printer.add(i, token); },
        [&](int i) { printer.complete(i); });
    ++r.seed;
  };
  return answer_texts(m,
                      {.instructions = m.objective->use().instructions,
                       .settings = {"temperature", "top-k", "top-p", "min-p", "repetition-penalty",
                                    "no-repeat", "min-tokens", "max-tokens", "num-samples", "seed"},
                       .allow_empty = true},
                      answer);
}

}  // namespace heed
