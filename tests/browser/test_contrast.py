"""Processes tell each other which styles of texts passed."""

from tests.browser.contrast import PassedStyles


def test_what_one_process_measured_is_known_to_the_others(tmp_path):
    ann, bob = PassedStyles(), PassedStyles()
    for process in (ann, bob):
        process.share(tmp_path / "passed")
    ann.add("phone dark", ["p|black", "p|grey"])
    bob.add("phone dark", ["p|grey", "a|blue"])
    bob.add("desk light", ["a|blue"])
    assert bob.of("phone dark") == ann.of("phone dark") == {"p|black", "p|grey", "a|blue"}
    assert ann.of("desk light") == {"a|blue"}
    with (tmp_path / "passed").open("a") as stream:
        stream.write("desk light\tp|half a li")  # another process still writes
    assert ann.of("desk light") == {"a|blue"}
    with (tmp_path / "passed").open("a") as stream:
        stream.write("ne\n")
    assert ann.of("desk light") == {"a|blue", "p|half a line"}
