//! Damaged files give errors or rejected records, never a panic.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use arrow::ipc::writer::StreamWriter;
use proptest::prelude::*;
use rstest::rstest;
use tonnage_engine::ErrorKind;
use tonnage_files::{Compression, Format, ReadOptions, RecordReader, Source, infer_schema};

use crate::common::{csv, read, small_schema, wanting, written};

/// Reads to the end, whatever comes; how many rows there were.
fn rows(source: &Source, options: &ReadOptions) -> usize {
    let Ok(reader) = RecordReader::open(source, options) else { return 0 };
    reader.map_while(|batch| batch.ok()).map(|batch| batch.batch.num_rows()).sum()
}

proptest! {
    #[test]
    fn any_bytes_can_be_read_as_any_format(bytes: Vec<u8>, text in "[\"',;\\\\{}\\[\\]:a1\r\n\u{feff}]{0,60}") {
        for format in Format::WRITTEN {
            for bytes in [bytes.clone(), text.clone().into_bytes()] {
                let source = Source::memory("x", bytes);
                let options = ReadOptions { format: Some(format), batch_rows: 3, ..ReadOptions::default() };
                let columns = infer_schema(&source, &options, 100).map_or(0, |schema| schema.fields().len());
                prop_assert!(columns <= 300);
                prop_assert!(rows(&source, &options) <= 300);
            }
        }
    }

    #[test]
    fn a_damaged_byte_anywhere_is_survived(place in 0.0..1.0_f64, value: u8) {
        let text: String = (0..500).map(|id| format!("{id},name {},2022-01-03\n", id % 7)).collect();
        let (batch, _) = read(&csv(format!("id,name,at\n{text}")), &wanting(small_schema()));
        for format in Format::WRITTEN {
            for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
                let mut bytes = written(format, compression, &batch);
                let place = (place * bytes.len() as f64) as usize;
                bytes[place] = value;
                let source = Source::memory("x", bytes);
                let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
                prop_assert!(rows(&source, &options) <= 10_000);
            }
        }
    }
}

/// They cost no bytes, so a damaged number of them was read for hours.
#[rstest]
#[case::that_bytes_could_be(10, "rows without columns")]
#[case::that_no_bytes_can_be((1 << 24) + 1, "16777217 rows")]
fn rows_without_columns_are_damage(#[case] rows: usize, #[case] named: &str) {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::new(Schema::empty());
    let batch = RecordBatch::try_new_with_options(schema.clone(), vec![], &options).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&batch).unwrap();
    let source = Source::memory("a.arrow", writer.into_inner().unwrap());
    let error = match RecordReader::open(&source, &ReadOptions::default()) {
        Ok(mut reader) => {
            let error = reader.next().unwrap().unwrap_err();
            assert!(reader.next().is_none());
            error
        }
        Err(error) => error,
    };
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.message().contains(named), "{error}");
}
