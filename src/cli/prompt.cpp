#include "cli/answers.h"

#include <editline/readline.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "base/format.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "cli/output.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr string_view kEnds[] = {":q", ":quit", "quit", "exit"};
constexpr const char* kHowToEnd = ":q or Ctrl-D ends. :help says what else there is.";

void begin_editing() {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // what libedit takes for a character
  // libedit leaves the terminal as it was before these are called.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, [](int caught) { ::_exit(int(exit_of_signal(caught))); });
  // Before the prompt is seen: no key is echoed twice.
  rl_pre_input_hook = [] {
    ::rl_prep_terminal(1);
    return 0;
  };
  if (::rl_initialize() != 0) throw bad_alloc();
  ::rl_bind_key('\t', ::rl_insert);  // a pasted tab stays a tab
}

// Waits for a line; nothing at the end.
optional<string> typed_line(const string& prompt) {
  const unique_ptr<char, void (*)(void*)> line(::readline(prompt.c_str()), std::free);
  if (!line) {
    print("\n");  // below the prompt
    return nullopt;
  }
  if (*line != '\0') ::add_history(line.get());
  return line.get();
}

// A message in the words of the prompt, where options have other names.
string in_prompt_words(const TextSource& source, string message) {
  for (const string& name : source.settings)
    message = replace_all(message, "--" + name, ":" + name);
  return message;
}

// Obeys ":help" or ":temperature 0.5". False: what is typed is a text.
bool obeys(CommandLine& line, const TextSource& source, const string& typed, Log& log) {
  const vector<string_view> words = split_words(typed);
  if (!typed.starts_with(':') || words[0].size() < 2) return false;
  const string name(words[0].substr(1));
  if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") != name.npos) return false;
  if (name == "help") {
    log.info(source.instructions);
    for (const string& setting : source.settings) {
      const string text = about(*line.app.get_option("--" + setting));
      log.info(in_prompt_words(source, fmt::format("  :{} VALUE  {}", setting, text)));
    }
    log.info(kHowToEnd);
    return true;
  }
  if (ranges::count(source.settings, name) == 0)
    throw usage_error("\"{}\" is nothing that can be set here.", excerpt(words[0]))
        .hint(":help; a space before it, if it is text");
  const string value(stripped(typed.substr(words[0].size())));
  line.set(name, value);
  log.info(fmt::format("{}: {}", name, value));
  return true;
}

}  // namespace

bool prompts(const CommandLine& line) {
  return !line.has_text() && ::isatty(STDIN_FILENO) == 1 && on_terminal();
}

Exit prompt_for_texts(CommandLine& line, const TextSource& source, Log& log,
                      const function<void(const string&)>& answer) {
  begin_editing();
  log.info(source.instructions);
  log.info(kHowToEnd);
  while (const optional<string> typed = typed_line(line.command + "> ")) {
    if (ranges::count(kEnds, *typed) > 0) break;
    if (typed->empty() && !source.allow_empty) {
      log.info(source.instructions);
      continue;
    }
    try {
      if (obeys(line, source, *typed, log)) continue;
      answer(*typed);
      flush_output();
    } catch (const Error& e) {
      // Not about the text, nor the page of it.
      if (e.exit() != Exit::data && e.exit() != Exit::usage && e.exit() != Exit::store) throw;
      flush_output();
      print_error(in_prompt_words(source, e.text()));  // a hint may be of the shell
    }
  }
  return Exit::ok;
}

}  // namespace heed
