//! Finds what a page of Markdown refers to: links, files, and what Cargo builds by a name.

use std::collections::BTreeSet;

/// Folders at the root of the repository: what begins with one of them is a path.
const ROOT_FOLDERS: [&str; 7] =
    ["crates", "docs", "acceptance", "clients", "deploy", ".ci", ".cargo"];

/// Options of Cargo that name something to build, and its folder.
const BUILT: [(&str, &str); 3] =
    [("--example", "examples"), ("--bench", "benches"), ("--test", "tests")];

/// What a page refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The line of the page, counted from 1.
    pub line: usize,
    /// What is to be there.
    pub target: ReferenceTarget,
}

/// Something that is to be in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// A file or a heading, as a link names it: relative to the page.
    Link {
        /// The file; the page itself if it is empty.
        path: String,
        /// The heading, where one is named.
        anchor: Option<String>,
    },
    /// A path from the root of the repository.
    Path(String),
    /// A Rust file, by its name, the end of its path, or its crate and its path in there.
    RustFile(String),
    /// An example, a bench or a test of some crate.
    Built {
        /// The folder of its crate.
        folder: &'static str,
        /// Its name, which is that of its file or folder.
        name: String,
    },
}

/// What a page refers to, links first.
pub fn references_of(page: &str) -> Vec<Reference> {
    let mut found = links(page);
    let words: Vec<(usize, &str)> = words(page).collect();
    for (at, (place, word)) in words.iter().enumerate() {
        let next = words.get(at + 1).map(|(_, next)| *next);
        let target = match BUILT.iter().find(|(option, _)| option == word) {
            Some((_, folder)) => next
                .filter(|next| is_name(next))
                .map(|next| ReferenceTarget::Built { folder, name: next.to_owned() }),
            None => file_target(word),
        };
        found.extend(target.map(|target| Reference { line: line_of(page, *place), target }));
    }
    found
}

/// The anchors of the headings of a page, as links name them.
pub fn anchors_of(page: &str) -> BTreeSet<String> {
    page.lines().filter_map(|line| line.strip_prefix('#')).map(anchor_of).collect()
}

fn anchor_of(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
    kept.map(|char| if char == ' ' { '-' } else { char }).collect()
}

fn links(page: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    for (place, _) in page.match_indices("](") {
        let Some((target, _)) = page[place + 2..].split_once(')') else { continue };
        let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
        // Neither is a link: an index in code, followed by an argument.
        if is_elsewhere || target.is_empty() || target.contains(char::is_whitespace) {
            continue;
        }
        let (path, anchor) = match target.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor.to_owned())),
            None => (target, None),
        };
        let target = ReferenceTarget::Link { path: path.to_owned(), anchor };
        found.push(Reference { line: line_of(page, place), target });
    }
    found
}

/// The words of a page with their places, without the signs around them.
fn words(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_between = |char: char| char.is_whitespace() || "`()[]|\"',;<>".contains(char);
    page.split(is_between).filter(|word| !word.is_empty()).map(move |word| {
        let place = word.as_ptr() as usize - page.as_ptr() as usize;
        (place, word.trim_end_matches(['.', ':']))
    })
}

fn file_target(word: &str) -> Option<ReferenceTarget> {
    // Places for a name, and what links name better.
    if word.contains("NAME") || word.starts_with("..") {
        return None;
    }
    // Patterns and addresses have other signs.
    if !word.chars().all(|char| char.is_ascii_alphanumeric() || "_-./".contains(char)) {
        return None;
    }
    let is_path = word.split_once('/').is_some_and(|(first, _)| ROOT_FOLDERS.contains(&first));
    match is_path {
        true => Some(ReferenceTarget::Path(word.to_owned())),
        false if word.ends_with(".rs") => Some(ReferenceTarget::RustFile(word.to_owned())),
        false => None,
    }
}

/// Whether a word names something, and is no place for a name, such as NAME.
fn is_name(word: &str) -> bool {
    word.starts_with(|char: char| char.is_ascii_lowercase())
        && word.chars().all(|char| char.is_ascii_alphanumeric() || "_-".contains(char))
}

fn line_of(page: &str, place: usize) -> usize {
    page[..place].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_with_their_lines() {
        let page = "# A page\n\nSee [the\nother](b.md#its-part) and `crates/a/src/b.rs`, not\n\
                    `crates/*/src` or [this](https://x.y/z).\n`cargo bench --bench\nspeed -- --rows 5`";
        let link = |path: &str, anchor: &str| ReferenceTarget::Link {
            path: path.to_owned(),
            anchor: Some(anchor.to_owned()),
        };
        let found: Vec<_> =
            references_of(page).into_iter().map(|found| (found.line, found.target)).collect();
        assert_eq!(
            found,
            [
                (4, link("b.md", "its-part")),
                (4, ReferenceTarget::Path("crates/a/src/b.rs".to_owned())),
                (6, ReferenceTarget::Built { folder: "benches", name: "speed".to_owned() }),
            ]
        );
        let files =
            references_of("`wal/audit.rs`: it stands in stall.rs. `--test NAME`, x[0](1 + 2)");
        let files: Vec<_> = files.into_iter().map(|found| found.target).collect();
        let named = |name: &str| ReferenceTarget::RustFile(name.to_owned());
        assert_eq!(files, [named("wal/audit.rs"), named("stall.rs")]);
    }

    #[test]
    fn headings_are_anchors() {
        let anchors = anchors_of("# The `first` one\ntext\n## 2. Don't: stop (now)\n");
        assert_eq!(anchors.into_iter().collect::<Vec<_>>(), ["2-dont-stop-now", "the-first-one"]);
    }
}
