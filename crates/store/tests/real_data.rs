//! Real files through the library, if they are at hand: in the folder that `TONNAGE_TEST_DATA`
//! names, else in `../shared/data` beside the repository.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

use tonnage::{
    BulkGetOptions, BulkPutOptions, ColumnDefinition, ColumnType, Direction, KeySource, Row, Store,
    TableDefinition, Value,
};
use tonnage_testkit::test_data;

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path().join("store").to_string_lossy()).unwrap();
    (directory, store)
}

/// The name of the table of a series: points part tables from their children, so they cannot be in
/// it.
fn table_name(series: &str) -> String {
    series.replace('.', "_")
}

#[test]
fn one_multi_put_fills_one_table_per_sensor_series() {
    let Some(path) = test_data("iot_nab.csv.gz") else { return };
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();

    // What must come out: of each series the first value of each time.
    let mut expected: BTreeMap<String, HashMap<&str, f64>> = BTreeMap::new();
    let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let [series, time, value] = fields[..] else { panic!("{line}") };
        let value: f64 = value.parse().unwrap();
        expected.entry(table_name(series)).or_default().entry(time).or_insert(value);
        rows.entry(table_name(series))
            .or_default()
            .push(Row::new().with("time", time).with("value", value));
    }
    assert_eq!((rows.len(), rows.values().map(Vec::len).sum::<usize>()), (37, 162_575));

    let (_directory, store) = store();
    for series in rows.keys() {
        let definition = TableDefinition {
            path: series.clone(),
            columns: vec![
                ColumnDefinition::new("time", ColumnType::Timestamp(6)),
                ColumnDefinition::new("value", ColumnType::Double),
            ],
            key: vec!["time".into()],
            shard_key_len: None,
            ttl_ms: None,
        };
        store.catalog().create_table(&definition, false).unwrap();
    }
    let put = store.multi_put(rows, &BulkPutOptions::default()).unwrap();
    assert_eq!(put.failures, []);
    let total = put.report.total;
    assert_eq!(
        (total.read, total.inserted, total.existed, total.failed),
        (162_575, 162_526, 49, 0)
    );
    assert_eq!(put.report.streams.len(), 37);

    for (series, expected) in &expected {
        let table = store.table(series).unwrap();
        assert_eq!(table.count().unwrap(), expected.len() as u64, "{series}");
        let times = expected.keys().map(|time| (*time).to_owned()).collect::<Vec<_>>();
        let keys =
            KeySource::keys(times.clone().into_iter().map(|time| Row::new().with("time", time)));
        let options = BulkGetOptions { direction: Direction::Forward, ..BulkGetOptions::default() };
        let got: Vec<_> =
            table.bulk_get(keys, &options).unwrap().into_rows().map(Result::unwrap).collect();
        assert_eq!(got.len(), times.len(), "{series}");
        for (time, related) in times.iter().zip(got) {
            assert_eq!(
                related.row.get("value"),
                Some(&Value::Double(expected[time.as_str()])),
                "{series} {time}"
            );
        }
    }
}

/// A phone as the file describes it, and its picture, if there is one.
type Phone = (serde_json::Value, Option<Vec<u8>>);

#[test]
fn phones_come_back_with_their_icons_byte_for_byte() {
    let (Some(devices), Some(icons)) = (test_data("phone_devices.jsonl"), test_data("phone_icons"))
    else {
        return;
    };
    let text = std::fs::read_to_string(devices).unwrap();
    let (mut phones, mut images) = (Vec::new(), Vec::new());
    let mut expected: BTreeMap<String, BTreeMap<String, Phone>> = BTreeMap::new();
    for line in text.lines() {
        let device: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| device[name].as_str().unwrap_or_default().to_owned();
        let (maker, model) = (text("maker"), text("model"));
        let icon = std::fs::read(icons.join(format!("{model}.jpg"))).ok();
        let key = Row::new().with("maker", maker.as_str()).with("model", model.as_str());
        if expected
            .entry(maker)
            .or_default()
            .insert(model, (device.clone(), icon.clone()))
            .is_some()
        {
            continue;
        }
        if let Some(icon) = icon {
            images.push(key.clone().with("image", 0).with("bytes", icon));
        }
        phones.push(key.with("device", device));
    }
    let stored_icons = images.len();
    assert!(stored_icons >= 100, "{stored_icons}");

    let (_directory, store) = store();
    store
        .execute(
            "CREATE TABLE phones (maker STRING, model STRING, device JSON, PRIMARY KEY (SHARD(maker), model));
             CREATE TABLE phones.images (image INTEGER, bytes BINARY, PRIMARY KEY (image))",
        )
        .unwrap();
    let put = store
        .multi_put([("phones", phones), ("phones.images", images)], &BulkPutOptions::default())
        .unwrap();
    assert_eq!((put.failures.len(), put.report.total.failed), (0, 0));

    let makers: Vec<_> = expected.keys().cloned().collect();
    let options = BulkGetOptions {
        direction: Direction::Forward,
        relatives: vec!["phones.images".into()],
        ..BulkGetOptions::default()
    };
    let keys = KeySource::keys(makers.into_iter().map(|maker| vec![Value::from(maker)]));
    let (mut seen, mut seen_icons) = (BTreeSet::new(), 0);
    for related in store.table("phones").unwrap().bulk_get(keys, &options).unwrap().into_rows() {
        let related = related.unwrap();
        let text = |name: &str| related.row.get(name).map(Value::to_string).unwrap();
        let (maker, model) = (text("maker"), text("model"));
        let (device, icon) = &expected[&maker][&model];
        if &*related.table == "phones" {
            assert_eq!(
                &serde_json::from_str::<serde_json::Value>(&text("device")).unwrap(),
                device
            );
            assert!(seen.insert((maker, model)));
        } else {
            // The picture comes right after its phone.
            assert!(seen.contains(&(maker, model.clone())), "{model}");
            assert_eq!(
                related.row.get("bytes"),
                Some(&Value::Binary(icon.clone().unwrap())),
                "{model}"
            );
            seen_icons += 1;
        }
    }
    assert_eq!(seen.len(), expected.values().map(BTreeMap::len).sum::<usize>());
    assert_eq!(seen_icons, stored_icons);
}
