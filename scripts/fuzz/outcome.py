"""What a piece of the run found, and how pieces are added up."""

import json
import re
import resource
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

KEPT = Path("var/fuzz")  # files that went wrong


class Outcome:
    """Counts by caller or kind and by state, and what went wrong."""

    def __init__(self, memory_accepted: int) -> None:
        self.memory_accepted = memory_accepted  # MiB, of each process
        self.counts: Counter[tuple[str, str]] = Counter()
        self.n_wrong = 0
        self.memory = 0
        self.slowest = 0.0  # seconds of the processor
        self.slowest_name = ""

    def wrong(self, words: str) -> None:
        self.n_wrong += 1
        print(words, flush=True)

    def took(self, seconds: float, name: str) -> None:
        if seconds > self.slowest:
            self.slowest, self.slowest_name = seconds, name

    def measure_memory(self) -> None:
        """Note the most memory that this process and those it started ever held; too much is wrong."""
        own = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # that of SELF counts its parent before exec
        self.memory = max(int(own[1]) if own else 0, children) // 1024
        if self.memory > self.memory_accepted:
            self.wrong(f"{self.memory} MiB; accepted: {self.memory_accepted} MiB")

    def dumped(self) -> str:
        counts = [[*key, n] for key, n in sorted(self.counts.items())]
        return json.dumps({**vars(self), "counts": counts})

    @classmethod
    def loaded(cls, text: str) -> "Outcome":
        values = json.loads(text)
        outcome = cls(values["memory_accepted"])
        vars(outcome).update(values, counts=Counter({(of, state): n for of, state, n in values["counts"]}))
        return outcome

    def add(self, other: "Outcome") -> None:
        self.counts.update(other.counts)
        self.n_wrong += other.n_wrong
        self.memory = max(self.memory, other.memory)
        self.took(other.slowest, other.slowest_name)

    def summary(self) -> str:
        rows = list(dict.fromkeys(of for of, _ in self.counts))
        table = [f"  {of:10} {_shares(self._states([of]))}" for of in rows] if len(rows) > 1 else []
        end = f"  at most {self.memory} MiB (accepted: {self.memory_accepted}) and {self.slowest:.1f} s"
        end += f" ({self.slowest_name}); {self.n_wrong} wrong"
        return "\n".join([*table, f"  {'all':10} {_shares(self._states(rows))}", end])

    def _states(self, rows: Iterable[str]) -> Counter[str]:
        wanted, states = set(rows), Counter[str]()
        for (of, state), n in sorted(self.counts.items()):
            if of in wanted:
                states[state] += n
        return states


def _shares(states: Counter[str]) -> str:
    whole = max(1, states.total())
    return ", ".join(f"{state} {n:,} ({100 * n / whole:.0f} %)" for state, n in states.items())
