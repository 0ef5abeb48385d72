"""The secret key of an installation, and former ones."""

import os
import subprocess
import sys
from pathlib import Path

from config.settings import BASE_DIR

SHOWN = "from config import settings as s; print(s.SECRET_KEY_IS_NEW, len(s.SECRET_KEY), s.SECRET_KEY_FALLBACKS)"


def test_a_key_is_made_once_and_former_keys_are_read_from_a_file(tmp_path: Path) -> None:
    former = tmp_path / "former"
    former.write_text("one key\nanother, a third\n")
    left_out = ("SECRET_KEY", "SECRET_KEY_FILE", "SECRET_KEY_FALLBACKS", "DEBUG")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"ASSAY_DATA_DIR": str(tmp_path / "data"), "SECRET_KEY_FALLBACKS_FILE": str(former)}
    command = [sys.executable, "-c", SHOWN]
    shown = [
        subprocess.run(command, env=environment, cwd=BASE_DIR, check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    keys = "['one key', 'another', 'a third']"
    assert shown == [f"True 67 {keys}\n", f"False 67 {keys}\n"]
