//! What is unloaded loads again as the same rows, in every format.

use crate::common::Place;

const DDL: &str = "CREATE TABLE t (id LONG, at TIMESTAMP(3), i INTEGER, f FLOAT, d DOUBLE, n NUMBER(10, 2), w NUMBER(76, 20), s STRING, b BOOLEAN,
    bytes BINARY, u UUID, j JSON, day DATE, clock TIME, four BINARY(4), hash BINARY(16), e ENUM('red', 'it''s'),
    a ARRAY(STRING), aw ARRAY(NUMBER(50)), m MAP(LONG), r RECORD(c NUMBER(9, 2), e ENUM(x, y), l ARRAY(DATE), b BINARY, j JSON, u UUID, t TIMESTAMP(3), x BINARY(16)), PRIMARY KEY (SHARD(id), at))";
const ROWS: &str = r#"{"id":1,"at":"2022-01-03T00:00:00.5","i":-7,"f":1.5,"d":1e100,"n":12.34,"w":-99999999999999999999999999999999999999999999999999999999.99999999999999999999,"s":"a, \"b\"\nc","b":true,"bytes":"AAEC","u":"00112233-4455-6677-8899-aabbccddeeff","j":{"x":[1,2]},"day":"2022-01-03","clock":"06:00:00.25","four":"AAECAw==","hash":"AAECAwQFBgcICQoLDA0ODw==","e":"it's","a":["x",null,"a, \"b\""],"aw":["77777777777777777777777777777777777777777777777777",null,1],"m":{"k":5,"l":null},"r":{"c":1.25,"e":"y","l":["2022-01-03",null],"b":"AAECAwQF","j":{"y":[1,"z"]},"u":"00112233-4455-6677-8899-aabbccddeeff","t":"2022-01-03T00:00:00.5","x":"AAECAwQFBgcICQoLDA0ODw=="}}
{"id":2,"at":"1969-12-31T23:59:59","i":null,"f":null,"d":null,"n":null,"w":0.00000000000000000001,"s":"","b":null,"bytes":null,"u":null,"j":null,"day":"1969-12-31"}
{"id":3,"at":"2022-01-03T00:00:00","i":0,"f":0.0,"d":-0.5,"n":-0.01,"s":null,"b":false,"bytes":"","u":null,"j":"text","clock":"23:59:59.999999999","a":[],"m":{},"r":{"c":null}}
"#;

fn stored() -> Place {
    let place = Place::new();
    place.run(&["sql", DDL]).ends(0);
    place.write("rows.jsonl", ROWS);
    place.run(&["load", "t", "rows.jsonl"]).ends(0).says(&["3 inserted"]);
    place
}

fn rows(place: &Place, store: &str) -> Vec<String> {
    let run = place.run(&["scan", "--store", store, "t", "--format", "jsonl"]).ends(0);
    let mut rows: Vec<_> = run.lines().into_iter().map(str::to_owned).collect();
    rows.sort();
    rows
}

#[test]
fn every_format_gives_the_same_rows_back() {
    let place = stored();
    let packed = ["t.csv.gz", "t.jsonl.zst", "t.csv.zst", "t.tsv.gz"];
    for file in ["t.csv", "t.tsv", "t.jsonl", "t.parquet", "t.arrow"].into_iter().chain(packed) {
        place.run(&["unload", "t", "-o", file]).ends(0).says(&["3 rows"]);
        let again = format!("again-{file}");
        place.run(&["sql", "--store", &again, DDL]).ends(0);
        place
            .run(&["load", "--store", &again, "t", file])
            .ends(0)
            .says(&["3 inserted", "0 failed"]);
        assert_eq!(rows(&place, &again), rows(&place, "S"), "{file}");
    }
}

#[test]
fn what_a_table_holds_can_make_the_table_anew() {
    let place = stored();
    for file in ["t.parquet", "t.arrow"] {
        place.run(&["unload", "t", "-o", file]).ends(0);
        let again = format!("made-{file}");
        place
            .run(&[
                "load",
                "--store",
                &again,
                "t",
                file,
                "--create",
                "--primary-key",
                "SHARD(id), at",
            ])
            .ends(0);
        assert_eq!(
            place.run(&["sql", "--store", &again, "DESCRIBE t"]).out,
            place.run(&["sql", "DESCRIBE t"]).out,
            "{file}"
        );
        assert_eq!(rows(&place, &again), rows(&place, "S"), "{file}");
    }
}

#[test]
fn an_empty_table_unloads_to_a_file_that_can_be_read() {
    let place = Place::new();
    place.run(&["sql", DDL]).ends(0);
    for format in ["csv", "jsonl", "parquet", "arrow"] {
        let file = format!("empty.{format}");
        place.run(&["unload", "t", "-o", &file]).ends(0);
        place.run(&["load", "t", &file]).ends(0).says(&["0 read"]);
    }
    assert_eq!(place.run(&["unload", "t", "--format", "json"]).ends(0).out, "[]\n");
}

#[test]
fn standard_output_takes_every_format() {
    let place = stored();
    for format in ["csv", "tsv", "jsonl", "parquet", "arrow"] {
        let bytes = place.run(&["unload", "t", "--format", format]).ends(0).bytes;
        let again = format!("piped-{format}");
        place.run(&["sql", "--store", &again, DDL]).ends(0);
        let format = if format == "arrow" { "arrow-stream" } else { format };
        place
            .run_with_input(
                &["load", "--store", &again, "t", "-", "--input-format", format],
                &bytes,
            )
            .ends(0)
            .says(&["3 inserted"]);
    }
    let array: Vec<serde_json::Value> =
        serde_json::from_str(&place.run(&["unload", "t", "--format", "json"]).out).unwrap();
    assert_eq!(array.len(), 3);
    let table = place.run(&["unload", "t", "--format", "table", "--columns", "id,u,bytes"]).out;
    assert!(
        table.contains("00112233-4455-6677-8899-aabbccddeeff") && table.contains("(3 bytes)"),
        "{table}"
    );
}

#[test]
fn an_output_that_fails_leaves_nothing_behind() {
    let place = stored();
    place
        .run(&["unload", "t", "-o", "no/such/directory/t.csv"])
        .ends(3)
        .says(&["cannot be written"]);
    place
        .run(&["unload", "t", "-o", "t.csv", "--columns", "nosuch"])
        .ends(3)
        .says(&["no column 'nosuch'"]);
    assert!(!place.path("t.csv").exists());
    let left = std::fs::read_dir(place.path("")).unwrap().filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().contains("partial"))
    });
    assert_eq!(left.count(), 0);
}

/// It was written as CSV under the name of another format.
#[test]
fn a_format_that_is_only_read_is_refused() {
    let place = stored();
    for name in ["t.avro", "T.AVRO"] {
        place.run(&["unload", "t", "-o", name]).ends(3).says(&[
            name,
            "is read, and not written",
            "--format",
        ]);
        assert!(!place.path(name).exists());
    }
    place.run(&["unload", "t", "-o", "t.avro", "--format", "csv"]).ends(0);
}

/// Such files were written as CSV under the name of another format.
#[test]
fn archives_and_workbooks_are_not_written() {
    let place = stored();
    for name in ["t.xlsx", "T.XLS", "t.zip"] {
        place.run(&["unload", "t", "-o", name]).ends(3).says(&[name, "is not written"]);
        assert!(!place.path(name).exists());
    }
}

/// Commas were written under a name that promises tabs, and `--input-format tsv` read commas.
#[test]
fn tabs_part_the_fields_of_tsv() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, v STRING, PRIMARY KEY (id))"]).ends(0);
    let rows = b"id\tv\n1\ta,b\n2\t\"a\tb\"\n";
    place.run_with_input(&["load", "t", "-", "--input-format", "tsv"], rows).ends(0);
    place.run(&["unload", "t", "-o", "t.tsv"]).ends(0);
    assert_eq!(place.read("t.tsv").as_bytes(), rows);
    place.run(&["sql", "COPY t TO 'c.tsv'"]).ends(0);
    assert_eq!(place.read("c.tsv").as_bytes(), rows);
    let wrong = place.run(&["load", "t", "t.tsv", "--input-format", "tab"]);
    wrong.ends(3).says(&["csv, tsv, jsonl"]);
}

#[test]
fn lists_of_tables_and_columns_come_in_the_format_that_is_asked_for() {
    let place = stored();
    assert_eq!(place.run(&["sql", "--format", "csv", "SHOW TABLES"]).ends(0).out, "table\nt\n");
    let columns = place.run(&["sql", "--format", "jsonl", "DESCRIBE t"]).ends(0);
    let first = r#"{"column":"id","type":"LONG","nullable":"no","key":"shard","default":""}"#;
    assert_eq!(columns.lines()[0], first);
    assert!(place.run(&["sql", "DESCRIBE t"]).ends(0).out.starts_with("CREATE TABLE t"));
}

/// The time between two timestamps was `PT3600S` beside `1 hours`.
#[test]
fn intervals_have_one_form() {
    let place = Place::new();
    let query = "SELECT INTERVAL '25 hours' AS given, TIMESTAMP '2024-01-02 01:00:00' - TIMESTAMP '2024-01-01 00:00:00' AS span, CAST(INTERVAL '25 hours' AS STRING) AS text";
    let run = |format: &str| place.run(&["sql", "--create", "--format", format, query]).ends(0).out;
    assert_eq!(run("csv"), "given,span,text\n25 hours,25 hours,25 hours\n");
    assert_eq!(
        run("jsonl"),
        "{\"given\":\"25 hours\",\"span\":\"25 hours\",\"text\":\"25 hours\"}\n"
    );
    assert_eq!(run("table").matches("25 hours").count(), 3, "{}", run("table"));
}
