//! Files of one table whose columns have different types.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, ListArray, NullArray, RecordBatch, StringArray,
    StructArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, TimeUnit};
use rstest::rstest;
use tonnage_files::{
    Compression, Format, ReadOptions, Sample, Source, TYPE_KEY, infer_common_schema,
};

use crate::common::{lines, read, wanting, written};

fn file(column: ArrayRef) -> Source {
    let batch = RecordBatch::try_from_iter_with_nullable([("v", column, true)]).unwrap();
    Source::memory("a.parquet", written(Format::Parquet, Compression::None, &batch))
}

/// The field for two files, in both orders, and the values of both as CSV; none is rejected.
fn together(one: ArrayRef, other: ArrayRef) -> (Field, Vec<String>) {
    let found: Vec<_> = [(&one, &other), (&other, &one)]
        .into_iter()
        .map(|(first, second)| {
            let sources = [file(first.clone()), file(second.clone())];
            let found =
                infer_common_schema(&sources, &ReadOptions::default(), &Sample::default()).unwrap();
            let mut values = Vec::new();
            for source in &sources {
                let options = wanting(Arc::new(found.schema.clone()));
                let (batch, rejected) = read(source, &options);
                assert_eq!(rejected, [], "{:?}", found.schema);
                assert_eq!(batch.schema().field(0).data_type(), found.schema.field(0).data_type());
                values.extend(lines(&batch));
            }
            values.sort();
            (found.schema.field(0).clone(), values)
        })
        .collect();
    assert_eq!(found[0].1, found[1].1);
    found.into_iter().next().unwrap()
}

fn longs(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn doubles(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

#[rstest]
#[case::small_whole_numbers(Arc::new(Int32Array::from(vec![7])), doubles(&[0.5]), DataType::Float64)]
#[case::whole_numbers_that_doubles_hold(longs(&[7]), doubles(&[0.5]), DataType::Float64)]
#[case::whole_numbers_that_they_round(
    longs(&[9_007_199_254_740_993]),
    doubles(&[0.5]),
    DataType::Decimal128(38, 1)
)]
#[case::nothing_but_null(Arc::new(NullArray::new(2)), longs(&[7]), DataType::Int64)]
#[case::unsigned(Arc::new(UInt64Array::from(vec![u64::MAX])), longs(&[-1]), DataType::Decimal128(20, 0))]
#[case::text(Arc::new(StringArray::from(vec!["GB80"])), longs(&[7]), DataType::Utf8)]
#[case::moments_that_nanoseconds_reach(
    Arc::new(TimestampMicrosecondArray::from(vec![1])),
    Arc::new(TimestampNanosecondArray::from(vec![1])),
    DataType::Timestamp(TimeUnit::Nanosecond, None)
)]
#[case::moments_beyond_them(
    Arc::new(TimestampMicrosecondArray::from(vec![253_402_300_799_000_000])),
    Arc::new(TimestampNanosecondArray::from(vec![1])),
    DataType::Utf8
)]
fn the_type_holds_the_values_of_both(
    #[case] one: ArrayRef,
    #[case] other: ArrayRef,
    #[case] expected: DataType,
) {
    let (field, values) = together(one.clone(), other.clone());
    assert_eq!(field.data_type(), &expected);
    assert_eq!(values.len(), one.len() + other.len());
}

#[test]
fn no_number_loses_digits() {
    let (_, values) = together(longs(&[9_007_199_254_740_993, 1]), doubles(&[0.5]));
    assert_eq!(values, ["0.5", "1.0", "9007199254740993.0"]);
}

#[test]
fn lists_of_narrow_and_wide_numbers_are_lists_of_wide_ones() {
    let narrow = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None])]);
    let wide = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1 << 40)]), None]);
    let (field, _) = together(Arc::new(narrow), Arc::new(wide));
    assert_eq!(tonnage_files::type_name(&field), "ARRAY(LONG)");
}

fn structs(members: Vec<(&str, ArrayRef)>) -> ArrayRef {
    let member = |(name, values): (&str, ArrayRef)| {
        (Arc::new(Field::new(name, values.data_type().clone(), true)), values)
    };
    Arc::new(StructArray::from(members.into_iter().map(member).collect::<Vec<_>>()))
}

#[test]
fn structs_with_the_same_members_have_the_wider_ones() {
    let small: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    let (field, values) =
        together(structs(vec![("a", small)]), structs(vec![("a", doubles(&[0.5]))]));
    assert_eq!(tonnage_files::type_name(&field), "RECORD(a DOUBLE)");
    assert_eq!(values, ["\"{\"\"a\"\":0.5}\"", "\"{\"\"a\"\":7.0}\""]);
}

#[test]
fn structs_with_other_members_are_json() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let one = structs(vec![("a", longs(&[1])), ("b", doubles(&[0.5]))]);
    let other = structs(vec![("b", doubles(&[1.5])), ("d", text)]);
    let (field, values) = together(one, other);
    assert_eq!(tonnage_files::type_name(&field), "JSON");
    let quoted = |json: &str| format!("\"{}\"", json.replace('"', "\"\""));
    let expected = ["{\"a\":1,\"b\":0.5}", "{\"b\":1.5,\"d\":\"x\"}"];
    assert_eq!(values, expected.map(quoted));
}

/// No type of lists holds both, whatever the values are.
#[test]
fn nested_values_without_a_common_type_are_json() {
    let numbers = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1 << 60)])]);
    let parts =
        StructArray::from(vec![(Arc::new(Field::new("a", DataType::Int64, true)), longs(&[1]))]);
    let (field, values) = together(Arc::new(numbers), Arc::new(parts));
    assert!(field.metadata().contains_key(TYPE_KEY), "{field:?}");
    assert_eq!(values, ["\"{\"\"a\"\":1}\"", "[1152921504606846976]"]);
}
