//! The page stays small.

use tonnage_console::{ASSETS, asset};

fn bytes_of(wanted: impl Fn(&str) -> bool) -> usize {
    ASSETS.iter().filter(|asset| wanted(asset.name)).map(|asset| asset.bytes_gz.len()).sum()
}

#[test]
fn each_part_keeps_to_its_bytes() {
    let page = bytes_of(|name| name.starts_with("index") || name.starts_with("style"));
    let script = bytes_of(|name| name.starts_with("app-"));
    let code = bytes_of(|name| name.ends_with(".js"));
    let coast = bytes_of(|name| name.ends_with(".bin"));
    assert!(page > 0 && script > 0, "there is a page");
    assert!(page + script <= 45_000, "first paint: {page} + {script}");
    assert!(code <= 300_000, "all code: {code}");
    assert!(coast <= 580_000, "coasts: {coast}");
    assert!(bytes_of(|_| true) <= 900_000, "all");
}

#[test]
fn a_name_leads_to_its_file_alone() {
    assert_eq!(asset("").unwrap().name, "index.html");
    for other in ["/", "index", "../Cargo.toml", "SUMS", "assets.in"] {
        assert!(asset(other).is_none(), "{other}");
    }
    for one in ASSETS {
        assert_eq!(asset(one.name).unwrap().bytes_gz, one.bytes_gz);
        assert_eq!(one.is_unchanging, !["index.html", "LICENSES.txt"].contains(&one.name));
    }
}
