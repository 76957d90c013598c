"""What the suites that run other projects' sqllogictest files share: records, a connection, and the
list of what is refused."""

import http.client
import json
import os
import re
import socket
import time

import pyarrow as pa

HERE = os.path.dirname(os.path.abspath(__file__))
IDLE_SECONDS_MAX = 5
ARROW = "application/vnd.apache.arrow.stream"


class Record:
    """A statement (`letters` is None) or a query of a file."""

    def __init__(self, place, sql, expected_ok, letters, order, lines, label=None):
        self.place, self.sql, self.expected_ok = place, sql, expected_ok
        self.letters, self.order, self.lines, self.label = letters, order, lines, label


class Refused(Exception):
    """The server answered with an error."""


class Slow(Exception):
    """The server did not answer in time."""


class Died(Exception):
    """The server ended, or closed the connection without an answer."""


class Connection:
    def __init__(self, server, timeout=600):
        self.asked = time.time()
        self.http = http.client.HTTPConnection(server.http.removeprefix("http://"),
                                               timeout=timeout)

    def ask(self, path, body):
        self.http.request("POST", path, json.dumps(body))
        answer = self.http.getresponse()
        return answer.status, json.loads(answer.read())

    def statement(self, sql):
        """Nothing, or the error."""
        status, told = self.ask("/v1/sql", {"sql": sql})
        return None if status == 200 else told["detail"]

    def queries(self, texts):
        status, told = self.ask("/v1/fetch-all", [{"sql": one} for one in texts])
        assert status == 200, told
        for number, answer in enumerate(told):
            # Together they may be too large for one call.
            if "draw this one by itself" in answer.get("problem", {}).get("detail", ""):
                status, alone = self.ask("/v1/sql", {"sql": texts[number]})
                told[number] = alone if status == 200 else {"problem": alone}
        return told

    def table(self, sql):
        """The rows of a query as an Arrow table, how many rows a statement changed, or None.

        Raises `Refused`, `Slow` or `Died`."""
        # A server closes connections that are idle for long.
        if time.time() - self.asked > IDLE_SECONDS_MAX:
            self.http.close()
        self.asked = time.time()
        try:
            try:
                return self.table_once(sql)
            except (http.client.IncompleteRead, http.client.RemoteDisconnected):
                # An error that comes behind the first rows cuts the answer off. Here it is told.
                self.http.close()
                problem = self.queries([sql])[0].get("problem", {})
                raise Refused(problem.get("detail", "the answer was cut off")) from None
        except (socket.timeout, TimeoutError):
            self.http.close()
            raise Slow(sql) from None
        except (http.client.HTTPException, OSError) as error:
            self.http.close()
            raise Died(str(error)) from None

    def table_once(self, sql):
        self.http.request("POST", "/v1/sql", json.dumps({"sql": sql}), {"Accept": ARROW})
        answer = self.http.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise Refused(json.loads(body)["detail"])
        if answer.headers.get("Content-Type", "").startswith(ARROW):
            return self.readable(sql, pa.ipc.open_stream(body).read_all())
        return json.loads(body).get("changed")

    def readable(self, sql, table):
        """The table with text in place of intervals that pyarrow does not know."""
        for number, field in enumerate(table.schema):
            if str(field.type) in ("month_interval", "day_time_interval"):
                rows = self.queries([sql])[0]["rows"]
                texts = pa.chunked_array([pa.array([row[number] for row in rows], pa.string())])
                table = table.set_column(number, field.name, texts)
        return table


def refusals(file):
    """The classes of a list of refusals: name, count, pattern, reason."""
    classes = []
    with open(os.path.join(HERE, file), encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, count, rest = line.strip().split(" ", 2)
                pattern, reason = rest.rsplit(" :: ", 1)
                classes.append((name, int(count), re.compile(pattern, re.I), reason))
    return classes


def class_of(error, classes):
    return next((name for name, _, pattern, _ in classes if pattern.search(error)), "unlisted")


def compare_classes(kind, file, found, compares):
    """Prints how many refusals each class of a list has, and whether these are as many as it says.
    `found` counts them by class."""
    for name, count, _, reason in refusals(file):
        print(f"# {kind} refused {found[name]} {name}: {reason}")
        if not compares or found[name] == count:
            outcome = "pass"
        elif found[name] < count:
            outcome = f"FAIL only {found[name]} of {count}: lower the count in {file}"
        else:
            outcome = f"FAIL {found[name]}, and {count} are expected"
        print(f"{kind}_refused_{name}: {outcome}")
