"""Update the files vendored for the report's page from their npm package, and their manifest: `make vendor`.

    python release/vendor.py [VERSION]

Without VERSION it fetches the one that the manifest names. It needs npm.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "src/steelyard/report/page/vendor"
MANIFEST = FOLDER / "manifest.json"


def renewed(told: dict[str, Any], version: str) -> dict[str, Any]:
    """Write the files of a version of the package into the folder; return the manifest that describes them."""
    with tempfile.TemporaryDirectory() as name:
        packed = ["npm", "pack", "--silent", "--ignore-scripts", f"{told['package']}@{version}"]
        made = subprocess.run(packed, cwd=name, check=True, capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(Path(name, made)) as archive:
            contents = {file: _content(archive, file) for file in told["files"]}
            about = json.loads(_content(archive, "package.json"))
    for file, content in contents.items():
        Path(FOLDER, Path(file).name).write_bytes(content)
    digests = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
    return {**told, "version": about["version"], "licence": about["license"], "files": digests}


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(f"package/{name}")
    if file is None:
        raise SystemExit(f"the package has no file {name}")
    return file.read()


if __name__ == "__main__":
    manifest = json.loads(MANIFEST.read_text())
    MANIFEST.write_text(json.dumps(renewed(manifest, (sys.argv[1:] or [manifest["version"]])[0]), indent=2) + "\n")
