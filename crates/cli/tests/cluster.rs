//! The program on a store on Cassandra: the same verbs, the same answers.
//!
//! Takes a minute, and a node: `make cluster-test` runs it.

#[path = "../../cassandra/tests/cluster/mod.rs"]
#[allow(dead_code, reason = "nodes are not killed here")]
mod cluster;
#[path = "../../sql/tests/real_data/common.rs"]
#[allow(dead_code, reason = "the questions are others here")]
mod common;
#[path = "on_cluster/real_data.rs"]
mod real_data;

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tonnage::{BulkPutOptions, IndexRange, OnExisting, Row, Store, WriteOptions};
use tonnage_testkit::test_data;

/// What the program prints; it must succeed.
fn tonnage(store: &str, arguments: &[&str]) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tonnage"));
    let answer = program.args(arguments).args(["--store", store]).output().unwrap();
    let errors = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(answer.stdout).unwrap()
}

#[test]
#[ignore = "takes a minute, and a node: make cluster-test"]
fn the_program_works_on_a_cluster() {
    let Some(nodes) = cluster::Nodes::start(1) else { return };
    let demo = format!("cassandra://{}/demo?create=1", nodes.hosts());
    let small = ["demo", "--ships", "50", "--positions-per-ship", "60"];
    let story = tonnage(&demo, &small);
    for chapter in ["3,000 positions", "Both agree", "A phone shop", "All in"] {
        assert!(story.contains(chapter), "'{chapter}' is missing in\n{story}");
    }
    assert_eq!(tonnage(&demo, &["count", "positions"]).trim(), "3000");

    let shop = format!("cassandra://{}/shop?create=1", nodes.hosts());
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("phones.csv");
    std::fs::write(&file, "id,maker\n1,Nokia\n2,Doro\n3,Nokia\n").unwrap();
    let create = "CREATE TABLE phones (id LONG, maker STRING, PRIMARY KEY (id))";
    tonnage(&shop, &["sql", "--create", "-c", create]);
    tonnage(&shop, &["load", "phones", &file.to_string_lossy()]);
    let query = "SELECT maker, count(*) AS n FROM phones GROUP BY maker ORDER BY n DESC";
    let answer = tonnage(&shop, &["sql", "--format", "csv", "-c", query]);
    assert_eq!(answer.lines().collect::<Vec<_>>(), ["maker,n", "Nokia,2", "Doro,1"]);

    tonnage(&shop, &["sql", "-c", "ALTER TABLE phones ADD price LONG DEFAULT 5"]);
    let unloaded = place.path().join("unloaded.csv");
    tonnage(&shop, &["unload", "phones", "-o", &unloaded.to_string_lossy()]);
    let unloaded = std::fs::read_to_string(&unloaded).unwrap();
    let mut rows: Vec<_> = unloaded.lines().collect();
    rows.sort_unstable();
    assert_eq!(rows, ["1,Nokia,5", "2,Doro,5", "3,Nokia,5", "id,maker,price"]);

    tonnage(&shop, &["kv", "put", "/users/1", "Ada"]);
    assert_eq!(tonnage(&shop, &["kv", "get", "/users/1"]), "Ada");
    let (film, copy) = (place.path().join("film"), place.path().join("copy"));
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at.wrapping_mul(at) >> 9) as u8).collect();
    std::fs::write(&film, &bytes).unwrap();
    tonnage(&shop, &["kv", "put-lob", "/films/-/faust", "--file", &film.to_string_lossy()]);
    tonnage(&shop, &["kv", "get-lob", "/films/-/faust", "--output", &copy.to_string_lossy()]);
    assert!(std::fs::read(&copy).unwrap() == bytes, "the large object is another one");
    tonnage(&shop, &["kv", "delete-lob", "/films/-/faust"]);
    tonnage(&shop, &["check"]);
}

#[test]
#[ignore = "takes a minute, and a node: make cluster-test"]
fn an_index_on_a_cluster_finds_what_is_loaded_changed_and_deleted() {
    let Some(nodes) = cluster::Nodes::start(1) else { return };
    let store = format!("cassandra://{}/cars?create=1", nodes.hosts());
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("cars.csv");
    let rows: String = (0..5_000).map(|plate| format!("{plate},c{}\n", plate % 50)).collect();
    std::fs::write(&file, format!("plate,colour\n{rows}")).unwrap();
    let sql = |text: &str| tonnage(&store, &["sql", "--format", "csv", "-c", text]);
    let create = "CREATE TABLE cars (plate LONG, colour STRING, PRIMARY KEY (plate))";
    tonnage(&store, &["sql", "--create", "-c", create]);
    sql("INSERT INTO cars VALUES (9001, 'c7'), (9002, 'c8')");
    sql("CREATE INDEX by_colour ON cars (colour)");
    tonnage(&store, &["load", "cars", &file.to_string_lossy()]);
    sql("UPDATE cars SET colour = 'c8' WHERE plate = 7");
    sql("DELETE FROM cars WHERE plate = 57");
    let plan = sql("EXPLAIN SELECT plate FROM cars WHERE colour = 'c7'");
    assert!(plan.contains("by_colour"), "{plan}");
    let count = |colour: &str| {
        sql(&format!("SELECT count(*) AS n FROM cars WHERE colour = '{colour}'"))
            .trim_start_matches("n\n")
            .trim()
            .parse::<u32>()
            .unwrap()
    };
    assert_eq!((count("c7"), count("c8"), count("c9")), (99, 102, 100));
    tonnage(&store, &["check"]);
}

/// Others continue without it after a minute. It must not continue by what it knew of the tables.
#[test]
#[ignore = "takes two minutes, and a node: make cluster-test"]
fn an_index_misses_no_row_of_a_process_that_stood_still_in_a_load() {
    let Some(nodes) = cluster::Nodes::start(1) else { return };
    let store = format!("cassandra://{}/still?create=1", nodes.hosts());
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("cars.csv");
    let rows: String = (0..300_000).map(|plate| format!("{plate},c{}\n", plate % 50)).collect();
    std::fs::write(&file, format!("plate,colour\n{rows}")).unwrap();
    let sql = |text: &str| tonnage(&store, &["sql", "--format", "csv", "-c", text]);
    let create = "CREATE TABLE cars (plate LONG, colour STRING, PRIMARY KEY (plate))";
    tonnage(&store, &["sql", "--create", "-c", create]);
    let mut load = Command::new(env!("CARGO_BIN_EXE_tonnage"));
    let load = load.args(["load", "cars", &file.to_string_lossy(), "--store", &store]);
    let told = place.path().join("told");
    let words = std::fs::File::create(&told).unwrap();
    let mut load = load.stdout(Stdio::null()).stderr(words).spawn().unwrap();
    let number = load.id().to_string();
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &number]).status().unwrap().success());
    };
    let begun = Instant::now();
    while sql("SELECT plate FROM cars LIMIT 1").lines().count() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is loaded");
    }
    signal("-STOP");
    sql("CREATE INDEX by_colour ON cars (colour)");
    signal("-CONT");
    // It may fail, since others have gone on without it.
    load.wait().unwrap();
    println!("the load said: {}", std::fs::read_to_string(told).unwrap());
    tonnage(&store, &["check"]);
    let plan = sql("EXPLAIN SELECT plate FROM cars WHERE colour = 'c7'");
    assert!(plan.contains("by_colour"), "{plan}");
    let count = |condition: &str| sql(&format!("SELECT count(*) AS n FROM cars WHERE {condition}"));
    assert_eq!(count("colour = 'c7'"), count("plate % 50 = 7"));
}

#[test]
#[ignore = "takes a minute, and a node: make cluster-test"]
fn a_check_removes_stale_entries_that_are_old() {
    let Some(nodes) = cluster::Nodes::start(1) else { return };
    let store = format!("cassandra://{}/cleaned?create=1", nodes.hosts());
    let sql = |text: &str| tonnage(&store, &["sql", "--format", "csv", "-c", text]);
    let create = "CREATE TABLE cars (plate LONG, colour STRING, PRIMARY KEY (plate))";
    tonnage(&store, &["sql", "--create", "-c", create]);
    sql("CREATE INDEX by_colour ON cars (colour)");
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("cars.csv");
    let rows: String = (0..3_000).map(|plate| format!("{plate},c{}\n", plate % 3)).collect();
    std::fs::write(&file, format!("plate,colour\n{rows}")).unwrap();
    tonnage(&store, &["load", "cars", &file.to_string_lossy()]);
    sql("UPDATE cars SET colour = 'c2' WHERE colour = 'c1' AND plate < 300");
    sql("DELETE FROM cars WHERE colour = 'c0' AND plate < 150");
    // There and back: the entry of c1 is its own again.
    sql("UPDATE cars SET colour = 'c2' WHERE plate = 301");
    sql("UPDATE cars SET colour = 'c1' WHERE plate = 301");
    let repair = |arguments: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_tonnage"));
        let arguments = [&["check", "--repair", "--store", &store], arguments].concat();
        let answer = program.args(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert!(answer.status.success(), "{told}");
        told
    };
    // One for each row that changed or went, and that of c2 of the one which came back.
    let told = repair(&[]);
    assert!(told.contains("151 stale entries are younger than 3600s"), "{told}");
    assert!(told.contains("took 0 stale entries"), "{told}");
    let told = repair(&["--older-than", "0s"]);
    assert!(told.contains("took 151 stale entries"), "{told}");
    let told = repair(&["--older-than", "0s"]);
    assert!(told.contains("took 0 stale entries"), "{told}");
    let plan = sql("EXPLAIN SELECT plate FROM cars WHERE colour = 'c1'");
    assert!(plan.contains("by_colour"), "{plan}");
    let count = "SELECT count(*) AS n FROM cars WHERE colour = ";
    let counts = ["'c0'", "'c1'", "'c2'"].map(|colour| sql(&format!("{count}{colour}")));
    assert_eq!(
        counts.map(|count| count.replace("n\n", "").trim().to_owned()),
        ["950", "900", "1100"]
    );
}

#[test]
#[ignore = "takes a minute, and a node: make cluster-test"]
fn an_index_misses_no_row_though_it_is_cleaned_while_others_write() {
    let Some(nodes) = cluster::Nodes::start(1) else { return };
    let url = format!("cassandra://{}/turmoil?create=1", nodes.hosts());
    let open = || Store::builder(&url).cluster_engine(tonnage_cassandra::open_url).open().unwrap();
    let stores = [open(), open(), open()];
    stores[0]
        .execute("CREATE TABLE cars (plate LONG, colour STRING, PRIMARY KEY (plate))")
        .unwrap();
    stores[0].execute("CREATE INDEX by_colour ON cars (colour)").unwrap();
    let start = Instant::now();
    let end = start + Duration::from_secs(25);
    let colours = ["red", "blue", "green"];
    let car = |plate: i64, step: i64| {
        Row::new().with("plate", plate).with("colour", colours[(step % 3) as usize])
    };
    let (written, cleaned) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|threads| {
        for (writer, store) in stores[..2].iter().enumerate() {
            let (written, car) = (&written, &car);
            threads.spawn(move || {
                let table = store.table("cars").unwrap();
                for step in 0_i64.. {
                    // Rows of both writers, back and forth between colours; some go. Each group of
                    // rows rests for 6 s, so that entries grow old before they are written again.
                    let group = 60 * (start.elapsed().as_secs() as i64 / 3 % 3);
                    let plate = group + (step * 7 + writer as i64 * 3) % 60;
                    match step % 11 {
                        10 => {
                            let key = Row::new().with("plate", plate);
                            table.delete(&key, &WriteOptions::default()).unwrap();
                        }
                        5 => {
                            let rows: Vec<_> =
                                (group..group + 40).map(|plate| car(plate, step)).collect();
                            let options = BulkPutOptions {
                                on_existing: OnExisting::Replace,
                                ..BulkPutOptions::default()
                            };
                            store.multi_put([("cars", rows)], &options).unwrap();
                        }
                        _ => {
                            table.put(&car(plate, step), &WriteOptions::default()).unwrap();
                        }
                    }
                    written.fetch_add(1, Ordering::Relaxed);
                    if Instant::now() > end {
                        break;
                    }
                }
            });
        }
        threads.spawn(|| {
            let index = stores[2].table("cars").unwrap().index("by_colour").unwrap();
            while Instant::now() < end {
                // Far longer than a write takes here, and far less than an hour.
                let some = index.clean_older(Duration::from_secs(4)).unwrap();
                cleaned.fetch_add(some.removed, Ordering::Relaxed);
            }
        });
    });
    let (written, cleaned) = (written.into_inner(), cleaned.into_inner());
    assert!(written > 50 && cleaned > 0, "{written} writes, {cleaned} entries removed");
    // Every row is found by its colour, and by no other.
    let table = stores[0].table("cars").unwrap();
    let index = table.index("by_colour").unwrap();
    let found: u64 = colours
        .iter()
        .map(|colour| {
            let rows = index.scan(&IndexRange::prefix([*colour]), &Default::default()).unwrap();
            rows.map(|batch| batch.unwrap().rows.num_rows() as u64).sum::<u64>()
        })
        .sum();
    assert_eq!(found, table.count().unwrap());
    let report = stores[0].check().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
}

/// Files of the real data, each with the key of its table.
const FILES: [(&str, &str, &str); 3] = [
    ("day", "SHARD(MMSI), BaseDateTime", "ais_us_20220103.parquet"),
    ("series", "SHARD(series), timestamp", "iot_nab.csv.gz"),
    ("devices", "model", "phone_devices.jsonl"),
];

const QUESTIONS: [&str; 9] = [
    "SELECT count(*) AS n, count(DISTINCT MMSI) AS ships, max(BaseDateTime) AS last, \
     count(VesselName) AS named, sum(Cargo) AS cargo FROM day",
    "SELECT MMSI, max(BaseDateTime) AS last FROM day GROUP BY MMSI ORDER BY MMSI",
    "SELECT * FROM day WHERE MMSI = (SELECT min(MMSI) FROM day) ORDER BY BaseDateTime",
    "SELECT MMSI, BaseDateTime FROM day WHERE CallSign = 'WDK6281' ORDER BY MMSI, BaseDateTime",
    "SELECT Status, count(*) AS n FROM day GROUP BY Status ORDER BY Status",
    "SELECT series, count(*) AS n, min(timestamp) AS first, max(value) AS most FROM series \
     GROUP BY series ORDER BY series",
    "SELECT timestamp, value FROM series WHERE series LIKE '%ec2_cpu_utilization_24ae8d' \
     ORDER BY timestamp DESC LIMIT 20",
    "SELECT model, name, os FROM devices WHERE maker = 'SHARP' ORDER BY model",
    "SELECT maker, count(*) AS n FROM devices GROUP BY maker ORDER BY maker",
];

#[test]
#[ignore = "takes minutes, and a node: make cluster-test"]
fn real_data_gives_the_answers_that_it_gives_embedded() {
    let files = FILES.map(|(table, key, file)| test_data(file).map(|path| (table, key, path)));
    let [Some(day), Some(series), Some(devices)] = files else { return };
    let Some(nodes) = cluster::Nodes::start(1) else { return };
    let place = tempfile::tempdir().unwrap();
    let embedded = place.path().join("store").to_string_lossy().into_owned();
    let on_cluster = format!("cassandra://{}/real?create=1", nodes.hosts());
    let answers = [embedded, on_cluster].map(|store| {
        for (table, key, path) in [&day, &series, &devices] {
            let path = path.to_string_lossy();
            tonnage(&store, &["load", "--create", "--primary-key", key, table, &path]);
        }
        let sql = |text: &str| tonnage(&store, &["sql", "--format", "csv", "-c", text]);
        sql("CREATE INDEX by_call_sign ON day (CallSign)");
        sql("CREATE INDEX by_maker ON devices (maker)");
        assert!(sql(&format!("EXPLAIN {}", QUESTIONS[3])).contains("by_call_sign"));
        QUESTIONS.map(sql)
    });
    let [embedded, on_cluster] = answers;
    for ((question, embedded), on_cluster) in QUESTIONS.iter().zip(embedded).zip(on_cluster) {
        assert!(embedded.lines().count() > 1, "{question}: no rows");
        assert_eq!(embedded, on_cluster, "{question}");
    }
}
