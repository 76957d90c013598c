//! What is offered where.

use super::*;

fn completer() -> Completer {
    let store = Store::open("memory:").unwrap();
    store
        .execute(
            "CREATE TABLE phones (maker STRING, price INTEGER, \"my price\" LONG, PRIMARY KEY (SHARD(maker), price));
             CREATE TABLE phones.images (image INTEGER, data BINARY, PRIMARY KEY (image));
             CREATE TABLE ships (ship LONG, name STRING, PRIMARY KEY (ship));
             CREATE INDEX by_name ON ships (name)",
        )
        .unwrap();
    Completer::new(store, vec!["count".to_owned(), "nullif".to_owned()])
}

/// The text with the cursor at `|`: what is replaced, and with what.
#[track_caller]
fn offers(text: &str, part: &str, words: &[&str]) {
    let cursor = text.find('|').unwrap();
    let text = text.replace('|', "");
    let found = completer().complete(&text, cursor);
    assert_eq!(
        (&text[found.start..cursor], found.words),
        (part, words.iter().map(|word| (*word).to_owned()).collect()),
        "{text}"
    );
}

#[test]
fn tables_stand_behind_the_words_that_want_one() {
    offers("SELECT * FROM |", "", &["phones", "phones.images", "ships"]);
    offers("select * from PH|", "PH", &["phones", "phones.images"]);
    offers("SELECT * FROM phones JOIN phones.im|", "phones.im", &["phones.images"]);
    offers("INSERT INTO sh|", "sh", &["ships"]);
    offers("SELECT 1; DESCRIBE s|", "s", &["ships"]);
    offers("CREATE INDEX i ON s|", "s", &["ships"]);
    offers("DROP INDEX |", "", &["by_name"]);
}

#[test]
fn columns_are_those_of_the_tables_that_the_statement_names() {
    offers("SELECT ma| FROM phones", "ma", &["maker"]);
    offers("SELECT * FROM ships WHERE na|", "na", &["name", "natural"]);
    offers("SELECT | FROM ships", "", &["name", "ship"]);
    offers("SELECT * FROM phones; SELECT ma| FROM ships", "ma", &[]);
    offers("SELECT * FROM ships; SELECT ma|", "ma", &["maker"]);
    offers("SELECT * FROM phones WHERE my|", "my", &["\"my price\""]);
    offers("SELECT * FROM ships s JOIN phones ON shi|", "shi", &["ship", "ships"]);
}

#[test]
fn behind_a_point_stand_columns_and_children() {
    offers("SELECT p.| FROM phones p", "", &["\"my price\"", "maker", "price"]);
    offers("SELECT s.na| FROM ships AS s, phones p", "na", &["name"]);
    offers("SELECT phones.ima|", "ima", &["images"]);
    offers("SELECT images.da| FROM phones.images", "da", &["data"]);
    offers("SELECT phones.images.im| FROM phones.images", "im", &["image"]);
    offers("SELECT x.| FROM phones p", "", &[]);
}

#[test]
fn keywords_and_functions_follow_the_case_that_is_typed() {
    offers("sel|", "sel", &["select"]);
    offers("SEL|", "SEL", &["SELECT"]);
    offers("SELECT cou|", "cou", &["count("]);
    offers("SELECT nul|", "nul", &["null", "nullif(", "nulls"]);
}

#[test]
fn texts_and_comments_are_left_alone() {
    offers("SELECT 'sel|", "", &[]);
    offers("SELECT 1 -- sel|", "", &[]);
    offers("SELECT /* sel|", "", &[]);
    offers("SELECT 1 -- x\n FROM sh|", "sh", &["ships"]);
}

#[test]
fn commands_and_their_arguments() {
    offers("\\ti|", "\\ti", &["\\timing"]);
    offers("\\d|", "\\d", &["\\d", "\\di"]);
    offers("\\d phones.|", "phones.", &["phones.images"]);
    offers("\\format js|", "js", &["json", "jsonl"]);
    offers("\\x |", "", &["auto", "off", "on"]);
}
