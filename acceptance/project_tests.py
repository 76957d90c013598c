"""Runs the sqllogictest files of another project against a server, and counts the outcomes.

Each file has a store of its own. A record is one of these:

- right, or wrong: the answer is what the file says, or another;
- refused: the server answers with an error, and the file with rows;
- agreed: both answer with an error;
- taken: the file expects an error, and the server gives none;
- behind: a query that differs and reads what an earlier statement was to change, which was refused
  or taken;
- left out: it is about the project itself, or reads what such a statement would have made;
- slow: there was no answer within 30 seconds;
- died: the server ended, or a task of it broke off.

An error is held against the classes of a list, as `ERROR at FILE:LINE: SQL`. A wrong answer is held
against those that begin with `differs at`, as `differs at FILE:LINE (how) gave ROWS instead of
ROWS: SQL`. Whatever is of no class makes the suite fail.

$PROJECT_TESTS_OUT names a file for all outcomes with their errors, one a line. $PROJECT_TESTS_SHOW
(10) is how many wrong answers of a folder are printed.
"""

import collections
import hashlib
import multiprocessing
import os
import re
import subprocess
import time

from hidden_keys import Adapter, altered, given
from shown_values import Cell, alike, rows_of, sort_key
from sql_tokens import solid, tokens
from sqllogictest import Connection, Died, Refused, Slow, class_of, compare_classes, refusals
from suite import Server

ANSWER_SECONDS_MAX = int(os.environ.get("PROJECT_TESTS_SECONDS", "30"))
RECORDS_MAX = 4000
SHOWN = int(os.environ.get("PROJECT_TESTS_SHOW", "10"))
PROCESSES = int(os.environ.get("PROJECT_TESTS_PROCESSES", "2"))
KINDS = ("right", "wrong", "refused", "agreed", "taken", "behind", "left out", "slow", "died")
BROKEN = re.compile("panicked|broke off")
CHANGES = set("""CREATE DROP ALTER INSERT UPDATE DELETE MERGE TRUNCATE UPSERT REPLACE PREPARE WITH
    ROLLBACK ABORT COPY EXECUTE""".split())


class Project:
    """The files of a project: `name`, `refusals`, and what follows its own forms."""

    def count(self, path):
        """How many records a file has that does not run."""
        with open(path, encoding="utf-8", errors="replace") as file:
            return len(re.findall(r"^(?:statement|query)\b", file.read(), re.M))


class LeftOut:
    """What a file has at a place that does not run: a reason, and whether the rest of the file
    needs it."""

    def __init__(self, place, reason, count=1, ends=False):
        self.place, self.reason, self.count, self.ends = place, reason, count, ends


class Outcome:
    def __init__(self, kind, record, detail=""):
        self.kind, self.place, self.sql, self.detail = kind, record.place, record.sql, detail
        self.is_query = record.letters is not None


class FileRun:
    """One file against one server."""

    def __init__(self, project, server):
        self.project = project
        self.connection = Connection(server, ANSWER_SECONDS_MAX)
        self.adapter = Adapter(self.connection, project.types)
        self.server = server
        # Names that are not what the file takes them for, and why; `*` is everything.
        self.unlike = {}
        self.labels = {}
        self.outcomes = []

    def run(self, items):
        ended = None
        for number, item in enumerate(items):
            if ended or number >= RECORDS_MAX:
                self.leave(LeftOut("", ended or f"more than {RECORDS_MAX} records of a file"))
                continue
            if isinstance(item, LeftOut):
                self.leave(item)
                continue
            try:
                self.record(item)
            except Slow:
                self.tell("slow", item)
                ended = "behind a slow query: its server was ended"
            except Died as error:
                self.tell("died", item, f"{error}; exit status {self.status()}")
                ended = "behind a query that ended its server"

    def status(self):
        try:
            return self.server.process.wait(2)
        except subprocess.TimeoutExpired:
            return None

    def leave(self, item):
        self.outcomes.append(("left out", item.reason, item.count))

    def tell(self, kind, record, detail=""):
        self.outcomes.append(Outcome(kind, record, detail))

    def record(self, record):
        words = [part.word or part.text for part in solid(tokens(record.sql))[:6]]
        reason = self.project.left_out(record, words)
        if reason:
            if reason.startswith("its setting"):
                self.unlike["*"] = "left out"
            elif words and (words[0] in CHANGES or words[:2] == ["EXPLAIN", "ANALYZE"]):
                self.spoil(record, "left out")
            self.outcomes.append(("left out", reason, 1))
            return
        told, error = None, None
        try:
            told = self.adapter.run(record.sql)
        except Refused as refused:
            error = str(refused)
        if error and BROKEN.search(error):
            self.tell("died", record, error)
            return
        behind = self.behind(record)
        changes = bool(words) and words[0] in CHANGES
        if not record.expected_ok:
            if error is not None:
                self.tell("agreed", record, error)
            elif behind:
                self.tell(behind, record, "taken")
            else:
                self.tell("taken", record)
                if changes:
                    self.spoil(record, "behind")
        elif error is not None:
            if changes or "EXECUTE" in words:
                self.spoil(record, behind or "behind")
            self.tell(behind or "refused", record, error)
        elif record.letters is None:
            self.tell("right", record)
            if changes:
                name = altered(record.sql)
                if behind:
                    self.spoil(record, behind)
                elif name and words[0] in ("CREATE", "DROP"):
                    self.unlike.pop(name, None)
        else:
            fault = self.compare(record, told)
            if fault is None:
                self.tell("right", record)
            elif behind:
                self.tell(behind, record, fault)
            else:
                self.tell("wrong", record, fault)

    def spoil(self, record, reason):
        """Notes what a record was to change."""
        words = [part.word for part in solid(tokens(record.sql))]
        if words[0] in ("ROLLBACK", "ABORT") or "TRIGGER" in words[:4]:
            self.unlike["*"] = reason
        # An index changes no answer, unless it keeps rows out.
        if "INDEX" in words[:4] and "UNIQUE" not in words[:4]:
            return
        names = [altered(piece) for piece in record.sql.split(";")]
        names += re.findall(r"\b(?:insert\s+(?:or\s+\w+\s+)?into|merge\s+into|update|delete\s+from"
                            r"|index\s.*?\son|copy)\s+\"?(\w+)", record.sql.lower(), re.S)
        self.unlike.update((name, reason) for name in names if name)

    def behind(self, record):
        """`behind` or `left out` where the record reads what is not as the file made it."""
        if not self.unlike:
            return None
        parts = tokens(record.sql)
        names = {part.name for part in parts} - given(parts)
        found = {self.unlike[name] for name in names & self.unlike.keys()}
        if not found and "*" in self.unlike:
            return self.unlike["*"]
        return "behind" if "behind" in found else found.pop() if found else None

    def compare(self, record, told):
        """Nothing, or how an answer differs from that of the file."""
        if isinstance(told, int) or told is None:
            rows = [[Cell("int", str(told or 0))]]
            if told is None and not record.lines:
                rows = []
        else:
            rows = rows_of(told)
        if record.label and not record.lines:
            texts = sorted(cell.text for row in rows for cell in row)
            known = self.labels.setdefault(record.label, texts)
            if len(known) == len(texts) and all(
                    alike(Cell("double", one), two) for one, two in zip(known, texts)):
                return None
            return f"(label {record.label})"
        return self.project.compare(record, rows)


def difference(how, rows, expected):
    gave = "; ".join(" | ".join(cell.text for cell in row) for row in rows[:12])
    said = "; ".join(" | ".join(row) for row in expected[:12])
    return f"({how}) gave {gave[:300]!r} instead of {said[:300]!r}"


def compare_rows(record, rows, expected):
    """Compares rows of cells with rows of texts."""
    if rows and expected and len(rows[0]) != len(expected[0]):
        return difference(f"{len(rows[0])} columns", rows, expected)
    if len(rows) != len(expected):
        return difference(f"{len(rows)} rows for {len(expected)}", rows, expected)
    if record.order == "valuesort":
        rows = [[cell] for row in rows for cell in row]
        expected = [[text] for row in expected for text in row]
    if is_any_part(record.sql):
        return None
    if record.order in ("rowsort", "valuesort"):
        rows, expected = ordered(rows), ordered_texts(expected)
    if same_rows(rows, expected):
        return None
    if record.order == "rowsort" or len(rows) == 1:
        return difference("values", rows, expected)
    if same_rows(ordered(rows), ordered_texts(expected)):
        if not is_ordered(record.sql):
            return None
        return difference("order", rows, expected)
    return difference("values", rows, expected)


def outer_words(sql):
    """The words of a query that stand in no parentheses."""
    depth, words = 0, set()
    for part in tokens(sql):
        depth += (part.text == "(") - (part.text == ")")
        if depth == 0:
            words.add(part.word)
    return words


def is_ordered(sql):
    """Whether a query asks for an order of its rows. Without one there is none."""
    return "ORDER" in outer_words(sql)


def is_any_part(sql):
    """Whether a query asks for a part of its rows without saying for which."""
    words = outer_words(sql)
    return "ORDER" not in words and bool(words & {"LIMIT", "FETCH", "OFFSET"})


def ordered(rows):
    return sorted(rows, key=lambda row: [sort_key(cell.text) for cell in row])


def ordered_texts(rows):
    return sorted(rows, key=lambda row: [sort_key(text) for text in row])


def same_rows(rows, expected):
    return all(len(row) == len(said) and all(map(alike, row, said))
               for row, said in zip(rows, expected))


def hashed_alike(rows, order, show, count, digest):
    """Whether the texts of values have a hash."""
    texts = [[show(cell) for cell in row] for row in rows]
    if order == "rowsort":
        texts.sort()
    values = [text for row in texts for text in row]
    if order == "valuesort":
        values.sort()
    told = hashlib.md5("".join(value + "\n" for value in values).encode()).hexdigest()
    return len(values) == count and told == digest


# All files.


def run_file(job):
    project, name, path = job
    start = time.time()
    items = project.items(path, name)
    if isinstance(items, str):
        return name, [("left out", items, project.count(path))], 0
    server = Server()
    run = FileRun(project, server)
    try:
        run.run(items)
    finally:
        server.process.kill()
        server.process.wait()
    return name, run.outcomes, time.time() - start


class Tally:
    def __init__(self):
        self.counts = collections.Counter()
        self.queries = collections.Counter()

    def add(self, kind, count=1, is_query=False):
        self.counts[kind] += count
        if is_query:
            self.queries[kind] += count

    def __str__(self):
        return ", ".join(f"{self.counts[kind]} {kind}" for kind in KINDS if self.counts[kind])


def share(counts):
    whole = counts["right"] + counts["wrong"] + counts["refused"]
    return f"{counts['right']} of {whole} ({counts['right'] / max(whole, 1):.2%})"


def run_project(project, jobs, compares):
    """Runs files, given as (project, name, path), and prints what there is to tell."""
    classes = refusals(project.refusals)
    groups, whole = collections.defaultdict(Tally), Tally()
    faults, found = collections.defaultdict(list), collections.Counter()
    reasons, unlisted, longest, every = collections.Counter(), [], [], []
    with multiprocessing.get_context("spawn").Pool(PROCESSES, initializer=settle) as pool:
        for name, outcomes, seconds in pool.imap_unordered(run_file, jobs):
            group = name.split("/")[0].removesuffix(".slt")
            longest.append((seconds, name))
            for outcome in outcomes:
                if isinstance(outcome, tuple):
                    kind, reason, count = outcome
                    reasons[reason] += count
                    groups[group].add(kind, count)
                    whole.add(kind, count)
                    continue
                every.append(outcome)
                groups[group].add(outcome.kind, 1, outcome.is_query)
                whole.add(outcome.kind, 1, outcome.is_query)
                error = problem(outcome)
                if error is None:
                    continue
                listed = class_of(error, fitting(classes, outcome))
                if listed != "unlisted":
                    found[listed] += 1
                elif outcome.kind == "refused":
                    unlisted.append(outcome)
                else:
                    faults[group].append(outcome)
    for group, tally in sorted(groups.items()):
        print(f"# {group}: {tally}")
        for outcome in faults[group][:SHOWN]:
            print(f"#   {outcome.kind} at {outcome.place}: {flat(outcome.sql)[:300]} "
                  f"{outcome.detail[:600]}")
        what = f"FAIL {len(faults[group])} wrong, slow or dead" if faults[group] else "pass"
        print(f"{group}: {what}")
    compare_classes(project.name, project.refusals, found, compares)
    tell_unlisted(project, unlisted)
    print(f"{project.name}_refused_unlisted: "
          + (f"FAIL {len(unlisted)} of no known class" if unlisted else "pass"))
    for reason, count in reasons.most_common():
        print(f"# not run {count}: {reason}")
    for seconds, name in sorted(longest)[-5:]:
        print(f"# {name} took {seconds:.1f} s")
    print(f"# {project.name}: {whole}")
    print(f"# {project.name}: {share(whole.counts)} records are right; "
          f"of queries {share(whole.queries)}")
    if os.environ.get("PROJECT_TESTS_OUT"):
        write_all(os.environ["PROJECT_TESTS_OUT"], every, classes)


def problem(outcome):
    """What is held against the classes, or nothing."""
    if outcome.kind == "refused":
        return outcome.detail + f" at {outcome.place}: {flat(outcome.sql)}"
    if outcome.kind == "wrong":
        return f"differs at {outcome.place} {outcome.detail}: {flat(outcome.sql)}"
    if outcome.kind in ("slow", "died"):
        return f"{outcome.kind} at {outcome.place}"
    return None


def fitting(classes, outcome):
    """The classes for errors, or those for answers that differ."""
    is_error = outcome.kind == "refused"
    return [one for one in classes
            if is_error != one[2].pattern.startswith(("differs at", "slow at", "died at"))]


def tell_unlisted(project, unlisted):
    shapes = collections.defaultdict(list)
    for outcome in unlisted:
        shapes[re.sub(r"\d+", "N", outcome.detail)[:160]].append(outcome)
    for shape, outcomes in sorted(shapes.items(), key=lambda both: -len(both[1]))[:40]:
        example = outcomes[0]
        print(f"#   {len(outcomes)} unlisted: {shape!r} at {example.place}: "
              f"{flat(example.sql)[:300]}")


def write_all(path, every, classes):
    """Every outcome with its error, for those who look into them."""
    with open(path, "w", encoding="utf-8") as file:
        for outcome in every:
            error = problem(outcome)
            listed = class_of(error, fitting(classes, outcome)) if error else ""
            file.write("\t".join([outcome.kind, listed, outcome.place, flat(outcome.sql),
                                  flat(outcome.detail)]) + "\n")


def flat(sql):
    return " ".join(sql.split())


def settle():
    """Gives a process one processor: then its server reads rows in one order, on every machine."""
    os.nice(5)
    if hasattr(os, "sched_setaffinity"):
        processors = sorted(os.sched_getaffinity(0))
        number = multiprocessing.current_process()._identity[0]
        os.sched_setaffinity(0, {processors[number % len(processors)]})
