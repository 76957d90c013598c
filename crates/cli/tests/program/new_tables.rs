//! Tables that a load makes from its files.

use crate::common::{Place, ships_csv};

#[test]
fn a_table_is_made_from_the_columns_of_a_file() {
    let place = Place::new();
    place.write("a.csv", ships_csv(3));
    let key = ["--create", "--primary-key", "SHARD(ship), at"];
    place
        .run(&[&["load", "ships", "a.csv"], &key[..]].concat())
        .ends(0)
        .says(&["3 read, 3 inserted, 0 existed, 0 failed"]);
    let ddl = place.run(&["sql", "DESCRIBE ships"]).ends(0).out;
    assert!(
        ddl.contains("ship LONG")
            && ddl.contains("at TIMESTAMP(0)")
            && ddl.contains("SHARD(ship), at"),
        "{ddl}"
    );
    // The same command again finds its table and its rows.
    place
        .run(&[&["load", "ships", "a.csv"], &key[..]].concat())
        .ends(0)
        .says(&["0 inserted, 3 existed"]);
    assert_eq!(place.run(&["count", "ships"]).ends(0).out, "3\n");
}

#[test]
fn days_become_a_column_of_days() {
    let place = Place::new();
    place.write("a.csv", "id,day\n1,2022-01-03\n2,\n3,1969-12-31\n");
    place.run(&["load", "t", "a.csv", "--create", "--primary-key", "id"]).ends(0);
    assert!(place.run(&["sql", "DESCRIBE t"]).out.contains("day DATE"));
    let rows = place.run(&["scan", "t", "--direction", "forward"]).ends(0).out;
    assert_eq!(rows, "id,day\n1,2022-01-03\n2,\n3,1969-12-31\n");
    // A row without a day is refused by its line, the others are stored.
    place.write("b.csv", "id,day\n4,2022-02-30\n5,2022-02-28\n");
    place.run(&["load", "t", "b.csv"]).says(&["1 inserted", "1 failed"]);
}

#[test]
fn the_types_of_several_files_are_brought_together() {
    let place = Place::new();
    place.write("a.csv", "id,x\n1,5\n");
    place.write("b.csv", "id,x,y\n2,5.5,text\n");
    place
        .run(&["load", "t", "*.csv", "--create", "--primary-key", "id"])
        .ends(0)
        .says(&["2 read, 2 inserted"]);
    assert!(place.run(&["sql", "DESCRIBE t"]).out.contains("x DOUBLE"));
}

/// Whole numbers among fractions became doubles, and lost their last digits without a word.
#[test]
fn the_types_of_a_new_table_change_no_number() {
    let place = Place::new();
    place.write("x.csv", "id,v\n1,9007199254740993\n2,1.5\n3,9223372036854775807\n");
    place.run(&["load", "--create", "--primary-key", "id", "x", "x.csv"]).ends(0);
    let rows = place.run(&["scan", "x", "--columns", "v", "--direction", "forward"]).ends(0).out;
    assert_eq!(rows, "v\n9007199254740993.0\n1.5\n9223372036854775807.0\n");
    place.write("y.jsonl", "{\"id\":1,\"v\":1}\n{\"id\":2,\"v\":\"1\"}\n{\"id\":3,\"v\":[1,2]}\n{\"id\":4,\"v\":true}\n");
    place.run(&["load", "--create", "--primary-key", "id", "y", "y.jsonl"]).ends(0);
    let rows = place.run(&["unload", "y", "--format", "jsonl"]).ends(0).out;
    assert_eq!(rows, place.read("y.jsonl"));
}

#[test]
fn the_sample_that_decides_types_can_be_everything() {
    let place = Place::new();
    let rows: String = (0..3_000).map(|id| format!("{id},{id}\n")).collect();
    place.write("a.csv", format!("id,v\n{rows}3000,1.5\n"));
    let load = |table: &str, sample: &str| {
        place.run(&["load", "--create", "--primary-key", "id", table, "a.csv", "--sample", sample])
    };
    load("t", "1000").ends(1).says(&[
        "line 3002, column v",
        "the first 1,000 records",
        "--sample all",
    ]);
    load("u", "all").ends(0).says(&["3,001 inserted"]);
    load("v", "none").ends(3).says(&["a number of records"]);
}

#[test]
fn what_makes_a_column_text_is_told() {
    let place = Place::new();
    place.write("a.csv", "id,temp\n1,NA\n2,1.5\n");
    let load = ["load", "--create", "--primary-key", "id", "t", "a.csv"];
    place
        .run(&load)
        .ends(0)
        .says(&["with --null 'NA' there would be temp DOUBLE instead of STRING"]);
    place.write("b.csv", "id,v\n");
    place
        .run(&["load", "--create", "--primary-key", "id", "u", "b.csv"])
        .ends(0)
        .says(&["no records", "STRING"]);
    place.write("c.csv", "");
    place
        .run(&["load", "--create", "--primary-key", "id", "v", "c.csv"])
        .ends(3)
        .says(&["c.csv: it is empty"]);
}

/// Of 5,000 amounts one was none: the column became STRING, without a word.
#[test]
fn the_record_that_makes_a_column_text_is_told() {
    let place = Place::new();
    let amounts = (2..=5_001).map(|line| match line {
        3_000 => "2999,x4\n".to_owned(),
        _ => format!("{},{line}.25\n", line - 1),
    });
    place.write("a.csv", format!("id,amount\n{}", amounts.collect::<String>()));
    let load = ["load", "t", "a.csv", "--create", "--primary-key", "id"];
    place.run(&load).ends(0).says(&[
        "5,000 inserted",
        "hint: column amount is STRING because of line 3000 of a.csv: 'x4'",
        "without such values it would be DOUBLE",
    ]);
    // A wide file does not fill the screen.
    let rows: String = (1..=20).map(|id| format!("{id},1,2,3,4\n")).collect();
    place.write("b.csv", format!("id,a,b,c,d\n0,w,x,y,z\n{rows}"));
    let run = place.run(&["load", "u", "b.csv", "--create", "--primary-key", "id"]).ends(0);
    assert_eq!(run.err.matches("is STRING because of line 2").count(), 3, "{}", run.err);
}

/// Dates and numbers of other countries became STRING, without a word.
#[test]
fn dates_and_numbers_in_another_form_are_told_with_what_reads_them() {
    let place = Place::new();
    let rows = "id;born;seen;price\n1;03.02.1990;3/2/1990;2,5\n2;31.12.1990;2024-01-31;1.234,50\n";
    place.write("a.csv", rows);
    let load = ["load", "t", "a.csv", "--create", "--primary-key", "id", "--delimiter", ";"];
    let run = place.run(&load).ends(0);
    let maps = [
        r#"born=to_date(born, '%d.%m.%Y')"#,
        r#"seen=to_date(seen, '%d/%m/%Y', '%Y-%m-%d')"#,
        r#"price=CAST(replace(replace(price, '.', ''), ',', '.') AS DOUBLE)"#,
    ];
    let run = run.says(&[
        "hint: column born is STRING: '03.02.1990' in line 2 of a.csv looks like a date; to store it as one, load with --map",
        "'3/2/1990' in line 2 of a.csv looks like a date, day first or month first",
        "'2,5' in line 2 of a.csv looks like a number",
    ]);
    // A line for each column, not for each record.
    assert_eq!(run.err.matches("hint: ").count(), 3, "{}", run.err);
    maps.iter().for_each(|map| assert!(run.err.contains(&format!("--map \"{map}\"")), "{map}"));
    // What it says can be done.
    let given: Vec<&str> = maps.iter().flat_map(|map| ["--map", map]).collect();
    place.run(&["sql", "DROP TABLE t"]).ends(0);
    let run = place.run(&[load.as_slice(), &given].concat()).ends(0);
    assert!(!run.err.contains("hint"), "{}", run.err);
    let told = place.run(&["sql", "DESCRIBE t"]).ends(0).out;
    for column in ["born DATE", "seen DATE", "price DOUBLE"] {
        assert!(told.contains(column), "{told}");
    }
    let rows = place.run(&["sql", "--format", "csv", "SELECT * FROM t ORDER BY id"]).ends(0);
    assert_eq!(
        rows.lines(),
        ["id,born,seen,price", "1,1990-02-03,1990-02-03,2.5", "2,1990-12-31,2024-01-31,1234.5"]
    );
}

/// Of 5,000 orders 200 were stored, with exit code 0 and without a word of why.
#[test]
fn a_key_that_does_not_tell_records_apart_is_told() {
    let place = Place::new();
    let orders: String = (0..5_000).map(|id| format!("{id},{}\n", id % 200)).collect();
    place.write("orders.csv", format!("id,customer\n{orders}"));
    let load = |table: &str, key: &str| {
        place.run(&["load", table, "orders.csv", "--create", "--primary-key", key]).ends(0)
    };
    load("t", "customer").says(&[
        "200 inserted, 4,800 existed",
        "hint: 4,800 rows have a key that came earlier in the files: the primary key (customer) does not tell them apart",
    ]);
    // Those of the second time are in the table.
    let again = load("t", "customer");
    assert!(!again.says(&["0 inserted, 5,000 existed"]).err.contains("hint"));
    assert!(!load("u", "SHARD(customer), id").err.contains("hint"));
}

#[test]
fn records_in_a_document_are_found_by_their_path() {
    let place = Place::new();
    place
        .write("q.json", "{\n\"type\": \"x\",\n\"features\": [\n{\"id\": 1},\n{\"id\": 2}\n]\n}\n");
    let load = ["load", "--create", "--primary-key", "id", "t", "q.json"];
    place.run(&load).ends(3).says(&["features is an array of objects: --records features"]);
    place.run(&[&load[..], &["--records", "features"]].concat()).ends(0).says(&["2 inserted"]);
}

#[test]
fn text_in_other_encodings_is_loaded() {
    let place = Place::new().with_ships();
    place.write("a.csv", b"ship,at,name\n1,2022-01-03T00:00:00,caf\xe9\n");
    place.run(&["load", "ships", "a.csv"]).ends(1).says(&["Latin-1"]);
    place.run(&["load", "ships", "a.csv", "--encoding", "latin1"]).ends(0);
    assert_eq!(place.run(&["get", "ships", "1", "--columns", "name"]).out, "name\ncafé\n");
}

#[test]
fn columns_without_a_type_can_be_left_out_of_a_new_table() {
    use arrow::array::{ArrayRef, DurationSecondArray, Int64Array, RecordBatch};
    let place = Place::new();
    let columns: [(&str, ArrayRef); 2] = [
        ("id", std::sync::Arc::new(Int64Array::from(vec![1]))),
        ("hour", std::sync::Arc::new(DurationSecondArray::from(vec![3_600]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let target = std::fs::File::create(place.path("a.parquet")).unwrap();
    let (format, plain) = (tonnage_files::Format::Parquet, tonnage_files::Compression::None);
    let mut writer =
        tonnage_files::RecordWriter::new(format, target, batch.schema(), plain).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let load = ["load", "--create", "--primary-key", "id", "t", "a.parquet"];
    place.run(&load).ends(3).says(&["column hour holds INTERVAL", "--ignore-columns"]);
    place.run(&[&load[..], &["--ignore-columns"]].concat()).ends(0).says(&["1 inserted"]);
}

#[test]
fn a_table_with_another_key_is_not_taken_for_the_one_asked_for() {
    let place = Place::new().with_ships();
    place.write("a.csv", ships_csv(1));
    let run = place.run(&["load", "ships", "a.csv", "--create", "--primary-key", "at"]);
    run.ends(3).says(&["another primary key", "choose another name"]);
}

/// A child table could not be created: the key columns of its parent were created once more.
#[test]
fn a_child_table_is_made_below_its_parent() {
    let place = Place::new();
    place.write("lines.csv", "shop,order_id,line,price\nx,1,1,1.5\nx,1,2,2.5\ny,2,1,3\n");
    let load = ["load", "orders.lines", "lines.csv", "--create", "--primary-key", "line"];
    place.run(&load).ends(3).says(&["there is no table orders, whose child it is"]);
    assert!(!place.path("S").exists(), "nothing was made");
    let orders =
        "CREATE TABLE orders (shop STRING, order_id LONG, PRIMARY KEY (SHARD(shop), order_id))";
    place.run(&["sql", orders]).ends(0);
    place.run(&load).ends(0).says(&["3 read, 3 inserted"]);
    let ddl = place.run(&["sql", "DESCRIBE orders.lines"]).ends(0).out;
    assert!(ddl.contains("line LONG") && ddl.contains("price DOUBLE"), "{ddl}");
    let lines = "SELECT shop, order_id, line, price FROM orders.lines ORDER BY shop, line";
    assert_eq!(
        place.run(&["sql", lines]).ends(0).out,
        "shop,order_id,line,price\nx,1,1,1.5\nx,1,2,2.5\ny,2,1,3.0\n"
    );
    place.run(&load).ends(0).says(&["0 inserted, 3 existed"]);
    // Deeper ones too, and nothing is written by a trial.
    place.write("parts.csv", "shop,order_id,line,part\nx,1,1,7\n");
    let parts = ["load", "orders.lines.parts", "parts.csv", "--create", "--primary-key", "part"];
    place.run(&[&parts[..], &["--dry-run"]].concat()).ends(0).says(&["would make", "1 fit"]);
    assert!(!place.run(&["sql", "SHOW TABLES"]).out.contains("parts"));
    place.run(&parts).ends(0).says(&["1 inserted"]);
    place.write("some.csv", "shop,line,price\nx,1,1.5\n");
    let some = ["load", "orders.some", "some.csv", "--create", "--primary-key", "line"];
    place.run(&some).ends(3).says(&["the key of that, shop, order_id", "no column order_id"]);
    let own = ["load", "orders.own", "lines.csv", "--create", "--primary-key", "page"];
    place.run(&own).ends(3).says(&["--primary-key names page"]);
    let whole = ["load", "orders.own", "lines.csv", "--create", "--primary-key", "shop, line"];
    place.run(&whole).ends(3).says(&["names shop, which orders.own has from orders"]);
}

/// The first record became the names of the columns, without a word.
#[test]
fn a_header_of_values_alone_makes_no_table() {
    let place = Place::new();
    place.write("a.csv", "1,2024-01-03,7.5\n2,2024-01-04,8\n");
    let made = ["load", "t", "a.csv", "--create", "--make-key", "id"];
    place.run(&made).ends(3).says(&[
        "values for names, such as 1, 2024-01-03, 7.5",
        "--no-header",
        "--columns",
    ]);
    assert!(!place.path("S").exists(), "nothing was made");
    let named = ["--no-header", "--columns", "nr,day,x"];
    place.run(&[&made[..], &named].concat()).ends(0).says(&["2 inserted"]);
    let rows = place.run(&["sql", "SELECT nr, day, x FROM t ORDER BY nr"]).ends(0).out;
    assert_eq!(rows, "nr,day,x\n1,2024-01-03,7.5\n2,2024-01-04,8.0\n");
}

#[test]
fn the_columns_of_folders_make_no_header_of_a_record() {
    let place = Place::new();
    std::fs::create_dir(place.path("country=FR")).unwrap();
    place.write("country=FR/a.csv", "1,2024-01-03\n2,2024-01-04\n");
    let load = ["load", "t", "country=FR/a.csv", "--folders", "--create", "--primary-key"];
    place
        .run(&[&load[..], &["country"]].concat())
        .ends(3)
        .says(&["values for names", "--no-header"]);
}

#[test]
fn a_header_of_values_may_be_meant() {
    let place = Place::new();
    place.write("a.csv", "1,2\n5,6\n");
    let load = ["load", "t", "a.csv", "--create", "--primary-key", "\"1\""];
    place.run(&load).ends(0).says(&["1 inserted"]);
    let load = ["load", "u", "a.csv", "--create", "--make-key", "id", "--rename", "1=a"];
    place.run(&load).ends(0).says(&["1 inserted"]);
}

#[test]
fn a_record_in_place_of_a_header_is_told() {
    let place = Place::new();
    place.write("a.csv", "1,abc\n2,def\n");
    place.write("b.csv", "1.5,abc\n");
    place.write("c.csv", "1,1,x\n");
    let load =
        |file: &str, key: &[&str]| place.run(&[&["load", "t", file, "--create"], key].concat());
    load("a.csv", &["--primary-key", "id"]).ends(3).says(&["names id", "--no-header"]);
    load("b.csv", &["--make-key", "id"]).ends(3).says(&["1.5 has a dot", "--no-header"]);
    load("c.csv", &["--make-key", "id"]).ends(3).says(&["1 appears twice", "give --no-header"]);
    load("a.csv", &["--make-key", "id"]).ends(0).says(&["such as 1", "--no-header"]);
    // A key out of the header says that it is one.
    place.write("d.csv", "city,2023,2024\nx,1,2\n");
    let years = place.run(&["load", "y", "d.csv", "--create", "--primary-key", "city"]).ends(0);
    assert!(!years.err.contains("header"), "{}", years.err);
}

/// The key that the store gives was looked for in the file, after the table was created.
#[test]
fn rows_of_a_file_without_a_header_are_numbered() {
    let place = Place::new();
    place.write("a.csv", "5,abc\n6,def\n");
    let load = ["load", "t", "a.csv", "--create", "--make-key", "id", "--no-header"];
    place.run(&load).ends(0).says(&["2 inserted"]);
    place.run(&load).ends(0).says(&["2 inserted"]);
    let rows = "SELECT column_1, column_2 FROM t WHERE id <= 2 ORDER BY id";
    assert_eq!(place.run(&["sql", rows]).ends(0).out, "column_1,column_2\n5,abc\n6,def\n");
}

/// The columns of the folders were looked for in the file, after the table was created.
#[test]
fn a_file_without_a_header_may_have_columns_from_its_folders() {
    let place = Place::new();
    std::fs::create_dir(place.path("country=FR")).unwrap();
    place.write("country=FR/a.csv", "5,abc\n6,def\n");
    let load = ["load", "t", "country=FR/a.csv", "--folders", "--create", "--no-header"];
    place.run(&[&load[..], &["--make-key", "id"]].concat()).ends(0).says(&["2 inserted"]);
    let rows = place.run(&["sql", "SELECT column_1, column_2, country FROM t ORDER BY id"]).ends(0);
    assert_eq!(rows.out, "column_1,column_2,country\n5,abc,FR\n6,def,FR\n");
}

/// A load that did nothing left an empty table, of unwanted types; the next try met it.
#[test]
fn a_load_that_does_nothing_makes_no_table() {
    let place = Place::new();
    let late: String = (0..50).map(|id| format!("{{\"id\":{id},\"v\":1}}\n")).collect();
    place.write("late.jsonl", late + "{\"id\":51,\"v\":1,\"w\":2}\n");
    place.write("a.csv", "id,v\n1,x\n");
    place.write("b.csv", "id,w\n2,x\n");
    place.write("other.json", r#"{"store":"S","table":"u","files":{}}"#);
    let load = |files: &[&str]| {
        let made = ["--create", "--primary-key", "id"];
        place.run(&[&["load", "t"], files, &made[..]].concat()).ends(3)
    };
    load(&["late.jsonl", "--sample", "10"]).says(&["has no column w"]);
    load(&["a.csv", "--memory", "1K"]).says(&["--memory is 1024"]);
    load(&["a.csv", "--sync-every", "0s"]).says(&["--sync-every"]);
    load(&["a.csv", "--resume", "other.json"]).says(&["it is the note of a load of u"]);
    load(&["a.csv", "--map", "v=1", "--map", "a.b=2"]);
    assert!(!place.path("S").exists(), "nothing was made");
    // Nor beside other tables.
    place.run(&["sql", "CREATE TABLE p (k LONG, PRIMARY KEY (k))"]).ends(0);
    load(&["late.jsonl", "--sample", "10"]);
    load(&["a.csv", "--memory", "1K"]);
    let shown = place.run(&["sql", "SHOW TABLES"]).ends(0).out;
    assert_eq!(shown, "p\n");
    place.run(&["load", "t", "a.csv", "b.csv", "--create", "--primary-key", "id"]).ends(0);
}

/// Each line went into one column whole, with exit code 0 and without a word.
#[test]
fn a_header_that_another_delimiter_splits_is_told_of_where_the_store_makes_the_key() {
    let place = Place::new();
    for (delimiter, option) in [(';', "';'"), ('\t', "tab"), ('|', "'|'")] {
        place.write("a.csv", "a,b,c\n1,2,3\n".replace(',', &delimiter.to_string()));
        let load = ["load", "t", "a.csv", "--create", "--make-key", "id"];
        let told = format!("--delimiter {option} splits it");
        place.run(&load).ends(3).says(&["a single column", &told]);
        assert!(!place.path("S").exists(), "nothing was made");
    }
    // It may be one all the same.
    place.write("a.csv", "here;there\nx;y\n");
    let load = ["load", "t", "a.csv", "--create", "--make-key", "id", "--rename", "here;there=v"];
    place.run(&load).ends(0).says(&["1 inserted"]);
}

#[test]
fn lines_above_the_header_escapes_and_other_quotes_are_options() {
    let place = Place::new();
    place.write(
        "a.csv",
        "Report, \"May\n\nid,name,note\n1,'it''s, so',\\N\n2,C:\\\\,a\\,b\nx,'y',z\n",
    );
    place.write(
        "load.toml",
        "table = \"t\"\nfiles = [\"a.csv\"]\nskip_lines = 2\nquote = \"'\"\nescape = '\\'\n",
    );
    let made = ["--create", "--primary-key", "id", "--sample", "2", "--rejects", "R"];
    place.run(&[&["load", "--config", "load.toml"], &made[..]].concat()).ends(1);
    let rows = place.run(&["sql", "SELECT * FROM t ORDER BY id"]).ends(0).out;
    assert_eq!(rows, "id,name,note\n1,\"it's, so\",\n2,C:\\,\"a,b\"\n");
    // A record is kept unchanged. It is loaded without the lines above the header.
    assert_eq!(place.read("R/a.csv"), "id,name,note\nx,'y',z\n");
    let plain = ["load", "u", "a.csv", "--skip-lines", "2", "--quote", "none"];
    place.run(&[&plain[..], &made[..5]].concat()).ends(1).says(&["4 fields instead of 3"]);
    place.run(&["load", "t", "a.csv", "--quote", "ab"]).ends(3).says(&["'ab' is not a quote"]);
    place.run(&["load", "t", "a.csv", "--quote", ","]).ends(3).says(&["must be different"]);
}

/// The name was shown with a line end in it, or with `\r` for a carriage return, and what was
/// advised could not be typed.
#[test]
fn a_name_with_a_line_end_is_told_as_bash_reads_it() {
    let place = Place::new();
    place.write("a.csv", "id,\"Height\nin 'cm'\"\n1,2\n");
    let load = ["load", "t", "a.csv", "--create", "--primary-key", "id"];
    let told = r"--rename $'Height\nin \'cm\'=Height_in \'cm\''";
    place.run(&load).ends(3).says(&[r"column Height\nin", told]);
    let renamed = [&load[..], &["--rename", "Height\nin 'cm'=height"]].concat();
    place.run(&renamed).ends(0);
    assert_eq!(place.run(&["sql", "SELECT height FROM t"]).ends(0).out, "height\n2\n");
}
