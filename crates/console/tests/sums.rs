//! The bundle is of the sources that stand beside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("node_modules") => {}
            true => files(&path, found),
            false => drop(found.insert(path)),
        }
    }
}

#[test]
fn a_change_of_the_sources_needs_a_new_bundle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sums = std::fs::read_to_string(root.join("dist/SUMS")).unwrap();
    let mut there = BTreeSet::new();
    files(&root.join("web"), &mut there);
    files(&root.join("dist"), &mut there);
    there.remove(&root.join("dist/SUMS"));
    let mut listed = BTreeSet::new();
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let path = root.join(name);
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let digest = Sha256::digest(&bytes);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, sum, "{name} is another one: `make console` builds the page again");
        listed.insert(path);
    }
    assert_eq!(listed, there, "`make console` builds the page again");
}
