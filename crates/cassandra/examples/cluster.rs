//! Three nodes of Cassandra on loopback addresses, until this program is killed: `make cluster`.

#[path = "../tests/cluster/mod.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod cluster;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(3);
    let Some(nodes) = cluster::Nodes::start(count) else { std::process::exit(1) };
    println!("ready: cassandra://{}/KEYSPACE?create={count}", nodes.hosts());
    loop {
        std::thread::park();
    }
}
