use std::fmt::Write as _;

use super::{rows, session};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/functions.md");

const HEAD: &str = "\
# Functions of SQL

All functions that statements may call, as `SHOW FUNCTIONS` lists them. [sql.md](sql.md) says how
they behave. A test makes this page of the code: `TONNAGE_FUNCTIONS=write` writes it anew.

`CAST`, `EXTRACT(year FROM x)`, `POSITION(x IN y)`, `SUBSTRING(x FROM 1 FOR 2)`,
`TRIM(BOTH x FROM y)` and `OVERLAY(...)` are forms of the language.
";

const KINDS: [(&str, &str); 4] = [
    ("scalar", "Functions of values"),
    ("aggregate", "Aggregates"),
    ("window", "Functions of windows"),
    ("table", "Functions in FROM"),
];

#[test]
fn every_function_is_on_its_page() {
    let functions = rows(&session(), "SHOW FUNCTIONS");
    let mut page = HEAD.to_owned();
    for (kind, title) in KINDS {
        let of_kind = functions.iter().filter(|function| function[1] == kind);
        let (own, others): (Vec<_>, Vec<_>) = of_kind.partition(|function| function[2].is_empty());
        writeln!(page, "\n## {title}\n").unwrap();
        let names: Vec<_> = own.iter().map(|function| format!("`{}`", function[0])).collect();
        page.push_str(&wrapped(&names));
        if !others.is_empty() {
            page.push_str("\n| also | for |\n|---|---|\n");
        }
        for function in others {
            let meaning = function[2].replace('|', "&#124;");
            writeln!(page, "| `{}` | `{meaning}` |", function[0]).unwrap();
        }
    }
    if std::env::var("TONNAGE_FUNCTIONS").is_ok_and(|mode| mode == "write") {
        std::fs::write(PAGE, page).unwrap();
        return;
    }
    let shown = std::fs::read_to_string(PAGE).unwrap();
    for (shown, today) in shown.lines().zip(page.lines()) {
        assert_eq!(shown, today, "docs/functions.md (TONNAGE_FUNCTIONS=write writes it anew)");
    }
    assert_eq!(shown.lines().count(), page.lines().count());
}

/// Names with commas, in lines of 100 columns.
fn wrapped(names: &[String]) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for (number, name) in names.iter().enumerate() {
        let comma = if number + 1 < names.len() { "," } else { "" };
        if column > 0 && column + name.len() + 2 > 100 {
            text.push('\n');
            column = 0;
        }
        let blank = if column > 0 { " " } else { "" };
        let word = format!("{blank}{name}{comma}");
        column += word.len();
        text.push_str(&word);
    }
    text.push('\n');
    text
}

#[test]
fn functions_are_listed_by_a_pattern() {
    let sql = session();
    let found = rows(&sql, "SHOW FUNCTIONS LIKE 'JSON_EACH%'");
    assert_eq!(found, [["json_each", "table", ""], ["json_each_text", "table", ""]]);
    assert_eq!(
        rows(&sql, "show functions like 'ceil%'"),
        [["ceil", "scalar", ""], ["ceiling", "scalar", "ceil($1)"]]
    );
    assert!(rows(&sql, "SHOW FUNCTIONS LIKE 'no such%'").is_empty());
    super::assert_fails(
        sql.execute("SHOW FUNCTIONS WHERE x"),
        tonnage::ErrorKind::Invalid,
        "expected",
    );
}
