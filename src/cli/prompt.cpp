#include "cli/prompt.h"

#include <editline/readline.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/signals.h"
#include "cli/command.h"
#include "cli/output.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr const char* kHowToEnd = "quit or Ctrl-D ends. :help says what else there is.";

// State of the signal handler.
volatile std::sig_atomic_t prompt_stop = 0;  // a pending signal to stop, or 0
int prompt_wake = -1;                        // the eventfd that the prompt polls
termios prompt_terminal;                     // its settings before editing

extern "C" void note_prompt_signal(int signal) {
  const int error = errno;
  if (signal == SIGQUIT) {  // ends it as ever, with the terminal as it was
    ::tcsetattr(STDIN_FILENO, TCSANOW, &prompt_terminal);
    std::signal(SIGQUIT, SIG_DFL);
    std::raise(SIGQUIT);
    return;
  }
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
    if (prompt_stop != 0) {
      ::tcsetattr(STDIN_FILENO, TCSANOW, &prompt_terminal);
      ::_exit(static_cast<int>(exit_of_signal(signal)));
    }
    prompt_stop = signal;
  }
  (void)::eventfd_write(prompt_wake, 1);
  errno = error;
}

// libedit reads a line through this: a character, or -1 to give the line up. A signal that comes
// just before the wait is not missed.
int read_character(std::FILE*) {
  for (std::mbstate_t state = {};;) {
    pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {prompt_wake, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    if (eventfd_t count; ready[1].revents != 0 && ::eventfd_read(prompt_wake, &count) == 0) {
      if (prompt_stop != 0) return -1;
      ::rl_deprep_terminal();
      ::rl_prep_terminal(1);
      ::rl_resize_terminal();
      ::rl_forced_update_display();
      continue;
    }
    char byte = 0;
    const ssize_t n = ::read(STDIN_FILENO, &byte, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return -1;
    wchar_t character = 0;
    const std::size_t used = std::mbrtowc(&character, &byte, 1, &state);
    if (used == static_cast<std::size_t>(-2)) continue;  // not yet whole
    return used == static_cast<std::size_t>(-1) ? L'\uFFFD' : static_cast<int>(character);
  }
}

constexpr const char* kNoUtf8 =
    "this system has no locale with UTF-8 (C.UTF-8): only ASCII can be typed here; texts as "
    "arguments and through a pipe may have any letters";

class Prompt {
 public:
  Prompt(const std::string& name, Log& log) : text_(name + "> "), log_(log) {
    // libedit and the terminal must agree about what a character is.
    if ((!std::setlocale(LC_CTYPE, "") || std::string_view(::nl_langinfo(CODESET)) != "UTF-8") &&
        !std::setlocale(LC_CTYPE, "C.UTF-8"))
      log_.warn(kNoUtf8);
    ::tcgetattr(STDIN_FILENO, &prompt_terminal);
    prompt_wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // SIGWINCH and SIGCONT change what the terminal shows.
    struct sigaction action = {};
    action.sa_handler = note_prompt_signal;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT})
      ::sigaction(signal, &action, nullptr);
    rl_catch_signals = 0;  // libedit would send them to the whole process group again
    rl_getc_function = read_character;
    // Before the prompt is seen: no key is echoed twice.
    rl_pre_input_hook = [] {
      ::rl_prep_terminal(1);
      return 0;
    };
    if (::rl_initialize() != 0) throw std::bad_alloc();
    ::stifle_history(1000);
    // As in other programs; a pasted tab stays a tab.
    ::rl_parse_and_bind("bind ^W ed-delete-prev-word");
    ::rl_bind_key('\t', ::rl_insert);
  }

  // Waits for a line; nothing at the end.
  std::optional<std::string> next() {
    while (prompt_stop == 0 || prompt_stop == SIGINT) {  // one SIGINT ended the last answer
      eventfd_t obeyed;  // its wake, or the prompt would be drawn twice
      if (prompt_stop == SIGINT) (void)::eventfd_read(prompt_wake, &obeyed);
      if (prompt_stop == SIGINT) prompt_stop = 0;  // a later signal is not lost
      const std::unique_ptr<char, void (*)(void*)> line(::readline(text_.c_str()), std::free);
      if (line) {
        const std::string typed = line.get();
        if (!typed.empty() && typed != last_) ::add_history(typed.c_str());
        return last_ = typed;
      }
      print("\n");  // below what was typed
      flush_output();
      if (prompt_stop == 0) break;
      if (prompt_stop == SIGINT && !std::exchange(hint_shown_, true)) log_.info(kHowToEnd);
    }
    return std::nullopt;
  }

  Exit exit() const { return prompt_stop == 0 ? Exit::ok : exit_of_signal(prompt_stop); }

 private:
  std::string text_;
  Log& log_;
  std::string last_;         // typed; the history has no line twice in a row
  bool hint_shown_ = false;  // kHowToEnd after Ctrl-C
};

// A message in the words of the prompt, where options have other names or none.
std::string said_here(const PromptText& text, std::string message) {
  message = replace_all(message, ", or --json", "");
  for (const std::string& name : text.settings)
    message = replace_all(message, "--" + name, ":" + name);
  return message;
}

void show_help(const CommandLine& line, const PromptText& text, Log& log) {
  log.info(text.instructions);
  for (const std::string& name : text.settings)
    log.info(said_here(
        text, fmt::format("  :{} VALUE  {}", name, about(*line.app().get_option("--" + name)))));
  log.info("  :again  the last text once more");
  log.info(kHowToEnd);
}

// Obeys ":help" or ":temperature 0.5"; also "/help", which other programs have. False: what is
// typed is a text.
bool obeys(CommandLine& line, const PromptText& text, const std::string& typed, Log& log) {
  const std::vector<std::string_view> words = split_words(typed);
  if (words.empty() || !typed.starts_with(words[0]) || words[0].size() < 2) return false;
  const std::string name(words[0].substr(1));
  const bool known = name == "help" || std::ranges::count(text.settings, name) > 0;
  const bool named =
      std::ranges::all_of(name, [](char c) { return ('a' <= c && c <= 'z') || c == '-'; });
  if (typed[0] != ':' && !(typed[0] == '/' && known)) return false;
  if (name == "help") {
    show_help(line, text, log);
  } else if (known) {
    const std::vector<std::string> values(words.begin() + 1, words.end());
    text.set ? text.set(name, values) : line.set(name, values);
    log.info(fmt::format("{}: {}", name, joined(values, " ")));
  } else if (named) {
    throw Error(Exit::usage,
                fmt::format("\"{}\" is nothing that can be set here.", excerpt(words[0])),
                ":help; a space before it, if it is text");
  }
  return named;
}

}  // namespace

bool can_prompt() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

bool interrupted() {
  return prompt_stop != 0;
}

Exit prompt_for_texts(CommandLine& line, const PromptText& text, Log& log,
                      const std::function<void(const std::string&)>& answer) {
  Prompt prompt(line.name(), log);
  log.info(text.instructions);
  log.info(kHowToEnd);
  std::optional<std::string> last;
  while (const std::optional<std::string> typed = prompt.next()) {
    if (*typed == "quit" || *typed == "exit" || *typed == ":quit" || *typed == "/quit") break;
    if (typed->empty() && !text.allow_empty) {
      log.info(text.instructions);
      continue;
    }
    try {
      const bool again = *typed == ":again" || *typed == "/again";
      if (!again && obeys(line, text, *typed, log)) continue;
      if (!again) last = *typed;
      if (again && !last)
        throw Error(Exit::usage, "there is no text yet that :again could repeat.");
      answer(*last);
      flush_output();
    } catch (const Error& e) {
      // Not about the text, nor the page of it.
      if (e.exit() != Exit::data && e.exit() != Exit::usage && e.exit() != Exit::store) throw;
      flush_output();
      const std::string all = e.what(), &text_alone = e.text();
      const bool of_shell = all.find("heed ", text_alone.size()) != all.npos;  // a command to try
      print_error(said_here(text, of_shell ? text_alone : all).c_str());
    }
  }
  return prompt.exit();
}

}  // namespace heed
