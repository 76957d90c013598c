//! Stores of tests on nodes that this process starts: one, or as many as `TONNAGE_CASSANDRA_NODES`
//! says, up to 3, each of which then has a copy of every row.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, OnceLock};

use scylla::client::session_builder::SessionBuilder;
use tonnage::{Clock, Store};
use tonnage_engine::sync::lock;

use crate::cluster::{Nodes, open_at_last};

static NODES: Mutex<Option<Nodes>> = Mutex::new(None);

/// Keyspaces that no test uses: to make one takes as long as several tests.
static FREE: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The keyspaces of the test on this thread. They are free when it ends.
struct Taken(Vec<String>);

impl Drop for Taken {
    fn drop(&mut self) {
        lock(&FREE).append(&mut self.0);
    }
}

thread_local! {
    static TAKEN: RefCell<Taken> = const { RefCell::new(Taken(Vec::new())) };
}

/// An empty store that uses this clock.
pub(crate) fn store(clock: &Arc<dyn Clock>) -> Option<Store> {
    let (hosts, count) = nodes();
    let free = lock(&FREE).pop();
    let keyspace = free.unwrap_or_else(|| new_keyspace(hosts, *count));
    let url = format!("cassandra://{hosts}/{keyspace}");
    TAKEN.with_borrow_mut(|taken| taken.0.push(keyspace));
    let engine = open_at_last(|| tonnage_cassandra::open_url(&url, true, Arc::clone(clock)));
    for space in engine.spaces().unwrap() {
        engine.drop_space(space.id).unwrap();
    }
    drop(engine);
    let builder = Store::builder(&url).cluster_engine(tonnage_cassandra::open_url);
    Some(builder.clock(Arc::clone(clock)).clean_in_background(false).open().unwrap())
}

/// Makes a keyspace without a commit log. Nodes empty the log at each DROP TABLE, which takes more
/// time than all else, and no node is killed here.
fn new_keyspace(hosts: &str, count: usize) -> String {
    static MADE: Mutex<u32> = Mutex::new(0);
    let mut made = lock(&MADE);
    *made += 1;
    let name = format!("tonnage_{}_{made}", std::process::id());
    let make = format!(
        "CREATE KEYSPACE {name} WITH durable_writes = false AND replication = \
         {{'class': 'NetworkTopologyStrategy', 'replication_factor': {count}}}"
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let hosts: Vec<_> = hosts.split(',').collect();
        let session = SessionBuilder::new().known_nodes(hosts).build().await.unwrap();
        session.query_unpaged(make, ()).await.unwrap();
        session.await_schema_agreement().await.unwrap();
    });
    name
}

/// The hosts of the nodes, and how many there are. They start with the first test.
fn nodes() -> &'static (String, usize) {
    static STARTED: OnceLock<(String, usize)> = OnceLock::new();
    STARTED.get_or_init(|| {
        let count = std::env::var("TONNAGE_CASSANDRA_NODES").map_or(1, |count| {
            count.parse().ok().filter(|count| (1..=3).contains(count)).expect("1, 2 or 3 nodes")
        });
        let nodes = Nodes::start(count).expect("nodes of Cassandra");
        let hosts = nodes.hosts();
        *lock(&NODES) = Some(nodes);
        // SAFETY: the function is called once, when all tests are over.
        unsafe { libc::atexit(stop) };
        (hosts, count)
    })
}

/// Statics are never dropped: the nodes go here.
extern "C" fn stop() {
    lock(&NODES).take();
}
