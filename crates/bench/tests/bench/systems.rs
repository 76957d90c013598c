//! The same small checks against every system.

use std::borrow::Borrow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rstest::rstest;
use tempfile::TempDir;
use tonnage::{Durability, Error, ErrorKind};
use tonnage_bench::system::{
    BatchSource, BulkDone, BulkOptions, Client, Feature, GetKeys, PairSource, PutInput, Record,
    RecordScan, RecordShape, System, SystemKind, SystemSpec,
};

/// Those that are in this process.
const LOCAL: [SystemKind; 3] =
    [SystemKind::TonnageRocksDb, SystemKind::TonnageMemory, SystemKind::RocksDb];
const ON_DISK: [SystemKind; 2] = [SystemKind::TonnageRocksDb, SystemKind::RocksDb];

/// A system with its directory.
pub(crate) struct Opened {
    pub(crate) system: Box<dyn System>,
    _directory: TempDir,
}

pub(crate) fn open(kind: SystemKind) -> Opened {
    let directory = tempfile::tempdir().unwrap();
    let spec = SystemSpec {
        memory_bytes: Some(32 << 20),
        ..SystemSpec::new(kind, directory.path().join("data"))
    };
    Opened { system: spec.open().unwrap(), _directory: directory }
}

fn shape() -> RecordShape {
    RecordShape { table: "usertable".to_owned(), fields: 3 }
}

/// Runs a test on each system, with a place for records, a client and a buffer.
fn on_each(test: impl Fn(&dyn System, &mut dyn Client, &mut Record)) {
    for kind in LOCAL {
        let opened = open(kind);
        opened.system.create_records(&shape()).unwrap();
        test(&*opened.system, &mut *opened.system.client().unwrap(), &mut Record::default());
    }
}

fn record<const N: usize>(fields: [&str; N]) -> Record {
    fields.iter().map(|field| field.as_bytes()).collect()
}

fn insert(client: &mut dyn Client, key: &str, fields: [&str; 3]) {
    client.insert(key, &mut record(fields).iter()).unwrap();
}

fn texts(record: &Record) -> Vec<&str> {
    record.iter().map(|field| std::str::from_utf8(field).unwrap()).collect()
}

/// A source of one batch.
fn listed<T: ?Sized>(
    entries: Vec<(&'static str, impl Borrow<T> + Send + 'static)>,
) -> BatchSource<T> {
    let mut entries = Some(entries);
    Box::new(move |sink| {
        let Some(entries) = entries.take() else { return Ok(false) };
        entries.iter().try_for_each(|(key, value)| sink(key.as_bytes(), value.borrow()))?;
        Ok(true)
    })
}

type TextPairs = [(&'static str, &'static str)];

fn put(system: &dyn System, pairs: &TextPairs, options: &BulkOptions<'_>) -> BulkDone {
    let pairs = pairs.iter().map(|(key, value)| (*key, value.as_bytes())).collect();
    system.bulk_put(PutInput::Pairs(vec![listed(pairs)]), options).unwrap()
}

fn get(system: &dyn System, keys: &[&'static str], options: &BulkOptions<'_>) -> BulkDone {
    let keys = listed(keys.iter().map(|key| (*key, &b""[..])).collect());
    system.bulk_get(GetKeys::Pairs(keys, None), options).unwrap()
}

const KEEP: BulkOptions<'static> = BulkOptions {
    durability: Durability::Write,
    memory_bytes_max: Some(16 << 20),
    parallelism: None,
    overwrite: false,
    progress: &|_, _| {},
};

#[test]
fn a_record_is_read_as_it_was_inserted() {
    on_each(|_, client, found| {
        insert(client, "user1", ["a", "", "ccc"]);
        assert!(client.read("user1", None, found).unwrap());
        assert_eq!(texts(found), ["a", "", "ccc"]);
        assert!(client.read("user1", Some(&[2, 0]), found).unwrap());
        assert_eq!(texts(found), ["ccc", "a"]);
        assert!(!client.read("user2", None, found).unwrap());
        assert_eq!(found.len(), 0);
    });
}

#[test]
fn an_update_changes_the_fields_given_and_no_others() {
    on_each(|_, client, found| {
        insert(client, "user1", ["a", "b", "c"]);
        assert!(client.update("user1", &[1], &record(["new"]), found).unwrap());
        assert!(!client.update("user2", &[1], &record(["new"]), found).unwrap());
        client.read("user1", None, found).unwrap();
        assert_eq!(texts(found), ["a", "new", "c"]);
        assert!(!client.read("user2", None, found).unwrap());
    });
}

#[test]
fn a_scan_gives_records_in_key_order_from_its_start() {
    on_each(|_, client, found| {
        for key in ["user3", "user1", "user4", "user2"] {
            insert(client, key, [key, "b", "c"]);
        }
        let scan = |start, count, fields| RecordScan { start, count, fields };
        assert_eq!(client.scan(&scan("user2", 2, None), found).unwrap(), 2);
        assert_eq!(texts(found), ["user2", "b", "c", "user3", "b", "c"]);
        assert_eq!(client.scan(&scan("user25", 10, Some(&[0])), found).unwrap(), 2);
        assert_eq!(texts(found), ["user3", "user4"]);
        assert_eq!(client.scan(&scan("user5", 10, None), found).unwrap(), 0);
    });
}

#[test]
fn records_put_in_bulk_are_those_that_a_client_reads() {
    on_each(|system, client, found| {
        let sources = vec![
            listed(vec![("user1", record(["a", "b", "c"])), ("user2", record(["d", "e", "f"]))]),
            listed(vec![("user3", record(["g", "h", "i"]))]),
        ];
        let done = system.bulk_put(PutInput::Records(shape(), sources), &KEEP).unwrap();
        assert_eq!((done.rows, done.existed, done.failed), (3, 0, 0));
        assert!(client.read("user3", None, found).unwrap());
        assert_eq!(texts(found), ["g", "h", "i"]);
    });
}

#[rstest]
fn single_pairs_come_back(
    #[values(Durability::None, Durability::Write, Durability::Fsync)] durability: Durability,
) {
    on_each(|_, client, _| {
        client.put_pair(b"k1", b"value", durability).unwrap();
        assert_eq!(client.get_pair(b"k1").unwrap(), Some(5));
        assert_eq!(client.get_pair(b"k2").unwrap(), None);
    });
}

#[test]
fn a_key_that_is_there_is_kept_and_counted_or_replaced() {
    on_each(|system, client, _| {
        let first = put(system, &[("k1", "one"), ("k2", "two"), ("k1", "again")], &KEEP);
        assert_eq!((first.rows, first.existed, first.failed), (2, 1, 0));
        let second = put(system, &[("k2", "later"), ("k3", "three")], &KEEP);
        assert_eq!((second.rows, second.existed), (1, 1));
        assert_eq!([b"k1", b"k2"].map(|key| client.get_pair(key).unwrap()), [Some(3), Some(3)]);

        let replace = BulkOptions { overwrite: true, ..KEEP };
        let third = put(system, &[("k2", "later"), ("k4", "four")], &replace);
        assert_eq!((third.rows, third.existed), (2, 0));
        assert_eq!(client.get_pair(b"k2").unwrap(), Some(5));
    });
}

#[test]
fn a_bulk_get_finds_what_is_there_and_tells_its_progress() {
    on_each(|system, _, _| {
        put(system, &[("k1", "one"), ("k2", "two"), ("k3", "three")], &KEEP);
        let told = AtomicU64::new(0);
        let progress = |rows, _bytes| {
            told.fetch_add(rows, Relaxed);
        };
        let options = BulkOptions { progress: &progress, ..KEEP };
        let done = get(system, &["k3", "nothing", "k1"], &options);
        assert_eq!((done.rows, told.load(Relaxed)), (2, 2));
        assert!(done.bytes >= 12, "two keys and two values: {}", done.bytes);
        // A key given twice may be answered once.
        let twice = get(system, &["k1", "k1", "k2"], &KEEP);
        assert!((2..=3).contains(&twice.rows), "{twice:?}");
    });
}

#[test]
fn a_source_that_fails_fails_the_call() {
    on_each(|system, _, _| {
        let broken: PairSource = Box::new(|_| Err(Error::unavailable("the keys are out")));
        let failed = system.bulk_get(GetKeys::Pairs(broken, None), &KEEP).unwrap_err();
        assert!(failed.to_string().contains("the keys are out"), "{failed}");
    });
}

#[test]
fn gauges_show_data() {
    for opened in ON_DISK.map(open) {
        put(&*opened.system, &[("k1", "one")], &KEEP);
        opened.system.sync().unwrap();
        opened.system.settle().unwrap();
        let gauges = opened.system.gauges().unwrap();
        assert!(gauges.disk_bytes > 0 && !gauges.stalled, "{gauges:?}");
    }
}

#[test]
fn a_directory_that_holds_something_is_refused() {
    for kind in ON_DISK {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("letter"), "mine").unwrap();
        let refused = SystemSpec::new(kind, directory.path()).open().err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        assert!(refused.to_string().contains("not empty"), "{refused}");
    }
}

#[test]
fn what_is_not_offered_is_answered_so() {
    on_each(|system, _, _| {
        let created = system.define("CREATE TABLE t (id LONG, PRIMARY KEY (id))");
        let created = created.map_err(|error| error.kind());
        let offers = system.offers(Feature::Tables);
        assert_eq!(created, if offers { Ok(()) } else { Err(ErrorKind::Unsupported) });
        let mut rows = 0;
        let asked = system.query("SELECT 1", &mut |batch| {
            rows += batch.num_rows();
            Ok(())
        });
        let asked_at_once = system.multi_query(&["SELECT 2", "SELECT 3"], &mut |number, batch| {
            rows += number * batch.num_rows();
            Ok(())
        });
        let offers = system.offers(Feature::Queries);
        let rows_expected = if offers { 2 } else { 0 };
        assert_eq!((asked.is_ok(), asked_at_once.is_ok(), rows), (offers, offers, rows_expected));
    });
}
