"""The package that `python -m build` makes, installed into an empty environment: it has what is needed, and passes
`mypy --strict`. Needs build, flit_core and mypy, which `make clients` installs."""

import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import signpost_client
from readme import loop_text
from support import PACKAGE, ROOT

MISTAKES = '''
from signpost_client import Offers, Reports, SignpostError
from signpost_client.types import CallbackEvent, Number, ReportRow

offers = Offers("https://offers.example.com", "10000001", "")
offers.all([{"dim": "region", "match": {"type": "any", "value": ["DE"]}}])  # error
Reports("https://reporting.example.com")  # error

def amount(event: CallbackEvent) -> Number:
    return event["pending_value"] if event["status"] == "pending" else event["value"]

def wrong(event: CallbackEvent) -> Number:
    return event["pending_value"]  # error

def revenue(row: ReportRow) -> Number:
    return row.get("revenue", 0)
'''


def run(*command: str, cwd: Path = PACKAGE) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Package(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="signpost-client-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def succeeds(self, *command: str) -> str:
        ran = run(*command)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        return ran.stdout

    def test_it_installs_into_an_empty_environment_and_passes_mypy(self) -> None:
        self.succeeds(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(self.folder / "dist"))
        version = signpost_client.__version__
        names = sorted(path.name for path in (self.folder / "dist").iterdir())
        wheel = f"signpost_client-{version}-py3-none-any.whl"
        self.assertEqual(names, [wheel, f"signpost_client-{version}.tar.gz"])
        self.check_contents(self.folder / "dist" / wheel)

        environment = self.folder / "environment"
        self.succeeds(sys.executable, "-m", "venv", "--without-pip", str(environment))
        python = str(environment / "bin/python")
        into = self.succeeds(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index")
        self.succeeds(*pip, "--root-user-action=ignore", "--target", into, str(self.folder / "dist" / wheel))
        (self.folder / "loop.py").write_text(loop_text())
        (self.folder / "mistakes.py").write_text(MISTAKES)
        # -I: nothing of this checkout and of the tools' folder is seen.
        self.succeeds(python, "-I", "-c", f"exec(open({str(self.folder / 'loop.py')!r}).read())")

        mypy = (sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", "/dev/null")
        checked = run(*mypy, "loop.py", cwd=self.folder)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        found = run(*mypy, "mistakes.py", cwd=self.folder).stdout
        wrong = [number for number, line in enumerate(MISTAKES.splitlines(), 1) if line.endswith("# error")]
        lines = [int(line.split(":")[1]) for line in found.splitlines() if ": error: " in line]
        self.assertEqual(sorted(set(lines)), wrong, found)

    def check_contents(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            packed = {name for name in archive.namelist() if ".dist-info/" not in name}
            metadata = next(name for name in archive.namelist() if name.endswith("METADATA"))
            text = archive.read(metadata).decode()
            licence = next(name for name in archive.namelist() if name.endswith("LICENSE"))
            self.assertEqual(archive.read(licence), (ROOT / "LICENSE").read_bytes())
        sources = (PACKAGE / "src").rglob("*")
        files = {str(path.relative_to(PACKAGE / "src")) for path in sources if path.is_file()}
        self.assertEqual(packed, {name for name in files if "__pycache__" not in name})
        self.assertIn("signpost_client/py.typed", packed)
        self.assertNotIn("Requires-Dist", text)

    def test_the_sources_and_the_tests_pass_mypy(self) -> None:
        mypy = (sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir", "/dev/null")
        self.succeeds(*mypy, "src")
        self.succeeds(*mypy, "tests")
