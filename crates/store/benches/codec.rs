//! How many rows a second the codec takes, on one core: a position of a ship, of 8 columns.
//!
//! `cargo bench -p tonnage --bench codec`; a number as argument sets the rows of a batch.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampSecondArray,
};
use tonnage::internal::{CodecLimits as Limits, TableCodec};
use tonnage::{Row, Statement, TableSchema, parse_ddl};
use tonnage_engine::{Rows, Slices};

const POSITIONS: &str = "CREATE TABLE positions (mmsi LONG, at TIMESTAMP(0), lat DOUBLE, lon DOUBLE, sog DOUBLE, cog DOUBLE, name STRING, \
                         call_sign STRING, PRIMARY KEY (SHARD(mmsi), at))";

/// Rows in all, for each measurement.
const ROWS: usize = 4_000_000;

fn positions(rows: usize) -> RecordBatch {
    let double = |factor: f64| {
        Arc::new((0..rows).map(|row| Some(row as f64 * factor)).collect::<Float64Array>())
            as ArrayRef
    };
    let text = |prefix: &str| {
        Arc::new(
            (0..rows).map(|row| Some(format!("{prefix}{}", row % 9_973))).collect::<StringArray>(),
        ) as ArrayRef
    };
    let mmsi: ArrayRef = Arc::new(
        (0..rows).map(|row| Some(367_000_000 + (row % 10_000) as i64)).collect::<Int64Array>(),
    );
    let at: ArrayRef = Arc::new(
        (0..rows).map(|row| Some(1_641_000_000 + row as i64)).collect::<TimestampSecondArray>(),
    );
    let columns = [
        ("mmsi", mmsi),
        ("at", at),
        ("lat", double(0.001)),
        ("lon", double(-0.002)),
        ("sog", double(0.5)),
        ("cog", double(0.25)),
        ("name", text("SHIP NO ")),
        ("call_sign", text("WX")),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn measure(what: &str, rows_each: usize, mut run: impl FnMut()) {
    run();
    let start = Instant::now();
    let rounds = ROWS.div_ceil(rows_each);
    (0..rounds).for_each(|_| run());
    let seconds = start.elapsed().as_secs_f64();
    let rows = (rounds * rows_each) as f64;
    println!(
        "{what:<28} {:>8.2} M rows/s {:>9.1} ns a row",
        rows / seconds / 1e6,
        seconds / rows * 1e9
    );
}

fn main() {
    let batch_rows =
        std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(8_192);
    let Statement::CreateTable { definition, .. } =
        parse_ddl(POSITIONS).expect("sound DDL").remove(0)
    else {
        unreachable!("one CREATE TABLE")
    };
    let schema = TableSchema::define(&definition, None, 0).expect("a sound table");
    let codec = TableCodec::new(Arc::new(schema), Limits::default());
    let batch = positions(batch_rows);

    measure("align", batch_rows, || drop(black_box(codec.align(&batch).expect("fits"))));
    let aligned = codec.align(&batch).expect("fits").batch;
    let (mut keys, mut values) = (Slices::new(), Slices::new());
    measure("encode", batch_rows, || {
        codec.encode(black_box(&aligned), &mut keys, &mut values).expect("encodes")
    });

    let mut rows = Rows::new();
    keys.iter().zip(values.iter()).for_each(|(key, value)| rows.push(key, value, 1, 0, 0));
    measure("decode, 8 columns", batch_rows, || {
        drop(black_box(codec.decode(&rows, None, None).expect("decodes")))
    });
    measure("decode, lat and lon", batch_rows, || {
        drop(black_box(codec.decode(&rows, None, Some(&[2, 3])).expect("decodes")))
    });
    measure("decode, key only", batch_rows, || {
        drop(black_box(codec.decode(&rows, None, Some(&[0, 1])).expect("decodes")))
    });

    let row = Row::from_batch(&aligned, 7).expect("a row");
    let (mut key, mut value) = (Vec::new(), Vec::new());
    measure("encode, single row", 1, || {
        codec.encode_row(black_box(&row), &mut key, &mut value).expect("encodes")
    });
    measure("decode, single row", 1, || {
        drop(black_box(codec.decode_row(&key, &value).expect("decodes")))
    });
}
