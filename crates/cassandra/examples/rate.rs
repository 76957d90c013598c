//! How fast the engine is beside the driver's own loop, on one cluster, in one run:
//! `rate cassandra://HOST/KEYSPACE?create=3 ROWS`.
//!
//! Keys of 16 bytes in random order, each a shard key of its own, values of 100 bytes. The loop sends
//! one prepared, token-aware statement a row, 128 at a time, each row a partition.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency;
use tonnage_cassandra::{Address, CassandraEngine};
use tonnage_engine::{
    Engine, Entries, KeyPart, KeyShape, LoadOptions, OnExisting, Projection, Ranges, Rows,
    ScanOptions, Slices, SpaceId,
};

/// Requests of the loop under way at a time.
const IN_FLIGHT: usize = 128;

/// Keys that one read of the engine looks up.
const KEYS: usize = 20_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("an address");
    let rows: u64 = arguments.next().map_or(200_000, |rows| rows.parse().expect("a number"));
    let address = Address::parse(&url).expect("an address");
    let engine = CassandraEngine::open(&address).expect("a store");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let session = runtime.block_on(connect(&address));
    println!("rows/s of {rows} rows          engine      loop     ratio");
    for (round, name) in ["first", "second"].into_iter().enumerate() {
        let space = engine.create_space(name, &KeyShape::new([KeyPart::Fixed(16)])).unwrap();
        let insert = runtime.block_on(table(&session, &address, name));
        let [engine_put, loop_put] = [
            timed(|| load(&engine, space, rows)),
            timed(|| runtime.block_on(insert_all(&session, &insert, rows))),
        ];
        tell(round, "put", rows, engine_put, loop_put);
        let select = format!("SELECT v FROM {}.loop_{name} WHERE k = ?", address.keyspace);
        let [engine_get, loop_get] = [
            timed(|| read(&engine, space, rows)),
            timed(|| runtime.block_on(select_all(&session, &select, rows))),
        ];
        tell(round, "get", rows, engine_get, loop_get);
        let scanned = timed(|| scan(&engine, space, rows));
        println!("{round} scan {:>24.0}", rows as f64 / scanned.as_secs_f64());
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn tell(round: usize, what: &str, rows: u64, engine: Duration, driver: Duration) {
    let [engine, driver] = [engine, driver].map(|time| rows as f64 / time.as_secs_f64());
    println!("{round} {what} {engine:>25.0} {driver:>9.0} {:>9.2}", engine / driver);
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
    let options = ScanOptions::default();
    let mut scanner = engine.scan(space, Ranges::whole_space(), options).unwrap();
    let (mut rows, mut found) = (Rows::new(), 0);
    while scanner.next_batch(&mut rows).unwrap() {
        found += rows.len() as u64;
    }
    assert_eq!(found, count);
}

async fn connect(address: &Address) -> Arc<Session> {
    Arc::new(SessionBuilder::new().known_nodes(&address.hosts).build().await.unwrap())
}

async fn table(session: &Session, address: &Address, name: &str) -> String {
    let table = format!("{}.loop_{name}", address.keyspace);
    let create = format!("CREATE TABLE {table} (k blob PRIMARY KEY, v blob)");
    session.query_unpaged(create, ()).await.unwrap();
    format!("INSERT INTO {table} (k, v) VALUES (?, ?)")
}

async fn insert_all(session: &Session, insert: &str, rows: u64) {
    let mut insert = session.prepare(insert).await.unwrap();
    insert.set_consistency(Consistency::LocalQuorum);
    insert.set_is_idempotent(true);
    stream::iter(0..rows)
        .for_each_concurrent(IN_FLIGHT, |row| {
            let insert = &insert;
            async move {
                session.execute_unpaged(insert, (&key(row)[..], &[7_u8; 100][..])).await.unwrap();
            }
        })
        .await;
}

async fn select_all(session: &Session, select: &str, rows: u64) {
    let mut select = session.prepare(select).await.unwrap();
    select.set_consistency(Consistency::LocalQuorum);
    select.set_is_idempotent(true);
    stream::iter(0..rows)
        .for_each_concurrent(IN_FLIGHT, |row| {
            let select = &select;
            async move {
                let answer = session.execute_unpaged(select, (&key(row)[..],)).await.unwrap();
                assert_eq!(answer.into_rows_result().unwrap().rows_num(), 1);
            }
        })
        .await;
}
