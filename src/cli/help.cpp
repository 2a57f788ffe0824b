// What heed COMMAND --help prints, in the terminal's width.
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "cli/command.h"

namespace heed {

extern const char* const help_txt;  // cli/help/*.txt, each below "= COMMAND"

namespace {

constexpr std::size_t kNames = 20;  // columns of the names

// "--minutes N", "RUN"
std::string names_of(const CLI::Option& o) {
  if (o.get_positional()) return o.get_single_name();
  std::vector<std::string> names;
  for (const std::string& name : o.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : o.get_snames()) names.push_back("-" + name);
  const std::string type = o.get_type_name(), kind = type.substr(0, type.find(':'));
  const bool number = kind == "INT" || kind == "UINT" || kind == "FLOAT";
  return joined(names) + (o.get_items_expected_max() == 0 ? "" : number ? " N" : " " + kind);
}

}  // namespace

std::string help_notes(const std::string& command) {
  const std::string all = help_txt, head = "= " + command + "\n";
  const std::size_t at = all.find(head);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + head.size();
  const std::string text =
      all.substr(begin, std::min(all.find("\n= ", begin), all.size() - 1) - begin);
  // A paragraph becomes a line.
  return replace_all(replace_all(replace_all(text, "\n\n", "\f"), "\n", " "), "\f", "\n");
}

std::string about(const CLI::Option& o) {
  std::string text = o.get_description();
  const std::string type = o.get_type_name(), value = o.get_default_str();
  if (const std::size_t begin = type.find(":{"); begin != std::string::npos)
    text += ": " + replace_all(type.substr(begin + 2, type.size() - begin - 3), ",", ", ");
  if (!value.empty() && value != "[]" && value != "\"\"" && o.get_items_expected_max() > 0)
    text += fmt::format(" (default {})", value);
  return text;
}

std::string CommandLine::help() const {
  const int width = std::clamp(terminal_width(STDOUT_FILENO), 40, 100);
  std::string arguments, usage = "usage: " + name_;
  for (const bool positional : {true, false})
    for (const CLI::Option* o : app_.get_options()) {
      if (o->get_positional() != positional) continue;
      const std::string names = names_of(*o);
      if (positional) usage += o->get_required() ? " " + names : " [" + names + "]";
      const std::string first = fmt::format("  {:{}}", names, kNames - 2), pad(kNames, ' ');
      const std::string text = wrapped(pad + about(*o), width, pad);
      arguments += names.size() + 3 > kNames ? first + "\n" + text + "\n"
                                             : first + text.substr(kNames) + "\n";
    }
  const std::string notes = app_.get_footer();
  return wrapped(app_.get_description() + "\n\n" + usage + " [OPTIONS]\n\n", width) + arguments +
         (notes.empty() ? "" : "\n" + wrapped(notes, width) + "\n");
}

}  // namespace heed
