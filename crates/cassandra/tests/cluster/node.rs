//! One node: its settings, and its process.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use tonnage_testkit::{Ballast, SmallDisk};

use super::on_lasting_thread;
use super::secrets::Secrets;

pub(super) const PORT: u16 = 9042;

/// Packages of Java that Cassandra looks into.
const EXPORTS: [&str; 7] = [
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "java.base/java.lang.ref",
    "jdk.unsupported/sun.misc",
];

const OPENS: [&str; 17] = [
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
    "java.base/sun.nio.ch",
    "java.base/java.io",
    "java.base/java.nio",
    "java.base/java.lang",
    "java.base/java.lang.reflect",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/java.net",
];

/// Memory is small, the compiler quick, and nothing waits for a larger cluster.
const FLAGS: [&str; 20] = [
    "-XX:+UseSerialGC",
    "-Xms512M",
    "-Xmx512M",
    "-XX:MaxDirectMemorySize=256M",
    "-XX:TieredStopAtLevel=1",
    "-XX:+PerfDisableSharedMem",
    "-Xss512k",
    "-Djava.net.preferIPv4Stack=true",
    "-Djdk.attach.allowAttachSelf=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.useCacheForAllThreads=true",
    "-Dio.netty.allocator.maxOrder=11",
    "-Dcassandra-foreground=yes",
    "-Dcassandra.libjemalloc=-",
    "-Dcassandra.ring_delay_ms=1000",
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
    "-Dcassandra.available_processors=1",
    "-Dcassandra.consistent.rangemovement=false",
    "-Dcassandra.disable_auth_caches_remote_configuration=true",
];

/// What a node is like.
pub(super) struct NodePlan<'a> {
    pub(super) network: u8,
    pub(super) number: usize,
    pub(super) token: i64,
    pub(super) data_center: &'a str,
    /// Whether others are there, of whose rows it takes its share before it answers.
    pub(super) joins: bool,
    /// Encryption and passwords.
    pub(super) secrets: Option<&'a Secrets>,
}

/// A node of Cassandra. Dropping it kills it.
pub(crate) struct Node {
    host: String,
    folder: PathBuf,
    jars: PathBuf,
    orders_port: u16,
    process: Mutex<Child>,
    /// A disk of its own.
    small_disk: Option<SmallDisk>,
}

impl Node {
    pub(super) fn start(jars: &Path, folder: &Path, plan: &NodePlan<'_>) -> Self {
        let NodePlan { network, number, data_center, .. } = *plan;
        let host = host(network, number);
        fs::create_dir_all(folder.join("conf")).expect("a folder for a node");
        fs::create_dir_all(folder.join("log")).expect("a folder for a node's log");
        let write = |name: &str, text: &str| {
            fs::write(folder.join("conf").join(name), text).expect("a node's settings");
        };
        write("cassandra.yaml", &settings(folder, plan));
        write("cassandra-rackdc.properties", &format!("dc={data_center}\nrack=rack1\n"));
        write("logback.xml", LOGBACK);
        let cut = CutOff { host: host.clone() };
        // What a killed process left.
        cut.route("del");
        std::mem::forget(cut);
        // Orders of operators go to one address, so nodes of all processes share its ports.
        let orders_port = 17_000 + u16::from(network) * 16 + number as u16;
        let process = Mutex::new(spawn(jars, folder, orders_port));
        let (folder, jars) = (folder.to_owned(), jars.to_owned());
        Self { host, folder, jars, orders_port, process, small_disk: None }
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn is_running(&self) -> bool {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(process.try_wait(), Ok(None))
    }

    /// The end of what it wrote into its logs.
    pub(super) fn last_words(&self) -> String {
        let tail = |name: &str| {
            let text = fs::read_to_string(self.folder.join("log").join(name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(20)..].join("\n")
        };
        format!("{}\n{}", tail("system.log"), tail("out"))
    }

    /// Kills it as a power failure would.
    #[allow(dead_code, reason = "not every test kills nodes")]
    pub(crate) fn kill(&self) {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }

    /// Starts it again on what it has stored.
    #[allow(dead_code, reason = "not every test kills nodes")]
    pub(crate) fn restart(&self) {
        self.kill();
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        *process = spawn(&self.jars, &self.folder, self.orders_port);
        drop(process);
        super::wait_for_port(self);
    }

    /// Ends it as an operator does, who waits until it has gone.
    #[allow(dead_code, reason = "not every test restarts nodes")]
    pub(crate) fn stop(&self) {
        self.signal(libc::SIGTERM);
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = process.wait();
    }

    /// Takes it out of the cluster for good: its rows go to the other nodes first.
    #[allow(dead_code, reason = "not every test takes nodes out")]
    pub(crate) fn leave(&self) {
        let mut command = java(&self.jars, &self.folder, "log/nodetool");
        let answer = command
            .arg("-Xmx128M")
            .arg("org.apache.cassandra.tools.NodeTool")
            .args(["-p", &self.orders_port.to_string(), "decommission"])
            .output()
            .expect("java starts");
        let words = String::from_utf8_lossy(&answer.stderr);
        assert!(answer.status.success(), "{} does not leave: {words}", self.host);
        // Once nodetool left its log among the sources, where it was committed.
        assert!(!Path::new("cassandra.logdir_IS_UNDEFINED").exists(), "nodetool logs here");
    }

    /// Cuts it off from all others, its clients included, until the answer is dropped. Nothing
    /// where that is not allowed: it takes root and the program `ip`.
    #[allow(dead_code, reason = "not every test cuts nodes off")]
    pub(crate) fn cut_off(&self) -> Option<CutOff> {
        let cut = CutOff { host: self.host.clone() };
        cut.route("add").then_some(cut)
    }

    /// Moves what it stores to a disk of so many bytes. False where that is not allowed: it takes
    /// root and the program `mount`. The node must not run.
    #[allow(dead_code, reason = "not every test fills disks")]
    pub(crate) fn move_to_small_disk(&mut self, bytes: u64) -> bool {
        let (small, old) = (self.folder.join("data"), self.folder.join("data.old"));
        fs::rename(&small, &old).expect("the data of a node");
        fs::create_dir(&small).expect("a folder for a disk");
        self.small_disk = SmallDisk::mount_at(&small, bytes);
        if self.small_disk.is_none() {
            fs::remove_dir(&small).expect("an empty folder");
            fs::rename(&old, &small).expect("the data of a node");
            return false;
        }
        assert!(
            succeeds(Command::new("cp").arg("-a").arg(old.join(".")).arg(&small)),
            "the data fits on the small disk"
        );
        true
    }

    /// Fills the small disk to the last byte, until the answer is dropped.
    #[allow(dead_code, reason = "not every test fills disks")]
    pub(crate) fn fill_disk(&self) -> Ballast {
        self.small_disk.as_ref().expect("it has a small disk").take_all_but(0)
    }

    /// Sends a signal: STOP and CONT.
    #[allow(dead_code, reason = "not every test stops nodes")]
    pub(crate) fn signal(&self, signal: i32) {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the process is a child that was not waited for, so its number is its own.
        unsafe { libc::kill(process.id() as i32, signal) };
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// A node that is cut off in both directions.
pub(crate) struct CutOff {
    host: String,
}

impl CutOff {
    /// What is sent to its address is thrown away, the answers to what it sends included.
    fn route(&self, verb: &str) -> bool {
        let address = format!("{}/32", self.host);
        succeeds(Command::new("ip").args(["route", verb, "table", "local", "blackhole", &address]))
    }
}

impl Drop for CutOff {
    fn drop(&mut self) {
        assert!(self.route("del"), "{} stays cut off", self.host);
    }
}

/// Whether a command can be run and succeeds.
fn succeeds(command: &mut Command) -> bool {
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn spawn(jars: &Path, folder: &Path, orders_port: u16) -> Child {
    let (jars, folder) = (jars.to_owned(), folder.to_owned());
    on_lasting_thread(move || {
        let out = fs::File::create(folder.join("log/out")).expect("a node's log");
        let err = out.try_clone().expect("a node's log");
        let mut command = command(&jars, &folder, orders_port);
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        // SAFETY: prctl is a system call and touches no memory of the process.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        command.spawn().expect("java starts")
    })
}

/// A program of Cassandra, which may look into packages of Java. All its other files are written
/// into the node's folder too, its logs first: without a folder for them they are written into the
/// working directory of the tests, in a folder called `cassandra.logdir_IS_UNDEFINED`.
fn java(jars: &Path, folder: &Path, logs: &str) -> Command {
    let class_path = format!("{}/conf:{}/*", folder.display(), jars.display());
    let mut command = Command::new("java");
    command.args(EXPORTS.map(|package| format!("--add-exports={package}=ALL-UNNAMED")));
    command.args(OPENS.map(|package| format!("--add-opens={package}=ALL-UNNAMED")));
    command.arg(format!("-Dcassandra.logdir={}/{logs}", folder.display()));
    command.args(["-cp", &class_path]).current_dir(folder);
    command
}

fn command(jars: &Path, folder: &Path, orders_port: u16) -> Command {
    let agent = fs::read_dir(jars)
        .expect("the folder of jars can be read")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("jamm-") && name.ends_with(".jar")
        })
        .expect("jamm is among the jars");
    let mut command = java(jars, folder, "log");
    let folder = folder.display();
    command.args(FLAGS).arg(format!("-javaagent:{}", agent.display()));
    // Tests that kill no node may do without what a crash would take.
    if let Ok(flags) = std::env::var("TONNAGE_CASSANDRA_FLAGS") {
        command.args(flags.split_whitespace());
    }
    command
        .arg(format!("-Dcassandra.config=file://{folder}/conf/cassandra.yaml"))
        .arg(format!("-Dcassandra.storagedir={folder}"))
        .arg(format!("-Dlogback.configurationFile={folder}/conf/logback.xml"))
        .arg(format!("-Dcassandra.jmx.local.port={orders_port}"))
        .arg("org.apache.cassandra.service.CassandraDaemon");
    command
}

/// The address of a node.
fn host(network: u8, number: usize) -> String {
    format!("127.0.{network}.{number}")
}

fn settings(folder: &Path, plan: &NodePlan<'_>) -> String {
    let (host, seed) = (host(plan.network, plan.number), host(plan.network, 1));
    let NodePlan { token, joins, .. } = plan;
    let secrets = plan.secrets.map_or_else(
        || "authenticator: AllowAllAuthenticator\nauthorizer: AllowAllAuthorizer\n".to_owned(),
        Secrets::settings,
    );
    let folder = folder.display();
    format!(
        r#"cluster_name: tonnage
num_tokens: 1
initial_token: {token}
auto_bootstrap: {joins}
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
listen_address: {host}
rpc_address: {host}
storage_port: 7000
native_transport_port: {PORT}
start_native_transport: true
endpoint_snitch: GossipingPropertyFileSnitch
dynamic_snitch: false
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "{seed}"}}]
data_file_directories: ["{folder}/data"]
commitlog_directory: {folder}/commitlog
hints_directory: {folder}/hints
saved_caches_directory: {folder}/saved_caches
cdc_raw_directory: {folder}/cdc_raw
commitlog_sync: periodic
commitlog_sync_period: 10000ms
commitlog_segment_size: 8MiB
commitlog_total_space: 128MiB
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
memtable_allocation_type: offheap_objects
file_cache_size: 32MiB
networking_cache_size: 16MiB
concurrent_reads: 8
concurrent_writes: 8
concurrent_compactors: 1
auto_snapshot: false
snapshot_before_compaction: false
incremental_backups: false
hinted_handoff_enabled: true
batch_size_warn_threshold: 64KiB
tombstone_failure_threshold: 20000
tombstone_warn_threshold: 10000
{secrets}"#
    )
}

const LOGBACK: &str = r#"<configuration><appender name="F" class="ch.qos.logback.core.FileAppender">
<file>${cassandra.logdir}/system.log</file>
<encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{20} - %msg%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="F"/></root></configuration>
"#;
