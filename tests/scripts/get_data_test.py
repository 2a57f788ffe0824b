"""scripts/get_data.sh on small files, from a folder and from a local server."""
import gzip
import hashlib
import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
TOOLS = ("bash env dirname grep cut uniq paste sha256sum mktemp mkdir gzip cat rm mv wc chmod sed").split()
needs_a_downloader = unittest.skipUnless(shutil.which("curl") or shutil.which("wget"), "curl and wget are both missing is here")
PLAIN, PACKED = b"one line\nand another\n", b"a text that is sent gzipped\n" * 100


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves bytes by name on this machine; a name in `cut` sends fewer bytes than it announces."""

    def do_GET(self):
        name, server = self.path[1:], self.server
        server.asked.append(name)
        if name not in server.files:
            return self.send_error(404)
        body = server.files[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if name in server.cut else body)

    def log_message(self, *_):
        pass


class GetData(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heed_test_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.files, self.server.cut, self.server.asked = {"raw.txt": PLAIN, "pairs.en.gz": gzip.compress(PACKED)}, set(), []
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)  # the first to be called
        address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        # A repository with the script and its own list.
        self.script = self.folder / "repository" / "scripts" / "get_data.sh"
        self.script.parent.mkdir(parents=True)
        for name in ("get_data.sh", "common.sh"):
            shutil.copy(SCRIPTS / name, self.script.parent)
        sums = [hashlib.sha256(b).hexdigest() for b in (PLAIN, PACKED)]
        (self.script.parent / "downloads.txt").write_text(
            f"# set path hash address\n"
            f"small small.txt {sums[0]} {address}raw.txt\n"
            f"both both/pairs.en {sums[1]} {address}pairs.en.gz\n"
            f"both both/plain.txt {sums[0]} {address}raw.txt\n")
        self.place = self.folder / "repository" / "data" / "downloads"
        self.source = self.folder / "source"
        self.source.mkdir()

    def get(self, *args, status=0, words=(), tools=None):
        """Runs the script from another folder; `tools`: only these downloaders are installed."""
        env = dict(os.environ)
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            env.pop(name, None)
        if tools is not None:
            bin_folder = self.folder / ("bin" + "".join(tools))
            bin_folder.mkdir()
            for tool in (*TOOLS, *tools):
                found = shutil.which(tool)
                if found is None:
                    self.skipTest(f"{tool} is not installed")
                (bin_folder / tool).symlink_to(found)
            env["PATH"] = str(bin_folder)
        done = subprocess.run([self.script, *args], capture_output=True, text=True, cwd=self.folder, env=env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, done.stdout + done.stderr)
        return done

    def files(self):
        return {str(p.relative_to(self.place)): p.read_bytes() for p in self.place.rglob("*") if p.is_file()}

    def test_files_of_a_folder_are_copied_where_the_configs_look(self):
        (self.source / "both").mkdir()
        (self.source / "both" / "pairs.en").write_bytes(PACKED)
        (self.source / "raw.txt").write_bytes(PLAIN)  # a file may also have the name of its address
        self.get("both", "--from", "source", words="both is in")
        self.assertEqual(self.files(), {"both/pairs.en": PACKED, "both/plain.txt": PLAIN})
        self.assertEqual(self.server.asked, [])

    def test_a_file_with_another_hash_is_refused_and_leaves_nothing(self):
        (self.source / "small.txt").write_bytes(PLAIN[:-1])
        self.get("small", "--from", self.source, status=1, words=["small.txt is not the expected file", "SHA-256"])
        self.assertEqual(self.files(), {})

    def test_a_missing_file_and_a_missing_folder_are_named(self):
        self.get("small", "--from", self.source, status=1, words="has no file small.txt (nor raw.txt)")
        self.get("small", "--from", "nowhere", status=1, words="nowhere is not a folder")
        self.assertFalse(self.place.exists() and self.files())

    def test_a_second_call_does_nothing(self):
        (self.source / "small.txt").write_bytes(PLAIN)
        self.get("small", "--from", self.source)
        (self.source / "small.txt").unlink()
        self.get("small", "--from", self.source, words="small.txt: already here")
        self.get("small", words="small.txt: already here")
        self.assertEqual(self.server.asked, [])

    @needs_a_downloader
    def test_a_file_that_is_not_the_expected_one_is_replaced(self):
        self.place.mkdir(parents=True)
        (self.place / "small.txt").write_bytes(PLAIN[:5])
        self.get("small", words=["small.txt: replaces another file", "checked"])
        self.assertEqual(self.files(), {"small.txt": PLAIN})

    def test_files_are_downloaded_and_unpacked_with_curl_and_with_wget(self):
        for tool in ("curl", "wget"):
            with self.subTest(tool):
                self.get("both", tools=[tool])
                self.assertEqual(self.files(), {"both/pairs.en": PACKED, "both/plain.txt": PLAIN})
                shutil.rmtree(self.place)

    @needs_a_downloader
    def test_a_download_that_breaks_off_is_not_kept(self):
        self.server.cut.add("raw.txt")
        for tool in ("curl", "wget"):
            with self.subTest(tool):
                self.get("both", status=1, words=["could not download", "raw.txt"], tools=[tool])
                self.assertEqual(self.files(), {"both/pairs.en": PACKED})  # the complete file stays
        self.server.cut.clear()
        self.get("both", words=["both/pairs.en: already here", "both/plain.txt: checked"])
        del self.server.files["raw.txt"]
        self.get("small", status=1, words=["could not download", "raw.txt"])

    def test_without_curl_and_wget_it_says_what_to_do(self):
        self.get("small", status=1, words=["curl and wget are both missing", "--from"], tools=[])

    def test_wrong_command_lines_say_which_sets_there_are(self):
        for args in ((), (".*",), ("small", "--from"), ("--fast", "small")):
            with self.subTest(args):
                self.get(*args, status=2, words=["get_data.sh: ", "scripts/get_data.sh SET --from DIR"])
        self.get("smal", status=2, words="Known: small both")
        self.assertFalse(self.place.exists())

    def test_every_file_that_a_config_names_is_in_the_repository_or_in_the_list(self):
        listed = {line.split()[1] for line in (SCRIPTS / "downloads.txt").read_text().splitlines()
                  if not line.startswith("#")}
        root = SCRIPTS.parent
        named = set()
        for config in sorted((root / "configs").glob("*.json")):
            text = "".join(line for line in config.read_text().splitlines() if not line.lstrip().startswith("//"))
            for path in text.split('"')[1::2]:
                if "/" in path:
                    named.add(path)
                    self.assertTrue(path.startswith("../data/"), f"{config.name}: {path}")
                    if "scripts/make_" in config.read_text():
                        continue  # its comment says how to make them
                    if path.startswith("../data/downloads/"):
                        self.assertIn(path[len("../data/downloads/"):], listed, config.name)
                        self.assertIn("scripts/get_data.sh", config.read_text(), config.name)
                    else:
                        self.assertTrue((config.parent / path).exists(), f"{config.name}: {path}")
        self.assertGreater(len(named), 20)


if __name__ == "__main__":
    unittest.main()
