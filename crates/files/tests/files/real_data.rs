//! Real files, if they are at hand: in the folder that `TONNAGE_TEST_DATA` names, else in
//! `../shared/data` beside the repository.

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, TimeUnit};
use tonnage_files::{
    Compression, CsvOptions, Format, ReadOptions, Source, TYPE_JSON, TYPE_KEY, infer_schema,
};
use tonnage_testkit::test_data;

use crate::common::{read, wanting, written};

/// A file of real data, if it is at hand.
fn real(name: &str) -> Option<Source> {
    test_data(name).map(Source::file)
}

#[test]
fn ship_positions_are_the_same_in_csv_and_parquet() {
    let (Some(csv), Some(parquet)) =
        (real("ais_us_20220103.csv.gz"), real("ais_us_20220103.parquet"))
    else {
        return;
    };
    let schema = Arc::new(infer_schema(&csv, &ReadOptions::default(), 100_000).unwrap());
    assert_eq!(
        schema.field_with_name("BaseDateTime").unwrap().data_type(),
        &DataType::Timestamp(TimeUnit::Second, None)
    );
    // The writer of the Parquet file took the 32 call signs `N/A` for NULL.
    let nulls = CsvOptions { nulls: vec![String::new(), "N/A".into()], ..CsvOptions::default() };
    let (from_csv, rejected) =
        read(&csv, &ReadOptions { csv: nulls, ..wanting(Arc::clone(&schema)) });
    assert_eq!((from_csv.num_rows(), from_csv.num_columns(), rejected.len()), (99_999, 17, 0));
    let (from_parquet, rejected) = read(&parquet, &wanting(schema));
    assert_eq!(rejected.len(), 0);
    for (field, (left, right)) in
        from_csv.schema().fields().iter().zip(from_csv.columns().iter().zip(from_parquet.columns()))
    {
        assert!(left == right, "{} differs", field.name());
    }
}

#[test]
fn ship_positions_survive_every_format() {
    let Some(csv) = real("ais_us_20220103.csv.gz") else { return };
    let schema = Arc::new(infer_schema(&csv, &ReadOptions::default(), 100_000).unwrap());
    let (batch, _) = read(&csv, &wanting(schema));
    for format in Format::WRITTEN {
        let source = Source::memory("copy", written(format, Compression::Zstd, &batch));
        let options = ReadOptions { format: Some(format), ..wanting(batch.schema()) };
        let (again, rejected) = read(&source, &options);
        assert!(again == batch && rejected.is_empty(), "{format}");
    }
}

#[test]
fn sensor_series_are_read_whole() {
    let Some(source) = real("iot_nab.csv.gz") else { return };
    let schema = infer_schema(&source, &ReadOptions::default(), 100_000).unwrap();
    let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(
        types,
        [DataType::Utf8, DataType::Timestamp(TimeUnit::Second, None), DataType::Float64]
    );
    let (batch, rejected) = read(&source, &wanting(Arc::new(schema)));
    assert_eq!((batch.num_rows(), rejected.len()), (162_575, 0));
}

#[test]
fn phones_in_a_shop_are_read_whole() {
    let Some(source) = real("flipkart_mobiles.csv") else { return };
    let schema = infer_schema(&source, &ReadOptions::default(), 100_000).unwrap();
    assert_eq!(schema.field_with_name("Rating").unwrap().data_type(), &DataType::Float64);
    assert_eq!(schema.field_with_name("Selling Price").unwrap().data_type(), &DataType::Int64);
    let (batch, rejected) = read(&source, &wanting(Arc::new(schema)));
    assert_eq!((batch.num_rows(), rejected.len()), (3_114, 0));
}

#[test]
fn nested_phones_keep_their_json() {
    let Some(source) = real("phone_devices.jsonl") else { return };
    let schema = infer_schema(&source, &ReadOptions::default(), 100_000).unwrap();
    let display = schema.field_with_name("display").unwrap();
    assert_eq!(display.metadata().get(TYPE_KEY).map(String::as_str), Some(TYPE_JSON));
    let (batch, rejected) = read(&source, &wanting(Arc::new(schema)));
    assert_eq!((batch.num_rows(), rejected.len()), (442, 0));
    let displays = batch.column_by_name("display").unwrap().as_string::<i32>();
    assert!(displays.iter().flatten().all(|text| {
        serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| value.is_object())
    }));
}
