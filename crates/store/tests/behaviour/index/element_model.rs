//! Random writes, loads and changes of indexes on elements: each index gives exactly the rows whose
//! elements fit, each once, and after it is cleaned it has no entry but theirs.

use proptest::prelude::*;
use tonnage::{
    BulkPutOptions, Direction, EntryStream, IndexRange, IndexScanOptions, OnExisting, Row, Store,
    Value, WriteOptions,
};

use super::{plate, rows};
use crate::common::shop::rows_of;
use crate::common::{Backend, TestStore, clean_all, row};

const TABLE: &str = "CREATE TABLE cars (plate LONG, kind INTEGER, doc JSON, tags ARRAY(STRING), sold MAP(RECORD(year INTEGER, to ARRAY(INTEGER))), PRIMARY KEY (plate))";

const INDEXES: [&str; 5] = [
    "(tags[])",
    "(kind, doc.a[].k, doc.a[].n[])",
    "(sold.keys(), sold.values().year)",
    "(sold.values().to[], kind)",
    "(doc.m.keys(), doc.m.values())",
];

/// A car of few values, so that they meet.
#[derive(Clone, Debug)]
struct Car {
    plate: u8,
    kind: Option<u8>,
    tags: Option<Vec<u8>>,
    /// An array of objects; of one it is the object itself.
    a: Vec<(Option<u8>, Vec<u8>)>,
    m: Vec<(u8, u8)>,
    sold: Vec<(u8, Option<u8>, Vec<u8>)>,
}

type Tuple = Vec<Value>;

fn number(number: u8) -> Value {
    Value::from(i32::from(number))
}

fn numbers(all: &[u8]) -> String {
    format!("{all:?}")
}

impl Car {
    fn row(&self) -> Row {
        let objects: Vec<String> = self
            .a
            .iter()
            .map(|(k, n)| match k {
                Some(k) => format!(r#"{{"k": {k}, "n": {}}}"#, numbers(n)),
                None => format!(r#"{{"n": {}}}"#, numbers(n)),
            })
            .collect();
        let a = match &objects[..] {
            [single] => single.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let m: Vec<_> = self.m.iter().map(|(key, value)| format!(r#""k{key}": {value}"#)).collect();
        let sold = self.sold.iter().map(|(key, year, to)| {
            let to = Value::Array(to.iter().map(|to| number(*to)).collect());
            let year = year.map_or(Value::Null, number);
            (format!("k{key}"), Value::Record(vec![("year".into(), year), ("to".into(), to)]))
        });
        let tags = self.tags.as_ref().map(|tags| tags.iter().map(|tag| tag_of(*tag)).collect());
        row! {
            "plate" => i64::from(self.plate),
            "kind" => self.kind.map_or(Value::Null, number),
            "doc" => Value::Json(format!(r#"{{"a": {a}, "m": {{{}}}}}"#, m.join(", "))),
            "tags" => tags.map_or(Value::Null, Value::Array),
            "sold" => Value::Map(sold.collect()),
        }
    }

    /// What an index has of it: found anew, by other means than the store's.
    fn tuples(&self, index: usize) -> Vec<Tuple> {
        let kind = self.kind.map_or(Value::Null, number);
        let or_null =
            |values: Vec<Value>| if values.is_empty() { vec![Value::Null] } else { values };
        let several = |all: &[u8]| or_null(all.iter().map(|one| number(*one)).collect());
        let mut tuples: Vec<Tuple> = match index {
            0 => {
                let tags = self.tags.iter().flatten().map(|tag| tag_of(*tag)).collect();
                or_null(tags).into_iter().map(|tag| vec![tag]).collect()
            }
            1 => {
                let inside = |(k, n): &(Option<u8>, Vec<u8>)| {
                    let k = k.map_or(Value::Null, number);
                    let kind = kind.clone();
                    let all = several(n).into_iter();
                    all.map(|n| vec![kind.clone(), k.clone(), n]).collect::<Vec<_>>()
                };
                self.a.iter().flat_map(inside).collect()
            }
            2 => {
                let sale = |(key, year, _): &(u8, Option<u8>, Vec<u8>)| {
                    vec![format!("k{key}").into(), year.map_or(Value::Null, number)]
                };
                self.sold.iter().map(sale).collect()
            }
            3 => {
                let buyers = self.sold.iter().flat_map(|(_, _, to)| several(to));
                buyers.map(|to| vec![to, kind.clone()]).collect()
            }
            _ => {
                let member =
                    |(key, value): &(u8, u8)| vec![format!("k{key}").into(), number(*value)];
                self.m.iter().map(member).collect()
            }
        };
        if tuples.is_empty() {
            tuples.push(match index {
                1 => vec![kind, Value::Null, Value::Null],
                3 => vec![Value::Null, kind],
                _ => vec![Value::Null, Value::Null],
            });
        }
        tuples
    }
}

fn tag_of(tag: u8) -> Value {
    // Some hold bytes that must be escaped, and one is the beginning of another.
    ["", "r", "r\0", "\u{ff}r"][usize::from(tag % 4)].into()
}

fn by_key<T: Clone>(mut all: Vec<T>, key: impl Fn(&T) -> u8) -> Vec<T> {
    let mut known = Vec::new();
    all.retain(|one| {
        let is_new = !known.contains(&key(one));
        known.push(key(one));
        is_new
    });
    all
}

fn any_car() -> impl Strategy<Value = Car> {
    let few = || prop::collection::vec(0..4_u8, 0..4);
    let maybe = || prop::option::of(0..3_u8);
    (
        0..40_u8,
        maybe(),
        prop::option::of(few()),
        prop::collection::vec((maybe(), few()), 0..3),
        prop::collection::vec((0..3_u8, 0..3_u8), 0..3),
        prop::collection::vec((0..3_u8, maybe(), few()), 0..3),
    )
        .prop_map(|(plate, kind, tags, a, m, sold)| Car {
            plate,
            kind,
            tags,
            a,
            m: by_key(m, |(key, _)| *key),
            sold: by_key(sold, |(key, ..)| *key),
        })
}

#[derive(Clone, Debug)]
enum Step {
    Put(Car),
    PutIfAbsent(Car),
    Delete(u8),
    Load { cars: Vec<Car>, replace: bool, as_stream: bool },
    MakeIndex(usize),
    DropIndex(usize),
    CleanIndex(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any_car().prop_map(Step::Put),
        1 => any_car().prop_map(Step::PutIfAbsent),
        2 => (0..40_u8).prop_map(Step::Delete),
        3 => (prop::collection::vec(any_car(), 0..40), any::<bool>(), any::<bool>())
            .prop_map(|(cars, replace, as_stream)| Step::Load { cars, replace, as_stream }),
        4 => (0..INDEXES.len()).prop_map(Step::MakeIndex),
        1 => (0..INDEXES.len()).prop_map(Step::DropIndex),
        2 => (0..INDEXES.len()).prop_map(Step::CleanIndex),
        1 => Just(Step::Reopen),
    ]
}

/// The cars that there should be, by their plates.
type Model = std::collections::BTreeMap<u8, Car>;

fn carry_out(store: &mut TestStore, model: &mut Model, step: &Step) {
    let table = store.table("cars").unwrap();
    let options = WriteOptions::default();
    match step {
        Step::Put(car) => {
            table.put(&car.row(), &options).unwrap();
            model.insert(car.plate, car.clone());
        }
        Step::PutIfAbsent(car) => {
            table.put_if_absent(&car.row(), &options).unwrap();
            model.entry(car.plate).or_insert_with(|| car.clone());
        }
        Step::Delete(plate) => {
            table.delete(&row! { "plate" => i64::from(*plate) }, &options).unwrap();
            model.remove(plate);
        }
        Step::Load { cars, replace, as_stream } => {
            let options = BulkPutOptions {
                on_existing: if *replace { OnExisting::Replace } else { OnExisting::Keep },
                ..Default::default()
            };
            // Each plate once: which of two rows of one load stays is another test's matter.
            let cars = by_key(cars.clone(), |car| car.plate);
            let loaded: Vec<Row> = cars.iter().map(Car::row).collect();
            let stream: Box<dyn EntryStream> = rows_of("cars", loaded.clone());
            match as_stream {
                true => drop(store.bulk_put(vec![stream], &options).unwrap()),
                false => drop(store.multi_put([("cars", loaded)], &options).unwrap()),
            }
            for car in cars {
                match replace {
                    true => drop(model.insert(car.plate, car)),
                    false => drop(model.entry(car.plate).or_insert(car)),
                }
            }
        }
        Step::MakeIndex(index) => {
            let columns = INDEXES[*index];
            let ddl = format!("CREATE INDEX IF NOT EXISTS i{index} ON cars {columns}");
            store.execute(&ddl).unwrap();
        }
        Step::DropIndex(index) => {
            store.execute(&format!("DROP INDEX IF EXISTS i{index} ON cars")).unwrap();
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

fn check(store: &Store, model: &Model) -> Result<(), TestCaseError> {
    let table = store.table("cars").unwrap();
    for index in table.indexes().unwrap() {
        let number: usize = index.name()[1..].parse().unwrap();
        let mut prefixes: Vec<Tuple> = vec![Vec::new()];
        for tuple in model.values().flat_map(|car| car.tuples(number)) {
            prefixes.extend((1..=tuple.len()).map(|len| tuple[..len].to_vec()));
        }
        prefixes.push(vec![Value::from("none such")]);
        prefixes.sort_by_key(|prefix| format!("{prefix:?}"));
        prefixes.dedup();
        for prefix in prefixes {
            let fits =
                |car: &&Car| car.tuples(number).iter().any(|tuple| tuple.starts_with(&prefix));
            let expected: Vec<i64> =
                model.values().filter(fits).map(|car| i64::from(car.plate)).collect();
            for direction in [Direction::Unordered, Direction::Forward, Direction::Reverse] {
                let options =
                    IndexScanOptions { direction, batch_rows_max: 7, ..Default::default() };
                if number == 1 && prefix.first() == Some(&Value::from("none such")) {
                    continue;
                }
                let range = IndexRange::prefix(prefix.clone());
                let found = rows(store, index.name(), range, &options);
                let mut found: Vec<i64> = found.iter().map(plate).collect();
                found.sort_unstable();
                prop_assert_eq!(&found, &expected, "{} {:?} {:?}", index.name(), prefix, direction);
            }
        }
    }
    let report = store.check().unwrap();
    prop_assert!(report.is_sound(), "{:?}", report.damages);
    Ok(())
}

/// How many entries an index has.
fn entries(store: &Store, index: &str) -> u64 {
    let index = store.table("cars").unwrap().index(index).unwrap();
    index.count_entries(&IndexRange::default(), u64::MAX).unwrap()
}

/// After a cleaning the entries are those of the rows, and no others.
fn check_clean(store: &Store, model: &Model) -> Result<(), TestCaseError> {
    for index in store.table("cars").unwrap().indexes().unwrap() {
        clean_all(store, &index);
        let number: usize = index.name()[1..].parse().unwrap();
        let expected: usize = model
            .values()
            .map(|car| {
                let mut tuples = car.tuples(number);
                tuples.sort_by_key(|tuple| format!("{tuple:?}"));
                tuples.dedup();
                tuples.len()
            })
            .sum();
        prop_assert_eq!(entries(store, index.name()), expected as u64, "{}", index.name());
    }
    Ok(())
}

fn run(mut store: TestStore, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut model = Model::new();
    for step in steps {
        carry_out(&mut store, &mut model, step);
        check(&store, &model)?;
    }
    check_clean(&store, &model)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 25, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn indexes_on_elements_in_memory_have_what_the_rows_have(steps in prop::collection::vec(step(), 1..25)) {
        run(Backend::Memory.with_tables(TABLE), &steps)?;
    }

    #[test]
    fn indexes_on_elements_in_rocksdb_have_what_the_rows_have(steps in prop::collection::vec(step(), 1..25)) {
        run(Backend::RocksDb.with_tables(TABLE), &steps)?;
    }
}
