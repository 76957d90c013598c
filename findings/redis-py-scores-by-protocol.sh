#!/usr/bin/env bash
# redis-py gives the same sorted set in other shapes and types, depending on the protocol.
#
# Seen with: redis-py 8.1.0, Redis 7.0.15.
# Behaviour: a client with protocol=2 pairs what zpopmin pops, in a list of one tuple. With protocol=3
#   the call gives the member and the score themselves. zrandmember with scores is the other way round:
#   a flat list with texts for scores with protocol=2, pairs with numbers with protocol=3.
#   `for member, score in client.zpopmin(key)` works with one of them alone.
# Output seen:
#   2: zpopmin [('a', 1.0)], zrandmember ['b', '2']
#   3: zpopmin ['a', 1.0], zrandmember [['b', 2.0]]
# What to do: give the count, zpopmin(key, 1), which is a list of pairs in both, and turn scores into
#   numbers. Try a program with the protocol that it will use.
set -euo pipefail
command -v redis-server >/dev/null || { echo "install redis-server (a package of Debian)" >&2; exit 1; }
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
  --no-compile --target "$folder/packages" redis==8.1.0
export PYTHONPATH="$folder/packages"

redis-server --port 0 --unixsocket "$folder/socket" --save "" --dir "$folder" >/dev/null &
server=$!
for _ in $(seq 100); do [ -S "$folder/socket" ] && break; sleep 0.1; done
python3 - "$folder/socket" <<'PYTHON'
import sys

import redis

seen = {}
for protocol in (2, 3):
    client = redis.Redis(unix_socket_path=sys.argv[1], protocol=protocol, decode_responses=True)
    client.zadd("scores", {"a": 1, "b": 2})
    popped = client.zpopmin("scores")
    seen[protocol] = popped, client.zrandmember("scores", 1, withscores=True)
    print(f"{protocol}: zpopmin {popped}, zrandmember {seen[protocol][1]}")
expected = {2: ([("a", 1.0)], ["b", "2"]), 3: (["a", 1.0], [["b", 2.0]])}
if seen != expected:
    sys.exit("the behaviour has changed")
PYTHON
