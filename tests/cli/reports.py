"""Shared by the tests of `heed report`."""
import base64
import json
import re

from runs import RunsTest


class ReportsTest(RunsTest):
    def report(self, run="run", *args, **kw):
        page = self.check("report", self.folder / run, *args, **kw).out
        if not page:
            return page, None
        return page, self.data_of(page)

    def data_of(self, page):
        """What the page's script draws: JSON, which has no NaN. tests/pages looks at what is drawn."""
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        return json.loads(data.group(1), parse_constant=self.fail)

    def write_metrics(self, events):
        (self.folder / "run" / "metrics.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))

    def steps_of(self, data):
        return [frame["step"] for frame in data["frames"]]

    def weights(self, packed):
        """A byte b for each weight (b / 255)^2."""
        return [(b / 255)**2 for b in base64.b64decode(packed)]

