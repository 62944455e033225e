import re

from tests.architecture.tree import ROOT, named, tracked_files

TEXT_BYTES_MAX = 2_000_000
REGISTRY_ADDRESS = re.compile(
    r"https?://[^\s\"'<>]+\.(?:whl|tar\.gz|jar|tgz|crate|deb)\b|(?:extra-)?index.url\s*[=\s]\s*https?|registry\s*=\s*https?",
    re.IGNORECASE,
)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/|(?<![\w.])/tmp/\w+")


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in tracked_files():
        data = path.read_bytes()
        if b"\0" in data[:8_000] or len(data) > TEXT_BYTES_MAX:
            continue
        for number, line in enumerate(data.decode(errors="replace").splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{named(path)}:{number}")
    return found


def test_no_package_registry_is_named() -> None:
    this_file = named(ROOT / "tests/architecture/test_tracked_files.py")
    assert [place for place in lines_with(REGISTRY_ADDRESS) if not place.startswith(this_file)] == []


def test_no_path_of_one_machine_stands_in_a_file() -> None:
    assert lines_with(MACHINE_PATH) == []


def test_every_locked_package_has_hashes() -> None:
    for lock in (ROOT / "deploy" / "lock").glob("*.txt"):
        text = re.sub(r"\s*\\\n\s*", " ", lock.read_text(encoding="utf-8"))
        pinned = [line for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line)]
        assert pinned
        assert [line for line in pinned if "--hash=sha256:" not in line] == []


def test_a_licence_comes_with_the_product() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
