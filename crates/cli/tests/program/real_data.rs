//! A day of ship positions, against an independent computation over the file.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};

use tonnage_testkit::test_data;

use crate::common::Place;

const KEY: &str = "SHARD(MMSI), BaseDateTime";

/// The fields of each line of the file as they stand, first lines first, keys that come again left
/// out.
struct Day {
    rows: HashMap<(String, String), Vec<String>>,
}

impl Day {
    fn read(path: &std::path::Path) -> Self {
        let lines =
            BufReader::new(flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()))
                .lines();
        let mut rows = HashMap::new();
        for line in lines.skip(1) {
            let fields = fields(&line.unwrap());
            rows.entry((fields[0].clone(), fields[1].clone())).or_insert(fields);
        }
        Self { rows }
    }

    /// The last time of each ship.
    fn latest(&self) -> HashMap<String, String> {
        let mut latest: HashMap<String, String> = HashMap::new();
        for (ship, time) in self.rows.keys() {
            let last = latest.entry(ship.clone()).or_default();
            if time > last {
                *last = time.clone();
            }
        }
        latest
    }
}

/// Fields of a line of CSV; the file has no quotes within quotes.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut in_quotes) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => fields.push(String::new()),
            other => fields.last_mut().unwrap().push(other),
        }
    }
    fields
}

/// The same number may be written in two ways.
fn same(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

fn loaded(file: &str) -> Option<(Place, Day)> {
    let (csv, file) = (test_data("ais_us_20220103.csv.gz")?, test_data(file)?);
    let place = Place::new();
    let file = file.to_str().unwrap();
    let run = place.run(&[
        "load",
        "--create",
        "--primary-key",
        KEY,
        "--summary",
        "s.json",
        "positions",
        file,
    ]);
    run.ends(0).says(&["99,999 read, 99,924 inserted, 75 existed, 0 failed"]);
    Some((place, Day::read(&csv)))
}

#[test]
fn a_day_of_positions_from_csv_and_back() {
    let Some((place, day)) = loaded("ais_us_20220103.csv.gz") else { return };
    let summary = place.json("s.json");
    assert_eq!(
        ["read", "inserted", "existed", "failed"].map(|name| summary[name].as_u64().unwrap()),
        [99_999, 99_924, 75, 0]
    );
    let again = test_data("ais_us_20220103.csv.gz").unwrap();
    place
        .run(&["load", "positions", again.to_str().unwrap()])
        .ends(0)
        .says(&["0 inserted, 99,999 existed"]);
    assert_eq!(place.run(&["count", "positions"]).out, "99924\n");

    // What is unloaded equals the file, every field of every row.
    let unloaded = place.run(&["unload", "positions", "--format", "csv"]).ends(0).out;
    let mut seen = HashSet::new();
    for line in unloaded.lines().skip(1) {
        let row = fields(line);
        let key = (row[0].clone(), row[1].clone());
        let original = &day.rows[&key];
        assert!(
            row.len() == original.len() && row.iter().zip(original).all(|(a, b)| same(a, b)),
            "{row:?}\n{original:?}"
        );
        assert!(seen.insert(key));
    }
    assert_eq!(seen.len(), day.rows.len());
}

#[test]
fn a_day_of_positions_from_parquet() {
    let Some((place, day)) = loaded("ais_us_20220103.parquet") else { return };
    let times = place.run(&["scan", "positions", "--keys-only"]).ends(0).out;
    assert_eq!(times.lines().count() - 1, day.rows.len());
    for line in times.lines().skip(1) {
        let (ship, time) = line.split_once(',').unwrap();
        assert!(day.rows.contains_key(&(ship.to_owned(), time.to_owned())), "{line}");
    }
    let again = test_data("ais_us_20220103.parquet").unwrap();
    place.run(&["load", "positions", again.to_str().unwrap()]).ends(0).says(&["0 inserted"]);
}

#[test]
fn the_latest_position_of_every_ship() {
    let Some((place, day)) = loaded("ais_us_20220103.csv.gz") else { return };
    let latest = day.latest();
    assert_eq!(latest.len(), 10_631);
    let keys: String = latest.keys().map(|ship| format!("{ship}\n")).collect();
    place.write("keys.csv", format!("MMSI\n{keys}"));
    let one_each =
        ["--direction", "reverse", "--columns", "MMSI,BaseDateTime,LAT,LON", "--format", "csv"];
    let by_keys = place
        .run(
            &[&["get", "positions", "--keys", "keys.csv", "--limit-per-key", "1"], &one_each[..]]
                .concat(),
        )
        .ends(0);
    let by_scan = place
        .run(&[&["scan", "positions", "--limit-per-shard-key", "1"], &one_each[..]].concat())
        .ends(0);
    for run in [by_keys, by_scan] {
        let rows: Vec<_> = run.lines().into_iter().skip(1).map(fields).collect();
        assert_eq!(rows.len(), latest.len());
        for row in rows {
            assert_eq!(&latest[&row[0]], &row[1]);
            let original = &day.rows[&(row[0].clone(), row[1].clone())];
            assert!(
                same(&row[2], &original[2]) && same(&row[3], &original[3]),
                "{row:?} {original:?}"
            );
        }
    }
}

#[test]
fn the_track_of_one_ship_over_a_period() {
    let Some((place, day)) = loaded("ais_us_20220103.csv.gz") else { return };
    // The ship with most positions, over the middle half of its day.
    let mut counts: HashMap<&str, Vec<&str>> = HashMap::new();
    day.rows.keys().for_each(|(ship, time)| counts.entry(ship).or_default().push(time));
    let (ship, times) =
        counts.iter_mut().max_by_key(|(ship, times)| (times.len(), ship.to_owned())).unwrap();
    times.sort_unstable();
    let (from, to) = (times[times.len() / 4], times[times.len() * 3 / 4]);
    let expected: Vec<_> = times
        .iter()
        .filter(|time| (from..=to).contains(*time))
        .map(|time| time.to_string())
        .collect();
    assert!(expected.len() > 10);
    let run = place
        .run(&[
            "get",
            "positions",
            ship,
            "--from",
            from,
            "--to",
            to,
            "--direction",
            "forward",
            "--format",
            "jsonl",
        ])
        .ends(0);
    let track: Vec<serde_json::Value> =
        run.lines().into_iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        track
            .iter()
            .map(|row| row["BaseDateTime"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>(),
        expected
    );
    for row in track {
        let original =
            &day.rows[&(ship.to_string(), row["BaseDateTime"].as_str().unwrap().to_owned())];
        assert!(
            same(&row["LAT"].to_string(), &original[2])
                && same(&row["SOG"].to_string(), &original[4]),
            "{row} {original:?}"
        );
    }
}
