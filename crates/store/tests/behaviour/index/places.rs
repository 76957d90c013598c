//! Rows by their places: the nearest, and those of many regions, as a scan finds them.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rstest::rstest;
use tonnage::geo::{Coordinates, Region, sphere_distance};
use tonnage::{Direction, ErrorKind, IndexScanOptions, Row, Store, TableBatch, Value};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, row};

/// Whatever is drawn here is spread over the globe, crowds in a port, or is where something ends.
fn places() -> Vec<(Value, Value)> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut share = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let globe: Vec<_> =
        (0..1_000).map(|_| (share() * 360.0 - 180.0, share() * 180.0 - 90.0)).collect();
    let port: Vec<_> = (0..3_000).map(|_| (4.0 + share() * 0.05, 51.9 + share() * 0.03)).collect();
    let date_line: Vec<_> = (0..200)
        .map(|n| (if n % 2 == 0 { 180.0 - share() } else { share() - 180.0 }, share() - 17.0))
        .collect();
    let pole: Vec<_> = (0..100).map(|n| (f64::from(n) * 3.6 - 180.0, 90.0 - share())).collect();
    let ends = [-180.0, 180.0, 0.0, -0.0]
        .into_iter()
        .flat_map(|lon| [-90.0, 90.0, 0.0].map(|lat| (lon, lat)));
    let unknown = [(181.0, 91.0), (f64::NAN, 51.9), (4.2, f64::INFINITY), (200.0, 10.0)];
    let all = globe.into_iter().chain(port).chain(date_line).chain(pole).chain(ends).chain(unknown);
    let all = all.map(|(lon, lat)| (Value::Double(lon), Value::Double(lat)));
    all.chain([(Value::Null, Value::Double(51.9)), (Value::Null, Value::Null)]).collect()
}

/// Half of the rows come one by one, half by a load.
fn stocked(on: Backend, index: &str) -> TestStore {
    let store = on.with_tables(
        "CREATE TABLE ships (ship LONG, lon DOUBLE, lat DOUBLE, name STRING, PRIMARY KEY (ship))",
    );
    store.execute(&format!("CREATE INDEX by_place ON ships ({index})")).unwrap();
    let ships: Vec<Row> = (0..)
        .zip(places())
        .map(|(ship, (lon, lat))| {
            row! { "ship" => ship, "lon" => lon, "lat" => lat, "name" => format!("ship {ship}") }
        })
        .collect();
    let (single, loaded) = ships.split_at(200);
    let table = store.table("ships").unwrap();
    for row in single {
        table.put(row, &Default::default()).unwrap();
    }
    store.multi_put([("ships", loaded.to_vec())], &Default::default()).unwrap();
    store
}

/// The places of ships that are on the globe, by their numbers.
fn on_globe() -> Vec<(i64, Coordinates)> {
    let known = |(ship, (lon, lat)): (i64, (Value, Value))| match (lon, lat) {
        (Value::Double(lon), Value::Double(lat))
            if (-180.0..=180.0).contains(&lon) && (-90.0..=90.0).contains(&lat) =>
        {
            Some((ship, [lon, lat]))
        }
        _ => None,
    };
    (0..).zip(places()).filter_map(known).collect()
}

fn ships(batch: &TableBatch) -> Vec<i64> {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    let column = batch.rows.column_by_name("ship").unwrap();
    column.as_primitive::<Int64Type>().values().to_vec()
}

/// Anywhere, in the port, on the date line, near the poles.
fn centers() -> impl Strategy<Value = Coordinates> {
    prop_oneof![
        3 => (-180.0..=180.0_f64, -90.0..=90.0_f64),
        3 => (3.9..4.2_f64, 51.8..52.0_f64),
        2 => (prop_oneof![179.0..=180.0_f64, -180.0..=-179.0_f64], -18.0..-15.0_f64),
        1 => (-180.0..=180.0_f64, prop_oneof![Just(90.0), Just(-90.0), 89.0..90.0_f64]),
        1 => Just((180.0, 0.0)),
    ]
    .prop_map(|(lon, lat)| [lon, lat])
}

fn nearest(store: &Store, center: Coordinates, count: usize) -> (Vec<i64>, Vec<f64>) {
    let options = IndexScanOptions {
        columns: Some(vec!["name".into(), "ship".into()]),
        ..Default::default()
    };
    let found = store.table("ships").unwrap().nearest(center, count, &options).unwrap();
    let names: Vec<_> =
        found.batch.rows.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["name", "ship"]);
    assert_eq!(found.batch.versions.len(), found.metres.len());
    (ships(&found.batch), found.metres)
}

#[rstest]
fn the_nearest_rows_are_those_that_a_scan_finds(
    #[values(Memory, RocksDb)] on: Backend,
    #[values("geo_cell(lon, lat)", "geo_cell(lon, lat, 11), name")] index: &str,
) {
    let store = stocked(on, index);
    let all = on_globe();
    let counts = prop_oneof![Just(1_usize), Just(10), Just(100), 1..5_000_usize];
    let outcome =
        TestRunner::new(Config::with_cases(40)).run(&(centers(), counts), |([lon, lat], count)| {
            let distance = |[other_lon, other_lat]: Coordinates| {
                sphere_distance(lon, lat, other_lon, other_lat)
            };
            let mut expected: Vec<f64> = all.iter().map(|(_, place)| distance(*place)).collect();
            expected.sort_by(f64::total_cmp);
            expected.truncate(count);
            let (ships, metres) = nearest(&store, [lon, lat], count);
            prop_assert_eq!(&metres, &expected);
            // Each ship comes once, with its own distance: of those equally far any may come.
            for (ship, metres) in ships.iter().zip(&metres) {
                let (_, place) = all[all.binary_search_by_key(ship, |(ship, _)| *ship).unwrap()];
                prop_assert_eq!(distance(place), *metres);
            }
            let mut once = ships.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), ships.len());
            Ok(())
        });
    outcome.unwrap();
}

#[test]
fn rows_come_in_rings_and_what_is_reached_comes_no_more() {
    let store = stocked(RocksDb, "geo_cell(lon, lat)");
    let index = store.table("ships").unwrap().index("by_place").unwrap();
    let mut rows = index.by_distance([4.02, 51.91], &IndexScanOptions::default()).unwrap();
    let (mut count, mut reached) = (0, rows.reached_metres());
    while let Some(batch) = rows.next() {
        let batch = batch.unwrap();
        assert!(batch.metres.iter().all(|metres| *metres >= reached), "{reached}");
        count += batch.metres.len();
        reached = rows.reached_metres();
    }
    assert_eq!((count, rows.reached_metres()), (on_globe().len(), f64::INFINITY));
}

#[test]
fn a_table_without_rows_has_no_nearest() {
    let store = Memory.with_tables(
        "CREATE TABLE ships (ship LONG, lon DOUBLE, lat DOUBLE, name STRING, PRIMARY KEY (ship))",
    );
    store.execute("CREATE INDEX ON ships (geo_cell(lon, lat))").unwrap();
    assert_eq!(nearest(&store, [4.0, 52.0], 3), (vec![], vec![]));
}

/// Boxes, also across the date line and beyond the globe, circles, and a triangle.
fn regions() -> impl Strategy<Value = Region> {
    let size = prop_oneof![0.001..0.05_f64, 0.05..40.0_f64];
    (centers(), size.clone(), size, 0..5).prop_map(|([lon, lat], wide, high, form)| {
        let (south, north) = ((lat - high).max(-90.0), (lat + high).min(90.0));
        let wrapped = |lon: f64| match lon {
            lon if lon > 180.0 => lon - 360.0,
            lon if lon < -180.0 => lon + 360.0,
            lon => lon,
        };
        match form {
            0 => Region::rectangle(wrapped(lon - wide), south, wrapped(lon + wide), north).unwrap(),
            1 => Region::between(lon - wide, lat - high, lon + wide, lat + high),
            2 => Region::between(lon - wide, lat - high, f64::INFINITY, f64::INFINITY),
            3 => Region::circle([lon, lat], wide * 111_000.0).unwrap(),
            _ => Region::polygon(&[vec![[lon - wide, south], [lon + wide, south], [lon, north]]])
                .unwrap(),
        }
    })
}

/// Pairs of the place of a region and a ship, in order.
fn within(store: &Store, regions: Vec<Region>, options: &IndexScanOptions) -> Vec<(u64, i64)> {
    let rows = store.table("ships").unwrap().bulk_get_within(regions, options).unwrap();
    let mut found = Vec::new();
    for batch in rows {
        let batch = batch.unwrap();
        let ships = ships(&batch);
        assert_eq!((batch.origins.len(), batch.versions.len()), (ships.len(), ships.len()));
        found.extend(batch.origins.iter().map(|origin| origin.position).zip(ships));
    }
    found.sort_unstable();
    found
}

#[rstest]
fn each_region_gives_the_rows_that_a_scan_finds(
    #[values(Memory, RocksDb)] on: Backend,
    #[values("geo_cell(lon, lat)", "geo_cell(lon, lat, 9), ship")] index: &str,
) {
    let store = stocked(on, index);
    let all: Vec<(i64, Coordinates)> = (0..)
        .zip(places())
        .map(|(ship, (lon, lat))| {
            let number = |value| if let Value::Double(number) = value { number } else { f64::NAN };
            (ship, [number(lon), number(lat)])
        })
        .collect();
    let many = proptest::collection::vec(regions(), 0..150);
    let outcome = TestRunner::new(Config::with_cases(12)).run(&many, |regions| {
        let expected: Vec<(u64, i64)> = (0..)
            .zip(&regions)
            .flat_map(|(place, region)| {
                let inside = all.iter().filter(|(_, [lon, lat])| region.contains(*lon, *lat));
                inside.map(move |(ship, _)| (place, *ship))
            })
            .collect();
        let columns = Some(vec!["ship".to_owned()]);
        let options = IndexScanOptions { columns, ..Default::default() };
        let found = within(&store, regions.clone(), &options);
        let lacking = expected.iter().find(|pair| found.binary_search(pair).is_err());
        let strange = found.iter().find(|pair| expected.binary_search(pair).is_err());
        prop_assert_eq!((lacking, strange), (None, None));
        prop_assert_eq!(found.len(), expected.len());
        // A limit cuts the same rows.
        let options = IndexScanOptions { limit: Some(7), ..Default::default() };
        let first = within(&store, regions, &options);
        prop_assert_eq!(first.len(), expected.len().min(7));
        prop_assert!(first.iter().all(|found| expected.binary_search(found).is_ok()));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn what_finds_no_places_is_refused() {
    let store = Memory.with_tables(
        "CREATE TABLE ships (ship LONG, lon DOUBLE, lat DOUBLE, name STRING, PRIMARY KEY (ship))",
    );
    let table = store.table("ships").unwrap();
    let any = IndexScanOptions::default;
    let without = table.nearest([4.0, 52.0], 1, &any()).unwrap_err();
    assert_eq!(without.kind(), ErrorKind::NotFound);
    assert!(
        without.to_string().contains("CREATE INDEX ON ships (geo_cell(lon, lat))"),
        "{without}"
    );
    store.execute("CREATE INDEX by_name ON ships (name)").unwrap();
    let named = table.index("by_name").unwrap().bulk_get_within([], &any()).err().unwrap();
    assert!(named.to_string().contains("by_name of table ships does not begin"), "{named}");
    store.execute("CREATE INDEX by_place ON ships (geo_cell(lon, lat))").unwrap();
    let refused = |options: IndexScanOptions, count, place| {
        table.nearest(place, count, &options).unwrap_err().to_string()
    };
    assert!(refused(any(), 0, [4.0, 52.0]).contains("1 or more"));
    assert!(refused(any(), 1, [4.0, 91.0]).contains("not on the globe"));
    let limited = IndexScanOptions { limit: Some(1), ..any() };
    assert!(refused(limited, 1, [4.0, 52.0]).contains("leave limit out"));
    let ordered = IndexScanOptions { direction: Direction::Forward, ..any() };
    assert!(refused(ordered, 1, [4.0, 52.0]).contains("leave direction"));
}

#[test]
fn a_read_by_places_keeps_to_its_time() {
    let store = stocked(Memory, "geo_cell(lon, lat)");
    let options = IndexScanOptions { timeout: Some(Duration::from_nanos(1)), ..Default::default() };
    let table = store.table("ships").unwrap();
    let late = table.nearest([4.0, 52.0], 5, &options).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::TimedOut);
    let regions = [Region::circle([4.0, 52.0], 1_000.0).unwrap()];
    let late = table.bulk_get_within(regions, &options).unwrap().next().unwrap().unwrap_err();
    assert_eq!(late.kind(), ErrorKind::TimedOut);
}
