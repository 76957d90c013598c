//! Arrow files and streams with the layouts of other writers.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, DictionaryArray, Int8Array, Int32Array, ListArray,
    ListViewArray, RecordBatch, RunArray, StringArray, StructArray,
};
use arrow::datatypes::{DataType, Field, Int32Type, Schema};
use rstest::rstest;
use tonnage_engine::ErrorKind;
use tonnage_files::{
    Compression, Format, ReadOptions, RecordReader, Source, TYPE_JSON, TYPE_KEY, infer_schema,
};

use crate::common::{lines, read, schema, wanting, written};

fn stream(field: Field, column: ArrayRef) -> Source {
    let batch = RecordBatch::try_new(Schema::new(vec![field]).into(), vec![column]).unwrap();
    Source::memory("a.arrows", written(Format::ArrowStream, Compression::None, &batch))
}

fn plain(column: ArrayRef) -> Source {
    stream(Field::new("v", column.data_type().clone(), true), column)
}

/// The JSON lines of a column, as it is, as the type of a new table, and as JSON.
fn as_json(source: &Source) -> Vec<String> {
    let json = Field::new("v", DataType::Utf8, true)
        .with_metadata([(TYPE_KEY.to_owned(), TYPE_JSON.to_owned())].into());
    let inferred = infer_schema(source, &ReadOptions::default(), 10).unwrap();
    let ways =
        [ReadOptions::default(), wanting(inferred.into()), wanting(Schema::new(vec![json]).into())];
    let found: Vec<_> = ways
        .iter()
        .map(|options| {
            let (batch, rejected) = read(source, options);
            assert_eq!(rejected, []);
            String::from_utf8(written(Format::JsonLines, Compression::None, &batch)).unwrap()
        })
        .collect();
    assert!(found.iter().all(|text| *text == found[0]), "{found:?}");
    found[0].lines().map(str::to_owned).collect()
}

/// NULL became 0 or empty text, members vanished, and NaN became null.
#[test]
fn dictionaries_of_lists_and_structs_are_what_they_stand_for() {
    let keys = Int32Array::from(vec![Some(0), Some(1), None, Some(0)]);
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(5), None]),
        Some(vec![]),
    ]);
    let lists = DictionaryArray::new(keys.clone(), Arc::new(lists));
    let told = [r#"{"v":[5,null]}"#, r#"{"v":[]}"#, r#"{"v":null}"#, r#"{"v":[5,null]}"#];
    assert_eq!(as_json(&plain(Arc::new(lists))), told);
    let field = |name: &str, data_type| Arc::new(Field::new(name, data_type, true));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let doubles: ArrayRef = Arc::new(arrow::array::Float64Array::from(vec![None, Some(f64::NAN)]));
    let structs = StructArray::from(vec![
        (field("k", DataType::Utf8), texts),
        (field("n", DataType::Float64), doubles),
    ]);
    let structs = DictionaryArray::new(keys, Arc::new(structs));
    let (first, second) = (r#"{"v":{"k":"a","n":null}}"#, r#"{"v":{"k":null,"n":"NaN"}}"#);
    assert_eq!(as_json(&plain(Arc::new(structs))), [first, second, r#"{"v":null}"#, first]);
}

#[test]
fn views_of_lists_are_lists() {
    let views =
        ListViewArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), None]);
    let source = plain(Arc::new(views));
    assert_eq!(as_json(&source), [r#"{"v":[1,null]}"#, r#"{"v":null}"#]);
    let wanted = schema(&[("v", DataType::new_list(DataType::Int64, true))]);
    assert_eq!(lines(&read(&source, &wanting(wanted)).0), ["\"[1,null]\"", ""]);
}

#[test]
fn runs_are_the_values_that_they_repeat() {
    let runs = RunArray::<Int32Type>::try_new(
        &Int32Array::from(vec![2, 3]),
        &StringArray::from(vec![Some("7"), None]),
    );
    let source = plain(Arc::new(runs.unwrap()));
    let (batch, rejected) = read(&source, &wanting(schema(&[("v", DataType::Int32)])));
    assert_eq!((lines(&batch), rejected), (["7", "7", ""].map(str::to_owned).to_vec(), vec![]));
    let (batch, _) = read(&source, &wanting(schema(&[("v", DataType::Utf8)])));
    assert_eq!(batch.column(0).as_string::<i32>().null_count(), 1);
}

/// As pyarrow 26 writes `bool8`.
#[test]
fn truth_values_in_whole_numbers_are_truth_values() {
    let field = Field::new("v", DataType::Int8, true)
        .with_metadata([(TYPE_KEY.to_owned(), "arrow.bool8".to_owned())].into());
    let source = stream(field, Arc::new(Int8Array::from(vec![Some(1), Some(0), None])));
    let (batch, rejected) = read(&source, &wanting(schema(&[("v", DataType::Boolean)])));
    assert_eq!(rejected, []);
    let expected = BooleanArray::from(vec![Some(true), Some(false), None]);
    assert_eq!(batch.column(0).as_boolean(), &expected);
}

fn arrow_file() -> Vec<u8> {
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]));
    let names = DictionaryArray::<Int32Type>::from_iter(["x", "y", "x"]);
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("v", text, true),
        ("name", Arc::new(names), true),
    ]);
    written(Format::ArrowFile, Compression::None, &batch.unwrap())
}

/// As Polars 2.1 and apache-arrow 21 of npm write them: without a length before the schema at the
/// beginning. The directory at the end tells all.
#[rstest]
#[case("a.arrow", Compression::None)]
#[case("a.arrow.gz", Compression::Gzip)]
fn arrow_files_are_read_by_their_directory(#[case] name: &str, #[case] packed: Compression) {
    let mut bytes = arrow_file();
    bytes[8..16].copy_from_slice(&[4, 0, 0, 0, 0xf2, 0xff, 0xff, 0xff]);
    let bytes = match packed {
        Compression::Gzip => crate::common::gzip(&bytes),
        _ => bytes,
    };
    let (batch, _) = read(&Source::memory(name, bytes), &ReadOptions::default());
    assert_eq!(lines(&batch), ["a,x", ",y", "c,x"]);
}

#[test]
fn an_arrow_file_without_its_directory_is_cut_short() {
    let whole = arrow_file();
    for length in [whole.len() - 1, whole.len() / 2, 8] {
        let source = Source::memory("a.arrow", whole[..length].to_vec());
        let error = RecordReader::open(&source, &ReadOptions::default()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(error.message().contains("the file is cut short"), "{error}");
    }
}
