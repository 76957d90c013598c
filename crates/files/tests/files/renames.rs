//! Columns that get other names while they are read.
//!
//! A column with a point in its name could not be loaded at all.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use rstest::rstest;
use tonnage_files::{
    Compression, Format, ReadOptions, RecordReader, Renames, Source, infer_schema,
};

use crate::common::{csv, jsonl, lines, read, written};

fn renaming(pairs: &[(&str, &str)]) -> ReadOptions {
    let renames: Renames =
        pairs.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
    ReadOptions { renames, ..ReadOptions::default() }
}

fn names(source: &Source, options: &ReadOptions) -> Vec<String> {
    let schema = infer_schema(source, options, 100).unwrap();
    assert_eq!(
        schema.fields().iter().map(|field| field.name()).collect::<Vec<_>>(),
        RecordReader::open(source, options)
            .unwrap()
            .schema()
            .fields()
            .iter()
            .map(|field| field.name())
            .collect::<Vec<_>>()
    );
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

fn sources() -> Vec<Source> {
    let text = csv("id,name.first,name.last\n1,a,b\n");
    let json = jsonl("{\"id\":1,\"name.first\":\"a\",\"name.last\":\"b\"}\n");
    let (batch, _) = read(&text, &ReadOptions::default());
    let bytes = |format| written(format, Compression::None, &batch);
    let parquet = Source::memory("a.parquet", bytes(Format::Parquet));
    vec![text, json, parquet, Source::memory("a.arrow", bytes(Format::ArrowFile))]
}

#[test]
fn points_become_something_else_in_every_format() {
    for source in sources() {
        let options = renaming(&[(".", "_")]);
        assert_eq!(names(&source, &options), ["id", "name_first", "name_last"], "{source:?}");
        assert_eq!(lines(&read(&source, &options).0), ["1,a,b"], "{source:?}");
    }
}

#[test]
fn a_pair_of_names_goes_before_points() {
    for source in sources() {
        let options = renaming(&[(".", "_"), ("NAME.FIRST", "given"), ("id", "key")]);
        assert_eq!(names(&source, &options), ["key", "given", "name_last"], "{source:?}");
        assert_eq!(lines(&read(&source, &options).0), ["1,a,b"], "{source:?}");
    }
}

#[rstest]
#[case(&[("nosuch", "x")], "there is no column nosuch to be called x: there are id, name.first")]
#[case(&[("name.first", "id")], "the column id appears twice")]
fn names_that_cannot_be(#[case] pairs: &[(&str, &str)], #[case] says: &str) {
    let error = RecordReader::open(&sources()[0], &renaming(pairs)).err().unwrap();
    assert!(error.message().contains(says), "{error}");
}

/// `a=a2` took `A` first, so the remedy that the message names could not be followed.
#[test]
fn an_exact_name_goes_before_one_that_differs_in_case() {
    let text = csv("A,a,id\n1,2,3\n");
    let columns = ["A", "a", "id"].map(|name| Field::new(name, DataType::Utf8, true));
    let columns = Arc::new(Schema::new(columns.to_vec()));
    let values = ["1", "2", "3"].map(|text| Arc::new(StringArray::from(vec![text])) as ArrayRef);
    let batch = RecordBatch::try_new(columns, values.to_vec()).unwrap();
    let bytes = |format| written(format, Compression::None, &batch);
    let parquet = Source::memory("a.parquet", bytes(Format::Parquet));
    for source in [text, parquet, Source::memory("a.arrow", bytes(Format::ArrowFile))] {
        assert_eq!(names(&source, &renaming(&[("a", "a2")])), ["A", "a2", "id"], "{source:?}");
        assert_eq!(names(&source, &renaming(&[("A", "a1")])), ["a1", "a", "id"], "{source:?}");
        let both = renaming(&[("a", "x"), ("A", "y")]);
        assert_eq!(names(&source, &both), ["y", "x", "id"], "{source:?}");
    }
}

#[test]
fn columns_of_one_name_are_renamed_in_order() {
    let source = csv("v,v,v\n1,2,3\n");
    assert_eq!(names(&source, &renaming(&[("v", "a"), ("v", "b")])), ["a", "b", "v"]);
    let error = RecordReader::open(&source, &renaming(&[("v", "a")])).err().unwrap();
    assert!(error.message().contains("appears twice; rename one of them"), "{error}");
}

/// A file that has the new name already, as one of rejected records does, needs no other options.
#[test]
fn a_file_that_has_the_new_name_already_is_read_as_it_is() {
    assert_eq!(names(&csv("key,v\n1,2\n"), &renaming(&[("id", "key")])), ["key", "v"]);
}
