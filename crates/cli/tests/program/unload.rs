//! Unloading to many files, and rows that fit a condition.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Place, Run, finished, ships_csv};

/// Long enough for a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(120);

fn stored(rows: usize) -> Place {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(rows));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    place
}

fn files(place: &Place, pattern: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![place.path(pattern)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[test]
fn many_files_are_one_table_again() {
    let place = stored(60_000);
    let base = ["unload", "ships", "--parallelism", "2", "--split-size", "200K"];
    for (format, more, pattern) in [
        ("csv", &[][..], "csv/*.csv"),
        ("jsonl", &["--compress", "zstd"][..], "jsonl/*.jsonl.zst"),
        ("parquet", &[][..], "parquet/*.parquet"),
        ("arrow", &[][..], "arrow/*.arrow"),
    ] {
        let to = ["--output-dir", format, "--format", format];
        place.run(&[&base[..], &to, more].concat()).ends(0).says(&["60,000 rows in"]);
        assert!(files(&place, format).len() > 1, "{format}");
        let load = ["load", "--store", &format!("again-{format}"), "ships", pattern];
        let made = ["--create", "--primary-key", "SHARD(ship), at"];
        place.run(&[&load[..], &made].concat()).ends(0).says(&["60,000 read, 60,000 inserted"]);
    }
    place.run(&[&base[..], &["--output-dir", "csv"]].concat()).ends(3).says(&["is not empty"]);
}

#[test]
fn rows_of_each_value_stand_in_a_folder_of_their_own() {
    let place = Place::new();
    let ddl =
        "CREATE TABLE t (id LONG, country STRING, at TIMESTAMP(0), v DOUBLE, PRIMARY KEY (id))";
    place.run(&["sql", ddl]).ends(0);
    let rows = "id,country,at,v\n1,F/R,2022-01-03T06:00:00,1.5\n2,,2022-01-03T06:00:00,2\n3,\"\",1969-12-31T23:59:59,\n4,é=,,4\n";
    place.write("a.csv", rows);
    place.run(&["load", "t", "a.csv"]).ends(0);
    place
        .run(&["unload", "t", "--where", "id = 1", "-o", "one.csv"])
        .ends(0)
        .says(&["t: 1 row in"]);
    let split =
        ["unload", "t", "--output-dir", "d", "--split-by", "country,at", "--format", "jsonl"];
    place.run(&split).ends(0).says(&["4 rows in 4 files"]);
    let first = files(&place, "d")
        .into_iter()
        .find(|path| path.to_string_lossy().contains("F%2FR"))
        .unwrap();
    assert!(
        first.to_string_lossy().contains("d/country=F%2FR/at=2022-01-03T06%3A00%3A00/part-"),
        "{first:?}"
    );
    assert_eq!(std::fs::read_to_string(first).unwrap(), "{\"id\":1,\"v\":1.5}\n");
    place.run(&["sql", "--store", "T", ddl]).ends(0);
    // The remedy named no files, but the folders.
    let folder = ["load", "--store", "T", "t", "d", "--folders"];
    place.run(&folder).ends(3).says(&["for instance d/*/*/*"]);
    place.run(&["load", "--store", "T", "t", "d/*/*/*", "--folders"]).ends(0).says(&["4 inserted"]);
    let sorted = |store: &str| {
        place.run(&["sql", "--store", store, "SELECT * FROM t ORDER BY id"]).ends(0).out
    };
    assert_eq!(sorted("T"), sorted("S"));
    for (columns, says) in
        [("nosuch", "no such column"), ("id,ID", "twice"), ("id,country,at,v", "none is left")]
    {
        place
            .run(&["unload", "t", "--output-dir", "e", "--split-by", columns])
            .ends(3)
            .says(&[says]);
    }
}

/// More folders than a writer has files open at once.
#[test]
fn folders_may_be_many() {
    let place = stored(3_000);
    let split = ["unload", "ships", "--output-dir", "d", "--split-by", "lat", "--parallelism", "1"];
    place.run(&split).ends(0).says(&["3,000 rows in"]);
    place
        .run(&[
            "load",
            "--store",
            "T",
            "ships",
            "d/*/*.csv",
            "--folders",
            "--create",
            "--primary-key",
            "ship",
        ])
        .ends(0)
        .says(&["3,000 inserted"]);
}

#[test]
fn rows_that_fit_a_condition_are_unloaded() {
    let place = stored(1_000);
    let run = place.run(&[
        "unload",
        "ships",
        "--where",
        "lat > 88 AND name LIKE '%9%' -- so",
        "--columns",
        "ship",
    ]);
    let ships: Vec<u32> =
        run.ends(0).lines()[1..].iter().map(|ship| ship.parse().unwrap()).collect();
    assert!(!ships.is_empty() && ships.iter().all(|ship| ship % 90 >= 88), "{ships:?}");
    for wrong in ["", "1 = 1; DROP TABLE ships", "'open", "nosuch > 1", "lat >"] {
        place.run(&["unload", "ships", "--where", wrong]).ends(3);
    }
    assert_eq!(place.run(&["count", "ships"]).out, "1000\n");
}

#[test]
fn an_unload_that_fails_leaves_no_parts_of_files() {
    let place = stored(10);
    place.write("file", "");
    place.run(&["unload", "ships", "--output-dir", "file/d"]).ends(3).says(&["file/d"]);
    place
        .run(&["unload", "ships", "--output-dir", "d", "--format", "table"])
        .ends(3)
        .says(&["for people"]);
    place.run(&["unload", "ships", "--output-dir", "d", "-o", "x.csv"]).ends(3);
    place.run(&["unload", "ships", "--split-size", "1M"]).ends(3).says(&["--output-dir"]);
}

/// Files that were full before the unload failed kept their names, and looked like the whole table.
#[test]
fn an_unload_that_fails_on_the_way_names_no_file() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, name STRING, PRIMARY KEY (id))"]).ends(0);
    let rows: String = (0..300_000).map(|id| format!("{id},n{}\n", id % 3)).collect();
    // Longer than the name of a folder may be.
    place.write("a.csv", format!("id,name\n{rows}999999,{}\n", "n".repeat(300)));
    place.run(&["load", "t", "a.csv"]).ends(0);
    let unload =
        ["unload", "t", "--output-dir", "out", "--split-size", "10K", "--parallelism", "1"];
    place.run(&[&unload[..], &["--split-by", "name"]].concat()).ends(2).says(&["too long"]);
    assert_eq!(std::fs::read_dir(place.path("out")).unwrap().count(), 0);
    place.run(&unload).ends(0).says(&["300,001 rows in"]);
    assert!(files(&place, "out").iter().all(|file| !file.to_string_lossy().contains("partial")));
}

/// A link was replaced, and what only its owner might read became readable for all.
#[cfg(unix)]
#[test]
fn an_output_that_is_there_keeps_its_place_and_its_rights() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = stored(10);
    place.write("real/old.csv", "old");
    let rights = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(place.path("real/old.csv"), rights(0o600)).unwrap();
    symlink("real/old.csv", place.path("link.csv")).unwrap();
    place.run(&["unload", "ships", "-o", "link.csv"]).ends(0);
    assert!(place.path("link.csv").symlink_metadata().unwrap().is_symlink());
    assert_eq!(place.read("real/old.csv").lines().count(), 11);
    let mode = place.path("real/old.csv").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// How a child ended, which must be soon.
fn ended(mut child: Child) -> Run {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    finished(child.wait_with_output().unwrap())
}

/// When every writer had failed, the thread that draws rows waited for ever for room in the queue
/// that no thread emptied.
#[test]
fn an_unload_whose_writers_all_fail_ends() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, name STRING, PRIMARY KEY (id))"]).ends(0);
    // Longer than the name of a folder may be.
    let name = "n".repeat(300);
    let rows: String = (0..120_000).map(|id| format!("{id},{name}\n")).collect();
    place.write("a.csv", format!("id,name\n{rows}"));
    place.run(&["load", "t", "a.csv"]).ends(0);
    let mut unload = place.command(&["unload", "t", "--output-dir", "out", "--split-by", "name"]);
    let child = unload.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    ended(child).ends(2).says(&["name=nnn", "cannot be made", "File name too long"]);
}

/// NULL was written as an empty text where it was the only column.
#[test]
fn null_in_the_only_column_reads_back_as_null() {
    let place = Place::new();
    let rows = "CREATE TABLE t (id LONG, v STRING, PRIMARY KEY (id)); INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, '')";
    place.run(&["sql", rows]).ends(0);
    let one = ["--columns", "v", "-o"];
    place.run(&[&["unload", "t"], &one[..], &["u.csv"]].concat()).ends(0);
    let told = place.run(&["get", "t", "1", "2", "3", "--columns", "v"]).ends(0).out;
    let scanned = place.run(&["scan", "t", "--columns", "v", "--direction", "forward"]).ends(0).out;
    assert_eq!((told.as_str(), scanned.as_str()), ("v\nx\n\n\"\"\n", "v\nx\n\n\"\"\n"));
    place.run(&["sql", "COPY (SELECT v FROM t ORDER BY id) TO 'c.csv'"]).ends(0);
    for file in ["u.csv", "c.csv"] {
        let count = format!("SELECT count(*) AS c, count(v) AS v FROM '{file}'");
        assert_eq!(place.run(&["sql", &count]).ends(0).out, "c,v\n3,2\n", "{file}");
        let ddl = "CREATE TABLE IF NOT EXISTS b (nr LONG GENERATED ALWAYS AS IDENTITY, v STRING, PRIMARY KEY (nr))";
        place.run(&["sql", ddl]).ends(0);
        place.run(&["load", "b", file]).ends(0).says(&["3 inserted"]);
    }
    let count = "SELECT count(*) AS c, count(v) AS v FROM b";
    assert_eq!(place.run(&["sql", count]).ends(0).out, "c,v\n6,4\n");
    // A file of keys alone may have blank lines, as people write it.
    place.run(&["sql", "CREATE TABLE w (word STRING, PRIMARY KEY (word))"]).ends(0);
    place.write("words.csv", "word\na\n\nb\n\n");
    place.run(&["load", "w", "words.csv"]).ends(0).says(&["2 read, 2 inserted"]);
    assert_eq!(place.run(&["get", "w", "--keys", "words.csv"]).ends(0).out, "word\na\nb\n");
}
