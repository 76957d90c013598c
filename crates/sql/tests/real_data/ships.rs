//! A day of ship positions.

use std::collections::{BTreeMap, BTreeSet};

use tonnage_files::ReadOptions;
use tonnage_testkit::test_data;

use crate::common::{Place, assert_near, records};

/// What is asked of a position.
#[derive(Clone, Debug)]
struct Position {
    lat: f64,
    lon: f64,
    speed: f64,
    name: String,
    kind: Option<i64>,
}

/// The positions of each ship by their times, the first where a time comes again.
type Fleet = BTreeMap<i64, BTreeMap<String, Position>>;

fn loaded() -> Option<(Place, Fleet)> {
    let path = test_data("ais_us_20220103.csv.gz")?;
    let mut fleet = Fleet::new();
    for record in records(&path) {
        let number = |field: usize| record[field].parse::<f64>().unwrap();
        let position = Position {
            lat: number(2),
            lon: number(3),
            speed: number(4),
            name: record[7].clone(),
            kind: record[10].parse().ok(),
        };
        fleet
            .entry(record[0].parse().unwrap())
            .or_default()
            .entry(record[1].clone())
            .or_insert(position);
    }
    let place = Place::new();
    place
        .sql
        .execute(
            "CREATE TABLE positions (MMSI LONG, BaseDateTime TIMESTAMP(0), LAT DOUBLE, LON DOUBLE, SOG DOUBLE, COG DOUBLE, Heading DOUBLE,
             VesselName STRING, IMO STRING, CallSign STRING, VesselType INTEGER, Status INTEGER, Length DOUBLE, Width DOUBLE,
             Draft DOUBLE, Cargo INTEGER, TransceiverClass STRING, PRIMARY KEY (SHARD(MMSI), BaseDateTime))",
        )
        .unwrap();
    let rows: usize = fleet.values().map(BTreeMap::len).sum();
    assert_eq!(
        (fleet.len(), place.load("positions", &path, ReadOptions::default()), rows),
        (10_631, 99_924, 99_924)
    );
    Some((place, fleet))
}

/// The kilometres between two positions on the great circle, and the same in SQL.
fn kilometres((lat, lon): (f64, f64), (other_lat, other_lon): (f64, f64)) -> f64 {
    let (north, east) = ((other_lat - lat).to_radians(), (other_lon - lon).to_radians());
    let half = (north / 2.0).sin().powi(2)
        + lat.to_radians().cos() * other_lat.to_radians().cos() * (east / 2.0).sin().powi(2);
    2.0 * 6_371.0 * half.sqrt().asin()
}

fn kilometres_in_sql(lat: &str, lon: &str, other_lat: &str, other_lon: &str) -> String {
    format!(
        "2 * 6371.0 * asin(sqrt(power(sin(radians({other_lat} - {lat}) / 2), 2)
             + cos(radians({lat})) * cos(radians({other_lat})) * power(sin(radians({other_lon} - {lon}) / 2), 2)))"
    )
}

#[test]
fn ships_inside_a_box_at_a_time() {
    let Some((place, fleet)) = loaded() else { return };
    // The coast of Louisiana and Texas; where each ship was seen last by ten past midnight.
    let rows = place.rows(
        "SELECT mmsi, basedatetime, lat, lon FROM (
             SELECT DISTINCT ON (mmsi) mmsi, basedatetime, lat, lon FROM positions
             WHERE basedatetime <= '2022-01-03T00:10:00' ORDER BY mmsi, basedatetime DESC
         ) WHERE lat BETWEEN 27 AND 30.5 AND lon BETWEEN -98 AND -88.5 ORDER BY mmsi",
    );
    let mut expected = Vec::new();
    for (ship, positions) in &fleet {
        let Some((time, last)) = positions.range(..="2022-01-03T00:10:00".to_owned()).next_back()
        else {
            continue;
        };
        if (27.0..=30.5).contains(&last.lat) && (-98.0..=-88.5).contains(&last.lon) {
            expected.push(vec![
                ship.to_string(),
                time.clone(),
                last.lat.to_string(),
                last.lon.to_string(),
            ]);
        }
    }
    assert!(expected.len() > 1_000, "{}", expected.len());
    assert_eq!(rows, expected);
}

#[test]
fn the_distance_of_each_ship_from_a_harbour() {
    let Some((place, fleet)) = loaded() else { return };
    let (lat, lon) = (37.8067, -122.4659);
    let distance = kilometres_in_sql("lat", "lon", &lat.to_string(), &lon.to_string());
    let rows = place.rows(format!(
        "WITH latest AS (SELECT DISTINCT ON (mmsi) mmsi, lat, lon FROM positions ORDER BY mmsi, basedatetime DESC)
         SELECT mmsi, {distance} AS kilometres FROM latest ORDER BY mmsi"
    ));
    assert_eq!(rows.len(), fleet.len());
    for (row, (ship, positions)) in rows.iter().zip(&fleet) {
        let last = positions.values().next_back().unwrap();
        assert_eq!(row[0], ship.to_string());
        assert_near(&row[1], kilometres((last.lat, last.lon), (lat, lon)), &row[0]);
    }
}

#[test]
fn how_far_each_ship_travelled() {
    let Some((place, fleet)) = loaded() else { return };
    let leg = kilometres_in_sql("before_lat", "before_lon", "lat", "lon");
    let rows = place.rows(format!(
        "SELECT mmsi, count(*), coalesce(sum({leg}), 0.0) FROM (
             SELECT mmsi, lat, lon,
                    lag(lat) OVER (PARTITION BY mmsi ORDER BY basedatetime) AS before_lat,
                    lag(lon) OVER (PARTITION BY mmsi ORDER BY basedatetime) AS before_lon
             FROM positions
         ) GROUP BY mmsi ORDER BY mmsi"
    ));
    assert_eq!(rows.len(), fleet.len());
    for (row, (ship, positions)) in rows.iter().zip(&fleet) {
        let places: Vec<_> =
            positions.values().map(|position| (position.lat, position.lon)).collect();
        assert_eq!(row[..2], [ship.to_string(), places.len().to_string()]);
        assert_near(
            &row[2],
            places.windows(2).map(|leg| kilometres(leg[0], leg[1])).sum(),
            &row[0],
        );
    }
}

#[test]
fn the_ten_fastest_ships() {
    let Some((place, fleet)) = loaded() else { return };
    let rows = place.rows("SELECT mmsi, max(sog) AS speed FROM positions GROUP BY mmsi ORDER BY speed DESC, mmsi LIMIT 10");
    let fastest = |positions: &BTreeMap<String, Position>| {
        positions.values().map(|position| position.speed).fold(f64::MIN, f64::max)
    };
    let mut ships: Vec<_> =
        fleet.iter().map(|(ship, positions)| (*ship, fastest(positions))).collect();
    ships.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let expected: Vec<_> =
        ships[..10].iter().map(|(ship, speed)| vec![ship.to_string(), speed.to_string()]).collect();
    assert_eq!(rows, expected);
}

/// A table of ships, each as its first position reports it.
fn with_ships(place: &Place) {
    place
        .sql
        .execute("CREATE TABLE ships (MMSI LONG PRIMARY KEY, name STRING, kind INTEGER)")
        .unwrap();
    let made = "INSERT INTO ships SELECT DISTINCT ON (mmsi) mmsi, vesselname, vesseltype FROM positions ORDER BY mmsi, basedatetime";
    place.sql.execute(made).unwrap();
    assert_eq!(place.rows("SELECT count(*) FROM ships"), [["10631"]]);
}

#[test]
fn positions_joined_with_their_ships_by_kind() {
    let Some((place, fleet)) = loaded() else { return };
    with_ships(&place);
    let rows = place.rows(
        "SELECT s.kind, count(*), count(DISTINCT s.mmsi), avg(p.sog) FROM positions p JOIN ships s ON s.mmsi = p.mmsi
         WHERE p.sog > 0.5 GROUP BY s.kind ORDER BY s.kind NULLS FIRST",
    );
    let mut kinds = BTreeMap::<Option<i64>, (BTreeSet<i64>, Vec<f64>)>::new();
    for (ship, positions) in &fleet {
        let kind = positions.values().next().unwrap().kind;
        for position in positions.values().filter(|position| position.speed > 0.5) {
            let (ships, speeds) = kinds.entry(kind).or_default();
            ships.insert(*ship);
            speeds.push(position.speed);
        }
    }
    assert!(kinds.len() > 20, "{}", kinds.len());
    assert_eq!(rows.len(), kinds.len());
    for (row, (kind, (ships, speeds))) in rows.iter().zip(kinds) {
        let kind = kind.map_or("NULL".to_owned(), |kind| kind.to_string());
        assert_eq!(row[..3], [kind.clone(), speeds.len().to_string(), ships.len().to_string()]);
        assert_near(&row[3], speeds.iter().sum::<f64>() / speeds.len() as f64, &kind);
    }
}

#[test]
fn a_join_from_few_ships_reads_only_their_positions() {
    let Some((place, fleet)) = loaded() else { return };
    with_ships(&place);
    let query = "SELECT s.name, count(*), max(p.basedatetime) FROM ships s JOIN positions p ON p.mmsi = s.mmsi
                 WHERE s.name LIKE 'PILOT%' GROUP BY s.mmsi, s.name ORDER BY s.mmsi";
    let mut expected = Vec::new();
    for positions in fleet.values() {
        let name = &positions.values().next().unwrap().name;
        if name.starts_with("PILOT") {
            let last = positions.keys().next_back().unwrap().clone();
            expected.push(vec![name.clone(), positions.len().to_string(), last]);
        }
    }
    assert!(!expected.is_empty());
    assert_eq!(place.rows(query), expected);
    let read: usize = expected.iter().map(|row| row[1].parse::<usize>().unwrap()).sum();
    let ran = place.rows(format!("EXPLAIN ANALYZE {query}"));
    let scan = ran[0][1].lines().find(|line| line.contains("table=positions")).unwrap().to_owned();
    assert!(
        scan.contains(&format!("output_rows={read},"))
            || scan.contains(&format!("output_rows={read}]")),
        "{scan}"
    );
}

#[test]
fn ships_without_a_position_in_a_box_and_those_with() {
    let Some((place, fleet)) = loaded() else { return };
    with_ships(&place);
    let inside = "SELECT 1 FROM positions p WHERE p.mmsi = s.mmsi AND p.lat BETWEEN 47 AND 49 AND p.lon BETWEEN -125 AND -122";
    let with =
        place.rows(format!("SELECT s.mmsi FROM ships s WHERE EXISTS ({inside}) ORDER BY s.mmsi"));
    let without = place.rows(format!("SELECT count(*) FROM ships s WHERE NOT EXISTS ({inside})"));
    let is_inside = |position: &Position| {
        (47.0..=49.0).contains(&position.lat) && (-125.0..=-122.0).contains(&position.lon)
    };
    let expected: Vec<_> = fleet
        .iter()
        .filter(|(_, positions)| positions.values().any(is_inside))
        .map(|(ship, _)| vec![ship.to_string()])
        .collect();
    assert!(expected.len() > 100, "{}", expected.len());
    assert_eq!(without, [[(fleet.len() - expected.len()).to_string()]]);
    assert_eq!(with, expected);
}
