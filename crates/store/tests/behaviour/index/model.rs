//! Random writes, loads and changes of indexes: an index gives exactly the rows that a scan with
//! the same condition gives.

use proptest::prelude::*;
use tonnage::{
    BulkPutOptions, Direction, EntryStream, FieldRange, IndexRange, OnExisting, Row, Store,
    TableScanOptions, Value, WriteOptions,
};

use super::{car, plate, rows};
use crate::common::shop::rows_of;
use crate::common::{Backend, TestStore, builder, row};

/// A car of few plates, colours and years, so that they meet.
type Car = (u8, Option<u8>, Option<u8>);

#[derive(Clone, Debug)]
enum Step {
    Put(Car),
    PutIfAbsent(Car),
    Delete(u8),
    Load { cars: Vec<Car>, replace: bool, as_rows: bool, memory_bytes: usize },
    MakeIndex(usize),
    DropIndex(usize),
    CleanIndex(usize),
    Reopen,
}

const INDEXES: [&str; 3] = ["(colour)", "(colour, year)", "(year, plate)"];

/// Columns that each of them holds.
const HELD: [[&str; 2]; 3] = [["plate", "colour"], ["year", "plate"], ["plate", "year"]];

fn narrowed(row: &Row, columns: &[&str]) -> Row {
    let cell = |name: &str| row.get(name).cloned().unwrap_or(Value::Null);
    columns.iter().fold(Row::new(), |narrow, name| narrow.with(name, cell(name)))
}

fn any_car() -> impl Strategy<Value = Car> {
    (0..60_u8, prop::option::of(0..4_u8), prop::option::of(0..6_u8))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any_car().prop_map(Step::Put),
        1 => any_car().prop_map(Step::PutIfAbsent),
        2 => (0..60_u8).prop_map(Step::Delete),
        3 => (prop::collection::vec(any_car(), 0..80), any::<bool>(), any::<bool>(), prop_oneof![Just(1 << 20), Just(8 << 20)])
            .prop_map(|(cars, replace, as_rows, memory_bytes)| Step::Load { cars, replace, as_rows, memory_bytes }),
        2 => (0..INDEXES.len()).prop_map(Step::MakeIndex),
        1 => (0..INDEXES.len()).prop_map(Step::DropIndex),
        2 => (0..INDEXES.len()).prop_map(Step::CleanIndex),
        1 => Just(Step::Reopen),
    ]
}

fn row_of((plate, colour, year): Car) -> Row {
    // Colours hold bytes that must be escaped, and one is the beginning of another.
    let colour = colour.map(|colour| ["", "r", "r\0", "\u{ff}r"][colour as usize]);
    car(
        plate.into(),
        colour.map_or(Value::Null, Value::from),
        year.map_or(Value::Null, |year| Value::from(i32::from(year))),
    )
}

fn carry_out(store: &mut TestStore, step: &Step) {
    let table = store.table("cars").unwrap();
    let options = WriteOptions::default();
    match step {
        Step::Put(car) => drop(table.put(&row_of(*car), &options).unwrap()),
        Step::PutIfAbsent(car) => drop(table.put_if_absent(&row_of(*car), &options).unwrap()),
        Step::Delete(plate) => {
            table.delete(&row! { "plate" => i64::from(*plate) }, &options).unwrap();
        }
        Step::Load { cars, replace, as_rows, memory_bytes } => {
            let options = BulkPutOptions {
                on_existing: if *replace { OnExisting::Replace } else { OnExisting::Keep },
                memory_bytes_max: Some(*memory_bytes),
                ..Default::default()
            };
            let loaded: Vec<Row> = cars.iter().map(|car| row_of(*car)).collect();
            let stream: Box<dyn EntryStream> = rows_of("cars", loaded.clone());
            match as_rows {
                true => drop(store.bulk_put(vec![stream], &options).unwrap()),
                false => drop(store.multi_put([("cars", loaded)], &options).unwrap()),
            }
        }
        Step::MakeIndex(index) => drop(
            store
                .execute(&format!(
                    "CREATE INDEX IF NOT EXISTS i{index} ON cars {}",
                    INDEXES[*index]
                ))
                .unwrap(),
        ),
        Step::DropIndex(index) => {
            drop(store.execute(&format!("DROP INDEX IF EXISTS i{index} ON cars")).unwrap())
        }
        Step::CleanIndex(index) => {
            if let Ok(index) = table.index(&format!("i{index}")) {
                index.clean().unwrap();
            }
        }
        Step::Reopen => {
            drop(table);
            store.reopen();
        }
    }
}

/// A request to an index, and the condition that it means.
type Request = (IndexRange, Box<dyn Fn(&Row) -> bool>);

/// What may be asked of each index.
fn requests(index: usize) -> Vec<Request> {
    fn is(name: &'static str, value: Value) -> Box<dyn Fn(&Row) -> bool> {
        Box::new(move |row| row.get(name) == Some(&value))
    }
    fn number(row: &Row) -> Option<i32> {
        match row.get("year") {
            Some(Value::Integer(year)) => Some(*year),
            _ => None,
        }
    }
    let mut requests: Vec<Request> = vec![(IndexRange::default(), Box::new(|_| true))];
    match index {
        0 | 1 => {
            for colour in [Value::Null, "".into(), "r".into(), "r\0".into()] {
                requests.push((IndexRange::prefix([colour.clone()]), is("colour", colour)));
            }
            if index == 1 {
                let range = IndexRange::prefix(["r"]).within(FieldRange::of("year").after(1).to(4));
                let within = |row: &Row| {
                    row.get("colour") == Some(&"r".into())
                        && number(row).is_some_and(|year| (2..5).contains(&year))
                };
                requests.push((range, Box::new(within)));
            }
        }
        _ => {
            requests.push((IndexRange::prefix([3]), is("year", 3.into())));
            let range = IndexRange::default().within(FieldRange::of("year").before(3));
            requests.push((range, Box::new(|row| number(row).is_some_and(|year| year < 3))));
        }
    }
    requests
}

fn check(store: &Store) -> Result<(), TestCaseError> {
    let table = store.table("cars").unwrap();
    let all = table
        .scan(&TableScanOptions { direction: Direction::Forward, ..Default::default() })
        .unwrap();
    let all: Vec<Row> = all.into_rows().map(|row| row.unwrap().row).collect();
    for index in table.indexes().unwrap() {
        let number: usize = index.name()[1..].parse().unwrap();
        for (range, holds) in requests(number) {
            let mut expected: Vec<Row> = all.iter().filter(|row| holds(row)).cloned().collect();
            expected.sort_by_key(plate);
            for direction in [Direction::Unordered, Direction::Forward, Direction::Reverse] {
                let options = tonnage::IndexScanOptions {
                    direction,
                    batch_rows_max: 7,
                    ..Default::default()
                };
                let mut found = rows(store, index.name(), range.clone(), &options);
                found.sort_by_key(plate);
                prop_assert_eq!(&found, &expected, "{} {:?} {:?}", index.name(), range, direction);
                // Where only columns of the index are wanted, rows may not be looked up.
                let held: Vec<_> = HELD[number].map(str::to_owned).to_vec();
                let options =
                    tonnage::IndexScanOptions { columns: Some(held), index_only: true, ..options };
                let mut found = rows(store, index.name(), range.clone(), &options);
                found.sort_by_key(plate);
                let expected: Vec<_> =
                    expected.iter().map(|row| narrowed(row, &HELD[number])).collect();
                prop_assert_eq!(&found, &expected, "{} alone, {:?}", index.name(), range);
            }
        }
    }
    let report = store.check().unwrap();
    prop_assert!(report.is_sound(), "{:?}", report.damages);
    Ok(())
}

fn run(mut store: TestStore, steps: &[Step]) -> Result<(), TestCaseError> {
    for step in steps {
        carry_out(&mut store, step);
        check(&store)?;
    }
    Ok(())
}

const TABLE: &str =
    "CREATE TABLE cars (plate LONG, colour STRING, year INTEGER, note STRING, PRIMARY KEY (plate))";

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn indexes_in_memory_give_what_a_scan_gives(steps in prop::collection::vec(step(), 1..30)) {
        run(Backend::Memory.with_tables(TABLE), &steps)?;
    }

    #[test]
    fn indexes_in_rocksdb_give_what_a_scan_gives(steps in prop::collection::vec(step(), 1..30)) {
        run(Backend::RocksDb.with_tables(TABLE), &steps)?;
    }

    #[test]
    fn indexes_over_three_directories_give_what_a_scan_gives(steps in prop::collection::vec(step(), 1..30)) {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let store = builder(&path("store").display().to_string());
        let store = store.data_directories([path("a"), path("b"), path("c")]).open().unwrap();
        store.execute(TABLE).unwrap();
        for step in steps.iter().filter(|step| !matches!(step, Step::Reopen)) {
            let mut wrapped = TestStore::of(store.clone());
            carry_out(&mut wrapped, step);
            check(&store)?;
        }
    }
}
