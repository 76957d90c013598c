//! Backups and restores, as `docs/operations.md` shows them.

use std::fs;

use crate::common::Place;

fn chapter() -> String {
    let path = "../../docs/operations.md";
    let text = fs::read_to_string(path).unwrap();
    let chapter = text.split("## Backup and restore").nth(1).unwrap();
    chapter.split("```").nth(1).unwrap().to_owned()
}

#[test]
fn the_commands_of_the_operations_page_work_as_written() {
    let place = Place::new();
    let mut said = Vec::new();
    for line in chapter().lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0], "tonnage");
        said.push((line.to_owned(), place.run(&words[1..]).ends(0)));
    }
    let of = |part: &str| &said.iter().find(|(line, _)| line.contains(part)).unwrap().1;
    assert_eq!(of("--list").lines().len(), 3, "{:?}", of("--list"));
    assert!(of("--list").out.starts_with("backup,made,directories,files,bytes\n1,20"));
    assert!(of("--verify").err.contains("verified 2 backups"), "{:?}", of("--verify"));
    assert_eq!(of("kv get").out, "Grace");
    assert!(of("--prune").err.contains("removed 1 backup and"), "{:?}", of("--prune"));
    assert!(of("check").out.contains("(key/value pairs),1"), "{:?}", of("check"));
}

#[test]
fn a_damaged_backup_ends_with_code_1_and_names_the_file() {
    let place = Place::new();
    place.run(&["kv", "put", "/a", "1"]).ends(0);
    place.run(&["backup", "B", "--copy"]).ends(0).says(&["backup 1", "0 linked"]);
    let files = fs::read_dir(place.path("B/files")).unwrap().map(|file| file.unwrap().path());
    let data = files.into_iter().find(|file| file.display().to_string().contains(".sst.")).unwrap();
    fs::write(&data, b"rubbish").unwrap();
    let name = data.file_name().unwrap().to_str().unwrap().to_owned();
    place.run(&["backup", "B", "--verify"]).ends(1).says(&[&name, "1 damaged"]);
    let restored = place.run(&["restore", "B", "--store", "new"]);
    assert_ne!(restored.code, 0);
    restored.says(&[&name]);
    assert!(!place.path("new").exists());
}

#[test]
fn a_restore_over_a_store_and_a_backup_of_nothing_are_refused() {
    let place = Place::new();
    place.run(&["backup", "B"]).ends(3).says(&["there is no store"]);
    assert!(!place.path("B").exists());
    place.run(&["kv", "put", "/a", "1"]).ends(0);
    place.run(&["backup", "B"]).ends(0);
    place.run(&["restore", "B"]).ends(3).says(&["there is a store already"]);
    place.run(&["restore", "B", "--store", "memory:"]).ends(3).says(&["no directory"]);
    place.run(&["backup", "B", "--prune"]).ends(3).says(&["--keep"]);
}

/// The story of a bug: the backup was taken, and `--keep` removed all those of the first store.
#[test]
fn a_backup_of_another_store_is_refused_before_keep_removes_any() {
    let place = Place::new();
    place.run(&["kv", "put", "/a", "1"]).ends(0);
    place.run(&["backup", "B"]).ends(0);
    place.run(&["backup", "B"]).ends(0);
    place.run(&["kv", "put", "/m", "1", "--store", "M"]).ends(0);
    let refused = place.run(&["backup", "B", "--keep", "1", "--store", "M"]).ends(3);
    refused.says(&["B holds backups of another store", "a repository of its own"]);
    assert_eq!(place.run(&["backup", "B", "--list"]).ends(0).lines().len(), 3);
    place.run(&["restore", "B", "--store", "new"]).ends(0);
    assert_eq!(place.run(&["kv", "get", "/a", "--store", "new"]).ends(0).out, "1");
}

/// It said "File exists (os error 17)".
#[test]
fn a_file_in_place_of_a_directory_is_called_one() {
    let place = Place::new();
    place.run(&["kv", "put", "/a", "1"]).ends(0);
    place.write("orders.csv", "id\n1\n");
    let run = place.run(&["backup", "orders.csv"]).ends(3);
    run.says(&["orders.csv is a file, not a directory"]);
    assert_eq!(place.read("orders.csv"), "id\n1\n");
}
