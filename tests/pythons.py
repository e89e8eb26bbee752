"""Run the tests on several versions of Python: make test-all PYTHONS="3.11 3.12 3.13 3.14".

Each version gets an environment of its own, `.venv-3.12`, with the pinned dependencies. A version
that is not installed is skipped, and the last lines say so.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).parent / "uv"


def interpreters(version):
    """Yield programs that may be this version: on PATH, and those that pyenv has installed."""
    if found := shutil.which(version):
        yield found
    if found := shutil.which(f"python{version}"):
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(map(str, pyenv.glob(f"versions/{version}.*/bin/python3")), reverse=True)


def interpreter(version):
    """Return a program that runs and is this version, or None."""
    say = "import sys; print('%d.%d' % sys.version_info[:2])"
    for each in interpreters(version):
        said = subprocess.run([each, "-c", say], capture_output=True, text=True, check=False)
        if said.returncode == 0 and (said.stdout.strip() == version or "/" in version):
            return each
    return None


def environment(version, program):
    """Make or update the environment of a version, and return its Python."""
    folder = ROOT / f".venv-{version.rpartition('/')[2].removeprefix('python')}"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([UV, "venv", "--quiet", "--seed", "--python", program, folder], check=True)
    wanted = ("--constraint", "constraints.txt", "--editable", ".[embedded,dev]")
    install = [UV, "pip", "install", "--quiet", "--python", python, *wanted]
    subprocess.run(install, cwd=ROOT, check=True)
    return python


def result(version, what, workers):
    """Run the tests on one version and return what came of it in a word or two."""
    program = interpreter(version)
    if program is None:
        return "SKIPPED: not installed"
    print(f"\n=== Python {version}: {program}", flush=True)
    try:
        python = environment(version, program)
    except subprocess.CalledProcessError:
        return "FAILED: the dependencies could not be installed"
    words = [python, "-m", "pytest", "-q", "-n", workers, "--dist", "loadfile", *what]
    return "passed" if subprocess.run(words, cwd=ROOT, check=False).returncode == 0 else "FAILED"


def main():
    """Run all versions one after the other; return 0 if one ran and none failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="+", help="3.12, or a path of an interpreter")
    parser.add_argument("--what", default="tests", help="files and folders, separated by spaces")
    parser.add_argument("--workers", default="3")
    options = parser.parse_args()

    results = {
        version: result(version, options.what.split(), options.workers)
        for version in options.versions
    }

    print()
    for version, said in results.items():
        print(f"Python {version}: {said}")
    outcomes = set(results.values())
    return 0 if "passed" in outcomes and not any("FAILED" in said for said in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
