//! Finds which file of a crate imports which, and the circles among them.
//!
//! 1. Each file below `src` is a module, named by its path. Tests are left out.
//! 2. A path in a `use`, or one that begins with `crate`, `self`, `super` or a child module,
//!    resolves to the file that defines its name. Re-exports are followed.
//! 3. A circle is a set of files whose imports lead from each to each other.
//!
//! `pub use` is a re-export, not an import. The check reads words, not meaning: it does not see
//! names from macros.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use crate::sources::rust_files;
use crate::tokens::tokens;

/// The path of a module, from the root of its crate.
type ModulePath = Vec<String>;

/// How many re-exports of a name are followed.
const REEXPORT_DEPTH_MAX: usize = 8;

/// The modules of a crate.
pub struct Modules {
    by_path: BTreeMap<ModulePath, Module>,
}

/// One file.
struct Module {
    file: String,
    uses: Vec<Import>,
    /// Paths in the code that do not stand in a `use`.
    paths: Vec<Vec<String>>,
    /// Names of functions, types and the like.
    defined: BTreeSet<String>,
}

/// One name of a `use`.
struct Import {
    path: Vec<String>,
    /// What the name is called here; `*` for all.
    name: String,
    is_reexport: bool,
}

impl Modules {
    /// Reads the files of a crate.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(crate_directory: &Path) -> io::Result<Self> {
        let source = crate_directory.join("src");
        let mut by_path = BTreeMap::new();
        for file in rust_files(&source)? {
            let relative = file.strip_prefix(&source).unwrap_or(&file).to_string_lossy();
            if let Some(path) = module_path(&relative) {
                by_path.insert(path, Module::parse(&relative, &fs::read_to_string(&file)?));
            }
        }
        Ok(Modules { by_path })
    }

    /// The files of each circle, sorted.
    pub fn circles(&self) -> Vec<Vec<&str>> {
        let arrows: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
            self.by_path.keys().map(|module| (module, self.imported_by(module))).collect();
        let reached: BTreeMap<_, _> =
            arrows.keys().map(|module| (*module, reached_from(module, &arrows))).collect();
        let mut circles = BTreeSet::new();
        for (module, others) in &reached {
            if others.contains(*module) {
                let mut circle: Vec<&str> = others
                    .iter()
                    .filter(|other| reached[*other].contains(*module))
                    .map(|other| self.by_path[*other].file.as_str())
                    .collect();
                circle.sort_unstable();
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// What a module imports, each with the names that lead there.
    pub fn imports_of(&self, file: &str) -> BTreeMap<&str, BTreeSet<String>> {
        let mut imports: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let module = self.by_path.iter().find(|(_, module)| module.file == file);
        if let Some((path, _)) = module {
            for import in self.paths_of(path) {
                if let Some(other) = self.resolve(path, import, 0).filter(|other| *other != path) {
                    let name = import.last().cloned().unwrap_or_default();
                    imports.entry(&self.by_path[other].file).or_default().insert(name);
                }
            }
        }
        imports
    }

    /// The imports that make circles, a line each.
    pub fn explain(&self, circles: &[Vec<&str>]) -> String {
        let mut lines = String::new();
        for circle in circles {
            lines += &format!("circle of {} files:\n", circle.len());
            for file in circle {
                let imports = self.imports_of(file).into_iter();
                for (other, names) in imports.filter(|(other, _)| circle.contains(other)) {
                    let names = names.into_iter().collect::<Vec<_>>().join(", ");
                    lines += &format!("  {file} -> {other}: {names}\n");
                }
            }
        }
        lines
    }

    fn paths_of<'a>(&'a self, module: &ModulePath) -> impl Iterator<Item = &'a Vec<String>> {
        let Module { uses, paths, .. } = &self.by_path[module];
        let uses = uses.iter().filter(|import| !import.is_reexport).map(|import| &import.path);
        uses.chain(paths)
    }

    fn imported_by(&self, module: &ModulePath) -> BTreeSet<&ModulePath> {
        let resolved = self.paths_of(module).filter_map(|path| self.resolve(module, path, 0));
        resolved.filter(|other| *other != module).collect()
    }

    /// The module that defines what a path names, if it is of this crate.
    fn resolve(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<&ModulePath> {
        // Two modules may re-export a name from each other: without a limit this would never end.
        if depth > REEXPORT_DEPTH_MAX {
            return None;
        }
        let mut segments = path.iter().peekable();
        let mut module = match segments.peek()?.as_str() {
            "crate" => {
                segments.next();
                Vec::new()
            }
            "self" => {
                segments.next();
                from.clone()
            }
            "super" => {
                let mut module = from.clone();
                while segments.next_if(|segment| *segment == "super").is_some() {
                    module.pop()?;
                }
                module
            }
            first if self.child(from, first).is_some() => from.clone(),
            _ => return None,
        };
        while let Some(child) = segments.peek().and_then(|segment| self.child(&module, segment)) {
            module = child;
            segments.next();
        }
        // The longest path that is a module counts; what follows it is a name inside.
        let (module, known) = self.by_path.get_key_value(&module)?;
        let Some(name) = segments.next().filter(|name| *name != "*" && *name != "self") else {
            return Some(module);
        };
        if known.defined.contains(name) {
            return Some(module);
        }
        let reexported = known.uses.iter().filter(|import| import.name == *name);
        let all = known.uses.iter().filter(|import| import.name == "*");
        // A name re-exported by itself wins over `*`, as in Rust. An undefined one stays here.
        reexported
            .filter_map(|import| self.resolve(module, &import.path, depth + 1))
            .chain(all.filter_map(|import| self.resolve_glob(module, import, name, depth)))
            .next()
            .or(Some(module))
    }

    /// Where a name is defined that comes by `use path::*`.
    fn resolve_glob(
        &self,
        from: &ModulePath,
        import: &Import,
        name: &str,
        depth: usize,
    ) -> Option<&ModulePath> {
        let mut path = import.path.clone();
        *path.last_mut()? = name.to_owned();
        let found = self.resolve(from, &path, depth + 1)?;
        self.by_path[found].defined.contains(name).then_some(found)
    }

    fn child(&self, module: &ModulePath, name: &str) -> Option<ModulePath> {
        let mut child = module.clone();
        child.push(name.to_owned());
        self.by_path.contains_key(&child).then_some(child)
    }
}

fn reached_from<'a>(
    module: &'a ModulePath,
    arrows: &BTreeMap<&'a ModulePath, BTreeSet<&'a ModulePath>>,
) -> BTreeSet<&'a ModulePath> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![module]);
    while let Some(module) = next.pop() {
        next.extend(arrows[module].iter().filter(|other| reached.insert(**other)));
    }
    reached
}

/// The module of a file, given by its path below `src`; none for tests and binaries.
fn module_path(relative: &str) -> Option<ModulePath> {
    let mut path: ModulePath =
        relative.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if path.iter().any(|part| part == "tests" || part == "bin") {
        return None;
    }
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    Some(path)
}

impl Module {
    fn parse(file: &str, text: &str) -> Self {
        // Tests stand at the end of a file.
        let tests = ["#[cfg(test)]\nmod ", "#[cfg(test)]\npub(crate) mod "];
        let end = tests.iter().filter_map(|tests| text.find(tests)).min().unwrap_or(text.len());
        let code = &text[..end];
        let tokens = tokens(code);
        let mut module = Module {
            file: file.to_owned(),
            uses: Vec::new(),
            paths: Vec::new(),
            defined: BTreeSet::new(),
        };
        let mut at = 0;
        while at < tokens.len() {
            match tokens[at] {
                "use" => at = module.parse_use(&tokens, at),
                "fn" | "struct" | "enum" | "trait" | "const" | "static" | "type" | "union" => {
                    module.defined.extend(tokens.get(at + 1).map(|name| (*name).to_owned()));
                    at += 1;
                }
                _ if tokens.get(at + 1) == Some(&"::") && !follows_path(&tokens, at) => {
                    // A full path in the code ties files as a `use` does.
                    let path = path_at(&tokens, at);
                    at += 2 * path.len() - 1;
                    module.paths.push(path);
                }
                _ => at += 1,
            }
        }
        module
    }

    /// Reads the `use` that begins at a token; returns the token after it.
    fn parse_use(&mut self, tokens: &[&str], at: usize) -> usize {
        let is_reexport = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
        let end = tokens[at..].iter().position(|token| *token == ";");
        let end = end.map_or(tokens.len(), |len| at + len);
        let mut found = Vec::new();
        expand(&tokens[at + 1..end], &mut Vec::new(), &mut found);
        let import = |(path, name)| Import { path, name, is_reexport };
        self.uses.extend(found.into_iter().map(import));
        end
    }
}

fn follows_path(tokens: &[&str], at: usize) -> bool {
    at > 0 && tokens[at - 1] == "::"
}

fn path_at(tokens: &[&str], at: usize) -> Vec<String> {
    let mut path = vec![tokens[at].to_owned()];
    let mut rest = tokens[at + 1..].chunks_exact(2);
    while let Some(["::", name]) = rest.next() {
        if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            break;
        }
        path.push((*name).to_owned());
    }
    path
}

/// The single paths of a tree such as `a::{b, c::{self, d as e}}`, each with its name.
fn expand(tree: &[&str], before: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    for branch in branches(tree) {
        // All branches share one prefix, cut back after each: it must leave as it came.
        let outer = before.len();
        let mut at = 0;
        while at < branch.len() && branch[at] != "{" && branch[at] != "as" {
            if branch[at] != "::" {
                before.push(branch[at].to_owned());
            }
            at += 1;
        }
        match branch.get(at) {
            Some(&"{") => expand(&branch[at + 1..branch.len() - 1], before, found),
            renamed => {
                // `a::{self}` names `a`.
                if before.len() > 1 && before.last().is_some_and(|last| last == "self") {
                    before.pop();
                }
                let name = match renamed {
                    Some(_) => branch.get(at + 1).map(|name| (*name).to_owned()),
                    None => before.last().cloned(),
                };
                found.push((before.clone(), name.unwrap_or_default()));
            }
        }
        before.truncate(outer);
    }
}

/// The parts of a list that commas outside of braces separate.
fn branches<'t, 's>(tree: &'t [&'s str]) -> Vec<&'t [&'s str]> {
    let mut depth = 0usize;
    let parts = tree.split(move |token| {
        match *token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        *token == "," && depth == 0
    });
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let parse = |(file, text): &(&str, &str)| {
            module_path(file).map(|path| (path, Module::parse(file, text)))
        };
        Modules { by_path: files.iter().filter_map(parse).collect() }
    }

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let modules = modules(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use super::c; pub struct B;"),
            ("c.rs", "fn c() -> crate::a::A {}"),
        ]);
        assert_eq!(modules.circles(), [vec!["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn a_name_leads_to_the_file_that_defines_it() {
        let modules = modules(&[
            ("lib.rs", "mod a; mod b; pub use a::{A, X as Y};"),
            ("a.rs", "pub struct A; pub struct X;"),
            ("b.rs", "use crate::{A, Y};"),
        ]);
        assert_eq!(modules.imports_of("b.rs").into_keys().collect::<Vec<_>>(), ["a.rs"]);
        assert!(modules.circles().is_empty());
    }

    #[test]
    fn a_parent_that_uses_its_child_and_is_used_by_it_is_a_circle() {
        let modules = modules(&[
            ("a/mod.rs", "mod b; use b::B; pub struct A;"),
            ("a/b.rs", "use super::A; pub struct B;"),
        ]);
        assert_eq!(modules.circles(), [vec!["a/b.rs", "a/mod.rs"]]);
    }

    #[test]
    fn tests_and_comments_make_no_circle() {
        let modules = modules(&[
            (
                "a.rs",
                "// use crate::b::B;\npub struct A;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
            ),
            ("b.rs", "use crate::a::A; pub struct B;"),
            ("a/tests.rs", "use crate::b::B;"),
        ]);
        assert!(modules.circles().is_empty());
    }
}
