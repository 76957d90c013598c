//! Damaged files give errors or rejected records, never a panic.

mod support;

use proptest::prelude::*;
use support::{csv, read, small_schema, wanting, written};
use tonnage_files::{Compression, Format, ReadOptions, RecordReader, Source, infer_schema};

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
