//! The same small checks against every system.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rstest::rstest;
use tempfile::TempDir;
use tonnage::{Durability, ErrorKind};

use super::*;

/// A system with its directory.
struct Opened {
    system: Box<dyn System>,
    _directory: TempDir,
}

fn open(kind: SystemKind) -> Opened {
    let directory = tempfile::tempdir().unwrap();
    let spec = SystemSpec {
        memory_bytes: Some(32 << 20),
        ..SystemSpec::new(kind, directory.path().join("data"))
    };
    Opened { system: spec.open().unwrap(), _directory: directory }
}

fn shape() -> RecordShape {
    RecordShape { table: "usertable".to_owned(), fields: 3, field_bytes: 8 }
}

fn open_with_records(kind: SystemKind) -> Opened {
    let opened = open(kind);
    opened.system.create_records(&shape()).unwrap();
    opened
}

fn record(fields: [&str; 3]) -> Record {
    let mut record = Record::default();
    fields.iter().for_each(|field| record.push(field.as_bytes()));
    record
}

fn texts(record: &Record) -> Vec<&str> {
    record.fields().map(|field| std::str::from_utf8(field).unwrap()).collect()
}

/// Sources from lists: one batch of all.
struct Listed<T>(Option<Vec<T>>);

impl PairSource for Listed<(&str, &str)> {
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<bool> {
        let Some(pairs) = self.0.take() else { return Ok(false) };
        pairs.iter().try_for_each(|(key, value)| sink(key.as_bytes(), value.as_bytes()))?;
        Ok(true)
    }
}

impl KeySource for Listed<String> {
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        let Some(keys) = self.0.take() else { return Ok(false) };
        keys.iter().try_for_each(|key| sink(key.as_bytes()))?;
        Ok(true)
    }
}

impl RecordSource for Listed<(&str, Record)> {
    fn next_batch(&mut self, sink: &mut dyn FnMut(&str, &Record) -> Result<()>) -> Result<bool> {
        let Some(records) = self.0.take() else { return Ok(false) };
        records.iter().try_for_each(|(key, record)| sink(key, record))?;
        Ok(true)
    }
}

fn pairs(pairs: &[(&'static str, &'static str)]) -> Box<dyn PairSource> {
    Box::new(Listed(Some(pairs.to_vec())))
}

fn keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> Box<dyn KeySource> {
    Box::new(Listed(Some(keys.into_iter().map(str::to_owned).collect())))
}

fn bulk(progress: &(dyn Fn(u64, u64) + Sync), overwrite: bool) -> BulkOptions<'_> {
    BulkOptions {
        durability: Durability::Write,
        memory_bytes_max: Some(16 << 20),
        parallelism: None,
        overwrite,
        progress,
    }
}

const KEEP: BulkOptions<'static> = BulkOptions {
    durability: Durability::Write,
    memory_bytes_max: Some(16 << 20),
    parallelism: None,
    overwrite: false,
    progress: &|_, _| {},
};

#[rstest]
fn a_record_is_read_as_it_was_inserted(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let opened = open_with_records(kind);
    let (mut client, mut found) = (opened.system.client().unwrap(), Record::default());
    client.insert("user1", &record(["a", "", "ccc"])).unwrap();
    assert!(client.read("user1", None, &mut found).unwrap());
    assert_eq!(texts(&found), ["a", "", "ccc"]);
    assert!(client.read("user1", Some(&[2, 0]), &mut found).unwrap());
    assert_eq!(texts(&found), ["ccc", "a"]);
    assert!(!client.read("user2", None, &mut found).unwrap());
    assert!(found.is_empty());
}

#[rstest]
fn an_update_changes_the_fields_given_and_no_others(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let opened = open_with_records(kind);
    let (mut client, mut found) = (opened.system.client().unwrap(), Record::default());
    client.insert("user1", &record(["a", "b", "c"])).unwrap();
    let mut values = Record::default();
    values.push(b"new");
    assert!(client.update("user1", &[1], &values).unwrap());
    assert!(!client.update("user2", &[1], &values).unwrap());
    client.read("user1", None, &mut found).unwrap();
    assert_eq!(texts(&found), ["a", "new", "c"]);
    assert!(!client.read("user2", None, &mut found).unwrap());
}

#[rstest]
fn a_scan_gives_records_in_key_order_from_its_start(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let opened = open_with_records(kind);
    let (mut client, mut found) = (opened.system.client().unwrap(), Record::default());
    for key in ["user3", "user1", "user4", "user2"] {
        client.insert(key, &record([key, "b", "c"])).unwrap();
    }
    assert_eq!(client.scan("user2", 2, None, &mut found).unwrap(), 2);
    assert_eq!(texts(&found), ["user2", "b", "c", "user3", "b", "c"]);
    assert_eq!(client.scan("user25", 10, Some(&[0]), &mut found).unwrap(), 2);
    assert_eq!(texts(&found), ["user3", "user4"]);
    assert_eq!(client.scan("user5", 10, None, &mut found).unwrap(), 0);
}

#[rstest]
fn a_deleted_record_is_gone(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let opened = open_with_records(kind);
    let (mut client, mut found) = (opened.system.client().unwrap(), Record::default());
    client.insert("user1", &record(["a", "b", "c"])).unwrap();
    assert!(client.delete("user1").unwrap());
    assert!(!client.delete("user1").unwrap());
    assert!(!client.read("user1", None, &mut found).unwrap());
}

#[rstest]
fn records_put_in_bulk_are_those_that_a_client_reads(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let opened = open_with_records(kind);
    let source = |records: Vec<(&'static str, Record)>| {
        Box::new(Listed(Some(records))) as Box<dyn RecordSource>
    };
    let sources = vec![
        source(vec![("user1", record(["a", "b", "c"])), ("user2", record(["d", "e", "f"]))]),
        source(vec![("user3", record(["g", "h", "i"]))]),
    ];
    let done = opened.system.bulk_put_records(&shape(), sources, &KEEP).unwrap();
    assert_eq!((done.rows, done.existed, done.failed), (3, 0, 0));
    let mut found = Record::default();
    assert!(opened.system.client().unwrap().read("user3", None, &mut found).unwrap());
    assert_eq!(texts(&found), ["g", "h", "i"]);
}

#[rstest]
fn single_pairs_come_back(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
    #[values(Durability::None, Durability::Write, Durability::Fsync)] durability: Durability,
) {
    let opened = open(kind);
    let mut client = opened.system.client().unwrap();
    client.put_pair(b"k1", b"value", durability).unwrap();
    assert_eq!(client.get_pair(b"k1").unwrap(), Some(5));
    assert_eq!(client.get_pair(b"k2").unwrap(), None);
}

#[rstest]
fn a_key_that_is_there_is_kept_and_counted_or_replaced(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let opened = open(kind);
    let system = &opened.system;
    let first = system
        .bulk_put_pairs(vec![pairs(&[("k1", "one"), ("k2", "two"), ("k1", "again")])], &KEEP)
        .unwrap();
    assert_eq!((first.rows, first.existed, first.failed), (2, 1, 0));
    let second =
        system.bulk_put_pairs(vec![pairs(&[("k2", "later"), ("k3", "three")])], &KEEP).unwrap();
    assert_eq!((second.rows, second.existed), (1, 1));
    let mut client = system.client().unwrap();
    assert_eq!(
        (client.get_pair(b"k1").unwrap(), client.get_pair(b"k2").unwrap()),
        (Some(3), Some(3))
    );

    let replace = BulkOptions { overwrite: true, ..KEEP };
    let third =
        system.bulk_put_pairs(vec![pairs(&[("k2", "later"), ("k4", "four")])], &replace).unwrap();
    assert_eq!((third.rows, third.existed), (2, 0));
    assert_eq!(client.get_pair(b"k2").unwrap(), Some(5));
}

#[rstest]
fn a_bulk_get_finds_what_is_there_and_tells_its_progress(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let opened = open(kind);
    opened
        .system
        .bulk_put_pairs(vec![pairs(&[("k1", "one"), ("k2", "two"), ("k3", "three")])], &KEEP)
        .unwrap();
    let told = AtomicU64::new(0);
    let progress = |rows, _bytes| {
        told.fetch_add(rows, Relaxed);
    };
    let done = opened
        .system
        .bulk_get_pairs(keys(["k3", "nothing", "k1"]), &bulk(&progress, false))
        .unwrap();
    assert_eq!((done.rows, told.load(Relaxed)), (2, 2));
    assert!(done.bytes >= 12, "two keys and two values: {}", done.bytes);
    // A key given twice may be answered once.
    let twice = opened.system.bulk_get_pairs(keys(["k1", "k1", "k2"]), &KEEP).unwrap();
    assert!((2..=3).contains(&twice.rows), "{twice:?}");
}

#[rstest]
fn a_source_that_fails_fails_the_call(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    struct Broken;
    impl KeySource for Broken {
        fn next_batch(&mut self, _sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
            Err(Error::unavailable("the keys are out"))
        }
    }
    let failed = open(kind).system.bulk_get_pairs(Box::new(Broken), &KEEP).unwrap_err();
    assert!(failed.to_string().contains("the keys are out"), "{failed}");
}

#[rstest]
fn gauges_show_data(#[values(SystemKind::TonnageRocksDb, SystemKind::RocksDb)] kind: SystemKind) {
    let opened = open(kind);
    opened.system.bulk_put_pairs(vec![pairs(&[("k1", "one")])], &KEEP).unwrap();
    opened.system.sync().unwrap();
    opened.system.settle().unwrap();
    let gauges = opened.system.gauges().unwrap();
    assert!(gauges.disk_bytes + gauges.memtable_bytes > 0 && !gauges.stalled, "{gauges:?}");
}

#[rstest]
fn a_directory_that_holds_something_is_refused(
    #[values(SystemKind::TonnageRocksDb, SystemKind::RocksDb)] kind: SystemKind,
) {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("letter"), "mine").unwrap();
    let refused = SystemSpec::new(kind, directory.path()).open().err().expect("it holds something");
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(refused.to_string().contains("not empty"), "{refused}");
}

#[rstest]
fn what_is_not_offered_is_answered_so(
    #[values(SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb)]
    kind: SystemKind,
) {
    let opened = open(kind);
    let created = opened.system.define("CREATE TABLE t (id LONG, PRIMARY KEY (id))");
    if opened.system.offers(Feature::Tables) {
        created.unwrap();
    } else {
        assert_eq!(created.unwrap_err().kind(), ErrorKind::Unsupported);
    }
    let mut rows = 0;
    let asked = opened.system.client().unwrap().query("SELECT 1", &mut |batch| {
        rows += batch.num_rows();
        Ok(())
    });
    let asked_at_once =
        opened.system.multi_query(&["SELECT 2", "SELECT 3"], &mut |statement, batch| {
            rows += statement * batch.num_rows();
            Ok(())
        });
    let offers = opened.system.offers(Feature::Queries);
    assert_eq!(
        (asked.is_ok(), asked_at_once.is_ok(), rows),
        (offers, offers, if offers { 2 } else { 0 })
    );
}
