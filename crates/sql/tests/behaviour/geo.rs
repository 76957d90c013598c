//! Rows by place: an index gives those that a scan gives.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use tonnage::{Row, Store};
use tonnage_sql::{Answer, Sql, SqlOptions};

use super::{rows, session, texts};

/// Places around the globe and around a port, some where something ends, some unknown.
fn places() -> Vec<(f64, f64)> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut share = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let globe: Vec<_> =
        (0..1_500).map(|_| (share() * 360.0 - 180.0, share() * 180.0 - 90.0)).collect();
    let port: Vec<_> = (0..1_500).map(|_| (4.0 + share() * 0.5, 51.8 + share() * 0.3)).collect();
    let ends = [-180.0, 180.0, 0.0, -0.0, 4.25]
        .into_iter()
        .flat_map(|lon| [-90.0, 90.0, 0.0, 51.9].map(|lat| (lon, lat)));
    let unknown = [(181.0, 91.0), (f64::NAN, 51.9), (4.2, f64::INFINITY), (200.0, 10.0)];
    globe.into_iter().chain(port).chain(ends).chain(unknown).collect()
}

/// The same rows for two sessions, one of which reads by no index.
pub(super) fn sessions() -> [Sql; 2] {
    let store = Store::open("memory:").unwrap();
    let definition =
        "CREATE TABLE positions (id LONG, lon DOUBLE, lat DOUBLE, at LONG, PRIMARY KEY (id))";
    store.execute(definition).unwrap();
    store.execute("CREATE INDEX fine ON positions (geo_cell(lon, lat))").unwrap();
    store.execute("CREATE INDEX coarse ON positions (geo_cell(lon, lat, 9), at)").unwrap();
    let row = |(id, (lon, lat)): (i64, (f64, f64))| {
        Row::new().with("id", id).with("lon", lon).with("lat", lat).with("at", id % 24)
    };
    let all: Vec<Row> = (0..).zip(places()).map(row).chain([Row::new().with("id", -1)]).collect();
    store.multi_put([("positions", all)], &Default::default()).unwrap();
    let session = |push_down| {
        let options =
            SqlOptions { push_down, column_cache_bytes_max: Some(0), ..SqlOptions::default() };
        Sql::new(store.clone(), options).unwrap()
    };
    [session(true), session(false)]
}

/// A condition on the place, in the ways that an index answers.
fn conditions() -> impl Strategy<Value = String> {
    let near_port = (4.0..4.5_f64, 51.8..52.1_f64);
    let anywhere = (-180.0..180.0_f64, -90.0..90.0_f64);
    let edge = prop_oneof![Just(180.0), Just(-180.0), Just(0.0)];
    let center = prop_oneof![
        3 => near_port,
        2 => anywhere,
        1 => (edge, prop_oneof![Just(90.0), Just(-90.0), Just(0.0), -60.0..60.0_f64]),
    ];
    let size = prop_oneof![0.001..0.2_f64, 0.2..20.0_f64];
    (center, size.clone(), size, 0..8).prop_map(|((lon, lat), wide, high, form)| {
        let (west, east, south, north) = (lon - wide, lon + wide, lat - high, lat + high);
        let metres = wide * 111_000.0;
        let point = "ST_Point(lon, lat)";
        let place = format!("ST_Point({lon}, {lat})");
        let area = format!(
            "ST_GeomFromText('POLYGON (({west} {south}, {east} {lat}, {lon} {north}, {west} {south}), ({lon} {lat}, {lon} {south}, {west} {lat}, {lon} {lat}))')"
        );
        match form {
            0 => format!("lon BETWEEN {west} AND {east} AND lat BETWEEN {south} AND {north}"),
            1 => format!("lon > {west} AND lat >= {south} AND lon <= {east} AND lat < {north}"),
            2 => format!("lat > {north} AND lon >= {east}"),
            3 => format!("ST_DWithin({point}::GEOGRAPHY, {place}::GEOGRAPHY, {metres})"),
            4 => format!("ST_DistanceSphere({point}, {place}) < {metres}"),
            5 => format!("ST_Within({point}, {area})"),
            6 => format!("ST_Covers({area}, {point})"),
            _ => format!("ST_Intersects({point}, ST_MakeEnvelope({west}, {south}, {east}, {north}))"),
        }
    })
}

#[test]
fn an_index_gives_the_rows_that_a_scan_gives() {
    let [by_index, by_scan] = sessions();
    let hours =
        prop_oneof![Just(String::new()), (0..24).prop_map(|hour| format!(" AND at >= {hour}"))];
    let (mut asked, mut through_index, mut found) = (0, 0, 0);
    let outcome =
        TestRunner::new(Config::with_cases(600)).run(&(conditions(), hours), |(place, hour)| {
            let query =
                format!("SELECT id + 0 AS id FROM positions WHERE {place}{hour} ORDER BY id");
            let own = texts(by_index.execute(query.as_str()).unwrap());
            prop_assert_eq!(&own, &texts(by_scan.execute(query.as_str()).unwrap()), "{}", query);
            Ok(())
        });
    outcome.unwrap();
    // What was compared must have gone through the index, and found something.
    let mut runner = TestRunner::deterministic();
    for _ in 0..60 {
        let place = conditions().new_tree(&mut runner).unwrap().current();
        let query = format!("SELECT id + 0 AS id FROM positions WHERE {place}");
        asked += 1;
        let plan = rows(&by_index, format!("EXPLAIN {query}").as_str()).concat().concat();
        through_index += u32::from(plan.contains("path=index"));
        found += u32::from(!texts(by_index.execute(query.as_str()).unwrap()).is_empty());
    }
    assert!(through_index * 2 > asked && found * 4 > asked, "{through_index}, {found} of {asked}");
}

/// What EXPLAIN says of the path.
fn path(sql: &Sql, query: &str) -> String {
    let plan = rows(sql, format!("EXPLAIN {query}").as_str()).concat().concat();
    let path = plan.split_once("path=").map_or(plan.as_str(), |(_, path)| path);
    path.split(", columns").next().unwrap_or_default().to_owned()
}

#[test]
fn a_coarse_cell_goes_on_with_the_next_column() {
    let [sql, _] = sessions();
    sql.execute("DROP INDEX fine ON positions").unwrap();
    let near = "ST_DWithin(ST_Point(lon, lat)::GEOGRAPHY, ST_Point(4.25, 51.9)::GEOGRAPHY, 20000)";
    let path = path(&sql, &format!("SELECT id + 0 FROM positions WHERE {near} AND at = 3"));
    assert!(
        path.contains("index coarse") && path.contains("(geo_cell(lon, lat, 9), at)"),
        "{path}"
    );
}

#[test]
fn a_changed_row_is_met_once_by_a_statement_that_moves_it() {
    let [sql, _] = sessions();
    let moved = sql
        .execute("UPDATE positions SET lon = lon + 0.1 WHERE lon BETWEEN 4.2 AND 4.3 AND lat BETWEEN 51.8 AND 52.1")
        .unwrap();
    let before = places()
        .into_iter()
        .filter(|(lon, lat)| (4.2..=4.3).contains(lon) && (51.8..=52.1).contains(lat));
    assert!(matches!(moved, Answer::Changed(changes) if changes.updated == before.count() as u64));
}

#[test]
fn what_would_count_degrees_is_refused() {
    let sql = session();
    for (query, told) in [
        (
            "SELECT ST_Distance(ST_Point(4, 52), ST_Point(5, 52))",
            "would count degrees: cast to GEOGRAPHY",
        ),
        ("SELECT ST_DWithin(ST_Point(4, 52), ST_Point(5, 52), 1)", "would count degrees"),
        ("SELECT ST_Within(ST_Point(4, 52)::GEOGRAPHY, ST_Point(4, 52))", "cast both to GEOMETRY"),
        ("SELECT ST_GeomFromText('POINT 4 52')", "longitude first"),
        ("SELECT ST_GeomFromText('SRID=28992;POINT (4 52)')", "SRID=4326"),
        ("SELECT ST_X(4)", "ST_Point(lon, lat)"),
        ("SELECT ST_X(ST_GeomFromText('LINESTRING (0 0, 1 1)'))", "takes points, not a LINESTRING"),
        ("SELECT ST_AsText(X'0102')", "not WKB"),
        ("SELECT geo_cell(4, 52, 40)", "a level of 1"),
        ("SELECT geo_cell_bounds(-1, 5)", "not a cell of level 5"),
        ("SELECT ST_Point(4)", "write ST_Point(lon, lat)"),
    ] {
        let answer = sql.execute(query).and_then(|answer| answer.into_rows()?.into_batch());
        let error = answer.unwrap_err().to_string();
        assert!(error.contains(told), "{query}: {error}");
    }
}
