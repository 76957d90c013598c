//! How fast the engine is beside the driver's own loop, and DSBulk, on one cluster, in one run:
//! `rate cassandra://HOST/KEYSPACE?create=3 ROWS [FOLDER]`.
//!
//! - Keys of 16 bytes in random order, each a shard key of its own, values of 100 bytes.
//! - The loop sends one prepared, token-aware statement a row, each row a partition. It has 64, 128
//!   and 256 under way, and the best counts. Of many rows it takes the first.
//! - Both scan the engine's table by ranges of tokens, several at a time.
//! - Single rows go one after another, those of the engine and of the driver in turns; the median of
//!   each counts.
//! - DSBulk loads the loop's rows from a file of CSV, as it comes and with batches of ten rows of a
//!   set of replicas. Its own clock counts, which leaves out the start of its Java. The folder holds
//!   its jars.
//! - Where the nodes are on this machine it tells their CPU time too, which does not depend on what
//!   else runs.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, SerialConsistency};
use tonnage_cassandra::{Address, CassandraEngine};
use tonnage_engine::{
    Condition, Cuts, Durability, Engine, Entries, KeyPart, KeyShape, LoadOptions, OnExisting,
    Projection, Rows, ScanOptions, Slices, SpaceId, WriteBatch,
};

/// Requests of the loop under way at a time: the best of these.
const IN_FLIGHT: [usize; 3] = [64, 128, 256];

/// Keys that one read of the engine looks up.
const KEYS: usize = 20_000;

/// The most keys that are looked up, and the most rows that the loop takes.
const GETS: u64 = 200_000;
const LOOP_ROWS: u64 = 50_000;

/// Parts that are scanned at a time, and parts in all.
const SCANS: usize = 4;
const PARTS: usize = 64;

/// Single rows that are timed, after others that are not.
const SINGLES: usize = 2_000;
const SINGLES_WARM: usize = 1_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("an address");
    let rows: u64 = arguments.next().map_or(200_000, |rows| rows.parse().expect("a number"));
    let address = Address::parse(&url).expect("an address");
    let engine = CassandraEngine::open(&address).expect("a store");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let driver = runtime.block_on(Driver::connect(&address));
    let dsbulk = arguments.next().map(|folder| Dsbulk::new(&folder, &address, rows.min(LOOP_ROWS)));
    println!("rows/s of {rows} rows, and microseconds of the nodes' CPU a row");
    let (gets, few) = (rows.min(GETS), rows.min(LOOP_ROWS));
    for (round, name) in ["first", "second", "third"].into_iter().enumerate() {
        let space = engine.create_space(name, &KeyShape::new([KeyPart::Fixed(16)])).unwrap();
        runtime.block_on(driver.table(name));
        let put = rate(rows, || load(&engine, space, rows));
        let inserted = IN_FLIGHT.map(|in_flight| {
            rate(few, || runtime.block_on(driver.insert_all(name, few, in_flight)))
        });
        tell(round, "put", "loop", put, best(inserted));
        if let Some(dsbulk) = &dsbulk {
            for (what, options) in DSBULK_MODES {
                let table = format!("loop_{name}");
                tell(round, "put", what, put, dsbulk.load(&address, &table, options));
            }
        }
        let get = rate(gets, || read(&engine, space, gets));
        let selected = IN_FLIGHT.map(|in_flight| {
            rate(few, || runtime.block_on(driver.select_all(name, few, in_flight)))
        });
        tell(round, "get", "loop", get, best(selected));
        let scanned = rate(rows, || scan(&engine, space, rows));
        let by_driver = rate(rows, || runtime.block_on(driver.scan_all(space, rows)));
        tell(round, "scan", "driver", scanned, by_driver);
        let select = runtime.block_on(driver.select(name));
        let single_get = medians(
            |row| get_one(&engine, space, row),
            |row| runtime.block_on(driver.select_one(&select, row)),
        );
        tell_median(round, "single get, driver: SELECT", single_get);
        let insert = runtime.block_on(driver.insert(name));
        let plain = medians(
            |row| put_one(&engine, space, row),
            |row| runtime.block_on(driver.insert_one(&insert, row)),
        );
        tell_median(round, "single put, driver: INSERT", plain);
        let decided = runtime.block_on(driver.update_if(name));
        let decided = medians(
            |row| put_one(&engine, space, row),
            |row| runtime.block_on(driver.update_one(&decided, row)),
        );
        tell_median(round, "single put, driver: UPDATE IF", decided);
        let decided = runtime.block_on(driver.update_if(name));
        let read_and_decided = medians(
            |row| put_one(&engine, space, row),
            |row| {
                runtime.block_on(async {
                    driver.select_one(&select, row).await;
                    driver.update_one(&decided, row).await;
                });
            },
        );
        tell_median(round, "the same behind a SELECT", read_and_decided);
    }
}

/// Rows a second, and microseconds of the nodes' CPU a row.
#[derive(Clone, Copy)]
struct Rate {
    rows: f64,
    node_us: f64,
}

fn rate(rows: u64, work: impl FnOnce()) -> Rate {
    let before = node_seconds();
    let time = timed(work);
    let node_us = (node_seconds() - before) * 1e6 / rows as f64;
    Rate { rows: rows as f64 / time.as_secs_f64(), node_us }
}

fn best(rates: [Rate; 3]) -> Rate {
    rates
        .into_iter()
        .max_by(|left, right| left.rows.total_cmp(&right.rows))
        .expect("there are some")
}

/// The CPU time that nodes on this machine have taken so far.
fn node_seconds() -> f64 {
    let of_process = |path: PathBuf| {
        let command = fs::read(path.join("cmdline")).ok()?;
        String::from_utf8_lossy(&command).contains("CassandraDaemon").then_some(())?;
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |field: usize| fields[field].parse::<f64>().ok();
        // In hundredths of a second; the state of the process is field 0.
        Some((ticks(11)? + ticks(12)?) / 100.0)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    processes.filter_map(|process| of_process(process.path())).sum()
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The medians of two, which take turns.
fn medians(mut one: impl FnMut(u64), mut other: impl FnMut(u64)) -> [Duration; 2] {
    let mut times = [const { Vec::new() }; 2];
    for row in 0..(SINGLES_WARM + SINGLES) as u64 {
        let both = [timed(|| one(row)), timed(|| other(row))];
        if row >= SINGLES_WARM as u64 {
            times.iter_mut().zip(both).for_each(|(times, time)| times.push(time));
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[SINGLES / 2]
    })
}

fn tell(round: usize, what: &str, other: &str, engine: Rate, its: Rate) {
    println!(
        "{round} {what:<4} {:>9.0}/s {:>4.0} us; {other:<11} {:>9.0}/s {:>4.0} us; {:>6.2} times",
        engine.rows,
        engine.node_us,
        its.rows,
        its.node_us,
        engine.rows / its.rows
    );
}

fn tell_median(round: usize, what: &str, times: [Duration; 2]) {
    let [engine, driver] = times.map(|time| time.as_secs_f64() * 1e6);
    println!(
        "{round} {what:<30} {engine:>7.0} us, {driver:>7.0} us; {:>6.2} times",
        engine / driver
    );
}

/// Keys that look random, each once.
fn key(row: u64) -> [u8; 16] {
    let mixed = row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mixed.to_be_bytes());
    key[8..].copy_from_slice(&row.to_be_bytes());
    key
}

fn load(engine: &dyn Engine, space: SpaceId, rows: u64) {
    let options = LoadOptions {
        on_existing: OnExisting::BlindReplace,
        memory_bytes_max: 1 << 30,
        ..LoadOptions::default()
    };
    let session = engine.load(options).unwrap();
    for first in (0..rows).step_by(10_000) {
        let mut entries = Entries::new();
        (first..rows.min(first + 10_000))
            .for_each(|row| entries.push(&key(row), &[7; 100], row, 0));
        session.push(space, 0, &entries).unwrap();
    }
    session.finish().unwrap();
}

fn read(engine: &dyn Engine, space: SpaceId, count: u64) {
    let (mut rows, mut found) = (Rows::new(), 0);
    let all: Vec<u64> = (0..count).collect();
    for part in all.chunks(KEYS) {
        let mut keys = Slices::new();
        part.iter().for_each(|row| keys.push(&key(*row)));
        engine.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
        found += rows.len() as u64;
    }
    assert_eq!(found, count);
}

fn scan(engine: &dyn Engine, space: SpaceId, count: u64) {
    let parts = engine.split(space, PARTS, Cuts::Anywhere).unwrap();
    let (next, found) = (AtomicUsize::new(0), AtomicU64::new(0));
    std::thread::scope(|threads| {
        for _ in 0..SCANS {
            threads.spawn(|| {
                let mut rows = Rows::new();
                while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut scanner =
                        engine.scan_part(space, part, ScanOptions::default()).unwrap();
                    while scanner.next_batch(&mut rows).unwrap() {
                        found.fetch_add(rows.len() as u64, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(found.into_inner(), count);
}

fn get_one(engine: &dyn Engine, space: SpaceId, row: u64) {
    let (keys, mut rows) = (Slices::from_iter([&key(row)[..]]), Rows::new());
    engine.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
    assert_eq!(rows.len(), 1);
}

fn put_one(engine: &dyn Engine, space: SpaceId, row: u64) {
    let mut batch = WriteBatch::new(space);
    batch.put(&key(row), &[8; 100], 0, Condition::Always);
    assert!(engine.write(&batch, Durability::Write).unwrap().version().is_some());
}

/// How DSBulk loads.
const DSBULK_MODES: [(&str, &[&str]); 2] = [
    ("DSBulk", &[]),
    (
        "DSBulk, ten",
        &[
            "--batch.mode",
            "REPLICA_SET",
            "--batch.maxBatchStatements",
            "10",
            "--batch.bufferSize",
            "40",
        ],
    ),
];

/// DSBulk, and a file of rows for it.
struct Dsbulk {
    jars: String,
    file: tempfile::NamedTempFile,
    rows: u64,
}

impl Dsbulk {
    fn new(folder: &str, address: &Address, rows: u64) -> Self {
        assert!(address.login.is_none(), "DSBulk is asked without a password here");
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let mut lines = BufWriter::new(&mut file);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        for row in 0..rows {
            writeln!(lines, "0x{},0x{}", hex(&key(row)), hex(&[9; 100])).expect("room for rows");
        }
        lines.flush().expect("room for rows");
        drop(lines);
        Self { jars: format!("{folder}/*"), file, rows }
    }

    /// Its report at its end.
    fn load(&self, address: &Address, table: &str, options: &[&str]) -> Rate {
        let logs = tempfile::tempdir().expect("a folder");
        let before = node_seconds();
        let host = address.hosts[0].split(':').next().expect("a host");
        let answer = Command::new("java")
            .args(["-Xmx1g", "-cp", &self.jars])
            .args(["com.datastax.oss.dsbulk.runner.DataStaxBulkLoader", "load"])
            .args(["-h", host, "-k", &address.keyspace, "-t", table, "-header", "false"])
            .args(["-m", "0=k,1=v", "-cl", "QUORUM", "-maxErrors", "0"])
            .arg("-url")
            .arg(self.file.path())
            .arg("-logDir")
            .arg(logs.path())
            .args(options)
            .current_dir(logs.path())
            .output()
            .expect("java starts");
        let told = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert!(answer.status.success(), "{told}");
        let node_us = (node_seconds() - before) * 1e6 / self.rows as f64;
        // total | failed | rows/s | ..., with commas in the numbers.
        let last = told.lines().rfind(|line| line.contains(" | "));
        let fields: Vec<String> = last
            .into_iter()
            .flat_map(|line| line.split(" | "))
            .map(|field| field.trim().replace(',', ""))
            .collect();
        assert_eq!(fields.first().map(String::as_str), Some(&*self.rows.to_string()), "{told}");
        Rate { rows: fields[2].parse().expect("rows a second"), node_us }
    }
}

/// The bare driver, on tables of one row a partition.
struct Driver {
    session: Arc<Session>,
    keyspace: String,
}

impl Driver {
    async fn connect(address: &Address) -> Self {
        let session = SessionBuilder::new().known_nodes(&address.hosts).build().await.unwrap();
        Self { session: Arc::new(session), keyspace: address.keyspace.clone() }
    }

    async fn table(&self, name: &str) {
        let table = format!("{}.loop_{name}", self.keyspace);
        let create = format!("CREATE TABLE {table} (k blob PRIMARY KEY, v blob)");
        self.session.query_unpaged(create, ()).await.unwrap();
    }

    async fn prepare(&self, cql: String) -> PreparedStatement {
        let mut statement = self.session.prepare(cql).await.unwrap();
        statement.set_consistency(Consistency::Quorum);
        statement.set_serial_consistency(Some(SerialConsistency::Serial));
        statement.set_is_idempotent(true);
        statement
    }

    async fn insert(&self, name: &str) -> PreparedStatement {
        self.prepare(format!("INSERT INTO {}.loop_{name} (k, v) VALUES (?, ?)", self.keyspace))
            .await
    }

    async fn select(&self, name: &str) -> PreparedStatement {
        self.prepare(format!("SELECT v FROM {}.loop_{name} WHERE k = ?", self.keyspace)).await
    }

    async fn update_if(&self, name: &str) -> PreparedStatement {
        let cql =
            format!("UPDATE {}.loop_{name} SET v = ? WHERE k = ? IF v != null", self.keyspace);
        self.prepare(cql).await
    }

    async fn insert_all(&self, name: &str, rows: u64, in_flight: usize) {
        let insert = self.insert(name).await;
        stream::iter(0..rows)
            .for_each_concurrent(in_flight, |row| self.insert_one(&insert, row))
            .await;
    }

    async fn select_all(&self, name: &str, rows: u64, in_flight: usize) {
        let select = self.select(name).await;
        stream::iter(0..rows)
            .for_each_concurrent(in_flight, |row| self.select_one(&select, row))
            .await;
    }

    async fn insert_one(&self, insert: &PreparedStatement, row: u64) {
        let values = (&key(row)[..], &[7_u8; 100][..]);
        self.session.execute_unpaged(insert, values).await.unwrap();
    }

    async fn select_one(&self, select: &PreparedStatement, row: u64) {
        let answer = self.session.execute_unpaged(select, (&key(row)[..],)).await.unwrap();
        assert_eq!(answer.into_rows_result().unwrap().rows_num(), 1);
    }

    async fn update_one(&self, update: &PreparedStatement, row: u64) {
        let (value, key) = ([8_u8; 100], key(row));
        // A busy node may leave a decision open.
        let mut answer = self.session.execute_unpaged(update, (&value[..], &key[..])).await;
        for _ in 0..4 {
            if answer.is_ok() {
                break;
            }
            answer = self.session.execute_unpaged(update, (&value[..], &key[..])).await;
        }
        answer.unwrap();
    }

    /// Scans the table of a space by ranges of tokens, with pages of 5,000 rows.
    async fn scan_all(&self, space: SpaceId, count: u64) {
        let table = format!("{}.s_{:08x}", self.keyspace, space.0);
        let cql = format!("SELECT c, h, d FROM {table} WHERE token(p) > ? AND token(p) <= ?");
        let mut select = self.prepare(cql).await;
        select.set_page_size(5_000);
        let width = u64::MAX / PARTS as u64;
        let found = AtomicU64::new(0);
        stream::iter(0..PARTS as u64)
            .for_each_concurrent(SCANS, |part| {
                let (select, found) = (&select, &found);
                let after = i64::MIN.wrapping_add((width * part) as i64);
                let last = match part + 1 == PARTS as u64 {
                    true => i64::MAX,
                    false => i64::MIN.wrapping_add((width * (part + 1)) as i64),
                };
                async move {
                    let pager =
                        self.session.execute_iter(select.clone(), (after, last)).await.unwrap();
                    let mut rows = pager.rows_stream::<(Vec<u8>, Vec<u8>, Vec<u8>)>().unwrap();
                    while let Some(row) = rows.next().await {
                        row.unwrap();
                        found.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
            .await;
        assert_eq!(found.into_inner(), count);
    }
}
