//! Bad input: each with a message that names the position and the remedy, and the right exit code.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::common::{Place, Run, has_read, ships_csv};

fn load(place: &Place, content: impl AsRef<[u8]>) -> Run {
    place.write("a.csv", content);
    place.run(&["load", "ships", "a.csv"])
}

#[test]
fn an_unknown_column_is_named_before_anything_is_written() {
    let place = Place::new().with_ships();
    let run = load(&place, "ship,at,crew\n1,2022-01-03T00:00:00,12\n");
    run.ends(3).says(&[
        "a.csv",
        "table ships has no column crew",
        "ALTER TABLE",
        "--ignore-columns",
    ]);
    assert_eq!(place.run(&["count", "ships"]).out, "0\n");
}

/// The remedies were to add columns that are called as the values of the first record.
#[test]
fn a_record_in_place_of_a_header_is_told_where_no_name_is_known() {
    let place = Place::new().with_ships();
    let record = "1,2022-01-03T00:00:00,5.5,Argo\n";
    load(&place, record).ends(3).says(&["table ships has no column 1", "give --no-header"]);
    let ignoring = ["load", "ships", "a.csv", "--ignore-columns"];
    place.run(&ignoring).ends(3).says(&["give --no-header"]);
    place.run(&["load", "ships", "a.csv", "--no-header"]).ends(0).says(&["1 inserted"]);
    place.write("pairs.csv", "/a,1\n");
    place.run(&["kv", "load", "pairs.csv"]).ends(3).says(&["give --no-header"]);
    place.run(&["kv", "load", "pairs.csv", "--no-header"]).ends(0).says(&["1 inserted"]);
    let known = load(&place, "ship,crew\n1,12\n").ends(3);
    assert!(!known.err.contains("--no-header"), "{}", known.err);
}

#[test]
fn a_value_of_the_wrong_type() {
    let place = Place::new().with_ships();
    load(&place, "ship,at,lat\n1,2022-01-03T00:00:00,north\n")
        .ends(1)
        .says(&["a.csv, line 2, column lat", "1 failed"]);
}

#[test]
fn a_value_out_of_range() {
    let place = Place::new().with_ships();
    load(&place, "ship,at\n99999999999999999999,2022-01-03T00:00:00\n")
        .ends(1)
        .says(&["line 2, column ship"]);
}

#[test]
fn a_line_with_too_few_fields() {
    let place = Place::new().with_ships();
    load(&place, "ship,at,lat\n1,2022-01-03T00:00:00,1\n2\n")
        .ends(1)
        .says(&["a.csv, line 3", "1 inserted"]);
}

#[test]
fn text_that_is_not_utf8() {
    let place = Place::new().with_ships();
    load(&place, b"ship,at,name\n1,2022-01-03T00:00:00,\xff\xfe\n")
        .ends(1)
        .says(&["a.csv, line 2, column name", "UTF-8"]);
}

#[test]
fn null_in_a_key() {
    let place = Place::new().with_ships();
    load(&place, "ship,at\n,2022-01-03T00:00:00\n")
        .ends(1)
        .says(&["line 2, column ship", "1 failed"]);
}

#[test]
fn a_file_without_a_key_column() {
    let place = Place::new().with_ships();
    load(&place, "ship,lat\n1,2\n").ends(3).says(&["it has no column at", "primary key of ships"]);
}

#[test]
fn an_archive_that_is_cut_short_keeps_what_stood_before() {
    let place = Place::new().with_ships();
    place.write("a.csv.gz", cut_short());
    place
        .run(&["load", "ships", "a.csv.gz"])
        .ends(2)
        .says(&["a.csv.gz", "cut short: get it again"]);
    let count: u64 = place.run(&["count", "ships"]).out.trim().parse().unwrap();
    assert!(count > 50_000, "{count}");
}

#[test]
fn an_archive_that_is_cut_short_makes_a_table_of_what_stood_before() {
    let place = Place::new();
    place.write("a.csv.gz", cut_short());
    let load = ["load", "--create", "--primary-key", "SHARD(ship), at", "ships", "a.csv.gz"];
    place.run(&load).ends(2).says(&["a.csv.gz", "cut short: get it again"]);
    let count: u64 = place.run(&["count", "ships"]).out.trim().parse().unwrap();
    assert!(count > 50_000, "{count}");
}

/// A compressed file without its end.
fn cut_short() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(ships_csv(100_000).as_bytes()).unwrap();
    let mut packed = encoder.finish().unwrap();
    packed.truncate(packed.len() - 1_000);
    packed
}

#[test]
fn a_parquet_file_with_another_schema() {
    let place = Place::new().with_ships();
    place.run(&["sql", "CREATE TABLE other (ship LONG, at BINARY, PRIMARY KEY (ship))"]).ends(0);
    place.run(&["put", "other", r#"{"ship": 1, "at": "AAEC"}"#]).ends(0);
    place.run(&["unload", "other", "-o", "other.parquet"]).ends(0);
    place
        .run(&["load", "ships", "other.parquet"])
        .ends(3)
        .says(&["other.parquet: column at holds BINARY", "TIMESTAMP(0)"]);
    place.run(&["sql", "CREATE TABLE crews (crew LONG, PRIMARY KEY (crew))"]).ends(0);
    place
        .run(&["load", "crews", "other.parquet"])
        .ends(3)
        .says(&["table crews has no column ship, at"]);
}

#[test]
fn a_file_that_does_not_exist() {
    let place = Place::new().with_ships();
    place.run(&["load", "ships", "nosuch.csv"]).ends(3).says(&["nosuch.csv: no such file"]);
}

#[test]
fn a_table_that_does_not_exist() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(1));
    place.run(&["load", "shops", "a.csv"]).ends(3).says(&[
        "shops",
        "ships",
        "--create --primary-key",
    ]);
    place.run(&["count", "shops"]).ends(3).says(&["shops"]);
}

#[test]
fn a_store_that_does_not_exist() {
    let place = Place::new();
    place.run(&["count", "ships"]).ends(3).says(&["S"]);
    assert!(!place.path("S").exists());
}

#[test]
fn a_store_that_is_open_elsewhere() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(100_000));
    let load = ["load", "ships", "a.csv", "--rate", "1000", "--progress", "json"];
    let mut command = place.command(&load);
    let mut holder = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(holder.stderr.take().unwrap()).lines();
    assert!(told.any(|line| has_read(&line.unwrap())));
    let run = place.run(&["count", "ships"]);
    holder.kill().unwrap();
    holder.wait().unwrap();
    run.ends(3).says(&["S", "open"]);
    place.run(&["count", "ships"]).ends(0);
}

/// A full disk, a query that failed while it ran and a JSON array that was cut short had the exit
/// codes of other things.
#[test]
fn what_stops_on_the_way_says_so() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(100_000));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    for format in ["csv", "jsonl", "json", "table", "parquet"] {
        let run = place.run(&["unload", "ships", "-o", "/dev/full", "--format", format]);
        run.ends(2).says(&["the output cannot be written"]);
    }
    // Now and then the program was aborted here: at its end C++ destroyed locks that the threads of
    // the statement still took.
    place
        .run(&["sql", "SELECT 1 / (ship - ship) FROM ships"])
        .ends(2)
        .says(&["division by zero in 1 / (ships.ship - ships.ship): write nullif("]);
    place
        .run(&["sql", "--timeout", "0.2", "SELECT sum(a.ship * b.ship % 7) FROM ships a, ships b"])
        .ends(2)
        .says(&["timeout"]);
    place.write("b.json", "[{\"ship\": 1, \"at\": \"2022-01-04T00:00:00\"},\n{\"ship\": 2, ");
    place.run(&["load", "ships", "b.json"]).ends(2).says(&[
        "b.json: record 1 (line 2)",
        "cut short: get it again",
        "1 inserted",
    ]);
}

#[test]
fn a_key_that_is_not_there_is_told() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(3));
    place.run(&["load", "ships", "a.csv"]).ends(0);
    place.run(&["get", "ships", "77"]).ends(1).says(&["no row has any of the keys"]);
    let at = "2022-01-03T00:00:00";
    let keys = [format!("1,{at}"), format!("7,{at}"), format!("1,{at}")];
    let run = place.run(&["get", "ships", &keys[0], &keys[1], &keys[2]]);
    // Which of them it was, a reader had to find out.
    run.ends(1).says(&[&format!("no row has 1 of the 2 keys: {}", keys[1])]);
    place.run(&["kv", "put", "/a/-/1", "x"]).ends(0);
    let run = place.run(&["kv", "multi-get", "/a/-/1", "/b", "/c/-/2"]);
    run.ends(1).says(&["there is no pair of 2 of the 3 keys: /b /c/-/2"]);
    place.run(&["get", "ships", &keys[0], &keys[2]]).ends(0);
    place.run(&["get", "ships", "77", "--from", at]).ends(0);
}

#[test]
fn kinds_of_files_that_are_not_read_are_named() {
    let place = Place::new().with_ships();
    load(&place, b"7z\xbc\xaf\x27\x1c\0").ends(3).says(&["a.csv: is a 7z archive"]);
    load(&place, "ship,at\r1,2022-01-03T00:00:00\r").ends(3).says(&["carriage returns alone"]);
}

/// A column called `flush_interval` was called --sync-every in errors, and a file of keys was offered
/// an option that `tonnage get` does not have.
#[test]
fn errors_name_options_only_where_there_are_such() {
    let place = Place::new().with_ships();
    let run = load(&place, "ship,flush_interval,flush_interval\n1,2,3\n").ends(3);
    run.says(&["the column flush_interval appears twice"]);
    load(&place, "1,1,x\n").ends(3).says(&["the file has no header: give --no-header"]);
    let keys = place.run(&["get", "ships", "--keys", "a.csv"]).ends(3);
    assert!(!keys.says(&["the file has no header"]).err.contains("--no-header"));
}

#[test]
fn control_characters_do_not_reach_a_terminal() {
    let place = Place::new().with_ships();
    let run = place
        .run(&["sql", "--format", "table", "SELECT chr(27) || '[31mred' AS e, 'a' || chr(9) AS t"])
        .ends(0);
    assert!(run.out.contains("| \\x1b[31mred | a\\t |"), "{}", run.out);
    let run = load(&place, b"ship,at\nx\x1b[2J\x07,2022-01-03T00:00:00\n").ends(1);
    assert!(run.err.contains("`x\\x1b[2J\\x07`") && !run.err.contains('\x1b'), "{}", run.err);
    let run = load(&place, b"ship,at,c\x1b[31m\n1,2022-01-03T00:00:00,1\n").ends(3);
    assert!(!run.err.contains('\x1b'), "{}", run.err);
}

#[test]
fn negative_numbers_are_keys_and_no_options() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (a LONG, b DOUBLE, PRIMARY KEY (SHARD(a), b))"]).ends(0);
    place.run(&["put", "t", "{\"a\": -1, \"b\": -5.5}"]).ends(0);
    assert_eq!(
        place.run(&["get", "t", "-1", "--from", "-6", "--to", "-5"]).ends(0).out,
        "a,b\n-1,-5.5\n"
    );
    assert_eq!(place.run(&["get", "t", "--", "-1,-5.5"]).ends(0).out, "a,b\n-1,-5.5\n");
}

#[test]
fn a_store_of_a_newer_format() {
    let place = Place::new().with_ships();
    let manifest = place.read("S/TONNAGE");
    place.write("S/TONNAGE", manifest.replace("\nformat 1\n", "\nformat 99\n"));
    place.run(&["count", "ships"]).ends(3).says(&["format", "use a newer Tonnage"]);
}

#[test]
fn a_directory_that_cannot_be_written() {
    let place = Place::new();
    // Not even root can make a directory below a file.
    place.write("file", "");
    place
        .run(&["sql", "--store", "file/store", "CREATE TABLE t (a LONG, PRIMARY KEY (a))"])
        .ends(3)
        .says(&["file/store"]);
    let run =
        place.run(&["sql", "--store", "/proc/tonnage", "CREATE TABLE t (a LONG, PRIMARY KEY (a))"]);
    run.ends(3).says(&["/proc/tonnage"]);
}

#[test]
fn a_key_without_its_whole_shard_key() {
    let place = Place::new();
    place
        .run(&["sql", "CREATE TABLE t (a LONG, b LONG, c LONG, PRIMARY KEY (SHARD(a, b), c))"])
        .ends(0);
    place.run(&["get", "t", "1"]).ends(3).says(&["key 0", "b"]);
    place.write("keys.csv", "a\n1\n");
    place.run(&["get", "t", "--keys", "keys.csv"]).ends(3).says(&["b"]);
    place.write("keys.csv", "b\n1\n");
    place.run(&["get", "t", "--keys", "keys.csv"]).ends(3).says(&["keys.csv: it has no column a"]);
}

#[test]
fn a_key_of_another_table() {
    let place = Place::new().with_ships();
    place.run(&["get", "ships", "Nokia"]).ends(3).says(&[
        "key 'Nokia'",
        "key column ship",
        "whole number",
    ]);
    place
        .run(&["get", "ships", "1,2022-01-03T00:00:00,3"])
        .ends(3)
        .says(&["it has 3 fields, the key of ships has 2: ship, at"]);
}

#[test]
fn mixed_partial_keys_with_a_range() {
    let place = Place::new();
    place
        .run(&["sql", "CREATE TABLE t (a LONG, b LONG, c LONG, PRIMARY KEY (SHARD(a), b, c))"])
        .ends(0);
    place
        .run(&["get", "t", "1", "1,2", "--from", "5"])
        .ends(3)
        .says(&["with a range all keys give the same columns"]);
    place.run(&["get", "t", "1,2,3", "--from", "5"]).ends(3).says(&["all 3 key columns"]);
    place.run(&["get", "t", "1", "--from", "x"]).ends(3).says(&["--from, for key column b"]);
}

#[test]
fn a_keys_file_with_a_bad_record() {
    let place = Place::new().with_ships();
    place.write("keys.csv", "ship\n1\nx\n");
    place
        .run(&["get", "ships", "--keys", "keys.csv"])
        .ends(3)
        .says(&["keys.csv, line 3, column ship"]);
}

#[test]
fn wrong_usage() {
    let place = Place::new();
    for arguments in [
        &["fly"][..],
        &[],
        &["load"],
        &["load", "t"],
        &["load", "t", "f", "--create"],
        &["load", "t", "f", "--errors-max", "many"],
        &["load", "t", "f", "--memory", "lots"],
        &["load", "t", "f", "--columns", "a"],
        &["load", "t", "f", "--stream-parallelism", "x"],
        &["get", "t"],
        &["kv", "put", "nokey", "value"],
        &["scan", "t", "--format", "xml"],
    ] {
        place.run(arguments).ends(3);
    }
    place.run(&["--help"]).ends(0);
    place.run(&["--version"]).ends(0);
}

#[test]
fn verbs_that_there_are_not_lead_to_those_that_there_are() {
    let place = Place::new();
    place.run(&["drop", "t"]).ends(3).says(&["tip: ", "tonnage sql \"DROP TABLE t\""]);
    place.run(&["query", "t", "--store", "S"]).ends(3).says(&["tonnage sql \"SELECT"]);
    place.run(&["import", "t", "a.csv"]).ends(3).says(&["tip: files are loaded with"]);
    place.run(&["laod", "t", "a.csv"]).ends(3).says(&["'load', 'unload'"]);
}

#[test]
fn options_out_of_their_range() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(1));
    place.run(&["load", "ships", "a.csv", "--memory", "1K"]).ends(3).says(&["--memory is 1024"]);
    place
        .run(&["load", "ships", "a.csv", "--stream-parallelism", "0"])
        .ends(3)
        .says(&["--stream-parallelism is 0"]);
}

/// The remedies were to add such a column, or to give it another name.
#[test]
fn a_wrong_delimiter_is_told() {
    let place = Place::new().with_ships();
    for (delimiter, option) in [(";", "';'"), ("\t", "tab"), ("|", "'|'")] {
        let says = format!("--delimiter {option} splits it");
        let text = ships_csv(2).replace(',', delimiter);
        load(&place, &text).ends(3).says(&["a.csv", &says]);
        let made = ["load", "t", "a.csv", "--create", "--primary-key", "ship"];
        place.run(&made).ends(3).says(&[&says]);
    }
}

#[test]
fn a_hint_at_the_sample_comes_with_values_that_do_not_fit() {
    let place = Place::new();
    let made = ["--create", "--primary-key", "id", "--sample", "2"];
    let rows: String = (0..40_000).map(|id| format!("{id},1\n")).collect();
    place.write("ragged.csv", format!("id,v\n{rows}1\n"));
    let run = place.run(&[&["load", "t", "ragged.csv"][..], &made].concat()).ends(1);
    assert!(run.says(&["the record has 1 field instead of 2"]).err.matches("hint").count() == 0);
    place.write("late.csv", format!("id,v\n{rows}a,1\n"));
    let run = place.run(&[&["load", "u", "late.csv"][..], &made].concat());
    run.ends(1).says(&["hint: the types of u come from the first 2 records"]);
    place.write("all.csv", "id,v\n1\n");
    let run = place.run(&[&["load", "w", "all.csv"][..], &made[..3]].concat());
    run.ends(1).says(&["hint: no record of the files can be read"]);
}

#[test]
fn messages_name_the_remedy() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(1));
    place.write("file", "");
    for (arguments, says) in [
        (&["count", "--store", "none", "t"][..], "name another with --store or TONNAGE_STORE"),
        (&["count", "--store", "redis://x", "t"], "grpc://HOST:PORT for a server"),
        (&["load", "ships", "ftp://x/y.csv"], "ftp:// is not read"),
        (&["restore", "B", "--backup", "x"], "--list` shows them"),
        (&["sql", "--memory", "10", "SELECT 1"], "--memory is 10 bytes: give 16M or more"),
        (&["get", "ships", "{\"ship\":1}"], "a key is its values with commas between"),
        (&["unload", "ships", "-o", "no/x.csv"], "there is no directory no"),
        (&["unload", "ships", "--output-dir", "file"], "it is a file: name a directory"),
        (
            &["unload", "ships", "-o", "x.csv", "--split-size", "1M"],
            "--split-size is for the files",
        ),
        (&["unload", "ships", "-o", "x.csv", "--compress", "gzip"], "--compress is for the files"),
    ] {
        place.run(arguments).ends(3).says(&[says]);
    }
    let run = place.run(&["load", "ships", "a.csv", "--memory", "1K"]).ends(3);
    assert!(!run.err.contains("0 read"), "{}", run.err);
    place.run(&["kv", "put-lob", "/a", "--chunk-bytes", "1M", "--file", "a.csv"]).ends(0);
}

#[test]
fn a_primary_key_that_cannot_be() {
    let place = Place::new();
    place.write("a.csv", ships_csv(1));
    for (key, says) in [
        ("SHARD(ship", "--primary-key 'SHARD(ship'"),
        ("ship)) USING TTL 3 DAYS --", "more than a list of columns"),
        ("crew", "names crew"),
    ] {
        place.run(&["load", "t", "a.csv", "--create", "--primary-key", key]).ends(3).says(&[says]);
    }
    assert!(!place.path("S").exists());
}
