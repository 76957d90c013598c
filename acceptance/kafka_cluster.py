"""A broker of Kafka in KRaft mode and a worker of Kafka Connect in distributed mode, on loopback.

Their jars come from Maven's repository, by `kafka/pom.xml`. Nothing is installed.
"""

import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
JAVA = os.path.join(os.path.dirname(HERE), "clients", "java")
START_SECONDS = 120


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, **options)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def wait_until(what, seconds=START_SECONDS, step=0.2):
    """Asks again and again; fails with what was answered last."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            answer = what()
        except (OSError, AssertionError) as error:
            answer = None
            told = f"{type(error).__name__}: {error}"
        else:
            told = repr(answer)
        if answer:
            return answer
        assert time.monotonic() < deadline, f"{what.__doc__ or what.__name__}: {told}"
        time.sleep(step)


def libraries(directory):
    """The jars of Kafka and Avro, kept beside those of other suites where there is such a place."""
    cache = os.environ.get("TONNAGE_ACCEPTANCE_CACHE") or directory
    folder = os.path.join(cache, "kafka")
    pom = os.path.join(HERE, "kafka", "pom.xml")
    kept = os.path.join(folder, "pom.xml")
    if not os.path.exists(kept) or open(kept).read() != open(pom).read():
        shutil.rmtree(folder, ignore_errors=True)
        run("mvn", "-B", "-q", "-f", pom,
            "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies",
            f"-DoutputDirectory={folder}")
        shutil.copy(pom, kept)
    return os.path.join(folder, "*")


def plugins(directory, classpath):
    """The plugin path of a worker: the connector as `make java` lays it out, and a converter."""
    build = os.path.join(directory, "build")
    run("mvn", "-B", "-q", "-DskipTests", f"-Djava.build={build}", "package",
        cwd=JAVA)
    folder = os.path.join(directory, "plugins")
    run(os.path.join(JAVA, "lay-out-plugin"), build, folder)
    classes = os.path.join(directory, "classes")
    sources = sorted(glob.glob(os.path.join(HERE, "kafka", "*.java")))
    run("javac", "-nowarn", "-d", classes, "-cp", classpath, *sources)
    # A worker finds plugins by these files alone.
    services = os.path.join(classes, "META-INF", "services")
    os.makedirs(services)
    with open(os.path.join(services, "org.apache.kafka.connect.storage.Converter"), "w") as file:
        file.write("acceptance.PlainAvro\n")
    avro = os.path.join(folder, "plain-avro")
    os.makedirs(avro)
    run("jar", "cf", os.path.join(avro, "plain-avro.jar"), "-C", classes, "acceptance",
        "-C", classes, "META-INF")
    for jar in glob.glob(classpath):
        if os.path.basename(jar).startswith(("avro-", "jackson-")):
            shutil.copy(jar, avro)
    return folder, classes


class Java:
    """A process of Java. What it says goes to a file."""

    def __init__(self, name, directory, classpath, main, *arguments, heap="512m", flags=()):
        self.log = os.path.join(directory, name + ".log")
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4",
                 "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                 "-Dorg.slf4j.simpleLogger.log.dev.tonnage=info", *flags, "-cp", classpath, main,
                 *arguments], stdout=log, stderr=log, cwd=directory)

    def check(self):
        assert self.process.poll() is None, open(self.log).read()[-3000:]

    def kill(self):
        self.process.kill()
        self.process.wait(60)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()


def written(directory, name, properties):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.writelines(f"{key}={value}\n" for key, value in properties.items())
    return path


class Broker(Java):
    def __init__(self, directory, classpath):
        port, controller = free_port(), free_port()
        self.address = f"127.0.0.1:{port}"
        file = written(directory, "broker.properties", {
            "process.roles": "broker,controller", "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.address}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": os.path.join(directory, "kafka-logs"),
            "offsets.topic.replication.factor": 1, "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0, "auto.create.topics.enable": "true"})
        run("java", "-cp", classpath, "kafka.tools.StorageTool", "format", "-t",
            "aaaaaaaaQAqaaaaaaaaaaA", "-c", file)
        super().__init__("broker", directory, classpath, "kafka.Kafka", file)
        wait_until(self.listens)

    def listens(self):
        """the broker listens"""
        self.check()
        host, port = self.address.split(":")
        socket.create_connection((host, int(port)), 1).close()
        return True


class Worker:
    """A worker, which can be killed and started again."""

    def __init__(self, directory, classpath, plugin_path, broker):
        self.directory, self.classpath = directory, classpath
        self.address, self.jmx = f"127.0.0.1:{free_port()}", free_port()
        self.file = written(directory, "worker.properties", {
            "bootstrap.servers": broker.address, "group.id": "workers",
            "listeners": f"http://{self.address}", "plugin.path": plugin_path,
            "plugin.discovery": "service_load",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
            "offset.storage.topic": "connect-offsets", "offset.storage.replication.factor": 1,
            "offset.storage.partitions": 1, "config.storage.topic": "connect-configs",
            "config.storage.replication.factor": 1, "status.storage.topic": "connect-status",
            "status.storage.replication.factor": 1, "status.storage.partitions": 1,
            "offset.flush.interval.ms": 2000, "scheduled.rebalance.max.delay.ms": 0,
            "session.timeout.ms": 6000, "heartbeat.interval.ms": 1000,
            "consumer.session.timeout.ms": 6000, "consumer.heartbeat.interval.ms": 1000})
        self.start()

    def start(self):
        self.java = Java(
            "worker", self.directory, self.classpath,
            "org.apache.kafka.connect.cli.ConnectDistributed", self.file, heap="1g",
            flags=["-Dcom.sun.management.jmxremote.authenticate=false",
                   "-Dcom.sun.management.jmxremote.ssl=false",
                   "-Djava.rmi.server.hostname=127.0.0.1",
                   "-Dcom.sun.management.jmxremote.host=127.0.0.1",
                   f"-Dcom.sun.management.jmxremote.port={self.jmx}"])
        wait_until(self.answers)

    def answers(self):
        """the worker answers"""
        self.java.check()
        return self.call("GET", "/connectors") is not None

    def call(self, method, path, body=None):
        """An answer of its REST interface; an OSError with its words where it refuses."""
        request = urllib.request.Request(
            f"http://{self.address}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                told = answer.read()
                return json.loads(told) if told else {}
        except urllib.error.HTTPError as error:
            raise OSError(f"{error.code}: {error.read().decode()}") from error

    def connect(self, name, config):
        """Starts a connector, and waits until its tasks run."""
        wait_until(lambda: self.call("PUT", f"/connectors/{name}/config", config))
        wait_until(lambda: self.runs(name))

    def runs(self, name):
        status = self.call("GET", f"/connectors/{name}/status")
        failed = [task["trace"] for task in status["tasks"] if task["state"] == "FAILED"]
        assert not failed, failed[0][-1500:]
        return bool(status["tasks"]) and all(
            task["state"] == "RUNNING" for task in status["tasks"])

    def delete(self, name):
        self.call("DELETE", f"/connectors/{name}")

    def kill(self):
        self.java.kill()

    def stop(self):
        self.java.stop()
