//! Every file that names a Rust version names the same one.

use std::fs;

use tonnage_tidy::sources::root;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The text between quotes after `key = `.
fn value_of(text: &str, key: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
    line.and_then(|rest| rest.strip_suffix('"')).unwrap_or_else(|| panic!("no {key}")).to_owned()
}

#[test]
fn one_minimum_rust_version_is_stated_everywhere() {
    let minimum = value_of(&read("Cargo.toml"), "rust-version");
    let channel = value_of(&read("rust-toolchain.toml"), "channel");
    assert!(channel.starts_with(&format!("{minimum}.")), "{channel} is not a patch of {minimum}");
    for page in ["README.md", "CONTRIBUTING.md"] {
        let promise = format!("Rust {minimum} or newer");
        assert!(read(page).contains(&promise), "{page} does not say '{promise}'");
    }
    let image = format!("FROM rust:{channel}-bookworm");
    assert!(read("deploy/Dockerfile").contains(&image), "the Dockerfile lacks '{image}'");
}

/// A version in the Makefile would be one more to keep: it reads those of the two files.
#[test]
fn make_setup_names_no_version_of_its_own() {
    let makefile = read("Makefile");
    let recipe = makefile.split("\nsetup:").nth(1).and_then(|rest| rest.split("\nbuild:").next());
    let recipe = recipe.expect("the Makefile has a recipe for setup");
    assert!(recipe.contains("$(RUST_MIN)") && recipe.contains("$(TOOLCHAIN)"));
    assert!(!recipe.contains("Rust 1."), "{recipe}");
}

/// A crate with a version of its own would promise another minimum.
#[test]
fn every_crate_takes_the_version_of_the_workspace() {
    for directory in tonnage_tidy::sources::crates().expect("crates are listed") {
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("rust-version.workspace = true"), "{}", directory.display());
    }
}
