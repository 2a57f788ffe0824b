"""heed attend: chosen heads, what is drawn, what the model writes, and lines of files."""
import json
import unittest

from runs import SMALL, RunsTest

TEXT = ("attend", "run", "the old", "--target", "old the")


class Attend(RunsTest):
    RUNS = {"run": {"family": "seq2seq", "model__encoder_layers": 2, **SMALL, "train__max_steps": 60}}

    def test_chosen_heads_are_those_of_all(self):
        whole, = self.json(*TEXT)
        self.assertEqual(len(whole["patterns"]), 8)  # of two encoder layers, one decoder layer
        self.assertIn(" in this text (", whole["patterns"][7]["sentence"])
        one, = self.json(*TEXT, "--layer", 1, "--head", 1)
        self.assertNotIn("decoder", one)  # has no such layer
        self.assertEqual((one["encoder"], one["patterns"]), ([[whole["encoder"][1][1]]], [whole["patterns"][3]]))
        cross, = self.json(*TEXT, "--contributions", "--kind", "cross", "--head", 1)
        self.assertNotIn("encoder", cross)
        self.assertEqual(cross["cross"], [[whole["cross"][0][1]]])
        self.assertEqual(len(cross["contribution_cross"][0]), 1)

    def test_a_chosen_head_is_drawn_and_without_a_choice_each_has_a_line_and_one_its_map(self):
        shown = self.out(*TEXT, "--kind", "cross", "--head", 1)
        self.assertIn("cross, layer 0, head 1", shown)
        for other in ("head 0", "encoder,", "\x1b"):
            self.assertNotIn(other, shown)
        shown = self.out(*TEXT)
        for line in ("encoder, layer 0, head 0: ", "decoder, layer 0, head 1: ", "cross, layer 0, head 1: ", "the map of one:\ncross, layer 0, head "):
            self.assertIn("\n" + line, shown)
        self.assertLess(shown.count("\n"), 24)

    def test_what_the_model_writes_is_its_translation(self):
        for text in ("the old", "a", "the the river a old"):
            translation = self.out("translate", "run", text)
            self.assertIn(f"the model writes (--target for another):\n  {translation}", self.out("attend", "run", text))
            j, = self.json("attend", "run", text)
            self.assertEqual(j["target_tokens"], ["<s>", *translation.split()])
            self.assertLessEqual(len(self.json("attend", "run", text, "--max-tokens", 1)[0]["target_ids"]), 2)

    def test_each_line_of_files_has_an_object(self):
        self.write("lines", "the old", "", "a zebra")
        self.write("targets", " old  the", "a", "")
        files = ("attend", "run", "--file", "lines", "--target-file", "targets", "--json")
        first, second, third = (json.loads(line) for line in self.check(*files, facts=["<unk>", "1", "'zebra'"]).out.splitlines())
        self.assertEqual([first], self.json("attend", "run", "the old", "--target", " old  the"))
        self.assertEqual((first["source_bytes"], first["target_bytes"]), ([[0, 3], [4, 7], [7, 7]], [[0, 0], [1, 4], [6, 9]]))
        self.assertEqual((second["source_tokens"], second["cross"][0][1]), (["</s>"], [[1], [1]]))
        self.assertEqual((third["source_ids"][1], third["target_bytes"]), (0, [[0, 0]]))
        self.assertEqual(len(self.out(*files, "--limit", 2).splitlines()), 2)
        written, = self.json("attend", "run", "--file", "lines", "--limit", 1)  # a target that the model writes has no line
        self.assertEqual((written["source_bytes"], "target_bytes" in written), (first["source_bytes"], False))


if __name__ == "__main__":
    unittest.main()
