//! Key/value pairs from the command line.

use crate::common::Place;

fn mail() -> Place {
    let place = Place::new();
    for key in [
        "/users/42",
        "/users/42/-/mail",
        "/users/42/-/mail/home",
        "/users/42/-/mail/work",
        "/users/42/-/phone",
    ] {
        place.run(&["kv", "put", key, key]).ends(0);
    }
    place
}

fn keys(place: &Place, arguments: &[&str]) -> Vec<String> {
    let arguments =
        [&["kv", "multi-get", "/users/42"], arguments, &["--direction", "forward", "--keys-only"]]
            .concat();
    place
        .run(&arguments)
        .ends(0)
        .lines()
        .into_iter()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().to_owned())
        .collect()
}

#[test]
fn a_value_comes_back_byte_for_byte() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..=255).collect();
    place.write("value.bin", &bytes);
    place.run(&["kv", "put", "/a/-/b", "--file", "value.bin"]).ends(0);
    assert_eq!(place.run(&["kv", "get", "/a/-/b"]).ends(0).bytes, bytes);
    place.run_with_input(&["kv", "put", "/a/-/c"], &bytes).ends(0);
    assert_eq!(place.run(&["kv", "get", "/a/-/c"]).ends(0).bytes, bytes);
}

#[test]
fn what_is_not_there_is_an_answer_of_its_own() {
    let place = mail();
    place.run(&["kv", "get", "/users/43"]).ends(1).says(&["/users/43: there is no such pair"]);
    place.run(&["kv", "delete", "/users/43"]).ends(1).says(&["nothing to delete"]);
}

/// Keys without a pair were passed over, with exit code 0.
#[test]
fn keys_without_a_pair_are_told_by_the_exit_code() {
    let place = mail();
    let get = |keys: &[&str]| place.run(&[&["kv", "multi-get"], keys].concat());
    get(&["/users/42"]).ends(0);
    get(&["/users/42", "/users/43"]).ends(1).says(&["no pair of 1 of the 2 keys"]);
    get(&["/users/43"]).ends(1).says(&["no pair of any of the keys"]);
    get(&["/users/43", "--depth", "children"]).ends(1);
    get(&["/users/42", "--depth", "children", "--from", "z"]).ends(0);
}

#[test]
fn conditions_hold_or_refuse() {
    let place = mail();
    place.run(&["kv", "put", "/users/42", "new", "--if-absent"]).ends(1).says(&["there is one"]);
    place.run(&["kv", "put", "/users/77", "new", "--if-present"]).ends(1).says(&["there is none"]);
    place.run(&["kv", "put", "/users/42", "new", "--if-version", "999999999"]).ends(1);
    let scan = place.run(&["kv", "multi-get", "/users/42", "--format", "jsonl"]).ends(0);
    let version =
        serde_json::from_str::<serde_json::Value>(&scan.out).unwrap()["version"].to_string();
    place.run(&["kv", "put", "/users/42", "new", "--if-version", &version]).ends(0);
    assert_eq!(place.run(&["kv", "get", "/users/42"]).out, "new");
}

#[test]
fn depths_and_ranges_below_a_key() {
    let place = mail();
    assert_eq!(keys(&place, &[]), ["/users/42"]);
    assert_eq!(keys(&place, &["--depth", "children"]), ["/users/42/-/mail", "/users/42/-/phone"]);
    assert_eq!(keys(&place, &["--depth", "parent-and-descendants"]).len(), 5);
    assert_eq!(keys(&place, &["--depth", "descendants", "--from", "n"]), ["/users/42/-/phone"]);
    assert_eq!(keys(&place, &["--depth", "descendants", "--prefix", "ma"]).len(), 3);
}

#[test]
fn pairs_are_loaded_counted_scanned_and_deleted() {
    let place = Place::new();
    place.write("pairs.csv", "key,value\n/a,1\n/b/-/x,2\nnokey,3\n");
    place
        .run(&["kv", "load", "pairs.csv", "--rejects", "R"])
        .ends(1)
        .says(&["3 read, 2 inserted, 0 existed, 1 failed"]);
    assert_eq!(place.read("R/pairs.csv"), "key,value\nnokey,3\n");
    assert_eq!(place.run(&["kv", "count"]).out, "2\n");
    let mut values: Vec<_> = place
        .run(&["kv", "scan"])
        .lines()
        .iter()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().to_owned())
        .collect();
    values.sort();
    assert_eq!(values, ["1", "2"]);
    place.run(&["kv", "delete", "/b", "--depth", "parent-and-descendants"]).ends(0);
    assert_eq!(place.run(&["kv", "count"]).out, "1\n");
}

#[test]
fn bytes_that_are_no_text_go_as_base64() {
    let place = Place::new();
    place.write("pairs.csv", "key,value\n/a,/wA=\n");
    place.run(&["kv", "load", "pairs.csv", "--values", "base64"]).ends(0);
    assert_eq!(place.run(&["kv", "get", "/a"]).bytes, [0xff, 0]);
    place.run(&["kv", "scan"]).ends(3).says(&["the value of /a is not text", "--values base64"]);
    assert!(place.run(&["kv", "scan", "--values", "base64"]).ends(0).out.contains("/wA="));
}

#[test]
fn a_large_object_comes_back_byte_for_byte() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
    place.write("film.bin", &bytes);
    let put = ["kv", "put-lob", "/films/-/faust", "--file", "film.bin", "--chunk-bytes", "4096"];
    place.run(&put).ends(0).says(&["stored 300,000 bytes"]);
    assert_eq!(place.run(&["kv", "get-lob", "/films/-/faust"]).ends(0).bytes, bytes);
    place.run(&["kv", "get-lob", "/films/-/faust", "--output", "copy.bin"]).ends(0);
    assert_eq!(std::fs::read(place.path("copy.bin")).unwrap(), bytes);
    place.run_with_input(&["kv", "put-lob", "/films/-/faust", "--append"], b"the end").ends(0);
    let longer = place.run(&["kv", "get-lob", "/films/-/faust"]).ends(0).bytes;
    assert_eq!(longer, [&bytes[..], b"the end"].concat());
    place.run(&["kv", "put-lob", "/films/-/faust", "--if-absent", "--file", "film.bin"]).ends(1);
    place.run(&["kv", "delete-lob", "/films/-/faust"]).ends(0);
    place.run(&["kv", "delete-lob", "/films/-/faust"]).ends(1).says(&["no such large object"]);
    place.run(&["kv", "get-lob", "/films/-/faust"]).ends(1).says(&["no such large object"]);
}

/// The object was written over the file that was there: one that was cut short looked whole.
#[test]
fn a_file_of_a_large_object_appears_when_it_is_whole() {
    let place = Place::new();
    place.run_with_input(&["kv", "put-lob", "/a"], b"new").ends(0);
    place.write("copy", "old");
    std::fs::hard_link(place.path("copy"), place.path("before")).unwrap();
    place.run(&["kv", "get-lob", "/a", "--output", "copy"]).ends(0);
    assert_eq!((place.read("copy"), place.read("before")), ("new".into(), "old".into()));
    assert_eq!(place.run(&["kv", "get-lob", "/a", "--output", "-"]).ends(0).out, "new");
    assert!(!place.path("-").exists());
}

#[test]
fn the_files_of_a_directory_become_large_objects() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("films/silent")).unwrap();
    place.write("films/faust", b"a film");
    place.write("films/silent/nosferatu", b"another film");
    let load = ["kv", "load-lobs", "films", "--under", "/archive/-/de"];
    let loaded = "stored 2 large objects, 18 bytes; 0 could not be stored";
    place.run(&load).ends(0).says(&[loaded]);
    let get = |key: &str| place.run(&["kv", "get-lob", key]).ends(0).bytes;
    assert_eq!(get("/archive/-/de/faust"), b"a film");
    assert_eq!(get("/archive/-/de/silent/nosferatu"), b"another film");
    let again = [&load[..], &["--if-absent"]].concat();
    place.run(&again).ends(1).says(&["2 could not be stored"]);
    place.run(&["kv", "load-lobs", "nowhere", "--under", "/a"]).ends(3).says(&["nowhere"]);
}

/// Names of files became keys, and what keys held was sent to the terminal when they were printed.
#[test]
fn keys_are_told_without_what_a_terminal_obeys() {
    let place = Place::new();
    place.write("d/a\u{1b}[31mred", "x");
    let load = ["kv", "load-lobs", "d", "--under", "/f"];
    place.run(&load).ends(0);
    let again = place.run(&[&load[..], &["--if-absent"]].concat()).ends(1);
    let missing = place.run(&["kv", "get", "/\u{1b}[31m"]).ends(1);
    for run in [again, missing] {
        assert!(!run.err.contains('\u{1b}'), "{:?}", run.err);
        run.says(&["\\x1b[31m"]);
    }
}

#[test]
fn a_check_repairs_what_it_can() {
    let place = mail();
    place.run(&["check", "--repair"]).ends(0).says(&["deleted 0 chunks of large objects"]);
}
