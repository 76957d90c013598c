//! Nodes of Cassandra on loopback addresses, for tests.
//!
//! - The jars come from Maven once, into `$TONNAGE_CASSANDRA_LIB` or `~/.cache/tonnage-cassandra`.
//! - Each process that asks has nodes of its own, on `127.0.X.1` and so on, with an X that a file
//!   locks.
//! - They die with the process, however it ends, and their folder goes with them.
//! - `TONNAGE_CASSANDRA=HOST,HOST` names a cluster to use instead.
//! - Without Java 17, Maven or jars there are none. Tests then say so and pass, unless
//!   `TONNAGE_CASSANDRA_TESTS=required`.

mod jars;
mod node;

use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use node::Node;

/// How long nodes may take to start, on a busy machine.
const START_TIME: Duration = Duration::from_secs(180);

/// Running nodes, or a cluster that somebody else runs.
pub(crate) struct Nodes {
    hosts: Vec<String>,
    nodes: Vec<Node>,
    folder: Option<PathBuf>,
    _lock: Option<File>,
}

impl Nodes {
    /// Starts so many nodes. Nothing, and a word about it, where there can be none.
    ///
    /// # Panics
    /// If they do not start, or are required and cannot be had.
    pub(crate) fn start(count: usize) -> Option<Self> {
        if let Ok(hosts) = std::env::var("TONNAGE_CASSANDRA") {
            let hosts = hosts.split(',').map(str::to_owned).collect();
            return Some(Self { hosts, nodes: Vec::new(), folder: None, _lock: None });
        }
        match jars::find() {
            Ok(jars) => Some(Self::start_with(&jars, count)),
            Err(why) => {
                let is_required =
                    std::env::var("TONNAGE_CASSANDRA_TESTS").is_ok_and(|tests| tests == "required");
                assert!(!is_required, "no node of Cassandra can be started: {why}");
                eprintln!("not tested on Cassandra: {why}");
                None
            }
        }
    }

    fn start_with(jars: &Path, count: usize) -> Self {
        let (number, lock) = lock_network();
        let folder = networks().join(number.to_string());
        // What a process left behind that was killed.
        let _ = fs::remove_dir_all(&folder);
        let start = |node| Node::start(jars, &folder.join(format!("n{node}")), number, node, count);
        let mut started = Self {
            hosts: Vec::new(),
            nodes: vec![start(1)],
            folder: Some(folder.clone()),
            _lock: Some(lock),
        };
        // The others ask the first one who is there.
        wait_for_port(&started.nodes[0]);
        started.nodes.extend((2..=count).map(start));
        started.nodes.iter().for_each(wait_for_port);
        started.hosts = started.nodes.iter().map(|node| node.host().to_owned()).collect();
        started
    }

    /// The hosts, as an address of a store has them.
    pub(crate) fn hosts(&self) -> String {
        self.hosts.join(",")
    }

    /// The nodes that this process runs.
    #[allow(dead_code, reason = "not every test kills nodes")]
    pub(crate) fn nodes(&mut self) -> &mut [Node] {
        &mut self.nodes
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.nodes.clear();
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

fn wait_for_port(node: &Node) {
    let (start, host) = (Instant::now(), node.host());
    while TcpStream::connect((host, node::PORT)).is_err() {
        let has_time = start.elapsed() < START_TIME && node.is_running();
        assert!(has_time, "node {host} does not start:\n{}", node.last_words());
        thread::sleep(Duration::from_millis(100));
    }
}

fn networks() -> PathBuf {
    std::env::temp_dir().join("tonnage-cassandra")
}

/// A loopback network that no other process uses.
fn lock_network() -> (u8, File) {
    fs::create_dir_all(networks()).expect("a folder for nodes");
    for number in 10..250 {
        let path = networks().join(format!("{number}.lock"));
        let file = File::create(path).expect("a lock for a network");
        if file.try_lock().is_ok() {
            return (number, file);
        }
    }
    panic!("all loopback networks for nodes are in use");
}

/// Runs something on a thread that lives as long as the process: a child is told of the death of
/// the thread that started it, not of its process.
fn on_lasting_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        sender.send(work()).expect("somebody waits");
        loop {
            thread::park();
        }
    });
    receiver.recv().expect("the work ends")
}
