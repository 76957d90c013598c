//! Real data through the library, in an embedded store and on three nodes with three copies of each
//! row: every question has the same answer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use tonnage::{
    BulkGet, BulkGetOptions, BulkPutOptions, Direction, FieldRange, IndexRange, IndexScanOptions,
    KeySource, Row, Store, TableScanOptions, Value,
};
use tonnage_files::{DocumentOptions, ReadOptions};
use tonnage_testkit::test_data;

use crate::cluster::{Nodes, open_at_last};
use crate::common::{Place, records, texts};

/// What was asked, and the rows of the answer.
type Answers = Vec<(String, Vec<String>)>;

/// Loads files into a store, and asks it.
type Questions = fn(&Place) -> Option<Answers>;

const PARTS: [(&str, Questions); 4] =
    [("ships", ships), ("shop", shop), ("sensors", sensors), ("documents", documents)];

#[test]
#[ignore = "takes minutes, and three nodes: make cluster-test"]
fn real_data_on_three_nodes_gives_the_answers_that_it_gives_embedded() {
    if test_data("ais_us_20220103.csv.gz").is_none() {
        return;
    }
    let Some(nodes) = Nodes::start(3) else { return };
    let (embedded, on_cluster) = (Place::new(), Place::over(open(&nodes.hosts())));
    for (part, ask) in PARTS {
        let start = Instant::now();
        let Some(expected) = ask(&embedded) else {
            tonnage_testkit::not_run(&format!("{part} on three nodes: its files are missing"));
            continue;
        };
        let embedded_time = start.elapsed();
        let start = Instant::now();
        let answers = ask(&on_cluster).expect("the files are there");
        for ((question, expected), (_, answer)) in expected.iter().zip(&answers) {
            assert!(!expected.is_empty(), "{part}, {question}: no rows");
            let differs = expected.iter().zip(answer).find(|(expected, answer)| expected != answer);
            assert_eq!(differs, None, "{part}, {question}");
            assert_eq!(expected.len(), answer.len(), "{part}, {question}: rows");
        }
        assert_eq!(expected.len(), answers.len());
        let rows: usize = answers.iter().map(|(_, rows)| rows.len()).sum();
        eprintln!(
            "{part}: {} questions, {rows} rows alike; {embedded_time:.1?} embedded, {:.1?} on the cluster",
            answers.len(),
            start.elapsed()
        );
    }
}

fn open(hosts: &str) -> Store {
    let builder = || {
        Store::builder(format!("cassandra://{hosts}/real?create=3"))
            .cluster_engine(tonnage_cassandra::open_url)
    };
    open_at_last(|| builder().open())
}

fn ships(place: &Place) -> Option<Answers> {
    let path = test_data("ais_us_20220103.csv.gz")?;
    place
        .sql
        .execute(
            "CREATE TABLE positions (MMSI LONG, BaseDateTime TIMESTAMP(0), LAT DOUBLE, LON DOUBLE, SOG DOUBLE, COG DOUBLE, Heading DOUBLE,
             VesselName STRING, IMO STRING, CallSign STRING, VesselType INTEGER, Status INTEGER, Length DOUBLE, Width DOUBLE,
             Draft DOUBLE, Cargo INTEGER, TransceiverClass STRING, PRIMARY KEY (SHARD(MMSI), BaseDateTime))",
        )
        .unwrap();
    place.sql.execute("CREATE INDEX by_call_sign ON positions (CallSign)").unwrap();
    assert_eq!(place.load("positions", &path, ReadOptions::default()), 99_924);
    let table = place.sql.store().table("positions").unwrap();
    let ships: BTreeSet<i64> =
        records(&path).iter().map(|record| record[0].parse().unwrap()).collect();
    assert_eq!(ships.len(), 10_631);
    let keys = |every: usize| {
        KeySource::keys(
            ships
                .iter()
                .step_by(every)
                .map(|ship| Row::new().with("MMSI", *ship))
                .collect::<Vec<_>>(),
        )
    };
    let latest = BulkGetOptions {
        direction: Direction::Reverse,
        limit_per_key: Some(1),
        ..BulkGetOptions::default()
    };
    let latest_by_scan = TableScanOptions {
        direction: Direction::Reverse,
        limit_per_shard_key: Some(1),
        ..TableScanOptions::default()
    };
    let minutes = FieldRange::of("BaseDateTime");
    let track = BulkGetOptions {
        direction: Direction::Forward,
        range: Some(minutes.from("2022-01-03T00:03:00").before("2022-01-03T00:11:00")),
        ..BulkGetOptions::default()
    };
    let asked = |query: &str| (query.to_owned(), answer(place, query));
    let mut answers = vec![
        ("latest of each ship".to_owned(), got(table.bulk_get(keys(1), &latest).unwrap())),
        ("latest of each by a scan".to_owned(), got(table.scan(&latest_by_scan).unwrap())),
        ("tracks".to_owned(), got(table.bulk_get(keys(7), &track).unwrap())),
        asked(
            "SELECT count(*), count(DISTINCT MMSI), min(BaseDateTime), max(BaseDateTime), count(VesselName), sum(Cargo) FROM positions",
        ),
        asked("SELECT DISTINCT ON (MMSI) * FROM positions ORDER BY MMSI, BaseDateTime DESC"),
        asked(
            "SELECT Status, count(*), round(avg(SOG), 6), max(Heading) FROM positions GROUP BY Status ORDER BY Status",
        ),
        asked(
            "SELECT VesselType, count(DISTINCT MMSI) AS ships FROM positions WHERE LAT BETWEEN 27 AND 30.5 GROUP BY VesselType ORDER BY ships DESC, VesselType LIMIT 20",
        ),
    ];
    let by_index = "SELECT MMSI, BaseDateTime, SOG FROM positions WHERE CallSign = 'WDK6281' ORDER BY MMSI, BaseDateTime";
    let plan = answer(place, &format!("EXPLAIN {by_index}")).join(" ");
    assert!(plan.contains("by_call_sign"), "{plan}");
    answers.push(asked(by_index));
    let changes = [
        "UPDATE positions SET CallSign = 'WDK6281' WHERE CallSign = 'WTD4583'",
        "DELETE FROM positions WHERE CallSign = 'WDK6281' AND SOG > 5",
    ];
    changes.iter().for_each(|change| drop(place.sql.execute(*change).unwrap()));
    answers.push((format!("{by_index}, after changes"), answer(place, by_index)));
    Some(answers)
}

fn shop(place: &Place) -> Option<Answers> {
    let (file, icons) = (test_data("flipkart_mobiles.csv")?, test_data("phone_icons")?);
    let mut icons: Vec<_> =
        std::fs::read_dir(icons).unwrap().map(|icon| icon.unwrap().path()).collect();
    icons.sort();
    let icons: Vec<Vec<u8>> = icons.iter().map(|icon| std::fs::read(icon).unwrap()).collect();
    place
        .sql
        .execute(
            "CREATE TABLE phones (maker STRING, price LONG, id LONG, model STRING, rating DOUBLE, PRIMARY KEY (SHARD(maker), price, id));
             CREATE TABLE phones.images (image INTEGER, data BINARY, PRIMARY KEY (image))",
        )
        .unwrap();
    let (mut phones, mut images, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for (id, record) in records(&file).iter().enumerate() {
        let price: i64 = record[6].parse().unwrap();
        let key =
            Row::new().with("maker", record[0].as_str()).with("price", price).with("id", id as i64);
        let rating = record[5].parse().map_or(Value::Null, Value::Double);
        phones.push(key.clone().with("model", record[1].as_str()).with("rating", rating));
        if id % 3 == 0 {
            let data = icons[id % icons.len()].clone();
            images.push(key.clone().with("image", 0).with("data", data));
        }
        if id % 5 == 0 {
            keys.push(key);
        }
    }
    let rows = [("phones", phones), ("phones.images", images)];
    let put = place.sql.store().multi_put(rows, &BulkPutOptions::default()).unwrap();
    assert_eq!((put.report.total.inserted, put.report.total.failed), (3_114 + 1_038, 0));
    let table = place.sql.store().table("phones").unwrap();
    let pictures =
        BulkGetOptions { relatives: vec!["phones.images".into()], ..BulkGetOptions::default() };
    let makers =
        KeySource::keys(["Apple", "SAMSUNG", "Nokia"].map(|maker| vec![Value::from(maker)]));
    let of_makers = BulkGetOptions {
        range: Some(FieldRange::of("price").from(15_000).to(40_000)),
        direction: Direction::Forward,
        ..pictures.clone()
    };
    let asked = |query: &str| (query.to_owned(), answer(place, query));
    Some(vec![
        (
            "phones by their keys, with pictures".to_owned(),
            got(table.bulk_get(KeySource::keys(keys), &pictures).unwrap()),
        ),
        (
            "phones of makers within a range of prices, with pictures".to_owned(),
            got(table.bulk_get(makers, &of_makers).unwrap()),
        ),
        asked(
            "SELECT maker, count(*), min(price), max(price), round(avg(rating), 6) FROM phones GROUP BY maker ORDER BY maker",
        ),
        asked(
            "SELECT p.maker, count(i.image), sum(length(encode(i.data, 'hex')) / 2) FROM phones p
             JOIN phones.images i ON i.maker = p.maker AND i.price = p.price AND i.id = p.id GROUP BY p.maker ORDER BY 1",
        ),
    ])
}

fn sensors(place: &Place) -> Option<Answers> {
    let path = test_data("iot_nab.csv.gz")?;
    let mut series: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for record in records(&path) {
        let [name, time, value] = record.try_into().unwrap();
        let value: f64 = value.parse().unwrap();
        // Points part tables from their children.
        let rows = series.entry(name.replace('.', "_")).or_default();
        rows.push(Row::new().with("time", time).with("value", value));
    }
    for name in series.keys() {
        let create =
            format!("CREATE TABLE \"{name}\" (time TIMESTAMP(0) PRIMARY KEY, value DOUBLE)");
        place.sql.execute(create).unwrap();
    }
    let every_ninth = |rows: &Vec<Row>| -> Vec<Row> {
        let time = |row: &Row| Row::new().with("time", row.get("time").unwrap().clone());
        rows.iter().step_by(9).map(time).collect()
    };
    let keys: Vec<(String, Vec<Row>)> =
        series.iter().map(|(name, rows)| (name.clone(), every_ninth(rows))).collect();
    let names: Vec<String> = series.keys().cloned().collect();
    let put = place.sql.store().multi_put(series, &BulkPutOptions::default()).unwrap();
    let total = put.report.total;
    assert_eq!((names.len(), total.inserted, total.existed, total.failed), (37, 162_526, 49, 0));
    let options = BulkGetOptions { direction: Direction::Forward, ..BulkGetOptions::default() };
    let got = place.sql.store().multi_get(keys, &options).unwrap().into_answers();
    let mut answers: Answers = Vec::new();
    for (name, batches) in names.iter().zip(got) {
        let batches = batches.unwrap();
        let rows = batches.iter().flat_map(|batch| {
            (0..batch.rows.num_rows())
                .map(|row| text(&batch.table, &Row::from_batch(&batch.rows, row).unwrap()))
        });
        answers.push((format!("multi-get of {name}"), sorted(rows.collect())));
    }
    let queries: Vec<String> = names
        .iter()
        .flat_map(|name| {
            [
                format!(
                    "SELECT count(*), min(value), max(value), round(avg(value), 6), round(stddev(value), 6), max(time) FROM \"{name}\""
                ),
                format!("SELECT time, value FROM \"{name}\" ORDER BY value DESC, time LIMIT 20"),
            ]
        })
        .collect();
    let fetched = place.sql.fetch_all(queries.iter().map(String::as_str));
    for (query, answer) in queries.iter().zip(fetched) {
        let rows = texts(answer.unwrap());
        answers.push((query.clone(), rows.iter().map(|row| row.join(", ")).collect()));
    }
    Some(answers)
}

fn documents(place: &Place) -> Option<Answers> {
    let path = test_data("phone_devices.jsonl")?;
    place.sql.execute("CREATE TABLE devices (model STRING PRIMARY KEY, doc JSON)").unwrap();
    place.sql.execute("CREATE INDEX by_version ON devices (doc.os.type, doc.os.ver)").unwrap();
    let documents = DocumentOptions { column: "doc".into(), ..DocumentOptions::default() };
    let options = ReadOptions { documents: Some(documents), ..ReadOptions::default() };
    assert_eq!(place.load("devices", &path, options), 442);
    let by_index = |version: &str| {
        let index = place.sql.store().table("devices").unwrap().index("by_version").unwrap();
        let range = IndexRange::prefix(["android", version]);
        let found = index.scan(&range, &IndexScanOptions::default()).unwrap();
        let rows = found.flat_map(|batch| {
            let batch = batch.unwrap();
            (0..batch.rows.num_rows())
                .map(|row| text(&batch.table, &Row::from_batch(&batch.rows, row).unwrap()))
                .collect::<Vec<_>>()
        });
        sorted(rows.collect())
    };
    let asked = |query: &str| (query.to_owned(), answer(place, query));
    let mut answers = vec![
        asked("SELECT model, doc FROM devices ORDER BY model"),
        asked(
            "SELECT model, doc->>'name' FROM devices WHERE doc->>'maker' = 'SHARP' ORDER BY model",
        ),
        asked(
            "SELECT model FROM devices WHERE json_get_int(doc, 'display', 'w') >= 1080 AND json_get_int(doc, 'cpu', 'cores') = 4 ORDER BY model",
        ),
        asked(
            "SELECT doc->>'maker' AS maker, count(*), round(avg(json_get_float(doc, 'display', 's')), 6), max(json_get_int(doc, 'memory', 'ram'))
             FROM devices GROUP BY maker ORDER BY maker",
        ),
        ("documents by an index, 2.3".to_owned(), by_index("2.3")),
        ("documents by an index, 4.4".to_owned(), by_index("4.4")),
    ];
    let change = "UPDATE devices SET doc = json_set(doc, 'os', 'ver', '99') WHERE doc->>'maker' = 'SHARP' AND doc->'os'->>'ver' = '2.3'";
    place.sql.execute(change).unwrap();
    answers.push(("documents by an index, changed".to_owned(), by_index("99")));
    answers.push(("documents by an index, not changed".to_owned(), by_index("2.3")));
    Some(answers)
}

/// The rows of a query, in their order.
fn answer(place: &Place, query: &str) -> Vec<String> {
    place.rows(query).into_iter().map(|row| row.join(", ")).collect()
}

/// The rows of a bulk get, sorted: those of different shards come in any order.
fn got(rows: BulkGet) -> Vec<String> {
    let rows = rows.into_rows().map(|related| {
        let related = related.unwrap();
        text(&related.table, &related.row)
    });
    sorted(rows.collect())
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

/// A row as text; of a picture its sum, and its length.
fn text(table: &str, row: &Row) -> String {
    let column = |(name, value): (&str, &Value)| match value {
        Value::Binary(bytes) => {
            format!("{name} {:08x} of {} bytes", crc32fast::hash(bytes), bytes.len())
        }
        value => format!("{name} {value}"),
    };
    let columns: Vec<String> = row.iter().map(column).collect();
    format!("{table}: {}", columns.join(", "))
}
