//! NaN is the greatest of all numbers and zero is one value, wherever the rows come from. Writers of
//! Parquet leave NaN out of the least and the greatest value that they note: a reader that passed
//! parts of a file over by these would lose rows.

use std::fs;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Schema};
use tonnage_files::{Compression, Format, RecordWriter};

use super::{rows, session};

/// None of them is greater than 100 but NaN.
const MIXED: [Option<f64>; 7] =
    [Some(f64::NAN), Some(-f64::NAN), Some(-0.0), Some(0.0), Some(1.5), Some(-2.5), None];
/// The least and the greatest are a zero of one sign.
const ZEROS: [Option<f64>; 2] = [Some(-0.0), Some(-0.0)];
const POSITIVE_ZEROS: [Option<f64>; 2] = [Some(0.0), Some(0.0)];
/// There is no least and no greatest.
const NANS: [Option<f64>; 2] = [Some(f64::NAN), None];

/// As SQL orders doubles.
fn rank(value: f64) -> (bool, f64) {
    if value.is_nan() { (true, 0.0) } else { (false, value + 0.0) }
}

/// A file with the values as they are, and within lists and records.
fn file(values: &[Option<f64>], kind: &DataType) -> Vec<u8> {
    let doubles: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
    let numbers = cast(&doubles, kind).unwrap();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..values.len() as i64));
    let item = Arc::new(Field::new("item", kind.clone(), true));
    let offsets = OffsetBuffer::from_lengths(vec![1; values.len()]);
    let lists = ListArray::new(item, offsets, numbers.clone(), None);
    let member = Field::new("x", kind.clone(), true);
    let records = StructArray::new(Fields::from(vec![member]), vec![numbers.clone()], None);
    let columns: [(&str, ArrayRef); 4] =
        [("id", ids), ("x", numbers), ("l", Arc::new(lists)), ("r", Arc::new(records))];
    let field =
        |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let mut writer =
        RecordWriter::new(Format::Parquet, Vec::new(), schema, Compression::None).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap()
}

/// A condition on `{}`, and whether it holds for a value.
type Condition = (String, Box<dyn Fn(f64) -> bool>);

fn conditions() -> Vec<Condition> {
    let mut all: Vec<Condition> = Vec::new();
    let operands = [100.0, 0.0, -0.0, 1.5, -2.5, f64::NAN, -f64::NAN];
    for operand in operands {
        let text = format!("CAST('{operand}' AS DOUBLE)");
        let mut add = |condition: &str, holds: fn((bool, f64), (bool, f64)) -> bool| {
            let condition = condition.replace("{o}", &text);
            all.push((condition, Box::new(move |value| holds(rank(value), rank(operand)))));
        };
        add("{} > {o}", |value, operand| value > operand);
        add("{} >= {o}", |value, operand| value >= operand);
        add("{} < {o}", |value, operand| value < operand);
        add("{} <= {o}", |value, operand| value <= operand);
        add("{} = {o}", |value, operand| value == operand);
        add("{} <> {o}", |value, operand| value != operand);
        add("NOT {} > {o}", |value, operand| value <= operand);
        add("NOT {} <= {o}", |value, operand| value > operand);
        add("{} IN ({o}, 7e0)", |value, operand| value == operand);
        add("{} NOT IN ({o}, 7e0)", |value, operand| value != operand);
        add("{} BETWEEN {o} AND CAST('NaN' AS DOUBLE)", |value, operand| value >= operand);
        add("{} NOT BETWEEN -1e300 AND {o}", |value, operand| value > operand);
        add("{} IS NOT DISTINCT FROM {o}", |value, operand| value == operand);
        add("{} = (SELECT {o})", |value, operand| value == operand);
        add("{} IN (SELECT {o})", |value, operand| value == operand);
    }
    all
}

#[test]
fn no_row_is_lost_for_nan_or_the_sign_of_zero() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let path = path.display().to_string();
    let mut faults = Vec::new();
    for values in [&MIXED[..], &ZEROS, &POSITIVE_ZEROS, &NANS] {
        for kind in [DataType::Float64, DataType::Float32, DataType::Float16] {
            fs::write(&path, file(values, &kind)).unwrap();
            let sql = session();
            let column = if kind == DataType::Float64 { "DOUBLE" } else { "FLOAT" };
            sql.execute(format!(
                "CREATE TABLE t (id LONG PRIMARY KEY, x {column});
                 CREATE TABLE i (id LONG PRIMARY KEY, x {column}); CREATE INDEX by_x ON i (x);
                 CREATE TABLE k (x {column}, id LONG, PRIMARY KEY (x, id));
                 COPY t (id, x) FROM '{path}'; COPY i (id, x) FROM '{path}';
                 INSERT INTO k SELECT x, id FROM '{path}' WHERE x IS NOT NULL"
            ))
            .unwrap();
            for (condition, holds) in conditions() {
                let held = (0..values.len()).filter(|id| values[*id].is_some_and(&holds));
                let expected: Vec<Vec<String>> = held.map(|id| vec![id.to_string()]).collect();
                let sources = [
                    (format!("'{path}'"), "x"),
                    (format!("'{path}'"), "l[1]"),
                    (format!("'{path}'"), "r['x']"),
                    ("t".to_owned(), "x"),
                    ("i".to_owned(), "x"),
                    ("k".to_owned(), "x"),
                ];
                for (source, operand) in sources {
                    let condition = condition.replace("{}", operand);
                    let query = format!("SELECT id FROM {source} WHERE {condition} ORDER BY id");
                    let found = rows(&sql, query.as_str());
                    if found != expected {
                        faults.push(format!("{kind}: {query}: {found:?}, not {expected:?}"));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
