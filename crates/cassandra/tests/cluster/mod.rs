//! Nodes of Cassandra on loopback addresses, for tests.
//!
//! - The jars come from Maven once, into `$TONNAGE_CASSANDRA_LIB` or `~/.cache/tonnage-cassandra`.
//! - Each process that asks has nodes of its own, on `127.0.X.1` and so on, with an X that a file
//!   locks.
//! - They die with the process, however it ends, and their folder is removed with them.
//! - `TONNAGE_CASSANDRA=HOST,HOST` names a cluster to use instead.
//! - Without Java 17, Maven or jars there are none. Tests then say so and pass, unless
//!   `TONNAGE_CASSANDRA_TESTS=required`.

mod jars;
mod node;
mod secrets;

use std::fmt::Display;
use std::fs::{self, File};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use node::Node;
use node::NodePlan;
pub(crate) use secrets::Secrets;

/// How long nodes may take to start, on a busy machine.
const START_TIME: Duration = Duration::from_secs(180);

/// How long nodes that answer may take to find each other.
const MEETING_TIME: Duration = Duration::from_secs(120);

/// Opens a store on nodes that may still be looking for each other.
///
/// # Panics
/// With the last error, if it does not open.
pub(crate) fn open_at_last<T, E: Display>(mut open: impl FnMut() -> Result<T, E>) -> T {
    let start = Instant::now();
    loop {
        match open() {
            Ok(opened) => return opened,
            Err(error) => assert!(start.elapsed() < MEETING_TIME, "{error}"),
        }
        thread::sleep(Duration::from_millis(500));
    }
}

/// What the nodes of a test are like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The data centre of each.
    pub(crate) data_centers: &'static [&'static str],
    /// Whether they ask for certificates and passwords.
    pub(crate) is_secure: bool,
}

/// The data centre of nodes that have one only.
const DATA_CENTER: &str = "datacenter1";

/// Running nodes, or an external cluster.
pub(crate) struct Nodes {
    hosts: Vec<String>,
    nodes: Vec<Node>,
    own: Option<Own>,
}

/// What nodes of this process need.
struct Own {
    network: u8,
    jars: PathBuf,
    folder: PathBuf,
    secrets: Option<Secrets>,
    _lock: File,
}

impl Nodes {
    /// Starts so many nodes. Nothing, and a word about it, where there can be none.
    ///
    /// # Panics
    /// If they do not start, or are required and cannot be had.
    #[allow(dead_code, reason = "some tests have nodes of another kind")]
    pub(crate) fn start(count: usize) -> Option<Self> {
        if let Ok(hosts) = std::env::var("TONNAGE_CASSANDRA") {
            let hosts = hosts.split(',').map(str::to_owned).collect();
            return Some(Self { hosts, nodes: Vec::new(), own: None });
        }
        let data_centers = &[DATA_CENTER; 8][..count];
        Self::start_as(Plan { data_centers, is_secure: false })
    }

    /// The same for nodes of some kind, which are always of this process.
    pub(crate) fn start_as(plan: Plan) -> Option<Self> {
        match jars::find() {
            Ok(jars) => Some(Self::start_with(jars, plan)),
            Err(why) => {
                let is_required =
                    std::env::var("TONNAGE_CASSANDRA_TESTS").is_ok_and(|tests| tests == "required");
                assert!(!is_required, "no node of Cassandra can be started: {why}");
                tonnage_testkit::not_run(&format!("Cassandra: {why}"));
                None
            }
        }
    }

    fn start_with(jars: PathBuf, plan: Plan) -> Self {
        let (network, lock) = lock_network();
        let folder = networks().join(network.to_string());
        // What a killed process left.
        let _ = fs::remove_dir_all(&folder);
        let secrets = plan.is_secure.then(|| Secrets::make(&folder.join("secrets"), network));
        let own = Own { network, jars, folder, secrets, _lock: lock };
        let mut started = Self { hosts: Vec::new(), nodes: Vec::new(), own: Some(own) };
        let count = plan.data_centers.len();
        for (number, data_center) in (1..).zip(plan.data_centers) {
            started.start_node(number, token(number, count), data_center, false);
            // The others ask the first one who is there.
            if number == 1 {
                wait_for_port(&started.nodes[0]);
            }
        }
        started.nodes.iter().for_each(wait_for_port);
        started
    }

    fn start_node(&mut self, number: usize, token: i64, data_center: &str, joins: bool) {
        let own = self.own.as_ref().expect("nodes of this process");
        let plan = NodePlan {
            network: own.network,
            number,
            token,
            data_center,
            joins,
            secrets: own.secrets.as_ref(),
        };
        let node = Node::start(&own.jars, &own.folder.join(format!("n{number}")), &plan);
        self.hosts.push(node.host().to_owned());
        self.nodes.push(node);
    }

    /// Starts one more node, which takes half of the rows of the last, and waits until it has them.
    #[allow(dead_code, reason = "not every test lets nodes join")]
    pub(crate) fn join(&mut self) {
        let count = self.nodes.len();
        let half = token(2, 2 * count) - token(1, 2 * count);
        self.start_node(count + 1, token(count, count) + half, DATA_CENTER, true);
        wait_for_port(&self.nodes[count]);
    }

    /// What clients of secure nodes need.
    #[allow(dead_code, reason = "not every test has secure nodes")]
    pub(crate) fn secrets(&self) -> &Secrets {
        self.own.as_ref().and_then(|own| own.secrets.as_ref()).expect("the nodes are secure")
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
        if let Some(own) = &self.own {
            let _ = fs::remove_dir_all(&own.folder);
        }
    }
}

/// The token of a node where so many share the ring evenly.
fn token(number: usize, count: usize) -> i64 {
    let width = u128::from(u64::MAX) / count as u128;
    (i128::from(i64::MIN) + (width * (number as u128 - 1)) as i128 + 1) as i64
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

/// Runs something on a thread that lives as long as the process: a child gets the signal of the
/// death of the thread that started it, not of its process.
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
