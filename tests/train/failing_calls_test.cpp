// Whatever call on whatever file of a run fails, for whatever reason, in a command that writes: its
// checkpoints stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>

#include "base/faulty_calls.h"
#include "base/files.h"
#include "base/input_file.h"
#include "base/temporary_folder.h"
#include "cli/command.h"
#include "math/blas.h"
#include "store/run_folder.h"
#include "train/resume.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;

// But for EINTR, after which a call is repeated.
constexpr int kErrors[] = {EIO,     EACCES, ENOSPC, ENOENT,    EMFILE,  ENOMEM,   EROFS,
                           EDQUOT,  ENFILE, EPERM,  EAGAIN,    EBADF,   EBADMSG,  EBUSY,
                           EINVAL,  EISDIR, ELOOP,  EHOSTDOWN, ENODATA, ENODEV,   ENOTCONN,
                           ENOTDIR, ENXIO,  ESTALE, EREMOTEIO, EUCLEAN, ETIMEDOUT};

// All bytes of the checkpoints of every run in a folder.
std::map<std::string, std::string> checkpoints_in(const fs::path& folder) {
  std::map<std::string, std::string> bytes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().lexically_relative(folder);
    if (path.find("step-") != path.npos && entry.is_regular_file() &&
        path.find(".tmp-") == path.npos)
      bytes[path] = read_file(entry.path(), 1 << 24);
  }
  return bytes;
}

class FailingCalls : public ::testing::Test {
 protected:
  FailingCalls() {
    prepare_blas();
    std::ofstream corpus(at("corpus.txt"));
    for (int i = 0; i < 60; ++i) corpus << "line " << i * i << " of a text\n";
    corpus.close();
    replace_file(at("c.json"), R"({
      "data": {"train": "corpus.txt", "valid_fraction": 0}, "tokenizer": {"type": "char"},
      "model": {"d_model": 4, "n_heads": 1, "d_ff": 4, "encoder_layers": 0, "decoder_layers": 1},
      "objective": {"type": "causal_lm", "target_length": 8}, "optimizer": {"schedule": "wsd"},
      "train": {"batch_tokens": 32, "max_steps": 8, "save_every": 2, 
                "keep_last": 2, "log_every": 0}})");
    config_ = load_config(at("c.json"), {});
    EXPECT_EQ(train("start/run"), Exit::ok);
  }
  Exit train(const std::string& run, std::int64_t stop_at = 0, bool force = false) {
    RunRequest request;
    request.folder = at(run);
    request.force = force;
    request.threads = 1;
    request.stop_at = stop_at;
    return train_run(request, config_, folder_.path(), log_).exit;
  }
  Exit resume(const std::string& run, std::int64_t more = 0) {
    ResumeRequest request;
    request.folder = at(run);
    request.threads = 1;
    request.more = more;
    return resume_run(request, log_).exit;
  }
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

  // Runs a command on a copy of the run, with each `stride`-th of its calls failing in turn.
  // `removed`: what it may take away once step 8 is saved.
  void fail_each_call(const std::function<Exit()>& command, const std::string& removed = "",
                      int stride = 41) {
    const fs::path work = folder_.path() / "work";
    const auto before = checkpoints_in(folder_.path() / "start");
    int done = 0, refused = 0;
    for (int n = 1, failures = 1; failures > 0; n += stride) {
      fs::remove_all(work);
      fs::copy(folder_.path() / "start", work,
               fs::copy_options::recursive | fs::copy_options::copy_symlinks);
      FaultyCalls calls;
      calls.reading = true;
      calls.fail_at = n;
      calls.reason = kErrors[static_cast<std::size_t>(n) % std::size(kErrors)];
      try {
        EXPECT_EQ(command(), Exit::ok);
        ++done;
      } catch (const Error& e) {
        EXPECT_THAT(e.exit(), AnyOf(Exit::store, Exit::data)) << e.what();
        ++refused;
      }
      failures = calls.failures;
      calls.fail_at = 0;
      SCOPED_TRACE("call " + std::to_string(n) + ", " +
                   std::generic_category().message(calls.reason));
      const auto after = checkpoints_in(work);
      const bool saved = after.contains("run/checkpoints/step-00000008/state.json");
      for (const auto& [path, bytes] : before) {
        if (!removed.empty() && saved && path.find(removed) != path.npos) continue;
        const auto found = std::ranges::find_if(after, [&](const auto& entry) {
          return entry.first.ends_with(path.substr(path.find("step-"))) && entry.second == bytes;
        });
        EXPECT_TRUE(found != after.end()) << path << " is gone or changed";
      }
    }
    EXPECT_GT(done, 0);
    EXPECT_GT(refused, 170 / stride);
  }

  TemporaryFolder folder_;
  RunConfig config_;
  Log log_{{.quiet = true, .fd = -1}};
};

TEST_F(FailingCalls, ALaterEnd) {
  fail_each_call([&] { return resume("work/run", 4); });
}

TEST_F(FailingCalls, AResume) {
  fs::remove_all(at("start"));
  EXPECT_EQ(train("start/run", 7), Exit::ok);
  fail_each_call([&] { return resume("work/run"); }, "step-00000004", 37);
}

TEST_F(FailingCalls, AnAverage) {
  fail_each_call(
      [&] {
        ::testing::internal::CaptureStdout();
        try {
          run_command({"average", at("work/run"), "--last", "2"});
        } catch (const Error&) {
          ::testing::internal::GetCapturedStdout();
          throw;
        }
        ::testing::internal::GetCapturedStdout();
        return Exit::ok;
      },
      "", 13);
}

TEST_F(FailingCalls, ANewRunOfTheName) {
  fail_each_call([&] { return train("work/run", 1, true); }, "", 13);
}

TEST_F(FailingCalls, WhatIsDamagedIsSetAside) {
  std::ofstream(at("start/run/checkpoints/step-00000008/model.safetensors"), std::ios::app) << "x";
  fail_each_call([&] { return resume("work/run"); }, "step-00000004", 40);
  EXPECT_EQ(resume("start/run"), Exit::ok);
  EXPECT_TRUE(fs::exists(at("start/run/checkpoints/damaged-step-00000008/state.json")));
}

// Frames without the probe that they belong to could not be read.
TEST_F(FailingCalls, AFilmWithoutItsProbe) {
  struct FullOnce : TestCalls {
    int failures = 0;
    int open(const char* path, int flags, mode_t mode) override {
      const bool film = std::string_view(path).ends_with("/run/film.jsonl");
      if (!film || !(flags & (O_WRONLY | O_RDWR)) || failures > 0)
        return SystemCalls::open(path, flags, mode);
      ++failures;
      errno = ENOSPC;
      return -1;
    }
  };
  {
    FullOnce calls;
    EXPECT_EQ(train("run", 4), Exit::ok);
    EXPECT_EQ(calls.failures, 1);
  }
  EXPECT_EQ(resume("run"), Exit::ok);
  EXPECT_THAT(read_file(at("run/film.jsonl"), 1 << 24), testing::StartsWith("{\"kind\":\"probe\""));
}

}  // namespace
}  // namespace heed
