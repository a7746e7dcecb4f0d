"""Run the script of the page to play with, in Node or else in Chromium."""

import json
import shutil
import subprocess

from browser import browser, page

from beamlearn.reports.play.page import MODEL, script


def answers(function, given):
    """What a function in JavaScript, which may use the script, says of each of some values."""
    code = f"'use strict';\n{script(*MODEL)}\nconst answer = {function};"
    node = shutil.which("node")
    if node is None:
        with browser() as opened, page(opened) as (shown, _):
            return shown.evaluate(f"(given) => {{ {code}\nreturn given.map(answer); }}", given)
    asked = "JSON.parse(require('fs').readFileSync(0, 'utf8'))"
    done = subprocess.run(
        [node, "-e", f"{code}\nconsole.log(JSON.stringify({asked}.map(answer)));"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)
