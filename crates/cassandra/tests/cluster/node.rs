//! One node: its settings, and its process.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::on_lasting_thread;

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

/// A node of Cassandra. Dropping it kills it.
pub(crate) struct Node {
    host: String,
    folder: PathBuf,
    jars: PathBuf,
    process: Mutex<Child>,
}

impl Node {
    pub(super) fn start(
        jars: &Path,
        folder: &Path,
        network: u8,
        number: usize,
        count: usize,
    ) -> Self {
        let host = format!("127.0.{network}.{number}");
        fs::create_dir_all(folder.join("conf")).expect("a folder for a node");
        fs::create_dir_all(folder.join("log")).expect("a folder for a node's log");
        let seed = format!("127.0.{network}.1");
        let settings = settings(folder, &host, &seed, token(number, count));
        fs::write(folder.join("conf/cassandra.yaml"), settings).expect("a node's settings");
        fs::write(folder.join("conf/logback.xml"), LOGBACK).expect("a node's settings");
        let process = Mutex::new(spawn(jars, folder));
        Self { host, folder: folder.to_owned(), jars: jars.to_owned(), process }
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
        *process = spawn(&self.jars, &self.folder);
        drop(process);
        super::wait_for_port(self);
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

fn spawn(jars: &Path, folder: &Path) -> Child {
    let (jars, folder) = (jars.to_owned(), folder.to_owned());
    on_lasting_thread(move || {
        let out = fs::File::create(folder.join("log/out")).expect("a node's log");
        let err = out.try_clone().expect("a node's log");
        let mut command = command(&jars, &folder);
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

fn command(jars: &Path, folder: &Path) -> Command {
    let agent = fs::read_dir(jars)
        .expect("the folder of jars can be read")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("jamm-") && name.ends_with(".jar")
        })
        .expect("jamm is among the jars");
    let (folder, jars) = (folder.display(), jars.display());
    let mut command = Command::new("java");
    command.args(FLAGS).arg(format!("-javaagent:{}", agent.display()));
    command.args(EXPORTS.map(|package| format!("--add-exports={package}=ALL-UNNAMED")));
    command.args(OPENS.map(|package| format!("--add-opens={package}=ALL-UNNAMED")));
    command
        .arg(format!("-Dcassandra.config=file://{folder}/conf/cassandra.yaml"))
        .arg(format!("-Dcassandra.storagedir={folder}"))
        .arg(format!("-Dcassandra.logdir={folder}/log"))
        .arg(format!("-Dlogback.configurationFile={folder}/conf/logback.xml"))
        .args(["-cp", &format!("{folder}/conf:{jars}/*")])
        .arg("org.apache.cassandra.service.CassandraDaemon");
    command
}

/// Nodes share the ring evenly.
fn token(number: usize, count: usize) -> i64 {
    let width = u128::from(u64::MAX) / count as u128;
    (i128::from(i64::MIN) + (width * (number as u128 - 1)) as i128 + 1) as i64
}

fn settings(folder: &Path, host: &str, seed: &str, token: i64) -> String {
    let folder = folder.display();
    format!(
        r#"cluster_name: tonnage
num_tokens: 1
initial_token: {token}
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
listen_address: {host}
rpc_address: {host}
storage_port: 7000
native_transport_port: {PORT}
start_native_transport: true
endpoint_snitch: SimpleSnitch
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
authenticator: AllowAllAuthenticator
authorizer: AllowAllAuthorizer
"#
    )
}

const LOGBACK: &str = r#"<configuration><appender name="F" class="ch.qos.logback.core.FileAppender">
<file>${cassandra.logdir}/system.log</file>
<encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{20} - %msg%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="F"/></root></configuration>
"#;
