#include "store/result_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <random>
#include <set>

#include "base/files.h"
#include "base/folders.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

// Pages beside them are welcome.
const std::set<std::string> kFilesOfRun{"config.json",        "origin.json", "metrics.jsonl",
                                        "train.log",          "film.jsonl",  ".lock",
                                        "initial.safetensors"};

void refuse_part_of_run(const fs::path& path) {
  std::error_code ignored;
  const auto has = [&](const char* name) { return fs::exists(path.parent_path() / name, ignored); };
  const bool of_checkpoint = has("state.json") && has("model.safetensors");
  const bool of_run = has("checkpoints") && kFilesOfRun.contains(path.filename().string());
  if (of_checkpoint || of_run)
    throw Error(Exit::usage,
                fmt::format("cannot write {}: it is part of a {} and would damage it",
                            quoted_path(path), of_run ? "run" : "checkpoint"),
                "another name");
}

void write_stream(const fs::path& path, std::string_view bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"),
                                                             &std::fclose);
  const bool written =
      file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (!written || std::fflush(file.get()) != 0) throw_file_error("write", path, errno);
}

// Opens no file that is there already.
struct NewFilesOnly : SystemCalls {
  int open(const char* path, int flags, mode_t mode) override {
    return SystemCalls::open(path, flags | O_EXCL, mode);
  }
};

// Like replace_file(), but under a random name first: another command may be writing the same page,
// and the user may have a file of any name. An old file's mode stays.
void replace_result(const fs::path& path, std::string_view bytes) {
  const fs::path folder = folder_of(path);
  const fs::path temporary = folder / fmt::format(".tmp-{:08x}", std::random_device()());
  NewFilesOnly calls;
  OutputFile file(temporary, calls);
  try {
    std::error_code ignored;  // of a file system without modes
    const fs::file_status old = fs::status(path, ignored);
    if (fs::exists(old)) fs::permissions(temporary, old.permissions(), ignored);
    file.write(bytes);
    file.finish();
    rename_path(temporary, path);
  } catch (const Error&) {
    calls.remove_all(temporary.c_str());
    throw;
  }
  sync_folder(folder);
}

}  // namespace

void write_result(const fs::path& path, std::string_view bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_other(status)) return write_stream(path, bytes);
  if (fs::is_directory(status)) throw_file_error("write", path, EISDIR);
  fs::path place = path;
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    place = fs::canonical(path, error);
    if (error) throw_file_error("follow the link", path, error.value());
  }
  if (!fs::is_directory(folder_of(place), error))
    throw_file_error("create", path, error ? error.value() : ENOTDIR);
  refuse_part_of_run(place);
  replace_result(place, bytes);
}

}  // namespace heed
