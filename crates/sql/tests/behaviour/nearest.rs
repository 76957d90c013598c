//! The nearest rows: an index gives those that a scan gives.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tonnage_sql::Sql;

use super::geo::sessions;
use super::{rows, texts};

/// A place to ask from: in the port, anywhere, on the date line, at a pole.
fn centers() -> impl Strategy<Value = (f64, f64)> {
    prop_oneof![
        3 => (4.0..4.5_f64, 51.8..52.1_f64),
        3 => (-180.0..=180.0_f64, -90.0..=90.0_f64),
        1 => (prop_oneof![Just(180.0), Just(-180.0), 179.5..180.0_f64], -80.0..80.0_f64),
        1 => (-180.0..=180.0_f64, prop_oneof![Just(90.0), Just(-90.0)]),
    ]
}

/// How the distance is written, where `{}` is the place.
fn distances() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("ST_Distance(ST_Point(lon, lat)::GEOGRAPHY, {}::GEOGRAPHY)"),
        Just("ST_Distance({}::GEOGRAPHY, ST_Point(lon, lat)::GEOGRAPHY)"),
        Just("ST_DistanceSphere(ST_Point(lon, lat), {})"),
    ]
}

fn conditions() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        3 => Just(""),
        1 => Just("WHERE at BETWEEN 3 AND 9"),
        1 => Just("WHERE id % 7 = 2 AND lat > 10"),
        1 => Just("WHERE id > 1500"),
        1 => Just("WHERE at = 3 AND id % 90 = 3"),
        1 => Just("WHERE lon BETWEEN 4.1 AND 4.4 AND lat BETWEEN 51.85 AND 52"),
        1 => Just("WHERE id = 12 OR id = 1612"),
        1 => Just("WHERE ST_DWithin(ST_Point(lon, lat)::GEOGRAPHY, ST_Point(4.2, 51.9)::GEOGRAPHY, 9000)"),
    ]
}

#[test]
fn the_nearest_rows_are_those_of_a_sorted_scan() {
    let [by_index, by_scan] = sessions();
    let limits = prop_oneof![Just(1), Just(10), 2..400_usize, Just(4_000)];
    let outcome = TestRunner::new(Config::with_cases(250)).run(
        &(centers(), distances(), conditions(), limits, 0..3_usize),
        |((lon, lat), distance, condition, limit, form)| {
            let distance = distance.replace("{}", &format!("ST_Point({lon}, {lat})"));
            let query = match form {
                0 => format!(
                    "SELECT id, {distance} AS d FROM positions {condition} ORDER BY d, id LIMIT {limit}"
                ),
                1 => format!(
                    "SELECT at, id FROM positions AS p {condition} ORDER BY {distance}, id LIMIT {limit} OFFSET 2"
                ),
                _ => format!(
                    "SELECT d, id FROM (SELECT id, at AS lat, {distance} AS d FROM positions {condition}) AS t WHERE lat < 20 ORDER BY d, id LIMIT {limit}"
                ),
            };
            let own = texts(by_index.execute(query.as_str()).unwrap());
            prop_assert_eq!(own, texts(by_scan.execute(query.as_str()).unwrap()), "{}", query);
            Ok(())
        },
    );
    outcome.unwrap();
}

fn plan(sql: &Sql, query: &str) -> String {
    rows(sql, format!("EXPLAIN {query}").as_str()).concat().concat()
}

const DISTANCE: &str = "ST_Distance(ST_Point(lon, lat)::GEOGRAPHY, ST_Point(4.2, 51.9)::GEOGRAPHY)";

#[test]
fn the_plan_names_the_index_and_where_it_is_of_no_use() {
    let [sql, _] = sessions();
    let is_nearest = |query: &str| {
        plan(&sql, &query.replace("{d}", DISTANCE)).contains("nearest to 4.2 51.9 by index fine")
    };
    for query in [
        "SELECT * FROM positions ORDER BY {d} LIMIT 10",
        "SELECT id, {d} AS far FROM positions WHERE at > 3 ORDER BY far LIMIT 10",
        "SELECT id FROM positions ORDER BY ST_DistanceSphere(ST_Point(4.2, 51.9), ST_Point(lon, lat)), id LIMIT 1 OFFSET 4",
        "SELECT count(*) FROM (SELECT * FROM positions ORDER BY {d} LIMIT 10) AS near",
    ] {
        assert!(is_nearest(query), "{query}: {}", plan(&sql, &query.replace("{d}", DISTANCE)));
    }
    for query in [
        "SELECT * FROM positions ORDER BY {d}",
        "SELECT * FROM positions ORDER BY {d} DESC LIMIT 10",
        "SELECT * FROM positions ORDER BY {d} NULLS FIRST LIMIT 10",
        "SELECT * FROM positions ORDER BY id, {d} LIMIT 10",
        "SELECT * FROM positions ORDER BY -{d} LIMIT 10",
        "SELECT * FROM positions WHERE id = 5 ORDER BY {d} LIMIT 10",
        "SELECT * FROM positions WHERE random() < 0.5 ORDER BY {d} LIMIT 10",
        "SELECT DISTINCT at FROM positions ORDER BY at LIMIT 10",
        "SELECT * FROM positions ORDER BY ST_DistanceSphere(ST_Point(lat, lon), ST_Point(4.2, 51.9)) LIMIT 10",
        "SELECT at, min({d}) AS far FROM positions GROUP BY at ORDER BY far LIMIT 10",
    ] {
        assert!(!is_nearest(query), "{query}: {}", plan(&sql, &query.replace("{d}", DISTANCE)));
    }
}

#[test]
fn an_index_that_went_after_the_plan_was_made_is_not_missed() {
    let [sql, _] = sessions();
    let query = format!("SELECT id FROM positions ORDER BY {DISTANCE}, id LIMIT 20");
    let first = rows(&sql, query.as_str());
    for index in ["fine", "coarse"] {
        sql.execute(format!("DROP INDEX {index} ON positions").as_str()).unwrap();
        assert_eq!(rows(&sql, query.as_str()), first);
    }
}

#[test]
fn a_condition_that_fails_says_so() {
    let [sql, _] = sessions();
    let query =
        format!("SELECT id FROM positions WHERE 10 / (at - at) > 1 ORDER BY {DISTANCE} LIMIT 5");
    let failed = sql.execute(query.as_str()).and_then(|rows| rows.into_rows()?.into_batch());
    assert!(failed.unwrap_err().to_string().contains("zero"));
}

/// While ships move, each answer is one that was right at some time: no ship comes twice, and one
/// that rests beside the place is never missed.
#[test]
fn ships_that_move_meanwhile_neither_come_twice_nor_hide_others() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let [sql, _] = sessions();
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut step = 0_i64;
            while !ends.load(Ordering::Relaxed) {
                step += 1;
                let lon = 4.2 + (step % 7) as f64 / 1_000.0;
                let rows = (2_000..2_030).map(|id| {
                    tonnage::Row::new().with("id", id).with("lon", lon).with("lat", 51.9)
                });
                let options = tonnage::BulkPutOptions {
                    on_existing: tonnage::OnExisting::Replace,
                    ..Default::default()
                };
                sql.store().multi_put([("positions", rows.collect::<Vec<_>>())], &options).unwrap();
            }
        });
        let query = format!("SELECT id FROM positions ORDER BY {DISTANCE}, id LIMIT 60");
        for _ in 0..40 {
            let found = rows(&sql, query.as_str()).concat();
            let mut once = found.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), 60, "{found:?}");
            for id in 2_000..2_030 {
                assert!(found.contains(&id.to_string()), "{id} is missing in {found:?}");
            }
        }
        ends.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
}
