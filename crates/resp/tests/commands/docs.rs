//! The page for users lists the commands that there are.

use std::collections::BTreeSet;

use crate::common::Clients;

#[test]
fn the_page_lists_the_commands_that_are_offered() {
    let page = std::fs::read_to_string("../../docs/redis.md").unwrap();
    let table = page.split("## Commands\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let listed: BTreeSet<String> =
        table.split('`').skip(1).step_by(2).map(str::to_ascii_lowercase).collect();
    let told = Clients::new(1).ask("COMMAND LIST");
    let offered: BTreeSet<String> =
        told.lines().filter(|line| !line.starts_with(['*', '$'])).map(str::to_owned).collect();
    assert_eq!(listed, offered);
    assert!(listed.len() > 60);
}
