//! Expressions over the fields of files: `load --map` and `load --where`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use tonnage_files::{Compression, Format, RecordWriter};

use crate::common::Place;

const DDL: &str = "CREATE TABLE t (ship LONG, at TIMESTAMP(0), name STRING, PRIMARY KEY (ship))";

fn with_table() -> Place {
    let place = Place::new();
    place.run(&["sql", DDL]).ends(0);
    place
}

fn rows(place: &Place, query: &str) -> String {
    place.run(&["sql", query]).ends(0).out
}

#[test]
fn columns_are_filled_by_expressions_over_the_fields() {
    let place = with_table();
    place.write(
        "a.csv",
        "Ship,epoch,given,family\n7,1641168000,Ada,Lovelace\n8,0,\"Grace, Brewster\",Hopper\n9,,,\n",
    );
    let load = ["load", "t", "a.csv", "--map", "at=to_timestamp(EPOCH)"];
    let named = ["--map", "name=upper(family) || ', ' || given"];
    place.run(&[&load[..], &named].concat()).ends(0).says(&["3 read, 3 inserted"]);
    assert_eq!(
        rows(&place, "SELECT * FROM t ORDER BY ship"),
        "ship,at,name\n7,2022-01-03T00:00:00,\"LOVELACE, Ada\"\n8,1970-01-01T00:00:00,\"HOPPER, Grace, Brewster\"\n9,,\n"
    );
    // A field that nothing reads needs a column all the same.
    place.run(&load).ends(3).says(&["a.csv", "no column given, family"]);
    place.run(&[&load[..], &["--ignore-columns"]].concat()).ends(0).says(&["3 existed"]);
}

#[test]
fn a_column_is_filled_from_the_field_of_its_own_name() {
    let place = with_table();
    place.write("a.csv", "ship,at,name\n1,1641168000,a\n2,60,b\n");
    let map = ["--map", "at=to_timestamp(at)", "--map", "ship=ship * 10"];
    place.run(&[&["load", "t", "a.csv"][..], &map].concat()).ends(0);
    assert_eq!(
        rows(&place, "SELECT ship, at FROM t ORDER BY ship"),
        "ship,at\n10,2022-01-03T00:00:00\n20,1970-01-01T00:01:00\n"
    );
}

#[test]
fn records_that_do_not_fit_the_condition_are_left_out_and_counted() {
    let place = with_table();
    let records: String =
        (0..40_000).map(|ship| format!("{ship},{}.5,s{ship}\n", ship % 90)).collect();
    place.write("a.csv", format!("ship,knots,name\n{records}40000,,none\n"));
    // As text, 9.5 would come after 80.
    let fitting = (0..40_000).filter(|ship| ship % 90 > 80).count();
    let load = ["load", "t", "a.csv", "--where", "knots > 81 AND name LIKE 's%'"];
    let more = ["--progress", "json", "--summary", "s.json"];
    let left = 40_001 - fitting;
    place.run(&[&load[..], &more].concat()).ends(0).says(&[
        "40,001 read",
        &format!("{},{:03} inserted", fitting / 1_000, fitting % 1_000),
        &format!("{},{:03} left out", left / 1_000, left % 1_000),
        "\"read\":40001",
        &format!("\"left_out\":{left}"),
    ]);
    let summary = place.json("s.json");
    assert_eq!(
        (summary["read"].as_u64(), summary["left_out"].as_u64()),
        (Some(40_001), Some(left as u64))
    );
    assert_eq!(summary["files"][0]["left_out"], summary["left_out"]);
    assert_eq!(summary["not_stored"], 0);
    assert_eq!(
        rows(&place, "SELECT count(*) AS n, min(ship) AS s FROM t"),
        format!("n,s\n{fitting},81\n")
    );
    place.run(&[&load[..], &["--dry-run"]].concat()).ends(0).says(&[
        "40,001 read",
        "fit the table",
        &format!("{},{:03} left out", left / 1_000, left % 1_000),
    ]);
    assert!(rows(&place, "SELECT count(*) AS n FROM t").contains(&fitting.to_string()));
}

/// Fields that are called as words of SQL were read as text: a T came after a blank, and ten before
/// nine. Where the table lacks them and --ignore-columns was given, that was an internal error.
#[test]
fn fields_may_be_called_as_words_of_the_language() {
    let place = Place::new();
    place.run(&["sql", "CREATE TABLE t (id LONG, day DATE, PRIMARY KEY (id))"]).ends(0);
    place.write("a.csv", "id,timestamp\n1,2022-01-03T10:00:00\n2,2022-01-03T13:00:00\n");
    let noon = ["load", "t", "a.csv", "--where", "timestamp > '2022-01-03 12:00:00'"];
    place.run(&noon).ends(0).says(&["1 inserted", "1 left out"]);
    assert_eq!(rows(&place, "SELECT id FROM t"), "id\n2\n");
    place.write("b.csv", "id,date,end\n3,2022-01-04,10\n4,2022-01-05,9\n");
    let load = ["load", "t", "b.csv", "--map", "day=date", "--where", "end > '9'"];
    place.run(&[&load[..], &["--ignore-columns"]].concat()).ends(0).says(&["1 inserted"]);
    assert_eq!(rows(&place, "SELECT * FROM t WHERE id > 2"), "id,day\n3,2022-01-04\n");
}

/// A record for which an expression fails is rejected by itself, with its position and its text.
#[test]
fn records_for_which_an_expression_fails_are_kept() {
    let place = with_table();
    let records: String = (0..3_000).map(|ship| format!("{ship},{ship}\n")).collect();
    let records =
        records.replace("\n777,777\n", "\n777,often\n").replace("\n999,999\n", "\n999,\n");
    place.write("a.csv", format!("ship,v\n{records}3000,\"x\ny\"\n"));
    let map = ["--map", "name=CAST(CAST(v AS BIGINT) + 1 AS VARCHAR)"];
    let load = ["load", "t", "a.csv", "--rejects", "bad"];
    place
        .run(&[&load[..], &map].concat())
        .ends(1)
        .says(&["3,001 read, 2,999 inserted", "2 failed"]);
    assert_eq!(place.read("bad/a.csv"), "ship,v\n777,often\n3000,\"x\ny\"\n");
    let reasons = place.read("bad/a.reasons.jsonl");
    let first: serde_json::Value = serde_json::from_str(reasons.lines().next().unwrap()).unwrap();
    assert_eq!((first["line"].as_u64(), first["column"].as_str()), (Some(779), Some("name")));
    assert!(first["reason"].as_str().unwrap().contains("often"), "{first}");
    let kept = rows(&place, "SELECT ship, name FROM t WHERE ship IN (776, 999) ORDER BY ship");
    assert_eq!(kept, "ship,name\n776,777\n999,\n");
    // The same in a condition.
    let place = with_table();
    place.write("a.csv", "ship,v\n1,x\n2,5\n3,0\n");
    place.run(&["load", "t", "a.csv", "--where", "CAST(v AS BIGINT) > 0"]).ends(1).says(&[
        "a.csv, line 2: --where: ",
        "1 inserted",
        "1 failed",
        "1 left out",
    ]);
    // What is left out is not looked at further.
    let place = with_table();
    place.write("a.csv", "ship,v\n1,0\n2,5\n");
    let safe = ["--where", "v <> 0", "--map", "name=CAST(10 / v AS VARCHAR)"];
    place.run(&[&["load", "t", "a.csv"][..], &safe].concat()).ends(0).says(&["1 inserted"]);
}

#[test]
fn a_value_that_does_not_fit_its_column_is_rejected_by_its_line() {
    let place = with_table();
    place.write("a.csv", "ship,v\n1,1\n2,3000000000000000000\n");
    place
        .run(&["load", "t", "a.csv", "--map", "ship=v * 1.5"])
        .ends(1)
        .says(&["a.csv, line 2, column ship"]);
    place
        .run(&["load", "t", "a.csv", "--map", "at=v > 1", "--ignore-columns"])
        .ends(3)
        .says(&["a.csv", "column 'at'"]);
    assert_eq!(rows(&place, "SELECT ship FROM t"), "ship\n4500000000000000000\n");
}

#[test]
fn a_new_table_has_the_types_of_the_expressions() {
    let place = Place::new();
    place.write("a.csv", "id,epoch,x.y,kind\n1,60,2.5,a\n2,3600,4,b\n3,0,1,a\n");
    let load = ["load", "t", "a.csv", "--create", "--primary-key", "kind, id", "--rename", ".=_"];
    let map = ["--map", "at=to_timestamp(epoch)", "--map", "half=x_y / 2", "--where", "kind = 'a'"];
    place.run(&[&load[..], &map].concat()).ends(0).says(&["2 inserted", "1 left out"]);
    let described = rows(&place, "DESCRIBE t");
    for column in ["at TIMESTAMP(9)", "half DOUBLE", "epoch LONG", "x_y DOUBLE", "kind STRING"] {
        assert!(described.contains(column), "{column}: {described}");
    }
    assert_eq!(
        rows(&place, "SELECT id, at, half FROM t ORDER BY id"),
        "id,at,half\n1,1970-01-01T00:01:00,1.25\n3,1970-01-01T00:00:00,0.5\n"
    );
    // The same command again.
    place.run(&[&load[..], &map].concat()).ends(0).says(&["2 existed", "1 left out"]);
}

#[test]
fn every_format_pipes_and_files_without_a_header_are_mapped() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]));
    let batch = RecordBatch::try_from_iter([("id", ids), ("who", names)]).unwrap();
    let map =
        ["--map", "ship=id + 100", "--map", "name=coalesce(who, 'nobody')", "--where", "id <> 3"];
    for format in
        [Format::Csv, Format::JsonLines, Format::Parquet, Format::ArrowFile, Format::ArrowStream]
    {
        let mut bytes = Vec::new();
        let mut writer =
            RecordWriter::new(format, &mut bytes, batch.schema(), Compression::None).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        for is_pipe in [false, true] {
            let place = with_table();
            let name = format!("a.{}", format.label());
            place.write(&name, &bytes);
            let told = ["--input-format", format.label()];
            let file = if is_pipe { "-" } else { name.as_str() };
            let load = [&["load", "t", file][..], &told, &map].concat();
            let run = place.run_with_input(&load, if is_pipe { &bytes } else { b"" });
            run.ends(0).says(&["3 read, 2 inserted", "1 left out"]);
            assert_eq!(
                rows(&place, "SELECT ship, name FROM t ORDER BY ship"),
                "ship,name\n101,a\n102,nobody\n",
                "{name}"
            );
        }
    }
    let place = with_table();
    place.write("a.csv", "1,60,a\n2,120,b\n");
    let load = ["load", "t", "a.csv", "--no-header", "--map", "at=to_timestamp(at)"];
    place.run(&load).ends(0);
    assert!(
        rows(&place, "SELECT at FROM t ORDER BY at").ends_with("00:01:00\n1970-01-01T00:02:00\n")
    );
}

#[test]
fn nested_values_are_taken_apart() {
    let place = with_table();
    place.write("a.jsonl", "{\"who\":{\"id\":5,\"name\":\"x\"}}\n{\"who\":{\"id\":6}}\n");
    let map = ["--map", "ship=CAST(who->>'id' AS BIGINT)", "--map", "name=who->>'name'"];
    place.run(&[&["load", "t", "a.jsonl"][..], &map].concat()).ends(0);
    assert_eq!(rows(&place, "SELECT ship, name FROM t ORDER BY ship"), "ship,name\n5,x\n6,\n");
}

#[test]
fn wrong_expressions_are_refused_before_anything_is_written() {
    let place = with_table();
    place.write("a.csv", "ship,knots\n1,5\n");
    for (option, text, says) in [
        ("--where", "nots > 5", "nots"),
        ("--where", "knots", "not a condition"),
        ("--where", "knots >", "--where"),
        ("--where", "1 = 1) FROM t --", "--where"),
        ("--where", "knots > 1; DROP TABLE t", "--where"),
        ("--where", "knots > $1", "parameter"),
        ("--where", "sum(knots) > 1", "aggregates"),
        ("--where", "knots IN (SELECT ship FROM t)", "--where"),
        ("--where", "row_number() OVER () = 1", "window"),
        ("--map", "name=knots, ship", "--map"),
        ("--map", "name=nosuch(knots)", "nosuch"),
        ("--map", "crew=knots", "crew"),
        ("--map", "name", "COLUMN=EXPRESSION"),
    ] {
        let run = place.run(&["load", "t", "a.csv", "--ignore-columns", option, text]);
        let run = run.ends(3).says(&[says]);
        assert!(!run.err.contains("_records") && !run.err.contains("_value"), "{}", run.err);
    }
    place
        .run(&["load", "t", "a.csv", "--map", "name='a'", "--map", "NAME='b'"])
        .ends(3)
        .says(&["fills NAME twice"]);
    assert_eq!(rows(&place, "SELECT count(*) AS n FROM t"), "n\n0\n");
}

/// The default of the column replaced the field, or its type was not that of the field.
#[test]
fn a_field_has_no_default_where_an_expression_fills_its_column() {
    let place = Place::new();
    let table = "CREATE TABLE t (k LONG, a NUMBER(8, 3) DEFAULT 5, b LONG DEFAULT 7, c LONG DEFAULT 9, PRIMARY KEY (k))";
    place.run(&["sql", table]).ends(0);
    place.write("a.jsonl", "{\"k\": 1, \"a\": \"1.5x\", \"b\": 4}\n{\"k\": 2}\n");
    let map = ["--map", "a=length(upper(a))", "--map", "B=b*2"];
    place.run(&[&["load", "t", "a.jsonl"][..], &map].concat()).ends(0);
    assert_eq!(rows(&place, "SELECT * FROM t ORDER BY k"), "k,a,b,c\n1,4.000,8,9\n2,,,9\n");
}
