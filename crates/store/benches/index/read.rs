//! Making an index over rows that are there, and reading through it.

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int32Type;
use tonnage::{IndexRange, IndexScanOptions, Store, TableBatch, TableScanOptions};

use super::cars::INDEXES;
use super::{Plan, tell, timed};

const COVERING: &str = "CREATE INDEX by_colour_with_year ON cars (colour) INCLUDE (year)";
/// Looks at each colour in turn.
const LOOK_UPS: i32 = 5;

/// Makes the first index, once a round, and leaves it.
pub(crate) fn build(plan: &Plan, store: &Store, rows: u64) {
    for round in 0..plan.rounds {
        if round > 0 {
            store.execute("DROP INDEX by_colour ON cars").expect("drops");
        }
        let (_, took) = timed(|| store.execute(INDEXES[0]).expect("makes"));
        tell("build an index", rows, took);
        let (report, took) = timed(|| store.check().expect("reads"));
        assert!(report.is_sound() && report.stale_index_entries == 0, "{report:?}");
        tell("check rows and index", rows, took);
    }
}

fn count(
    batches: impl Iterator<Item = tonnage::Result<TableBatch>>,
    counts: impl Fn(&RecordBatch) -> usize,
) -> u64 {
    batches.map(|batch| counts(&batch.expect("reads").rows) as u64).sum()
}

/// The rows of one colour: through the index, from an index alone, and by a scan.
pub(crate) fn look_up(store: &Store, rows: u64) {
    let table = store.table("cars").expect("was made");
    let index = table.index("by_colour").expect("was made");
    for colour in 0..LOOK_UPS {
        let range = IndexRange::prefix([colour % 2]);
        let (found, took) = timed(|| {
            count(
                index.scan(&range, &IndexScanOptions::default()).expect("scans"),
                RecordBatch::num_rows,
            )
        });
        tell(&format!("look up {found} rows of one colour"), found, took);
    }
    store.execute(COVERING).expect("makes");
    let index = table.index("by_colour_with_year").expect("was made");
    let held = ["plate", "colour", "year"].map(str::to_owned).to_vec();
    assert!(index.answers(&held), "nobody has written since it was made");
    let alone =
        IndexScanOptions { columns: Some(held.clone()), index_only: true, ..Default::default() };
    for colour in 0..LOOK_UPS {
        let range = IndexRange::prefix([colour % 2]);
        let (found, took) =
            timed(|| count(index.scan(&range, &alone).expect("scans"), RecordBatch::num_rows));
        tell(&format!("read {found} rows of one colour, index only"), found, took);
    }
    let is_wanted = |batch: &RecordBatch| {
        let colours = batch.column_by_name("colour").expect("is there").as_primitive::<Int32Type>();
        colours.values().iter().filter(|colour| **colour == 0).count()
    };
    for columns in [None, Some(held)] {
        let what = if columns.is_some() { "three columns of all" } else { "all" };
        let options = TableScanOptions { columns, ..Default::default() };
        let (found, took) = timed(|| count(table.scan(&options).expect("scans"), is_wanted));
        tell(&format!("scan {what} for {found} rows of one colour"), rows, took);
    }
}
