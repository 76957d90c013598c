//! Rows of structs, and structs of rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tonnage::{ErrorKind, Row, Value, WriteOptions};

use crate::common::Backend::Memory;
use crate::common::{assert_error, failure, row};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Flag {
    Greek,
    Dutch,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Port {
    city: String,
    berths: Option<i32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Ship {
    name: String,
    flag: Flag,
    speed: f64,
    weight: u32,
    price: f64,
    built: String,
    armed: Option<bool>,
    crew: BTreeMap<String, i64>,
    ports: Vec<Port>,
    notes: serde_json::Value,
    seal: Vec<u8>,
}

const SHIPS: &str = "CREATE TABLE ships (name STRING, flag ENUM(greek, dutch), speed DOUBLE,
    weight LONG, price NUMBER(9, 2), built DATE, armed BOOLEAN, crew MAP(LONG),
    ports ARRAY(RECORD(city STRING, berths INTEGER)), notes JSON, seal ARRAY(INTEGER),
    PRIMARY KEY (name))";

fn argo() -> Ship {
    Ship {
        name: "ARGO".into(),
        flag: Flag::Greek,
        speed: 7.5,
        weight: 4_000_000_000,
        price: 1_234_567.89,
        built: "2020-02-29".into(),
        armed: None,
        crew: BTreeMap::from([("oars".into(), 50)]),
        ports: vec![
            Port { city: "Iolcus".into(), berths: Some(3) },
            Port { city: "Aea".into(), berths: None },
        ],
        notes: serde_json::json!({"fleece": [1, "golden", null]}),
        seal: vec![1, 2, 255],
    }
}

#[test]
fn a_struct_is_stored_and_read_back() {
    let store = Memory.with_tables(SHIPS);
    let ships = store.table("ships").unwrap();
    ships.put(&Row::of(&argo()).unwrap(), &WriteOptions::default()).unwrap();
    let stored = ships.get(&row! { "name" => "ARGO" }).unwrap().unwrap().row;
    assert_eq!(stored.read::<Ship>().unwrap(), argo());
}

#[test]
fn a_row_is_read_into_the_fields_that_a_struct_has() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Named {
        name: String,
        price: String,
        #[serde(default)]
        missing: u8,
    }
    let row = row! { "name" => "ARGO", "speed" => 7.5,
    "price" => Value::Number { unscaled: 12_345_678_901_234_567_890_123, scale: 2 } };
    let price = "123456789012345678901.23".to_owned();
    assert_eq!(row.read::<Named>().unwrap(), Named { name: "ARGO".into(), price, missing: 0 });
}

#[test]
fn whole_numbers_of_any_width_go_through() {
    let wide = BTreeMap::from([("u", u64::MAX)]);
    let number = Value::Number { unscaled: u64::MAX.into(), scale: 0 };
    assert_eq!(Row::of(&wide).unwrap(), row! { "u" => number });
    let read: BTreeMap<String, u128> = Row::of(&wide).unwrap().read().unwrap();
    assert_eq!(read["u"], u64::MAX.into());
}

#[test]
fn what_has_no_names_is_no_row() {
    assert_error(failure(Row::of(&[1, 2])), ErrorKind::Invalid, &["a struct or a map", "ARRAY"]);
    assert_error(failure(Row::of("text")), ErrorKind::Invalid, &["STRING"]);
    let by_bool = BTreeMap::from([(true, 1)]);
    assert_error(failure(Row::of(&by_bool)), ErrorKind::Invalid, &["a map by BOOLEAN"]);
}

#[test]
fn a_row_that_does_not_fit_names_the_column() {
    let row = Row::of(&argo()).unwrap().with("weight", "heavy");
    assert_error(failure(row.read::<Ship>()), ErrorKind::Invalid, &["'weight'"]);
    let nested = Row::of(&argo()).unwrap().with("flag", "martian");
    assert_error(failure(nested.read::<Ship>()), ErrorKind::Invalid, &["'flag'", "martian"]);
}
