//! A shell without a terminal: lines in, text out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tonnage::Store;
use tonnage_sql::{Sql, SqlOptions};

use super::*;

/// Lines that were typed before.
struct Typed {
    lines: VecDeque<InputLine>,
    prompts: Vec<String>,
    remembered: Vec<String>,
}

impl LineReader for Typed {
    fn next(&mut self, prompt: &str, _: &str) -> CliResult<InputLine> {
        self.prompts.push(prompt.trim().to_owned());
        Ok(self.lines.pop_front().unwrap_or(InputLine::End))
    }

    fn remember(&mut self, text: &str) -> Result<(), String> {
        self.remembered.push(text.to_owned());
        Ok(())
    }

    fn width(&mut self) -> Option<usize> {
        Some(80)
    }
}

struct Session {
    text: String,
    prompts: Vec<String>,
    remembered: Vec<String>,
}

fn session(lines: impl IntoIterator<Item = InputLine>) -> Session {
    let store = Store::open("memory:").unwrap();
    store.execute("CREATE TABLE t (a LONG, b STRING, PRIMARY KEY (a))").unwrap();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let sql = Sql::new(store, SqlOptions::default()).unwrap();
    let mut shell = Shell::with_screen(Backend::Store(sql), None, Screen::capturing(kept.clone()));
    shell.settings.timing = false;
    let mut lines =
        Typed { lines: lines.into_iter().collect(), prompts: Vec::new(), remembered: Vec::new() };
    assert_eq!(shell.answer(&mut lines).unwrap(), Exit::Success);
    let text = String::from_utf8(kept.lock().unwrap().clone()).unwrap();
    Session { text, prompts: lines.prompts, remembered: lines.remembered }
}

/// What is shown for lines that are typed.
fn shown(lines: &str) -> String {
    session(lines.lines().map(|line| InputLine::Typed(line.to_owned()))).text
}

const ROWS: &str = "INSERT INTO t SELECT value, 'b' || value FROM generate_series(1, 2500);\n";

#[test]
fn statements_of_many_lines_are_answered_and_remembered_whole() {
    let lines =
        ["INSERT INTO t", "VALUES (1, 'one'),", "(2, NULL);", "SELECT * FROM t", "ORDER BY a;"];
    let session = session(lines.map(|line| InputLine::Typed(line.to_owned())));
    let table = "+---+------+\n| a | b    |\n+---+------+\n| 1 | one  |\n| 2 | NULL |\n+---+------+\n2 rows\n";
    assert_eq!(session.text, format!("rows: 2 inserted\n{table}"));
    assert_eq!(session.prompts, ["tonnage>", "->", "->", "tonnage>", "->", "tonnage>"]);
    assert_eq!(
        session.remembered,
        ["INSERT INTO t\nVALUES (1, 'one'),\n(2, NULL);", "SELECT * FROM t\nORDER BY a;"]
    );
}

#[test]
fn a_star_tells_of_a_transaction_and_its_loss_is_told_of() {
    let lines = ["BEGIN;", "INSERT INTO t VALUES (1, 'one');", "COMMIT;", "BEGIN WORK;"];
    let session = session(lines.map(|line| InputLine::Typed(line.to_owned())));
    assert_eq!(session.prompts, ["tonnage>", "tonnage*>", "tonnage*>", "tonnage>", "tonnage*>"]);
    assert!(session.text.contains("committed 1 changed row\n"), "{}", session.text);
    assert!(session.text.ends_with("nothing of it is written\n"), "{}", session.text);
}

#[test]
fn an_interrupt_forgets_what_is_typed_and_nothing_else() {
    let typed = |line: &str| InputLine::Typed(line.to_owned());
    let session = session([typed("SELECT 'open"), InputLine::Interrupted, typed("SELECT 1 AS x;")]);
    assert!(
        session.text.ends_with("1 row\n") && !session.text.contains("error"),
        "{}",
        session.text
    );
    assert_eq!(session.prompts, ["tonnage>", "'>", "tonnage>", "tonnage>"]);
}

#[test]
fn errors_point_at_their_place_and_the_shell_goes_on() {
    let wrong = "SELECT a,\n  c FROM t;\n";
    let text = shown(&format!("{wrong}{wrong}SELECT 1 AS x;"));
    let error = "error: line 2, column 3: there is no column c; the columns are a, b\n    c FROM t;\n    ^\n";
    assert!(text.starts_with(&format!("{error}{error}")), "{text}");
    assert!(text.ends_with("1 row\n"), "{text}");
}

#[test]
fn what_stands_behind_a_failure_is_left_out() {
    let text = shown("SELECT c FROM t; SELECT 1; SELECT 2;");
    assert!(
        text.ends_with("2 statements after it were left out\n") && !text.contains("1 row"),
        "{text}"
    );
}

#[test]
fn long_answers_are_cut_with_a_hint() {
    let text = shown(&format!("{ROWS}\\limit 5\nSELECT a FROM t;\n\\limit off\nSELECT a FROM t;"));
    assert!(
        text.contains("the first 5 rows; there are more: \\limit 50 shows more, \\limit off all"),
        "{text}"
    );
    assert!(text.ends_with("2,500 rows\n"), "{text}");
}

#[test]
fn an_answer_as_long_as_the_limit_is_whole() {
    let text = shown("\\limit 2\nSELECT * FROM (VALUES (1), (2)) AS v(x);");
    assert!(text.ends_with("2 rows\n"), "{text}");
}

#[test]
fn formats_and_expanded_rows() {
    let rows = "INSERT INTO t VALUES (1, NULL);\n";
    let text =
        shown(&format!("{rows}\\format jsonl\nSELECT * FROM t;\n\\format csv\nSELECT * FROM t;"));
    assert!(
        text.contains("{\"a\":1,\"b\":null}\n1 row\n") && text.contains("a,b\n1,\n1 row\n"),
        "{text}"
    );
    let text = shown(&format!("{rows}\\x\nSELECT * FROM t;"));
    assert!(text.contains("a | 1\nb | NULL\n1 row\n"), "{text}");
}

#[test]
fn rows_go_to_a_file_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.csv");
    let text = shown(&format!("{ROWS}\\o {}\nSELECT a FROM t;\nSELECT 1 AS x;", path.display()));
    assert!(text.contains("2,500 rows\n+---+\n| x |"), "{text}");
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 2_501);
}

#[test]
fn tables_are_described() {
    let text = shown("CREATE INDEX by_b ON t (b);\n\\d\n\\d T\n\\di\n\\d tt");
    for part in [
        "| t     | SHARD(a)",
        "| b      | STRING |",
        "index: by_b (b)",
        "| by_b  | t     | b       | ready |",
    ] {
        assert!(text.contains(part), "'{part}' is missing in\n{text}");
    }
    assert!(text.ends_with("error: there is no table tt; the tables are t\n"), "{text}");
}

#[test]
fn files_are_carried_out_up_to_their_first_failure() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let good =
        file("good.sql", "-- rows\nINSERT INTO t VALUES (1, 'x');\n\\format csv\nSELECT b\nFROM t");
    let text = shown(&format!("\\i {good}"));
    assert!(text.ends_with("b\nx\n1 row\n"), "{text}");
    let bad = file("bad.sql", "SELECT 1 AS x;\n\nSELECT\n  c FROM t;\nSELECT 2;");
    let text = shown(&format!("\\format csv\n\\i {bad}\nSELECT 3 AS y;"));
    let error = format!(
        "error: {bad}: line 4, column 3: there is no column c; the columns are a, b\n    c FROM t;\n    ^\n"
    );
    assert!(
        text.contains(&error) && text.ends_with("y\n3\n1 row\n") && !text.contains("2\n1 row"),
        "{text}"
    );
    let circle = directory.path().join("circle.sql");
    let circle = file("circle.sql", &format!("\\i {}", circle.display()));
    assert!(shown(&format!("\\i {circle}")).contains("may go 16 deep"));
    assert!(shown("\\i nowhere.sql").contains("error: nowhere.sql: cannot be read"));
}

#[test]
fn quit_ends_the_shell_wherever_it_stands() {
    assert_eq!(shown("quit\nSELECT 1;"), "");
    assert_eq!(shown("\\q\nSELECT 1;"), "");
    let session = session([InputLine::Typed("exit;\nSELECT 1;".to_owned())]);
    assert_eq!((session.text.as_str(), session.remembered), ("", vec!["exit;".to_owned()]));
}

#[test]
fn unknown_commands_are_told_with_what_was_meant() {
    assert!(
        shown("\\fromat csv")
            .starts_with("error: there is no command \\fromat; did you mean \\format?")
    );
    assert!(shown("\\h frob").contains("no statement begins with 'frob'"));
    assert!(shown("\\h upsert").starts_with("UPSERT INTO table"));
}
