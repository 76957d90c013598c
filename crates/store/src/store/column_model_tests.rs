//! Random writes beside scans: each scan of columns gives what a scan of the store gives at the
//! same snapshot, whatever is in segments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use rstest::rstest;
use tempfile::TempDir;
use tonnage_engine::{Durability, ErrorKind, ManualClock, OnExisting, Ranges, ShardId};
use tonnage_testkit::Random;

use super::Store;
use crate::bulk::get::TableScanOptions;
use crate::bulk::put::BulkPutOptions;
use crate::columns::{ColumnPart, ColumnSnapshot};
use crate::row::Row;
use crate::single_calls::WriteOptions;
use crate::table::column_parts::scan_of_store;
use crate::table::{DeleteOptions, RowOperation, Table};
use crate::value::Value;

const DEFINITION: &str = "CREATE TABLE t (g LONG, id LONG, n INTEGER, d DOUBLE, f FLOAT, \
    s STRING, b BINARY, w BINARY(3), u UUID, day DATE, tm TIME, at TIMESTAMP(3), price NUMBER(12,2), \
    big NUMBER(60,5), ok BOOLEAN, e ENUM('red','green'), tags ARRAY(LONG), \
    PRIMARY KEY (SHARD(g), id))";
const CHILD: &str = "CREATE TABLE t.c (x STRING, v DOUBLE, PRIMARY KEY (x))";

/// A store with segments of a few rows, under random changes.
struct Model {
    place: Option<TempDir>,
    directories: usize,
    store: Store,
    clock: Arc<ManualClock>,
    now_ms: u64,
    random: Random,
    /// Snapshots that later scans read at, with what they show of each table.
    snapshots: Vec<ColumnSnapshot>,
    /// Handles from before tables were altered.
    handles: Vec<Table>,
    added: u64,
    /// The seed and the step under way.
    place_in_run: (u64, u64),
}

impl Model {
    /// On so many data directories; in memory without any.
    fn new(directories: usize, seed: u64) -> Self {
        let place = (directories > 0).then(|| tempfile::tempdir().unwrap());
        let now_ms = 1_000;
        let clock = Arc::new(ManualClock::new(now_ms));
        let store = open(place.as_ref(), directories, &clock);
        store.execute(DEFINITION).unwrap();
        store.execute(CHILD).unwrap();
        let (snapshots, handles) = (Vec::new(), Vec::new());
        let random = Random(seed);
        let place_in_run = (seed, 0);
        let added = 0;
        Self {
            place,
            directories,
            store,
            clock,
            now_ms,
            random,
            snapshots,
            handles,
            added,
            place_in_run,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn table(&self, path: &str) -> Table {
        self.store.table(path).unwrap()
    }

    fn key(&mut self) -> Row {
        let (g, id) = (self.below(6) as i64, self.below(60) as i64);
        Row::new().with("g", g).with("id", id)
    }

    fn row(&mut self) -> Row {
        let mut row = self.key();
        let table = self.table("t");
        for column in &table.schema().columns[2..] {
            // Columns that are not named are NULL.
            if self.below(4) > 0 {
                let value = self.value(&column.name);
                row = row.with(&column.name, value);
            }
        }
        row
    }

    fn value(&mut self, column: &str) -> Value {
        let extreme = self.below(5) == 0;
        let pick = self.random.number();
        let number = (pick % 1_000) as i64;
        match column {
            "n" if extreme => Value::Integer([i32::MIN, i32::MAX][(pick % 2) as usize]),
            "n" => Value::Integer(number as i32),
            "d" if extreme => {
                Value::Double([f64::NAN, -0.0, f64::INFINITY, f64::MIN][(pick % 4) as usize])
            }
            "d" => Value::Double(number as f64 / 100.0),
            "f" => Value::Float(number as f32 / 3.0),
            "s" if extreme => Value::from("x".repeat(number as usize)),
            "s" => Value::from(["MAIL", "SHIP", "", "ä"][(pick % 4) as usize]),
            "b" => Value::Binary(vec![pick as u8; (pick % 40) as usize]),
            "w" => Value::Binary(pick.to_le_bytes()[..3].to_vec()),
            other => {
                let schema = self.table("t");
                let column = schema.schema().columns.iter().find(|column| column.name == other);
                let text = match other {
                    "u" => format!("00000000-0000-0000-0000-{:012x}", pick % (1 << 48)),
                    "day" => ["0001-01-01", "9999-12-31", "2026-11-29"][(pick % 3) as usize].into(),
                    "tm" => ["00:00:00", "23:59:59.999999999"][(pick % 2) as usize].into(),
                    "at" => ["1970-01-01T00:00:00.001", "2999-01-01T00:00:00"][(pick % 2) as usize]
                        .into(),
                    "price" => format!("{}.{:02}", number, pick % 100),
                    "big" => format!("{}{}.5", pick, "0".repeat((pick % 30) as usize)),
                    "ok" => ["true", "false"][(pick % 2) as usize].into(),
                    "e" => ["red", "green"][(pick % 2) as usize].into(),
                    "tags" => return Value::Array(vec![Value::Long(number), Value::Null]),
                    _ => number.to_string(),
                };
                Value::parse(&text, column.unwrap().column_type).unwrap()
            }
        }
    }

    fn write_options(&mut self) -> WriteOptions {
        let ttl = (self.below(6) == 0).then(|| Duration::from_millis(self.below(500) + 1));
        WriteOptions { ttl, ..WriteOptions::default() }
    }

    fn step(&mut self) {
        match self.below(40) {
            0..8 => {
                let (row, options) = (self.row(), self.write_options());
                self.table("t").put(&row, &options).unwrap();
            }
            8..12 => {
                let key = self.key();
                self.table("t").delete(&key, &WriteOptions::default()).unwrap();
            }
            12..15 => {
                let row = self.key().with("x", self.below(4).to_string()).with("v", 0.5);
                let options = self.write_options();
                self.table("t.c").put(&row, &options).unwrap();
            }
            15 => {
                let key = self.key().with("x", "1");
                self.table("t.c").delete(&key, &WriteOptions::default()).unwrap();
            }
            16..18 => self.write_group(),
            18..20 => self.load(),
            20 => {
                let key = Row::new().with("g", self.below(6) as i64);
                let relatives = match self.below(2) {
                    0 => vec!["t.c".to_owned()],
                    _ => Vec::new(),
                };
                let options = DeleteOptions { relatives, ..DeleteOptions::default() };
                self.table("t").delete_range(&key, &options).unwrap();
            }
            29..31 => self.delete_wide(),
            21 => {
                self.now_ms += self.below(200);
                self.clock.set_ms(self.now_ms);
            }
            22 => self.alter(),
            23 => self.drop_child(),
            24 if self.below(4) == 0 => self.reopen(),
            25 => self.keep_handle(),
            26..29 => {
                let snapshot = now(&self.table("t"));
                self.snapshots.push(snapshot);
            }
            _ => self.scan(),
        }
    }

    /// Rows of one shard key, together.
    fn write_group(&mut self) {
        let g = self.below(6) as i64;
        let operations: Vec<RowOperation> = (0..self.below(5) + 1)
            .map(|_| match self.below(3) {
                0 => RowOperation::delete("t", self.key().with("g", g)),
                _ => RowOperation::put("t", self.row().with("g", g)),
            })
            .collect();
        self.store.atomic_write(&operations, &WriteOptions::default()).unwrap();
    }

    /// Rows of a shard key, or now and then all, by a deletion that reads none of them.
    fn delete_wide(&mut self) {
        let (table, mut ranges) = (self.table("t"), Ranges::new());
        match self.below(10) {
            0 => ranges = Ranges::whole_space(),
            // Whole numbers of a key are stored so that bytes have their order.
            g => ranges.push_prefix(&((g % 6) ^ (1 << 63)).to_be_bytes()),
        }
        let engine = &self.store.inner.engine;
        engine.delete_range(table.entry().space, &ranges, Durability::None).unwrap();
    }

    fn load(&mut self) {
        let rows: Vec<Row> = (0..self.below(300) + 1).map(|_| self.row()).collect();
        let modes = [OnExisting::Replace, OnExisting::Keep, OnExisting::BlindReplace];
        let on_existing = modes[self.below(3) as usize];
        let options = BulkPutOptions { on_existing, ..BulkPutOptions::default() };
        self.store.multi_put([("t", rows)], &options).unwrap();
    }

    fn alter(&mut self) {
        let added = |table: &Table| {
            let columns = table.schema().columns.iter().skip(2);
            columns.map(|column| column.name.clone()).find(|name| name.starts_with("added"))
        };
        let statement = match added(&self.table("t")) {
            Some(name) => format!("ALTER TABLE t (DROP {name})"),
            None => {
                self.added += 1;
                let rule = ["NOT NULL DEFAULT 7", "DEFAULT 5", ""][self.below(3) as usize];
                format!("ALTER TABLE t (ADD added{} INTEGER {rule})", self.added)
            }
        };
        self.store.execute(&statement).unwrap();
    }

    fn drop_child(&mut self) {
        self.handles.retain(|table| table.path() == "t");
        self.store.execute("DROP TABLE t.c").unwrap();
        self.store.execute(CHILD).unwrap();
    }

    fn reopen(&mut self) {
        let Some(place) = &self.place else { return };
        self.snapshots.clear();
        self.handles.clear();
        // The old one closes before the new one opens.
        self.store = Store::open("memory:").unwrap();
        self.store = open(Some(place), self.directories, &self.clock);
    }

    fn keep_handle(&mut self) {
        let path = ["t", "t.c"][self.below(2) as usize];
        let handle = self.table(path);
        self.handles.push(handle);
    }

    fn scan(&mut self) {
        let snapshot = match self.snapshots.is_empty() || self.below(3) == 0 {
            true => now(&self.table("t")),
            false => {
                let place = self.below(self.snapshots.len() as u64) as usize;
                self.snapshots.swap_remove(place)
            }
        };
        let table = match self.handles.is_empty() || self.below(4) > 0 {
            true => {
                let path = ["t", "t", "t.c"][self.below(3) as usize];
                self.table(path)
            }
            false => {
                let place = self.below(self.handles.len() as u64) as usize;
                self.handles.swap_remove(place)
            }
        };
        let all = table.schema().columns.len();
        let mut columns: Vec<usize> = (0..all).filter(|_| self.below(3) == 0).collect();
        if self.below(3) > 0 {
            let is_nested =
                |column: &usize| table.schema().columns[*column].column_type.is_nested();
            columns.retain(|column| !is_nested(column));
        }
        let parts = self.below(3) as usize + 1;
        let found = read(table.column_parts(&snapshot, &columns, &[], parts).unwrap());
        let stored = read(stored_at(&self.store, &table, &snapshot, &columns));
        assert_eq!(found, stored, "{} {columns:?} {:?}", table.path(), self.place_in_run);
    }
}

fn now(table: &Table) -> ColumnSnapshot {
    table.column_snapshot().unwrap().unwrap()
}

fn open(place: Option<&TempDir>, directories: usize, clock: &Arc<ManualClock>) -> Store {
    let url =
        place.map_or("memory:".into(), |place| place.path().join("store").display().to_string());
    let builder = Store::builder(url).clock(clock.clone()).column_segments(64, 1 << 20);
    let builder = match place.filter(|_| directories > 1) {
        None => builder,
        Some(place) => builder
            .data_directories((0..directories).map(|number| place.path().join(number.to_string()))),
    };
    builder.open().unwrap()
}

/// The same rows without segments.
fn stored_at(
    store: &Store,
    table: &Table,
    snapshot: &ColumnSnapshot,
    columns: &[usize],
) -> Vec<ColumnPart> {
    let scan = Arc::new(scan_of_store(&store.inner, table.entry(), snapshot, columns).unwrap());
    let shards = (0..store.engine().capability().shards).map(ShardId);
    shards.map(|shard| ColumnPart::new(scan.clone(), ColumnPart::whole_space(shard))).collect()
}

/// All rows as text, in order; the kind of the error of a scan that fails. Which row of several it
/// names depends on where a scan begins.
fn read(parts: Vec<ColumnPart>) -> Result<Vec<String>, ErrorKind> {
    let mut rows = Vec::new();
    for batch in parts.into_iter().flatten() {
        rows.extend(texts(&batch.map_err(|error| error.kind())?));
    }
    rows.sort_unstable();
    Ok(rows)
}

fn texts(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
        .collect();
    let row = |row| columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>();
    (0..batch.num_rows()).map(|number| row(number).join("|")).collect()
}

/// How many seeds, and how many steps each.
fn effort() -> (u64, u64) {
    let seeds = std::env::var("TONNAGE_COLUMN_SEEDS").ok().and_then(|text| text.parse().ok());
    (seeds.unwrap_or(40), 250)
}

#[rstest]
fn each_scan_gives_what_the_store_gives_at_its_snapshot(#[values(0, 1, 2)] directories: usize) {
    let (seeds, steps) = effort();
    let mut sources = [0; 3];
    // To open a store on disk takes as long as thousands of steps in memory.
    for seed in 0..if directories > 0 { seeds / 4 } else { seeds } {
        let mut model = Model::new(directories, seed);
        for step in 0..steps {
            model.place_in_run = (seed, step);
            model.step();
        }
        for path in ["t", "t.c"] {
            let table = model.table(path);
            let columns: Vec<usize> = (0..table.schema().columns.len()).collect();
            let snapshot = now(&table);
            let found = read(table.column_parts(&snapshot, &columns, &[], 2).unwrap()).unwrap();
            let scan = table.scan(&TableScanOptions::default()).unwrap();
            let mut stored: Vec<String> =
                scan.flat_map(|batch| texts(&batch.unwrap().rows)).collect();
            stored.sort_unstable();
            assert_eq!(found, stored, "seed {seed}");
        }
        let counted = model.store.column_statistics();
        for (sum, rows) in
            sources.iter_mut().zip([counted.segment_rows, counted.delta_rows, counted.store_rows])
        {
            *sum += rows;
        }
    }
    // Otherwise this would compare the store with itself.
    assert!(sources.iter().all(|rows| *rows > 100), "{sources:?}");
}

/// Writers move amounts between rows of a shard key: no snapshot shows an amount that is on its way.
#[rstest]
fn the_sum_that_writers_keep_stays_in_every_scan(#[values(0, 1, 2)] directories: usize) {
    const ROWS: u64 = 500;
    let place = (directories > 0).then(|| tempfile::tempdir().unwrap());
    let clock = Arc::new(ManualClock::new(1_000));
    let store = open(place.as_ref(), directories, &clock);
    store
        .execute("CREATE TABLE a (g LONG, id LONG, amount LONG, PRIMARY KEY (SHARD(g), id))")
        .unwrap();
    let row =
        |id: u64, amount: i64| Row::new().with("g", 1).with("id", id as i64).with("amount", amount);
    let rows: Vec<Row> = (0..ROWS).map(|id| row(id, 100)).collect();
    store.multi_put([("a", rows)], &BulkPutOptions::default()).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut random, mut amounts) = (Random(7), vec![100_i64; ROWS as usize]);
            while !is_over.load(Ordering::Relaxed) {
                let (from, to) = (random.below(ROWS), random.below(ROWS));
                if from == to {
                    continue;
                }
                amounts[from as usize] -= 1;
                amounts[to as usize] += 1;
                let put = |id: u64| RowOperation::put("a", row(id, amounts[id as usize]));
                store.atomic_write(&[put(from), put(to)], &WriteOptions::default()).unwrap();
            }
        });
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..150 {
                        let table = store.table("a").unwrap();
                        let snapshot = now(&table);
                        let rows =
                            read(table.column_parts(&snapshot, &[2], &[], 2).unwrap()).unwrap();
                        let sum: i64 = rows.iter().map(|text| text.parse::<i64>().unwrap()).sum();
                        assert_eq!((rows.len() as u64, sum), (ROWS, 100 * ROWS as i64));
                    }
                })
            })
            .collect();
        let ended: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
}

#[test]
fn segments_keep_to_their_memory() {
    let store = Store::builder("memory:").column_segments(64, 40_000).open().unwrap();
    for name in ["one", "two", "three"] {
        store
            .execute(&format!("CREATE TABLE {name} (id LONG, s STRING, PRIMARY KEY (id))"))
            .unwrap();
        let rows = (0..1_000).map(|id| Row::new().with("id", id).with("s", format!("{name} {id}")));
        store.multi_put([(name, rows.collect::<Vec<_>>())], &BulkPutOptions::default()).unwrap();
    }
    for name in ["one", "two", "three", "one", "two", "one", "one"] {
        let table = store.table(name).unwrap();
        let snapshot = now(&table);
        let parts = table.column_parts(&snapshot, &[0, 1], &[], 2).unwrap();
        assert_eq!(read(parts).unwrap().len(), 1_000);
        let bytes = store.column_statistics().bytes;
        assert!(bytes <= 40_000, "{bytes}");
    }
    assert!(store.column_statistics().bytes > 0);
}
