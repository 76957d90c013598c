//! One table for each sensor, and questions to all of them in one call.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tonnage::{BulkPutOptions, Row};
use tonnage_testkit::test_data;

use crate::common::{Place, assert_near, records, texts};

const AGGREGATES: [&str; 5] =
    ["min(value)", "max(value)", "avg(value)", "count(*)", "stddev(value)"];

/// The values of each series by their times, the first where a time comes again.
type Series = BTreeMap<String, BTreeMap<String, f64>>;

fn loaded() -> Option<(Place, Series)> {
    let path = test_data("iot_nab.csv.gz")?;
    let (mut series, mut again) = (Series::new(), 0);
    for record in records(&path) {
        let [name, time, value] = record.try_into().unwrap();
        match series.entry(name).or_default().entry(time) {
            Entry::Vacant(free) => _ = free.insert(value.parse().unwrap()),
            Entry::Occupied(_) => again += 1,
        }
    }
    assert_eq!((series.len(), again), (37, 49));
    let place = Place::new();
    for name in series.keys() {
        place
            .sql
            .execute(format!(
                "CREATE TABLE \"{name}\" (time TIMESTAMP(0) PRIMARY KEY, value DOUBLE)"
            ))
            .unwrap();
    }
    let rows = |values: &BTreeMap<String, f64>| {
        values
            .iter()
            .map(|(time, value)| Row::new().with("time", time.as_str()).with("value", *value))
            .collect::<Vec<_>>()
    };
    let put = place.sql.store().multi_put(
        series.iter().map(|(name, values)| (name.as_str(), rows(values))),
        &BulkPutOptions::default(),
    );
    assert_eq!(put.unwrap().report.total.inserted, 162_526);
    Some((place, series))
}

/// What each of the aggregates must give.
fn expected(values: &BTreeMap<String, f64>) -> [f64; 5] {
    let count = values.len() as f64;
    let mean = values.values().sum::<f64>() / count;
    let squares: f64 = values.values().map(|value| (value - mean).powi(2)).sum();
    let (least, most) = values
        .values()
        .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
    [least, most, mean, count, (squares / (count - 1.0)).sqrt()]
}

#[test]
fn five_aggregates_of_each_of_37_sensors_in_one_call() {
    let Some((place, series)) = loaded() else { return };
    let of_each = |prefix: &str| -> Vec<String> {
        let of_one = |name: &String| {
            AGGREGATES.map(|aggregate| format!("{prefix}SELECT {aggregate} FROM \"{name}\""))
        };
        series.keys().flat_map(of_one).collect()
    };
    let answers: Vec<_> =
        place.sql.fetch_all(of_each("")).into_iter().map(|answer| texts(answer.unwrap())).collect();
    assert_eq!(answers.len(), 37 * AGGREGATES.len());
    for ((name, values), answers) in series.iter().zip(answers.chunks(AGGREGATES.len())) {
        for ((aggregate, expected), answer) in AGGREGATES.iter().zip(expected(values)).zip(answers)
        {
            assert_eq!((answer.len(), answer[0].len()), (1, 1));
            assert_near(&answer[0][0], expected, &format!("{aggregate} of {name}"));
        }
    }
    // The five of one sensor read it once.
    for plan in place.sql.fetch_all(of_each("EXPLAIN ")) {
        let plan = &texts(plan.unwrap())[0][1];
        assert!(plan.starts_with("shared by 5 statements"), "{plan}");
    }
}

#[test]
fn a_period_of_each_sensor_by_its_key() {
    let Some((place, series)) = loaded() else { return };
    // The second quarter of each series, whenever that was.
    let quarters: Vec<_> = series
        .iter()
        .map(|(name, values)| {
            let times: Vec<_> = values.keys().collect();
            (name, times[times.len() / 4].clone(), times[times.len() / 2].clone())
        })
        .collect();
    let questions = quarters.iter().map(|(name, from, to)| {
        format!("SELECT count(*), sum(value), max(time) FROM \"{name}\" WHERE time >= '{from}' AND time < '{to}'")
    });
    let answers = place.sql.fetch_all(questions);
    for ((name, from, to), answer) in quarters.iter().zip(answers) {
        let [count, sum, last] = texts(answer.unwrap()).remove(0).try_into().unwrap();
        let inside: Vec<_> = series[*name].range(from.clone()..to.clone()).collect();
        assert_eq!(count, inside.len().to_string(), "{name}");
        assert_eq!(last, inside.last().unwrap().0.replace(' ', "T"), "{name}");
        assert_near(&sum, inside.iter().map(|(_, value)| **value).sum(), name);
    }
}
