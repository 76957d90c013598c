//! Loading files into tables.

use std::time::Duration;

use crate::common::{Place, ships_csv};

#[test]
fn the_summary_is_json() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(5));
    place.write("b.csv", "ship,at,lat\n9,2022-01-03T00:00:00,x\n4,2022-01-03T00:00:00,1\n");
    place
        .run(&[
            "load",
            "ships",
            "a.csv",
            "b.csv",
            "--stream-parallelism",
            "1",
            "--summary",
            "s.json",
        ])
        .ends(1);
    let summary = place.json("s.json");
    let counts =
        ["read", "inserted", "existed", "failed"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [7, 5, 1, 1]);
    assert_eq!(summary["outcome"], "rejected");
    assert_eq!(summary["files"][1]["file"], "b.csv");
    assert_eq!(summary["files"][1]["failed"], 1);
    assert!(
        summary["seconds"].as_f64().unwrap() > 0.0
            && summary["rows_per_second"].as_f64().unwrap() > 0.0
    );
    assert!(summary["bytes"].as_u64().unwrap() > 0);
}

#[test]
fn existing_rows_are_kept_replaced_or_refused() {
    let place = Place::new().with_ships();
    place.write("old.csv", "ship,at,name\n1,2022-01-03T00:00:00,old\n");
    place.write("new.csv", "ship,at,name\n1,2022-01-03T00:00:00,new\n");
    let name = || place.run(&["get", "ships", "1", "--columns", "name"]).ends(0).out;
    place.run(&["load", "ships", "old.csv"]).ends(0);
    place.run(&["load", "ships", "new.csv"]).ends(0).says(&["1 existed"]);
    assert_eq!(name(), "name\nold\n");
    place.run(&["load", "ships", "new.csv", "--on-existing", "fail"]).ends(2);
    assert_eq!(name(), "name\nold\n");
    place.run(&["load", "ships", "new.csv", "--on-existing", "replace"]).ends(0);
    assert_eq!(name(), "name\nnew\n");
}

/// `put` and CSV gave rows the DEFAULT of a column that they do not name, JSON gave them NULL, and
/// rejected them where the column is NOT NULL.
#[test]
fn records_of_json_take_the_defaults_that_rows_take() {
    let place = Place::new();
    let definition = |table: &str| {
        format!(
            "CREATE TABLE {table} (k LONG, a STRING NOT NULL DEFAULT 'none', b NUMBER(8, 3) DEFAULT 0.125, \
             c DATE DEFAULT '2018-02-07', d TIMESTAMP(6) DEFAULT '2018-02-07 01:02:03.4', \
             e BOOLEAN DEFAULT true, f ENUM('red', 'green') DEFAULT 'green', g JSON DEFAULT '{{}}', \
             h UUID DEFAULT uuid(), i TIMESTAMP(3) DEFAULT now(), j DOUBLE, PRIMARY KEY (k))"
        )
    };
    place.run(&["sql", &definition("t")]).ends(0);
    place.run(&["sql", &definition("u")]).ends(0);
    place.run(&["put", "t", "{\"k\": 1}"]).ends(0);
    place.write(
        "a.jsonl",
        "{\"k\": 1}\n{\"k\": 2, \"b\": null, \"c\": \"2020-01-01\"}\n{\"k\": 3}\n",
    );
    place.run(&["load", "u", "a.jsonl"]).ends(0);
    let row = |table: &str| {
        let query = format!("SELECT a, b, c, d, e, f, g, j FROM {table} WHERE k = 1");
        place.run(&["sql", &query]).ends(0).out
    };
    assert_eq!(row("u"), row("t"));
    let given = place.run(&["sql", "SELECT b IS NULL AS n, c FROM u WHERE k = 2"]).ends(0).out;
    assert_eq!(given, "n,c\ntrue,2020-01-01\n");
    let made = "SELECT count(h) AS h, count(DISTINCT h) AS d, count(i) AS i FROM u";
    assert_eq!(place.run(&["sql", made]).ends(0).out, "h,d,i\n3,3,3\n");
}

/// The rows were stored, and only then was it found that the summary cannot be written; notes that
/// cannot be written were reported and forgotten.
#[test]
fn what_cannot_be_written_beside_the_store_is_told_before_anything_is_done() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    for (option, path, says) in [
        ("--summary", "no/such/s.json", "--summary no/such/s.json: cannot be written"),
        ("--resume", "no/such/notes", "--resume no/such/notes: cannot be written"),
        ("--rejects", "a.csv", "--rejects a.csv: it is a file: name a directory"),
        ("--rejects", "a.csv/bad", "--rejects a.csv/bad: cannot be written"),
    ] {
        place.run(&["load", "ships", "a.csv", option, path]).ends(3).says(&[says]);
    }
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
    let all = ["--summary", "s.json", "--resume", "n", "--rejects", "deep/R"];
    place.run(&[&["load", "ships", "a.csv"][..], &all].concat()).ends(0);
    assert!(place.path("s.json").exists() && !place.path("deep").exists());
}

#[test]
fn a_dry_run_reads_everything_and_writes_nothing() {
    let place = Place::new();
    place.write(
        "a.csv",
        "ship,at,x\n1,2022-01-03T00:00:00,1\n2,2022-01-03T00:00:00,2\n,2022-01-03T00:00:00,3\n",
    );
    let arguments = [
        "load",
        "ships",
        "a.csv",
        "--dry-run",
        "--create",
        "--primary-key",
        "ship",
        "--summary",
        "s.json",
    ];
    place.run(&arguments).ends(1).says(&["would make", "3 read, 1 would fail"]);
    assert!(!place.path("S").exists());
    assert_eq!(place.json("s.json")["dry_run"], true);
    assert_eq!(place.json("s.json")["failed"], 1);

    let place = place.with_ships();
    place.write("b.csv", "ship,at\n1,2022-01-03T00:00:00\n2,never\n");
    place
        .run(&["load", "ships", "b.csv", "--dry-run", "--rejects", "R"])
        .ends(1)
        .says(&["2 read, 1 would fail"]);
    assert_eq!(place.read("R/b.csv"), "ship,at\n2,never\n");
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
}

#[test]
fn what_a_load_reports_a_dry_run_foretells() {
    let place = Place::new().with_ships();
    let rows: String = (0..40_000)
        .map(|ship| if ship % 1_000 == 7 { "x,y\n".into() } else { format!("{ship},2022-01-03\n") })
        .collect();
    place.write("a.csv", format!("ship,at\n{rows}"));
    place.run(&["load", "ships", "a.csv", "--dry-run", "--rejects", "D"]).ends(1);
    place
        .run(&["load", "ships", "a.csv", "--rejects", "R"])
        .ends(1)
        .says(&["40,000 read, 39,960 inserted, 0 existed, 40 failed"]);
    assert_eq!(place.read("D/a.csv"), place.read("R/a.csv"));
    assert_eq!(place.read("D/a.reasons.jsonl"), place.read("R/a.reasons.jsonl"));
    // What a load allows was not asked.
    let dry = |errors_max: &str| {
        place.run(&["load", "ships", "a.csv", "--dry-run", "--errors-max", errors_max])
    };
    dry("40").ends(1);
    dry("39").ends(2).says(&["40 of 40000 entries would fail, more than --errors-max (39) allows"]);
    dry("0.05%").ends(2);
}

#[test]
fn csv_without_header_and_with_other_marks() {
    let place = Place::new().with_ships();
    place.write("a.txt", "5;-;2022-01-03T00:00:00\n");
    let arguments = [
        "load",
        "ships",
        "a.txt",
        "--input-format",
        "csv",
        "--delimiter",
        ";",
        "--no-header",
        "--columns",
        "ship,name,at",
        "--null",
        "-",
    ];
    place.run(&arguments).ends(0);
    assert_eq!(
        place.run(&["get", "ships", "5", "--format", "jsonl"]).out,
        "{\"ship\":5,\"at\":\"2022-01-03T00:00:00\",\"lat\":null,\"name\":null}\n"
    );
}

#[test]
fn standard_input_is_a_file_too() {
    let place = Place::new().with_ships();
    place
        .run_with_input(&["load", "ships", "-"], ships_csv(7).as_bytes())
        .ends(0)
        .says(&["7 inserted"]);
    place.run(&["load", "ships", "-", "--resume", "n"]).ends(3).says(&["standard input"]);
    place
        .run_with_input(&["load", "t", "-", "--create", "--primary-key", "ship"], b"ship\n1\n")
        .ends(0)
        .says(&["1 inserted"]);
}

#[test]
fn columns_that_the_table_lacks_can_be_left_out() {
    let place = Place::new().with_ships();
    place.write("a.csv", "ship,at,crew\n1,2022-01-03T00:00:00,12\n");
    place.run(&["load", "ships", "a.csv", "--ignore-columns"]).ends(0).says(&["1 inserted"]);
}

#[test]
fn rows_live_as_long_as_they_are_told_to() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    place.run(&["load", "ships", "a.csv", "--ttl", "1s"]).ends(0);
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
}

#[test]
fn every_durability_stores_everything() {
    for durability in ["none", "write", "fsync"] {
        let place = Place::new().with_ships();
        place.write("a.csv", ships_csv(1_000));
        place
            .run(&["load", "ships", "a.csv", "--durability", durability, "--memory", "64M"])
            .ends(0)
            .says(&["1,000 inserted"]);
        assert_eq!(place.run(&["count", "ships"]).out, "1000\n", "{durability}");
    }
}

#[test]
fn quiet_says_nothing() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    let run = place.run(&["load", "ships", "a.csv", "--quiet"]).ends(0);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""));
}

/// The entry of a stream was named, which no user can look up.
#[test]
fn a_key_that_exists_is_named_with_its_file_and_line() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    let text = "ship,at,name\n77,2022-01-03T00:00:00,\"two\nlines\"\n\n2,2022-01-03T00:00:00,b\n";
    place.write("b.csv", text);
    let fail = ["--on-existing", "fail"];
    place.run(&[&["load", "ships", "b.csv"], &fail[..]].concat()).ends(2).says(&[
        "b.csv, line 5: the row (ship 2, at 2022-01-03T00:00:00) of table ships exists already",
        "--on-existing keep or replace",
    ]);
    place.run_with_input(&[&["load", "ships", "-"], &fail[..]].concat(), text.as_bytes()).ends(2).says(
        &["-, record 1 from 0 (its line is not known: a pipe cannot be read again): the row (ship 2"],
    );
    // A key far after a first one, whose batch is gone when the load finds out.
    let many: String = (0..200_000).map(|ship| format!("{ship},2023-01-03T00:00:00\n")).collect();
    place.write("c.csv", format!("ship,at\n{many}150000,2023-01-03T00:00:00\n"));
    let run = place.run(&[&["load", "ships", "c.csv"], &fail[..]].concat()).ends(2);
    let line = run.err.split("c.csv, line ").nth(1).unwrap().split(':').next().unwrap();
    assert!(["150002", "200002"].contains(&line), "{}", run.err);
}

#[test]
fn columns_get_other_names() {
    let place = Place::new();
    place.write("a.csv", "id,name.first,v\n1,x,2\n");
    let load = ["load", "--create", "--primary-key", "id", "t", "a.csv"];
    place.run(&load).ends(3).says(&["--rename 'name.first=name_first'", "'.=_'"]);
    assert!(!place.path("S").exists());
    place.run(&[&load[..], &["--rename", ".=_", "--rename", "v=value"]].concat()).ends(0);
    let unloaded = place.run(&["unload", "t"]).ends(0).out;
    assert_eq!(unloaded, "id,name_first,value\n1,x,2\n");
    place.run(&["load", "t", "a.csv"]).ends(3).says(&["name.first", "--rename"]);
    place.run(&["load", "t", "a.csv", "--rename", "v"]).ends(3).says(&["OLD=NEW"]);
    let none = ["load", "t", "a.csv", "--rename", ".=_", "--rename", "w=value"];
    place.run(&none).ends(3).says(&["a.csv: there is no column w to be called value"]);
}

#[test]
fn rows_without_a_key_are_numbered() {
    let place = Place::new();
    place.write("a.csv", "name,x\na,1\na,1\nb,2\n");
    let load = ["load", "--create", "--make-key", "nr", "t", "a.csv"];
    place.run(&load).ends(0).says(&["3 inserted"]);
    place.run(&load).ends(0).says(&["3 inserted"]);
    place.write("b.jsonl", "{\"name\":\"c\",\"x\":3}\n");
    place.run(&["load", "t", "b.jsonl"]).ends(0).says(&["1 inserted"]);
    assert_eq!(place.run(&["count", "t"]).out, "7\n");
    let rows = place.run(&[
        "sql",
        "SELECT name, x, count(DISTINCT nr) AS n FROM t GROUP BY name, x ORDER BY name",
    ]);
    assert_eq!(rows.ends(0).out, "name,x,n\na,1,4\nb,2,2\nc,3,1\n");
    // What was unloaded brings its numbers.
    place.run(&["unload", "t", "-o", "t.jsonl"]).ends(0);
    place.run(&["load", "t", "t.jsonl"]).ends(0).says(&["0 inserted, 7 existed"]);
    place
        .run(&["load", "u", "a.csv", "--create", "--make-key", "name"])
        .ends(3)
        .says(&["--make-key name"]);
    place.run(&["load", "u", "a.csv", "--create"]).ends(3).says(&["--primary-key", "--make-key"]);
    place.run(&["load", "t", "a.csv", "--make-key", "nr"]).ends(3).says(&["--create"]);
}

#[test]
fn folders_are_columns() {
    let place = Place::new();
    place.write("d/country=FR/year=2021/a.csv", "id,v\n1,a\n2,b\n");
    place.write("d/country=D%45/year=2022/a.csv", "id,v\n3,c\n");
    place.write(
        "d/country=__HIVE_DEFAULT_PARTITION__/year=2022/b.jsonl",
        "{\"id\":4,\"v\":\"d\"}\n",
    );
    let load =
        ["load", "t", "d/*/*/*.*", "--folders", "--create", "--primary-key", "SHARD(year), id"];
    place.run(&load).ends(0).says(&["4 inserted"]);
    let rows = place.run(&["sql", "SELECT id, v, country, year FROM t ORDER BY id"]).ends(0).out;
    assert_eq!(rows, "id,v,country,year\n1,a,FR,2021\n2,b,FR,2021\n3,c,DE,2022\n4,d,,2022\n");
    place.write("e/year=soon/a.csv", "id,v\nx,a\n");
    place
        .run(&["load", "t", "e/year=soon/a.csv", "--folders"])
        .ends(3)
        .says(&["e/year=soon/a.csv", "`soon`"]);
    // A record is kept as its file has it, in folders that show the rest of it.
    place.write("e/year=2023/a.csv", "id,v\nx,a\n");
    place.run(&["load", "t", "e/year=2023/a.csv", "--folders", "--rejects", "R"]).ends(1);
    assert_eq!(place.read("R/year=2023/a.csv"), "id,v\nx,a\n");
    place.write("R/year=2023/a.csv", "id,v\n6,a\n");
    place.run(&["load", "t", "R/*/a.csv", "--folders"]).ends(0).says(&["1 inserted"]);
    let mended = place.run(&["sql", "SELECT year, country FROM t WHERE id = 6"]).ends(0).out;
    assert_eq!(mended, "year,country\n2023,\n");
    place.write("f/id=5/a.csv", "id,v\n5,a\n");
    place.run(&["load", "t", "f/id=5/a.csv", "--folders"]).ends(3).says(&["is in the file and in"]);
}

#[test]
fn progress_is_told_to_programs() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    let run = place.run(&["load", "ships", "a.csv", "--progress", "json"]).ends(0);
    let told =
        run.err.lines().find_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let told = told.unwrap();
    let figures =
        ["read", "inserted", "failed", "durable"].map(|name| told[name].as_u64().unwrap());
    assert_eq!((figures, &told["over"]), ([3, 3, 0, 3], &true.into()));
}

#[test]
fn usage_names_no_option_that_is_not_needed() {
    // Every test has TONNAGE_STORE set.
    let run = Place::new().run(&["load", "t"]).ends(3).says(&["Usage: tonnage load"]);
    assert!(!run.err.contains("--store"), "{}", run.err);
    assert!(Place::new().run(&["load", "--help"]).ends(0).out.contains("[env: TONNAGE_STORE]"));
}

#[test]
fn options_are_called_as_they_are_given() {
    let place = Place::new().with_ships();
    place.write("a.csv", "ship,at\n1,never\n2,never\n");
    place.run(&["load", "ships", "a.csv", "--errors-max", "1"]).ends(2).says(&["--errors-max (1)"]);
    place.run(&["load", "ships", "a.csv", "--memory", "1K"]).ends(3).says(&["--memory is 1024"]);
    place
        .run(&["put", "ships", "nojson"])
        .ends(3)
        .says(&["`nojson` is not an object", "JSON object"]);
}

/// Where only some records named a column of lists, the load ended with an internal error.
#[test]
fn records_of_json_take_defaults_of_lists_and_maps() {
    let place = Place::new();
    let columns = "k LONG, a ARRAY(STRING) DEFAULT '[\"x\"]', m MAP(LONG) DEFAULT '{\"y\": 1}'";
    let key = "PRIMARY KEY (k)";
    place.run(&["sql", &format!("CREATE TABLE t ({columns}, {key})")]).ends(0);
    place.run(&["sql", &format!("CREATE TABLE d ({columns}, doc JSON, {key})")]).ends(0);
    let records = "{\"k\": 1}\n{\"k\": 2, \"a\": [\"b\", null], \"m\": {\"z\": 2}}\n{\"k\": 3, \"a\": null}\n";
    place.write("a.jsonl", records);
    place.run(&["load", "t", "a.jsonl"]).ends(0);
    let paths = ["--path", "k=k", "--path", "a=a", "--path", "m=m"];
    let load = ["load", "d", "a.jsonl", "--document-column", "doc"];
    place.run(&[&load[..], &paths].concat()).ends(0);
    for table in ["t", "d"] {
        let query =
            format!("SELECT k, a[1] AS a, m['y'] AS y, m['z'] AS z FROM {table} ORDER BY k");
        let rows = place.run(&["sql", &query]).ends(0).out;
        assert_eq!(rows, "k,a,y,z\n1,x,1,\n2,b,,2\n3,,1,\n", "{table}");
    }
}
