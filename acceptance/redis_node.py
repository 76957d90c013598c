"""ioredis and node-redis against the Redis listener, with their defaults."""

import os
import pathlib
import shutil
import subprocess

from redis_clients import RedisListener
from suite import run_each

PACKAGES = ["ioredis@6.0.0", "redis@6.3.1"]
HERE = pathlib.Path(__file__).parent


def installed():
    """The directory of the clients."""
    place = pathlib.Path(os.environ["TONNAGE_ACCEPTANCE_CACHE"], "node-clients")
    if not (place / "node_modules").exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text("{}")
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", *PACKAGES],
                       cwd=place, check=True)
    return place


def case(library, name):
    def run(server):
        command = ["node", HERE / "redis_node.mjs", library, name, server.host, str(server.port)]
        environment = {**os.environ, "NODE_CLIENTS": str(installed())}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    run.__name__ = f"{library}_{name}"
    return run


def main():
    if not shutil.which("npm"):
        print("# npm is missing: the clients for Node did not run")
        return
    cases = [case(library, name) for library in ("ioredis", "redis")
             for name in ("connects", "messages", "waits")]
    run_each(cases, lambda _, directory: RedisListener(directory))


if __name__ == "__main__":
    main()
