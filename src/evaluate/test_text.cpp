#include "evaluate/test_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/format.h"
#include "store/origin.h"

namespace heed {
namespace {

RunConfig as_written(RunConfig config) {
  config.data.lowercase = false;
  config.data.normalize = Normalize::none;
  return config;
}

Split read_files(Model& m, NamedText& named, const Pool& pool) {
  if (!m.objective->traits().pairs()) return load_text(named.files, m.config, m.tokenizers);
  return load_pairs(as_read(written_pairs(m, named), read_options(m.config)), m.config,
                    m.tokenizers, pool.threads());
}

}  // namespace

RunData run_data(Model& m) {
  RunData data{load_dataset(config_of_data(m), data_folder(m), m.tokenizers), ""};
  if (data.hash.all() != m.state.data_hash)
    data.change = fmt::format("the data files of {} have changed since it was trained", m.run);
  return data;
}

TrainingLines training_lines(std::string run, LineFacts read) {
  TrainingLines lines{std::move(read), ""};
  std::set<std::string> seen;  // a run may have begun with what it replaced
  try {
    while (!run.empty() && seen.insert(run).second) {
      Model m = load_model(open_checkpoint(run));
      const std::vector<std::uint64_t> more = run_data(m).train.facts.hashes;
      lines.hashes.insert(lines.hashes.end(), more.begin(), more.end());
      run = read_origin(m.run).init_from;
    }
  } catch (const Error& e) {
    lines.missing = fmt::format("the training data of {} cannot be read: {}", run, e.what());
  }
  return lines;
}

const Pairs& written_pairs(const Model& m, NamedText& named) {
  if (!named.pairs)
    named.pairs = named.files.empty()
                      ? read_held_out_pairs(as_written(config_of_data(m)), data_folder(m))
                      : read_parallel(named.files[0], named.target_files[0],
                                      read_options(as_written(m.config)),
                                      std::span(named.target_files).subspan(1));
  return *named.pairs;
}

TestText test_text(Model& m, NamedText& named, const Pool& pool, Log& log) {
  const bool held_out = named.files.empty();
  if (held_out && !m.config.data.has_validation())
    throw usage_error("{} has no held-out data (data.valid_fraction 0).", m.run)
        .hint("another text (--file of evaluate and compare)");
  if ((m.objective->traits().pairs() && !held_out) == named.target_files.empty())
    throw usage_error("--file and --target-file belong together, for models of pairs.");
  TestText text;
  const std::string from = read_origin(m.run).init_from;
  if (!held_out) text.split = read_files(m, named, pool);
  TrainingLines lines;
  try {
    text.run = run_data(m);
    if (held_out) text.split = std::move(text.run->valid);
    lines = training_lines(from, text.run->train.facts);
  } catch (const Error& e) {
    if (held_out) throw;
    lines.missing = e.what();
  }
  Split& split = text.split;
  text.seen = static_cast<double>(common(lines, split.facts)) /
              std::max(1.0, static_cast<double>(split.facts.hashes.size()));
  if (text.run && !text.run->change.empty()) split.warnings.push_back(text.run->change);
  if (!held_out && text.seen > 0)
    split.warnings.push_back(leaks(lines, split.facts) + " of " + m.run +
                             (from.empty() ? "" : " or " + from));
  if (!held_out && !lines.missing.empty())
    split.notes.push_back(
        fmt::format("{} may have been trained on this text: {}", m.run, lines.missing));
  if (split.unknown.count > 0) split.notes.push_back(m.run + ": " + split.unknown.summary());
  for (const std::string& warning : split.warnings)
    if (named.told.insert(warning).second) log.warn(warning);
  for (const std::string& note : split.notes)
    if (named.told.insert(note).second) log.info(note);
  return text;
}

}  // namespace heed
