//! What pages and module heads refer to is there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use tonnage_tidy::references::{ReferenceTarget, anchors_of, references_of};
use tonnage_tidy::sources::{root, tree};

#[test]
fn pages_refer_to_what_is_there() -> io::Result<()> {
    let tree: BTreeSet<PathBuf> = tree()?.into_iter().collect();
    let is_page = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let (mut dead, mut count) = (Vec::new(), 0);
    for page in tree.iter().filter(is_page) {
        for reference in references_of(&fs::read_to_string(root().join(page))?) {
            count += 1;
            if !is_there(&tree, page, &reference.target)? {
                dead.push(format!("{}:{}: {:?}", page.display(), reference.line, reference.target));
            }
        }
    }
    assert!(count > 300, "only {count} references were found");
    assert!(dead.is_empty(), "these are not there:\n{}", dead.join("\n"));
    Ok(())
}

/// A module head sends its readers to other files, and a file may move.
#[test]
fn module_heads_name_files_that_are_there() -> io::Result<()> {
    let tree: BTreeSet<PathBuf> = tree()?.into_iter().collect();
    let is_source = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let (mut dead, mut count) = (Vec::new(), 0);
    for file in tree.iter().filter(is_source) {
        let text = fs::read_to_string(root().join(file))?;
        let head: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        for reference in references_of(&head.join("\n")) {
            if matches!(reference.target, ReferenceTarget::RustFile(_) | ReferenceTarget::Path(_)) {
                count += 1;
                if !is_there(&tree, file, &reference.target)? {
                    let line = reference.line;
                    dead.push(format!("{}:{line}: {:?}", file.display(), reference.target));
                }
            }
        }
    }
    assert!(count > 100, "only {count} files were named");
    assert!(dead.is_empty(), "these are not there:\n{}", dead.join("\n"));
    Ok(())
}

fn is_there(tree: &BTreeSet<PathBuf>, page: &Path, target: &ReferenceTarget) -> io::Result<bool> {
    Ok(match target {
        ReferenceTarget::Link { path, anchor } => {
            let beside = page.parent().unwrap_or(Path::new(""));
            let linked = match path.is_empty() {
                true => page.to_path_buf(),
                false => resolved(&beside.join(path)),
            };
            let Some(anchor) = anchor else { return Ok(tree.contains(&linked)) };
            tree.contains(&linked)
                && anchors_of(&fs::read_to_string(root().join(&linked))?).contains(anchor)
        }
        ReferenceTarget::Path(path) => tree.contains(&resolved(Path::new(path))),
        ReferenceTarget::RustFile(end) => {
            let of_crate = end.split_once('/').map(|(name, path)| format!("{name}/src/{path}"));
            let ends = [Some(end.clone()), of_crate];
            ends.iter().flatten().any(|end| tree.iter().any(|file| file.ends_with(end)))
        }
        ReferenceTarget::Built { folder, name } => {
            let ends = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/main.rs")];
            tree.iter().any(|file| ends.iter().any(|end| file.ends_with(end)))
        }
    })
}

/// A path without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut resolved, component| {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            other => resolved.push(other),
        }
        resolved
    })
}
