//! Indexes on cells of the globe.

use rstest::rstest;
use tonnage::geo::{LEVEL_MAX, Region};
use tonnage::{ErrorKind, FieldRange, IndexColumn, IndexRange, Row, Store, Value, WriteOptions};

use super::{plates, stale_after_writes, stale_entries};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, row};

const TABLE: &str =
    "CREATE TABLE cars (plate LONG, lon DOUBLE, lat DOUBLE, speed FLOAT, PRIMARY KEY (plate))";

fn car(plate: i64, lon: impl Into<Value>, lat: impl Into<Value>) -> Row {
    row! { "plate" => plate, "lon" => lon, "lat" => lat }
}

fn put(store: &Store, row: &Row) {
    store.table("cars").unwrap().put(row, &WriteOptions::default()).unwrap();
}

/// Rotterdam, Hamburg, unknown, NULL, no number, and both sides of the date line.
fn stocked(on: Backend) -> TestStore {
    let store = on.with_tables(TABLE);
    let cars = [
        car(0, 4.05, 51.95),
        car(1, 9.93, 53.54),
        car(2, 181.0, 91.0),
        car(3, Value::Null, 51.0),
        car(4, f64::NAN, 51.0),
        car(5, 180.0, -17.0),
        car(6, -180.0, -17.0),
    ];
    let (single, loaded) = cars.split_at(3);
    single.iter().for_each(|car| put(&store, car));
    store.execute("CREATE INDEX by_place ON cars (geo_cell(lon, lat))").unwrap();
    store.multi_put([("cars", loaded.to_vec())], &Default::default()).unwrap();
    store
}

/// The plates of a region by its cover, which may hold others.
fn covered(store: &Store, region: &Region) -> Vec<i64> {
    let cover = region.cover(LEVEL_MAX, Region::PIECES).into_iter();
    let mut found: Vec<i64> = cover
        .flat_map(|(first, last)| {
            let range = FieldRange::of("geo_cell(lon, lat)").from(first).to(last);
            plates(store, "by_place", IndexRange::default().within(range))
        })
        .collect();
    found.sort_unstable();
    found
}

#[rstest]
fn rows_are_found_by_the_cells_of_their_places(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    let harbour = Region::circle([4.1, 51.9], 20_000.0).unwrap();
    assert_eq!(covered(&store, &harbour), [0]);
    let north_sea = Region::rectangle(2.0, 50.0, 10.0, 58.0).unwrap();
    assert_eq!(covered(&store, &north_sea), [0, 1]);
    let fiji = Region::circle([179.9, -17.0], 20_000.0).unwrap();
    assert_eq!(covered(&store, &fiji), [5, 6]);
    assert_eq!(plates(&store, "by_place", IndexRange::prefix([Value::Null])), [2, 3, 4]);
    assert_eq!(stale_entries(&store), 0);
}

#[rstest]
fn a_row_that_moves_is_found_where_it_is(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    put(&store, &car(0, 9.9, 53.5));
    put(&store, &car(2, 9.9, 53.5));
    let hamburg = Region::circle([9.93, 53.54], 20_000.0).unwrap();
    assert_eq!(covered(&store, &hamburg), [0, 1, 2]);
    assert_eq!(stale_after_writes(&store), 0);
}

/// One row and a batch are encoded by two ways, to the same cells.
#[rstest]
fn rows_and_batches_get_the_same_entries(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(TABLE);
    let create = "CREATE INDEX by_place ON cars (geo_cell(speed, lat, 13), lat)";
    store.execute(create).unwrap();
    let places: Vec<(f32, f64)> =
        (0..500).map(|n| ((n as f32 * 0.77) % 190.0 - 5.0, f64::from(n) * 0.411 - 100.0)).collect();
    for (plate, (lon, lat)) in (0..).zip(&places[..250]) {
        put(&store, &row! { "plate" => plate, "speed" => *lon, "lat" => *lat });
    }
    let rows: Vec<Row> = (250..)
        .zip(&places[250..])
        .map(|(plate, (lon, lat))| row! { "plate" => plate, "speed" => *lon, "lat" => *lat })
        .collect();
    store.multi_put([("cars", rows)], &Default::default()).unwrap();
    assert_eq!(stale_entries(&store), 0);
    let (lon, lat) = places[100];
    let cell = tonnage::geo::geo_cell(f64::from(lon), lat, 13).unwrap();
    let here = IndexRange::prefix([Value::Long(cell), Value::Double(lat)]);
    assert_eq!(plates(&store, "by_place", here), [100]);
}

#[rstest]
fn rows_from_before_a_column_have_no_cell(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE cars (plate LONG, lat DOUBLE, PRIMARY KEY (plate))");
    put(&store, &row! { "plate" => 1, "lat" => 51.0 });
    store.execute("ALTER TABLE cars ADD lon DOUBLE").unwrap();
    store.execute("CREATE INDEX by_place ON cars (geo_cell(lon, lat))").unwrap();
    put(&store, &car(2, 4.0, 51.0));
    assert_eq!(plates(&store, "by_place", IndexRange::prefix([Value::Null])), [1]);
    assert_eq!(stale_entries(&store), 0);
}

#[rstest]
fn the_definition_comes_back(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on);
    store.execute("CREATE INDEX ON cars (ST_Point(lon, lat))").unwrap();
    store
        .execute("CREATE INDEX coarse ON cars (geo_cell(lon, lat, 13), speed) INCLUDE (lat)")
        .unwrap();
    let ddl = |name: &str| store.table("cars").unwrap().index(name).unwrap().to_ddl();
    assert_eq!(ddl("by_place"), "CREATE INDEX by_place ON cars (geo_cell(lon, lat))");
    assert_eq!(
        ddl("cars_lon_lat_idx"),
        "CREATE INDEX cars_lon_lat_idx ON cars (geo_cell(lon, lat))"
    );
    assert_eq!(ddl("coarse"), "CREATE INDEX coarse ON cars (geo_cell(lon, lat, 13), speed, lat)");
    let index = store.table("cars").unwrap().index("coarse").unwrap();
    assert_eq!(index.columns()[0], IndexColumn::geo_cell("lon", "lat", 13));
}

#[rstest]
#[case(
    "geo_cell(lon, plate)",
    "'plate' of geo_cell(lon, plate) is of type LONG: longitudes and latitudes are DOUBLE or FLOAT"
)]
#[case("geo_cell(lon, lat, 33)", "a level of 1 (half of the globe) to 32 (1 cm), not 33")]
#[case("geo_cell(lon, lat, 0)", "not 0")]
#[case("geo_cell(lon, depth)", "depth")]
#[case("geo_cell(lon, lat), geo_cell(lon, lat)", "occurs twice")]
#[case("half(lon)", "geo_cell(lon, lat), and of these functions: abs")]
fn what_makes_no_cells_is_refused(#[case] columns: &str, #[case] told: &str) {
    let store = Memory.with_tables(TABLE);
    let error = store.execute(&format!("CREATE INDEX i ON cars ({columns})")).unwrap_err();
    assert!(error.to_string().contains(told), "{error}");
}

#[rstest]
fn a_column_of_coordinates_cannot_be_dropped_from_under_its_index(
    #[values("lon", "lat")] column: &str,
) {
    let store = stocked(Memory);
    let error = store.execute(&format!("ALTER TABLE cars DROP {column}")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    store.execute(&format!("ALTER TABLE cars RENAME {column} TO other")).unwrap();
    let ddl = store.table("cars").unwrap().index("by_place").unwrap().to_ddl();
    assert!(ddl.contains("other"), "{ddl}");
}
