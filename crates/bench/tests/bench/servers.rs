//! Servers that run already: measured like other systems, and left as they were found.

use tonnage::{Durability, ErrorKind, Key, Store, WriteOptions};
use tonnage_bench::measure::{DataDirectory, NoWatcher};
use tonnage_bench::report::Report;
use tonnage_bench::system::Target;
use tonnage_bench::workload::RunOptions;
use tonnage_bench::workload::bulk::{self, BulkBenchOptions, DataKind};
use tonnage_bench::workload::ycsb::{self, Workload, YcsbOptions};
use tonnage_server::{Server, Settings, ShutdownHandle};

use crate::common::assert_all_worked;

/// Runs a test beside a server of Tonnage on a free port of loopback.
fn beside_a_server(test: impl FnOnce(&Store, Target)) {
    let address =
        |server: &Server| format!("grpc://{}", server.addresses().flight.as_ref().unwrap());
    beside(Settings::default(), address, test);
}

/// The same by the protocol of Redis.
fn beside_redis(test: impl FnOnce(&Store, Target)) {
    let redis = Settings { redis: Some("127.0.0.1:0".to_owned()), ..Settings::default() };
    let address =
        |server: &Server| format!("redis://{}", server.addresses().redis.as_ref().unwrap());
    beside(redis, address, test);
}

fn beside(
    settings: Settings,
    address: impl FnOnce(&Server) -> String,
    test: impl FnOnce(&Store, Target),
) {
    let store = Store::open("memory:").unwrap();
    let settings = Settings {
        http: Some("off".to_owned()),
        flight: Some("127.0.0.1:0".to_owned()),
        ..settings
    };
    let server = Server::open(store.clone(), settings.resolve().unwrap()).unwrap();
    let address = address(&server);
    let stop = ShutdownHandle::default();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| server.run(&stop));
        // A test that fails must not wait for the server for ever.
        let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            test(&store, address.parse().unwrap());
        }));
        stop.stop();
        running.join().unwrap().unwrap();
        tested.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn tables(store: &Store) -> Vec<String> {
    store.tables().iter().map(|table| table.path().to_owned()).collect()
}

fn run_options(target: Target) -> RunOptions {
    RunOptions {
        systems: vec![target],
        directories: vec![DataDirectory::new("test", std::env::temp_dir())],
        connections: Some(3),
        ..RunOptions::default()
    }
}

fn ycsb(target: Target) -> tonnage::Result<Report> {
    let sizes = ["recordcount=200", "operationcount=400", "fieldcount=3", "fieldlength=10"];
    let names = ["a", "e"].map(str::to_owned);
    let options = YcsbOptions {
        workloads: Workload::from_arguments(&names, &sizes.map(str::to_owned)).unwrap(),
        threads: vec![4],
        run: run_options(target),
        ..YcsbOptions::default()
    };
    ycsb::run(&options, &NoWatcher)
}

#[test]
fn ycsb_runs_on_a_server_of_tonnage_and_leaves_its_tables_alone() {
    beside_a_server(|store, target| {
        store.execute("CREATE TABLE theirs (id LONG, PRIMARY KEY (id))").unwrap();
        let report = ycsb(target.clone()).unwrap();
        assert_all_worked(&report);
        assert!(report.runs.iter().all(|run| run.target == target.name()));
        let settings = &report.runs[0].settings;
        assert_eq!(settings.get("connections").map(String::as_str), Some("3"));
        assert_eq!(tables(store), ["theirs"]);
    });
}

#[test]
fn pairs_of_a_benchmark_are_deleted_at_its_end() {
    beside_a_server(|store, target| {
        let options = BulkBenchOptions {
            data: vec![DataKind::Pairs],
            records: 300,
            gets: 100,
            singles: 50,
            durabilities: vec![Durability::Write],
            run: run_options(target),
            ..BulkBenchOptions::default()
        };
        assert_all_worked(&bulk::run(&options, &NoWatcher).unwrap());
        assert_eq!(store.kv().scan(&Default::default()).unwrap().count(), 0);
    });
}

#[test]
fn a_server_that_holds_pairs_is_refused_and_keeps_them() {
    beside_a_server(|store, target| {
        let key = Key::of_major(["theirs"]);
        store.kv().put(&key, b"1", &WriteOptions::default()).unwrap();
        let error = ycsb(target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("holds pairs"), "{error}");
        assert!(store.kv().get(&key).unwrap().is_some());
    });
}

#[test]
fn a_table_that_the_benchmark_would_take_is_refused_and_kept() {
    beside_a_server(|store, target| {
        store.execute("CREATE TABLE usertable (id LONG, PRIMARY KEY (id))").unwrap();
        assert!(ycsb(target).is_err());
        assert_eq!(tables(store), ["usertable"]);
    });
}

/// Half of the pairs are there before: SETNX says how many, and the report fails on another count.
#[test]
fn pairs_go_through_the_protocol_of_redis_and_are_deleted() {
    for keep_existing in [false, true] {
        beside_redis(|store, target| {
            let options = BulkBenchOptions {
                data: vec![DataKind::Pairs],
                records: 300,
                existing_percent: 50,
                keep_existing,
                gets: 100,
                missing_percent: 20,
                singles: 50,
                durabilities: vec![Durability::Write],
                run: run_options(target.clone()),
                ..BulkBenchOptions::default()
            };
            let report = bulk::run(&options, &NoWatcher).unwrap();
            assert_all_worked(&report);
            assert!(!report.runs.is_empty());
            for run in &report.runs {
                assert_eq!(run.target, target.name());
                let connections = run.settings.get("connections").map(String::as_str);
                assert_eq!(connections, Some("one a thread"));
            }
            assert_eq!(store.kv().scan(&Default::default()).unwrap().count(), 0);
        });
    }
}

#[test]
fn a_database_of_redis_that_holds_keys_is_refused_and_keeps_them() {
    beside_redis(|store, target| {
        let key = Key::of_major(["theirs"]);
        store.kv().put(&key, b"1", &WriteOptions::default()).unwrap();
        let error = ycsb(target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("holds 1 keys"), "{error}");
        assert!(store.kv().get(&key).unwrap().is_some());
    });
}
