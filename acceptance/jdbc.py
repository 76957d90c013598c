"""The Flight SQL JDBC driver, through `Jdbc.java`, which prints one line a case by itself."""

import os
import subprocess
import sys

from suite import Server

JAVA = ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp"]


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    server = Server()
    host_and_port = server.flight.removeprefix("grpc://")
    try:
        classes = os.pathsep.join([os.environ["JDBC_JAR"], os.environ["JDBC_CLASSES"]])
        run = subprocess.run([*JAVA, classes, "Jdbc", host_and_port], cwd=folder, timeout=600)
    finally:
        server.stop()
    sys.exit(run.returncode)


if __name__ == "__main__":
    main()
