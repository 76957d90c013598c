//! Says which crates of the workspace a crate uses, by its manifest and by ARCHITECTURE.md.

use std::collections::BTreeSet;

/// The heading of the table in ARCHITECTURE.md.
const TABLE_HEAD: &str = "| crate | uses | in its tests, too |";

/// What a name may stand between in a manifest.
const QUOTES: [char; 2] = ['"', '\''];

/// What a crate uses of the workspace. Crates are named by their directories.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CrateDependencies {
    /// Its directory.
    pub crate_name: String,
    /// What its code uses.
    pub uses: BTreeSet<String>,
    /// What its tests and benches use beyond that.
    pub tests_use: BTreeSet<String>,
}

/// The rows of the table, from the top.
pub fn documented_dependencies(page: &str) -> Vec<CrateDependencies> {
    let rows = page.lines().skip_while(|line| *line != TABLE_HEAD).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(names_of);
        let crate_name = cells.next().and_then(|names| names.into_iter().next());
        CrateDependencies {
            crate_name: crate_name.unwrap_or_default(),
            uses: cells.next().unwrap_or_default(),
            tests_use: cells.next().unwrap_or_default(),
        }
    })
    .collect()
}

/// The text between backticks.
fn names_of(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What a manifest asks for.
pub fn dependencies_of(crate_name: &str, manifest: &str) -> CrateDependencies {
    let mut used =
        CrateDependencies { crate_name: crate_name.to_owned(), ..CrateDependencies::default() };
    let mut section = "";
    for line in manifest.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let mut asked = line;
        if line.starts_with('[') {
            (section, asked) = section_of(line);
        }
        let Some(name) = workspace_crate(asked) else { continue };
        // The section of a platform ends in the same way.
        if section.ends_with("dev-dependencies") {
            used.tests_use.insert(name);
        } else if section.ends_with("dependencies") {
            used.uses.insert(name);
        }
    }
    // A crate names itself, or once more what it uses, for features that its tests need.
    let CrateDependencies { uses, tests_use, .. } = &mut used;
    tests_use.retain(|name| name != crate_name && !uses.contains(name));
    used
}

/// The section that a head begins, and the crate that it asks for itself:
/// `[dependencies.tonnage-files]`.
fn section_of(head: &str) -> (&str, &str) {
    let head = head.trim_start_matches('[').split(']').next().unwrap_or_default();
    match head.rsplit_once('.') {
        Some((section, name)) if section.ends_with("dependencies") => (section, name),
        _ => (head, ""),
    }
}

/// The directory of the crate that a line of a manifest asks for: that of `tonnage` is `store`.
fn workspace_crate(line: &str) -> Option<String> {
    let first_word = || line.split(['.', '=', ' ', '\t']).next();
    let name = package_of(line).or_else(first_word)?.trim_matches(QUOTES);
    match name.strip_prefix("tonnage")? {
        "" => Some("store".to_owned()),
        rest => rest.strip_prefix('-').map(str::to_owned),
    }
}

/// The crate that a line asks for under another name: `rows = { package = "tonnage-files" }`.
fn package_of(line: &str) -> Option<&str> {
    let (_, behind) = line.split_once("package")?;
    let value = behind.trim_start().strip_prefix('=')?.trim_start();
    value.strip_prefix(QUOTES)?.split(QUOTES).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_manifest_tells_what_a_crate_and_its_tests_use() {
        let manifest = "[package]\nname = \"tonnage-sql\"\n[dependencies]\ntonnage.workspace = true\n\
                        tokio = \"1\"\n[target.'cfg(unix)'.dependencies]\ntonnage-files = { path = \"..\" }\n\
                        [dev-dependencies]\ntonnage-files.workspace = true\ntonnage-testkit = { path = \"..\" }\n";
        let used = dependencies_of("sql", manifest);
        assert_eq!(used.uses, names(&["store", "files"]));
        assert_eq!(used.tests_use, names(&["testkit"]));
    }

    /// Once none of these forms counted: such a crate could use any other.
    #[test]
    fn each_form_that_a_manifest_has_for_a_crate_counts() {
        for asked in [
            "[dependencies]\n  tonnage-files.workspace = true",
            "[dependencies]\n\"tonnage-files\" = { path = \"..\" }",
            "[dependencies]\nrows = { path = \"..\", package = \"tonnage-files\" }",
            "[dependencies.tonnage-files]\npath = \"..\"",
            "[dependencies.rows]\npath = \"..\"\npackage='tonnage-files'",
            "[target.'cfg(unix)'.dependencies.tonnage-files]\npath = \"..\"",
            "[build-dependencies.tonnage-files] # to generate code\nworkspace = true",
        ] {
            let used = dependencies_of("sql", asked);
            assert_eq!(used.uses, names(&["files"]), "{asked}");
            let asked = asked.replace("build-", "").replace("dependencies", "dev-dependencies");
            let used = dependencies_of("sql", &asked);
            assert!(used.uses.is_empty(), "{asked}");
            assert_eq!(used.tests_use, names(&["files"]), "{asked}");
        }
        let others = "[package.metadata.tonnage-files]\n[dependencies]\n# tonnage-files = \"1\"";
        assert_eq!(dependencies_of("sql", others).uses, names(&[]));
    }

    #[test]
    fn a_table_tells_it_row_by_row() {
        let page = "before\n\n| crate | uses | in its tests, too |\n|---|---|---|\n\
                    | `sql` | `files`, `store` (rows) | `testkit` |\n| `engine` | | |\n\nbehind\n";
        let rows = documented_dependencies(page);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].crate_name, "sql");
        assert_eq!(rows[0].uses, names(&["files", "store"]));
        assert_eq!(rows[0].tests_use, names(&["testkit"]));
        assert_eq!(rows[1].crate_name, "engine");
        assert!(rows[1].uses.is_empty() && rows[1].tests_use.is_empty());
    }
}
