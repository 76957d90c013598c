//! Levels of writes and reads while nodes are down: what a level asks for is kept, or refused in
//! words that name the level and the nodes.
//!
//! Takes minutes: `make cluster-test` runs it.

mod cluster;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cluster::{Nodes, Plan, open_at_last};
use tonnage_cassandra::{Address, CassandraEngine};
use tonnage_engine::sync::lock;
use tonnage_engine::{
    Acks, Condition, Consistency, Deadline, Direction, Durability, Engine, Entries, Error,
    ErrorKind, KeyPart, KeyShape, Levels, LoadOptions, OnExisting, Projection, Ranges, Result,
    Rows, ScanOptions, Slices, SpaceId, WriteBatch,
};

/// Held by each test: six nodes at a time are too many for one machine.
static ALONE: Mutex<()> = Mutex::new(());

fn open(url: &str) -> CassandraEngine {
    let address = Address::parse(url).unwrap();
    open_at_last(|| CassandraEngine::open(&address))
}

/// A space of an engine.
struct Table<'a> {
    engine: &'a dyn Engine,
    space: SpaceId,
}

impl<'a> Table<'a> {
    fn make(engine: &'a dyn Engine) -> Self {
        let shape = KeyShape::new([KeyPart::Terminated]);
        Self { engine, space: engine.create_space("rows", &shape).unwrap() }
    }

    fn writing(&self, acks: Acks) -> Arc<dyn Engine> {
        self.engine.at(Levels { acks, ..Levels::default() }).unwrap()
    }

    fn reading(&self, consistency: Consistency) -> Arc<dyn Engine> {
        self.engine.at(Levels { consistency, ..Levels::default() }).unwrap()
    }

    fn put(&self, acks: Acks, name: &str) -> Result<u64> {
        let mut batch = WriteBatch::new(self.space);
        batch.put(&key(name), b"value", 0, Condition::Always);
        let written = self.writing(acks).write(&batch, Durability::Write)?;
        Ok(written.version().expect("it has no condition"))
    }

    fn load(&self, acks: Acks, name: &str) -> Result<()> {
        let mut entries = Entries::new();
        entries.push(&key(name), b"value", 0, 0);
        let options =
            LoadOptions { on_existing: OnExisting::BlindReplace, ..LoadOptions::default() };
        let session = self.writing(acks).load(options)?;
        session.push(self.space, 0, &entries)?;
        session.finish()
    }

    fn delete(&self, acks: Acks, name: &str) -> Result<()> {
        let (mut ranges, start) = (Ranges::new(), key(name));
        ranges.push(&start, &[&start[..], &[0xFF]].concat());
        let engine = self.writing(acks);
        engine.delete_range_by(self.space, &ranges, Durability::Write, Deadline::NONE)
    }

    fn has(&self, consistency: Consistency, name: &str) -> Result<bool> {
        let (keys, mut rows) = (Slices::from_iter([&key(name)[..]]), Rows::new());
        let engine = self.reading(consistency);
        engine.read(self.space, &keys, Projection::KeysAndValues, &mut rows)?;
        Ok(!rows.is_empty())
    }

    fn scan(&self, consistency: Consistency, every_copy: bool) -> Result<usize> {
        let options =
            ScanOptions { direction: Direction::Unordered, every_copy, ..ScanOptions::default() };
        let engine = self.reading(consistency);
        let mut scanner = engine.scan(self.space, Ranges::whole_space(), options)?;
        let (mut rows, mut count) = (Rows::new(), 0);
        while scanner.next_batch(&mut rows)? {
            count += rows.len();
        }
        Ok(count)
    }
}

fn key(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0, 1]].concat()
}

/// A level that cannot be kept: the error names it, and the nodes that are down.
#[track_caller]
fn refused<T>(answer: Result<T>, level: &str, hosts: &[&str]) {
    let error: Error = answer.err().expect("it is refused");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    for part in hosts.iter().chain([&&*format!("level {level})")]) {
        assert!(error.message().contains(part), "'{part}' is not in {error}");
    }
}

#[test]
#[ignore = "takes minutes, and three nodes: make cluster-test"]
fn a_level_is_kept_or_refused_while_nodes_are_down() {
    let _alone = lock(&ALONE);
    let Some(mut nodes) = Nodes::start(3) else { return };
    let engine = open(&format!("cassandra://{}/levels?create=3", nodes.hosts()));
    let table = Table::make(&engine);
    for acks in [Acks::None, Acks::Majority, Acks::All] {
        table.put(acks, "put").unwrap();
        table.load(acks, "loaded").unwrap();
        table.delete(acks, "nothing").unwrap();
    }
    let version = table.put(Acks::All, "everywhere").unwrap();

    let hosts: Vec<String> = nodes.nodes().iter().map(|node| node.host().to_owned()).collect();
    nodes.nodes()[2].kill();
    let down = [&*hosts[2]];
    refused(table.put(Acks::All, "refused"), "ALL", &down);
    refused(table.load(Acks::All, "refused"), "ALL", &down);
    refused(table.delete(Acks::All, "everywhere"), "ALL", &down);
    assert!(table.has(Consistency::Absolute, "everywhere").unwrap());
    table.put(Acks::Majority, "put to two").unwrap();
    table.load(Acks::Majority, "loaded to two").unwrap();
    assert!(table.has(Consistency::Absolute, "loaded to two").unwrap());

    nodes.nodes()[1].kill();
    let down = [&*hosts[1], &*hosts[2]];
    refused(table.put(Acks::Majority, "refused"), "QUORUM", &down);
    refused(table.load(Acks::Majority, "refused too"), "QUORUM", &down);
    refused(table.has(Consistency::Absolute, "everywhere"), "QUORUM", &down);
    refused(table.scan(Consistency::Absolute, false), "QUORUM", &down);
    table.load(Acks::None, "loaded to one").unwrap();
    assert!(table.has(Consistency::None, "loaded to one").unwrap());
    assert!(table.scan(Consistency::None, false).unwrap() >= 5);
    assert!(table.has(Consistency::Version(version), "everywhere").unwrap());
    let later = Consistency::Version(version + (1 << 40));
    refused(table.has(later, "everywhere"), "QUORUM", &down);

    nodes.nodes()[1].restart();
    nodes.nodes()[2].restart();
    let start = Instant::now();
    // What an index is built from: every row, also those that one copy has.
    while let Err(error) = table.scan(Consistency::Absolute, true) {
        assert!(start.elapsed() < Duration::from_secs(60), "{error}");
    }
    assert!(table.has(Consistency::Absolute, "loaded to one").unwrap());
    table.put(Acks::All, "everywhere").unwrap();
}

#[test]
#[ignore = "takes minutes, and three nodes: make cluster-test"]
fn the_majority_of_its_home_decides_though_another_data_centre_is_gone() {
    let _alone = lock(&ALONE);
    let plan = Plan { data_centers: &["one", "two", "two"], is_secure: false };
    let Some(mut nodes) = Nodes::start_as(plan) else { return };
    let url = |keyspace: &str, options: &str| {
        format!("cassandra://{}/{keyspace}?create=one:1,two:2{options}", nodes.hosts())
    };
    let (everywhere, at_home) = (url("everywhere", ""), url("at_home", "&home=one"));
    let at_home_too = url("at_home", "");
    let wrong = url("at_home", "&home=two");
    let engines = [open(&everywhere), open(&at_home)];
    let [everywhere, at_home] = engines.each_ref().map(|engine| Table::make(engine));
    for table in [&everywhere, &at_home] {
        table.put(Acks::All, "put").unwrap();
        table.load(Acks::All, "loaded").unwrap();
    }
    let error = CassandraEngine::open(&Address::parse(&wrong).unwrap()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");

    let hosts: Vec<String> = nodes.nodes().iter().map(|node| node.host().to_owned()).collect();
    nodes.nodes()[1].kill();
    nodes.nodes()[2].kill();
    let down = [&*hosts[1], &*hosts[2]];
    refused(everywhere.put(Acks::Majority, "put"), "QUORUM", &down);
    refused(everywhere.has(Consistency::Absolute, "put"), "QUORUM", &down);
    refused(at_home.put(Acks::All, "refused"), "ALL", &down);
    at_home.put(Acks::Majority, "put at home").unwrap();
    at_home.load(Acks::Majority, "loaded at home").unwrap();
    assert!(at_home.has(Consistency::Absolute, "loaded at home").unwrap());
    assert_eq!(at_home.scan(Consistency::Absolute, false).unwrap(), 4);
    let opened_now = open(&at_home_too);
    let table = Table { engine: &opened_now, space: at_home.space };
    table.put(Acks::Majority, "put by another").unwrap();
    assert!(at_home.has(Consistency::Absolute, "put by another").unwrap());
}
