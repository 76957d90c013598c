//! Chunks give back what was encoded, and damage is an error: no panic, and no memory taken for
//! lengths that are not true.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, PrimitiveArray, StringArray, Time64MicrosecondArray, TimestampMillisecondArray,
    UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow::compute::concat;
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, i256,
};
use proptest::prelude::*;
use tonnage_columns::{BATCH_ROWS, Chunk, ChunkId, ROWS_MAX, bounds_of, encode, seal};
use tonnage_engine::{ErrorKind, Result};

const ID: ChunkId = ChunkId { segment: 0x0123_4567_89ab_cdef, column: 7 };

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// Remembers the largest piece of memory that a thread asked for.
struct LargestAllocation;

// SAFETY: the system's allocator does the work; the note takes no memory.
unsafe impl GlobalAlloc for LargestAllocation {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(layout.size())));
        // SAFETY: as our caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as our caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: LargestAllocation = LargestAllocation;

/// All rows of a chunk.
fn decoded(bytes: &[u8], like: &dyn Array) -> Result<ArrayRef> {
    let chunk = Chunk::open(bytes, ID)?;
    let batches: Result<Vec<ArrayRef>> =
        (0..chunk.batches()).map(|batch| chunk.decode(batch, like.data_type())).collect();
    let batches = batches?;
    let parts: Vec<&dyn Array> = batches.iter().map(AsRef::as_ref).collect();
    Ok(match parts.is_empty() {
        true => arrow::array::new_empty_array(like.data_type()),
        false => concat(&parts).unwrap(),
    })
}

#[track_caller]
fn assert_round_trip(array: &dyn Array) {
    let bytes = encode(array, ID).unwrap();
    let back = decoded(&bytes, array).unwrap();
    assert_eq!(back.data_type(), array.data_type());
    assert_eq!(&*back, array);
    if let Some(doubles) = array.as_any().downcast_ref::<Float64Array>() {
        // Arrow takes no two NaNs for equal bits.
        let back = back.as_any().downcast_ref::<Float64Array>().unwrap();
        let bits = |array: &Float64Array| -> Vec<Option<u64>> {
            array.iter().map(|value| value.map(f64::to_bits)).collect()
        };
        assert_eq!(bits(back), bits(doubles));
    }
}

/// Samples of every type and layout, each with NULLs.
fn samples(rows: usize) -> Vec<ArrayRef> {
    let nth = |row: usize| (row % 5 != 3).then_some(row);
    let each = || (0..rows).map(nth);
    let decimal = |values: Vec<Option<i128>>| {
        Decimal128Array::from(values).with_precision_and_scale(38, 2).unwrap()
    };
    let text = |row: usize| format!("{row:x}-a longer text that repeats itself, itself");
    vec![
        Arc::new(each().map(|row| row.map(|row| row % 3 == 0)).collect::<BooleanArray>()),
        Arc::new(each().map(|row| row.map(|row| row as i8)).collect::<Int8Array>()),
        Arc::new(each().map(|row| row.map(|row| row as i16 * 7)).collect::<Int16Array>()),
        Arc::new(each().map(|row| row.map(|row| -(row as i32) * 999)).collect::<Int32Array>()),
        Arc::new(each().map(|row| row.map(|row| i64::MIN + row as i64)).collect::<Int64Array>()),
        Arc::new(each().map(|row| row.map(|row| row as u8)).collect::<UInt8Array>()),
        Arc::new(each().map(|row| row.map(|row| row as u16)).collect::<UInt16Array>()),
        Arc::new(each().map(|row| row.map(|row| row as u32)).collect::<UInt32Array>()),
        Arc::new(each().map(|row| row.map(|row| u64::MAX - row as u64)).collect::<UInt64Array>()),
        Arc::new(each().map(|row| row.map(|row| row as i32)).collect::<Date32Array>()),
        Arc::new(each().map(|row| row.map(|row| row as i64)).collect::<Time64MicrosecondArray>()),
        Arc::new(
            each()
                .map(|row| row.map(|row| row as i64 * 60_000))
                .collect::<TimestampMillisecondArray>()
                .with_timezone("UTC"),
        ),
        Arc::new(each().map(|row| row.map(|row| row as f32 / 3.0)).collect::<Float32Array>()),
        Arc::new(each().map(|row| row.map(|row| row as f64 / 100.0)).collect::<Float64Array>()),
        Arc::new(each().map(|row| row.map(|row| (row as f64).sqrt())).collect::<Float64Array>()),
        Arc::new(decimal(each().map(|row| row.map(|row| row as i128 - 50)).collect())),
        Arc::new(decimal(each().map(|row| row.map(|row| (row as i128) << 80)).collect())),
        Arc::new(
            each()
                .map(|row| row.map(|row| i256::from_parts(row as u128, row as i128)))
                .collect::<Decimal256Array>()
                .with_precision_and_scale(76, 3)
                .unwrap(),
        ),
        Arc::new(
            each().map(|row| row.map(|row| ["ä", "", "MAIL"][row % 3])).collect::<StringArray>(),
        ),
        Arc::new(each().map(|row| row.map(text)).collect::<StringArray>()),
        Arc::new(
            each().map(|row| row.map(|row| vec![row as u8; row % 9])).collect::<BinaryArray>(),
        ),
        Arc::new(
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                each().map(|row| row.map(|row| (row as u32).to_le_bytes())),
                4,
            )
            .unwrap(),
        ),
    ]
}

#[test]
fn every_type_comes_back_in_chunks_of_every_size() {
    for rows in [0, 1, 63, 64, 65, 1_023, 1_025, BATCH_ROWS, BATCH_ROWS + 1, 3 * BATCH_ROWS - 1] {
        for array in samples(rows) {
            assert_round_trip(&array);
        }
    }
}

#[test]
fn a_slice_comes_back_as_a_slice() {
    for array in samples(300) {
        assert_round_trip(&array.slice(13, 170));
    }
}

#[test]
fn a_column_of_nulls_comes_back() {
    for array in samples(1) {
        assert_round_trip(&arrow::array::new_null_array(array.data_type(), 2_000));
    }
}

#[test]
fn a_full_chunk_comes_back_and_a_larger_one_is_refused() {
    assert_round_trip(&Int64Array::from_iter_values(0..ROWS_MAX as i64));
    let larger = Int64Array::from_iter_values(0..ROWS_MAX as i64 + 1);
    assert_eq!(encode(&larger, ID).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn numbers_are_packed_and_equal_ones_take_nothing() {
    let equal = encode(&Int64Array::from(vec![5; 8_192]), ID).unwrap();
    let narrow: Int64Array = (0..8_192).map(|row| Some(1_000_000 + row % 16)).collect();
    let narrow = encode(&narrow, ID).unwrap();
    assert!(equal.len() < 128, "{}", equal.len());
    assert_eq!(narrow.len() - equal.len(), 8_192 / 2);
}

#[test]
fn the_zones_bound_the_numbers() {
    let numbers: Int64Array = (0..5_000).map(|row| Some((row * 7_919) % 4_001 - 2_000)).collect();
    let bytes = encode(&numbers, ID).unwrap();
    let zones: Vec<_> = Chunk::open(&bytes, ID).unwrap().zones().unwrap().collect();
    assert_eq!(zones.len(), 5);
    for (row, value) in numbers.values().iter().enumerate() {
        assert!(zones[row / 1_024].contains(value), "{value} of row {row}");
    }
    let ends = encode(&Int64Array::from(vec![i64::MIN, i64::MAX]), ID).unwrap();
    let zones: Vec<_> = Chunk::open(&ends, ID).unwrap().zones().unwrap().collect();
    assert_eq!(zones, [i64::MIN..=i64::MAX]);
}

#[test]
fn the_batch_of_a_value_is_among_those_with_its_number() {
    for array in samples(3 * BATCH_ROWS - 1) {
        let bytes = encode(&array, ID).unwrap();
        let chunk = Chunk::open(&bytes, ID).unwrap();
        for row in (0..array.len()).step_by(37) {
            let Some(number) = bounds_of(&array.slice(row, 1)).unwrap() else { continue };
            let batches = chunk.batches_with(&number);
            assert!(batches[row / BATCH_ROWS], "{} row {row}", array.data_type());
        }
    }
}

#[test]
fn batches_without_the_numbers_asked_for_are_left_out() {
    let numbers = Int64Array::from_iter_values(0..3 * BATCH_ROWS as i64);
    let bytes = encode(&numbers, ID).unwrap();
    let chunk = Chunk::open(&bytes, ID).unwrap();
    let last = 2 * BATCH_ROWS as i64;
    assert_eq!(chunk.batches_with(&(last..=i64::MAX)), [false, false, true]);
    assert_eq!(chunk.batches_with(&(i64::MIN..=-1)), [false; 3]);
    assert_eq!(chunk.batches_with(&(0..=last)), [true; 3]);
}

#[test]
fn the_bounds_of_values_are_those_of_their_numbers() {
    let numbers = Int32Array::from(vec![None, Some(7), Some(-3), None]);
    assert_eq!(bounds_of(&numbers).unwrap(), Some(-3..=7));
    assert_eq!(bounds_of(&numbers.slice(3, 1)).unwrap(), None);
    assert_eq!(bounds_of(&Float32Array::from(vec![1.0])).unwrap(), None);
    assert_eq!(bounds_of(&StringArray::from(vec!["a"])).unwrap(), None);
}

#[test]
fn a_chunk_of_another_segment_or_column_is_damage() {
    let bytes = encode(&Int64Array::from(vec![1, 2]), ID).unwrap();
    for id in [ChunkId { segment: 1, ..ID }, ChunkId { column: 8, ..ID }] {
        assert_eq!(Chunk::open(&bytes, id).unwrap_err().kind(), ErrorKind::Corruption);
    }
}

#[test]
fn each_changed_byte_is_damage() {
    for array in samples(70) {
        let bytes = encode(&array, ID).unwrap();
        for place in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= change;
                let kind = Chunk::open(&changed, ID).unwrap_err().kind();
                assert_eq!(kind, ErrorKind::Corruption, "byte {place} of {}", array.data_type());
            }
        }
        for len in 0..bytes.len() {
            assert!(Chunk::open(&bytes[..len], ID).is_err(), "cut to {len}");
        }
    }
}

/// Below a checksum that is right again, a changed byte may give other values, but of as many rows,
/// with little memory.
#[test]
fn a_changed_byte_below_a_right_checksum_does_no_harm() {
    const MEMORY_MAX: usize = 8 << 20;
    for array in samples(1_100) {
        let bytes = encode(&array, ID).unwrap();
        let heads = bytes.len().min(400);
        for place in (0..heads).chain((heads..bytes.len()).step_by(37)) {
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= change;
                seal(&mut changed);
                LARGEST.set(0);
                let read = decoded(&changed, &array);
                assert!(LARGEST.get() <= MEMORY_MAX, "byte {place}: {} bytes", LARGEST.get());
                match read {
                    Ok(read) => assert!(read.len() <= ROWS_MAX),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Corruption),
                }
            }
        }
    }
}

/// What is opened with another type than it was encoded with is damage, never a panic.
#[test]
fn a_chunk_read_as_another_type_does_no_harm() {
    let arrays = samples(200);
    for array in &arrays {
        let bytes = encode(array, ID).unwrap();
        for other in &arrays {
            match decoded(&bytes, other) {
                Ok(read) => assert_eq!(read.len(), array.len()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corruption),
            }
        }
    }
}

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (-1_000_000i64..1_000_000, 0..5i32).prop_map(|(n, e)| n as f64 / 10f64.powi(e)),
        1 => any::<u64>().prop_map(f64::from_bits),
        1 => prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE]),
    ]
}

/// NULLs, the ends of a type, neighbours of both, and values that lie close together.
fn number(least: i64, greatest: i64) -> impl Strategy<Value = Option<i64>> {
    let ends = vec![least, least + 1, -1, 0, 1, greatest - 1, greatest];
    let ends: Vec<i64> = ends.into_iter().map(|end| end.clamp(least, greatest)).collect();
    prop_oneof![
        2 => Just(None),
        2 => prop::sample::select(ends).prop_map(Some),
        4 => (0..100i64).prop_map(move |near| Some((least / 2 + near).clamp(least, greatest))),
        2 => (least..=greatest).prop_map(Some),
    ]
}

fn numbers(least: i64, greatest: i64) -> impl Strategy<Value = Vec<Option<i64>>> {
    prop::collection::vec(number(least, greatest), 0..1_500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_integers_come_back(values in prop::collection::vec(any::<Option<i64>>(), 0..3_000)) {
        assert_round_trip(&Int64Array::from(values));
    }

    /// All that is stored as whole numbers, with the ends of each type.
    #[test]
    fn any_numbers_of_each_type_come_back(
        bytes in numbers(i8::MIN.into(), i8::MAX.into()),
        shorts in numbers(i16::MIN.into(), i16::MAX.into()),
        integers in numbers(i32::MIN.into(), i32::MAX.into()),
        longs in numbers(i64::MIN, i64::MAX),
    ) {
        fn array<T: ArrowPrimitiveType>(numbers: &[Option<i64>]) -> PrimitiveArray<T>
        where
            T::Native: TryFrom<i64>,
        {
            let native = |number: i64| T::Native::try_from(number).ok();
            numbers.iter().map(|number| number.and_then(native)).collect()
        }
        let unsigned = |numbers: &[Option<i64>], least: i64| -> Vec<Option<i64>> {
            numbers.iter().map(|number| number.map(|number| number - least)).collect()
        };
        assert_round_trip(&array::<Int8Type>(&bytes));
        assert_round_trip(&array::<UInt8Type>(&unsigned(&bytes, i8::MIN.into())));
        assert_round_trip(&array::<Int16Type>(&shorts));
        assert_round_trip(&array::<UInt16Type>(&unsigned(&shorts, i16::MIN.into())));
        assert_round_trip(&array::<Int32Type>(&integers));
        assert_round_trip(&array::<UInt32Type>(&unsigned(&integers, i32::MIN.into())));
        assert_round_trip(&array::<Date32Type>(&integers));
        assert_round_trip(&array::<Int64Type>(&longs));
        let longest: UInt64Array = longs.iter().map(|number| number.map(|n| n as u64)).collect();
        assert_round_trip(&longest);
        assert_round_trip(&array::<TimestampSecondType>(&longs));
        assert_round_trip(&array::<TimestampMillisecondType>(&longs));
        assert_round_trip(&array::<TimestampMicrosecondType>(&longs));
        assert_round_trip(&array::<TimestampNanosecondType>(&longs));
        assert_round_trip(&array::<Time64NanosecondType>(&longs));
        let truths: BooleanArray = bytes.iter().map(|byte| byte.map(|byte| byte > 0)).collect();
        assert_round_trip(&truths);
    }

    #[test]
    fn any_floats_come_back(values in prop::collection::vec(any::<Option<u32>>(), 0..500)) {
        let array: Float32Array =
            values.into_iter().map(|bits| bits.map(f32::from_bits)).collect();
        let bytes = encode(&array, ID).unwrap();
        let back = decoded(&bytes, &array).unwrap();
        let back = back.as_any().downcast_ref::<Float32Array>().unwrap();
        let bits = |array: &Float32Array| -> Vec<Option<u32>> {
            array.iter().map(|value| value.map(f32::to_bits)).collect()
        };
        prop_assert_eq!(bits(back), bits(&array));
    }

    /// Words of a dictionary, and those that are too long for one.
    #[test]
    fn any_words_come_back(
        words in prop::collection::vec(prop::option::weighted(0.9, 0..8usize), 0..3_000),
        long in prop::sample::select(vec![0, 1, 254, 255, 256, 70_000]),
    ) {
        let word = |word: usize| format!("{word}{}", "x".repeat(if word == 0 { long } else { word }));
        let words: StringArray = words.into_iter().map(|number| number.map(word)).collect();
        assert_round_trip(&words);
    }

    #[test]
    fn any_bytes_of_one_length_come_back(
        values in prop::collection::vec(any::<Option<[u8; 16]>>(), 0..300),
        equal in prop::collection::vec(prop::option::weighted(0.9, 0..3u8), 0..300),
    ) {
        let values = values.into_iter().chain(equal.into_iter().map(|n| n.map(|n| [n; 16])));
        let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 16).unwrap();
        assert_round_trip(&array);
    }

    #[test]
    fn any_wide_decimals_come_back(
        values in prop::collection::vec(any::<Option<(i128, i128)>>(), 0..300),
    ) {
        let wide = |(low, high): (i128, i128)| i256::from_parts(low as u128, high >> 8);
        let array: Decimal256Array = values.into_iter().map(|value| value.map(wide)).collect();
        assert_round_trip(&array.with_precision_and_scale(76, 5).unwrap());
    }

    #[test]
    fn any_narrow_integers_come_back(
        least in any::<i64>(),
        width in 0..63u32,
        offsets in prop::collection::vec(any::<u64>(), 1..300),
    ) {
        let values = offsets.into_iter().map(|offset| {
            least.wrapping_add((offset & ((1 << width) - 1)) as i64)
        });
        assert_round_trip(&Int64Array::from_iter_values(values));
    }

    #[test]
    fn any_doubles_come_back(
        values in prop::collection::vec(prop::option::weighted(0.9, double()), 0..2_000),
    ) {
        assert_round_trip(&Float64Array::from(values));
    }

    #[test]
    fn any_decimals_come_back(
        values in prop::collection::vec(any::<Option<i64>>(), 0..500), wide in any::<bool>(),
    ) {
        let scale = if wide { 1i128 << 50 } else { 1 };
        let values: Vec<_> = values.into_iter().map(|v| v.map(|v| i128::from(v) * scale)).collect();
        let array = Decimal128Array::from(values).with_precision_and_scale(38, 4).unwrap();
        assert_round_trip(&array);
    }

    #[test]
    fn any_texts_come_back(values in prop::collection::vec(any::<Option<String>>(), 0..200)) {
        assert_round_trip(&StringArray::from(values));
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Chunk::open(&bytes, ID).is_err());
    }
}
