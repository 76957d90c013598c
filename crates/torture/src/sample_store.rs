//! A small store that holds something of everything, and a digest of all of it.

use std::path::Path;

use tonnage::{
    BulkPutOptions, Direction, Durability, IndexRange, IndexScanOptions, OnExisting,
    PairGetOptions, Result, Row, Store, TableScanOptions, WriteOptions, row_stream,
};

use crate::content::{builder, pair_key, pair_value};

const TABLES: &str = "\
    CREATE TABLE t (id LONG, grp INTEGER, txt STRING, PRIMARY KEY (id)); \
    CREATE TABLE t.c (n LONG, d JSON, PRIMARY KEY (n)); \
    CREATE INDEX g ON t (grp)";

fn row(id: i64, generation: i64) -> Row {
    let text = format!("{generation} {} {}", id * 7919 % 100_003, "x".repeat(id as usize % 50));
    Row::new().with("id", id).with("grp", (id % 13) as i32).with("txt", text)
}

/// Makes the store: loads that overlap, a changed table, a dropped one, pairs, and a filled log.
pub(crate) fn make(store: &Path) -> Result<()> {
    let store = builder(&store.display().to_string()).open()?;
    store.execute(TABLES)?;
    load(&store, 0..20_000, 1, OnExisting::Keep)?;
    load(&store, 15_000..30_000, 2, OnExisting::Replace)?;
    store.execute("ALTER TABLE t (ADD more STRING)")?;
    store.execute("CREATE TABLE gone (a LONG, PRIMARY KEY (a)); DROP TABLE gone")?;
    let options = WriteOptions { durability: Durability::Fsync, ..WriteOptions::default() };
    let (table, child) = (store.table("t")?, store.table("t.c")?);
    for id in 0..300 {
        table.put(&row(id * 90, 3).with("more", "m"), &options)?;
        table.delete(&Row::new().with("id", id * 90 + 1), &options)?;
        let document = format!("{{\"a\": {id}, \"b\": \"{}\"}}", "b".repeat(200));
        child.put(&Row::new().with("id", id * 90).with("n", id).with("d", document), &options)?;
        store.kv().put(&pair_key(id), &pair_value(id, 1), &options)?;
    }
    Ok(())
}

fn load(store: &Store, ids: std::ops::Range<i64>, generation: i64, mode: OnExisting) -> Result<()> {
    let rows = ids.map(move |id| Ok(("t".into(), row(id, generation))));
    let options = BulkPutOptions {
        on_existing: mode,
        memory_bytes_max: Some(1 << 20),
        durability: Durability::Fsync,
        ..BulkPutOptions::default()
    };
    let done = store.bulk_put(vec![row_stream("rows", rows)], &options);
    done.map(drop).map_err(|error| error.error)
}

/// Reads a part of the store.
type StoreReading = fn(&Store) -> Result<Digest>;

/// One line for each reading: its name, then `ok` with a digest, or `error` with its text.
pub(crate) fn read(path: &Path) -> Vec<String> {
    let store = match builder(&path.display().to_string()).create_if_missing(false).open() {
        Ok(store) => store,
        Err(error) => return vec![format!("open error {}", one_line(&error.to_string()))],
    };
    let readings: [(&str, StoreReading); 8] = [
        ("scan", |store| scan(store, "t")),
        ("children", |store| scan(store, "t.c")),
        ("gets", gets),
        ("count", |store| Ok(Digest::new().with(store.table("t")?.count()?))),
        ("index", index),
        ("pairs", pairs),
        ("pair-scan", pair_scan),
        ("check", check),
    ];
    let line = |(name, read): (&str, StoreReading)| match read(&store) {
        Ok(digest) => format!("{name} ok {:016x}", digest.0),
        Err(error) => format!("{name} error {}", one_line(&error.to_string())),
    };
    readings.into_iter().map(line).collect()
}

fn one_line(text: &str) -> String {
    // An `ok` between blanks would look like an answer.
    text.replace('\n', " ").replace(" ok ", " OK ")
}

/// FNV-1a over the texts of values.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn with(self, value: impl std::fmt::Debug) -> Self {
        let text = format!("{value:?};");
        Self(
            text.bytes()
                .fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
        )
    }
}

fn scan(store: &Store, table: &str) -> Result<Digest> {
    let options = TableScanOptions { direction: Direction::Forward, ..TableScanOptions::default() };
    let rows = store.table(table)?.scan(&options)?.into_rows();
    rows.into_iter().try_fold(Digest::new(), |digest, found| Ok(digest.with(found?.row)))
}

fn gets(store: &Store) -> Result<Digest> {
    let table = store.table("t")?;
    let ids = (0..30_000).step_by(997);
    ids.into_iter().try_fold(Digest::new(), |digest, id| {
        Ok(digest.with(table.get(&Row::new().with("id", i64::from(id)))?.map(|found| found.row)))
    })
}

fn index(store: &Store) -> Result<Digest> {
    let index = store.table("t")?.index("g")?;
    let options = IndexScanOptions { direction: Direction::Forward, ..IndexScanOptions::default() };
    let mut digest = Digest::new();
    for batch in index.scan(&IndexRange::prefix([5]), &options)? {
        let rows = batch?.rows;
        for at in 0..rows.num_rows() {
            digest = digest.with(Row::from_batch(&rows, at)?);
        }
    }
    Ok(digest)
}

fn pairs(store: &Store) -> Result<Digest> {
    let get =
        |digest: Digest, id| Ok(digest.with(store.kv().get(&pair_key(id))?.map(|pair| pair.value)));
    (0..300).step_by(7).try_fold(Digest::new(), get)
}

fn pair_scan(store: &Store) -> Result<Digest> {
    let options = PairGetOptions { direction: Direction::Forward, ..PairGetOptions::default() };
    let mut digest = Digest::new();
    for batch in store.kv().scan(&options)? {
        let batch = batch?;
        for at in 0..batch.len() {
            digest = digest.with((batch.key(at)?, batch.value(at)));
        }
    }
    Ok(digest)
}

/// The digest of a sound store does not tell how it is laid out.
fn check(store: &Store) -> Result<Digest> {
    let report = store.check()?;
    match report.damages.first() {
        None => Ok(Digest::new().with((report.rows, report.pairs))),
        Some(damage) => Err(tonnage::Error::corruption(format!("{damage:?}"))),
    }
}
