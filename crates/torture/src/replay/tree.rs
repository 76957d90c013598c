//! Names of files and directories, and changes of them that may or may not have become durable.

use std::collections::BTreeMap;

/// The number of a file or directory. Inodes are used again after a deletion, these are not.
pub(super) type NodeNumber = usize;

/// What a path leads to.
#[derive(Clone, Default)]
pub(super) struct NameTree(BTreeMap<String, NodeNumber>);

/// A change of one or two names.
#[derive(Clone)]
pub(super) enum NameChange {
    Add { path: String, node: NodeNumber },
    Remove { path: String },
    Rename { from: String, to: String, node: NodeNumber },
}

impl NameChange {
    /// Whether the change becomes durable with this directory.
    pub(super) fn is_in(&self, directory: &str) -> bool {
        match self {
            NameChange::Add { path, .. } | NameChange::Remove { path } => parent(path) == directory,
            NameChange::Rename { from, to, .. } => {
                parent(from) == directory || parent(to) == directory
            }
        }
    }

    /// Whether the change is of a name that was renamed after it.
    pub(super) fn is_of(&self, name: &str) -> bool {
        match self {
            NameChange::Add { path, .. } | NameChange::Remove { path } => path == name,
            NameChange::Rename { to, .. } => to == name,
        }
    }

    /// Names under a directory that was renamed after this change go along.
    pub(super) fn follow(&mut self, from: &str, to: &str) {
        let go = |path: &mut String| {
            if let Some(rest) = path.strip_prefix(from).filter(|rest| rest.starts_with('/')) {
                *path = format!("{to}{rest}");
            }
        };
        match self {
            NameChange::Add { path, .. } | NameChange::Remove { path } => go(path),
            NameChange::Rename { from, to, .. } => {
                go(from);
                go(to);
            }
        }
    }
}

impl NameTree {
    pub(super) fn get(&self, path: &str) -> Option<NodeNumber> {
        self.0.get(path).copied()
    }

    /// Paths in order: each directory before what is in it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, NodeNumber)> {
        self.0.iter().map(|(path, node)| (path.as_str(), *node))
    }

    pub(super) fn apply(&mut self, change: &NameChange) {
        match change {
            NameChange::Add { path, node } => {
                self.0.insert(path.clone(), *node);
            }
            NameChange::Remove { path } => {
                self.0.remove(path);
            }
            NameChange::Rename { from, to, node } => self.rename(from, to, *node),
        }
    }

    /// The old name may not be there: it never became durable, but the new one does.
    fn rename(&mut self, from: &str, to: &str, node: NodeNumber) {
        self.0.remove(from);
        if self.0.remove(to).is_some() {
            for path in self.under(to) {
                self.0.remove(&path);
            }
        }
        for path in self.under(from) {
            if let Some(node) = self.0.remove(&path) {
                self.0.insert(format!("{to}{}", &path[from.len()..]), node);
            }
        }
        self.0.insert(to.to_owned(), node);
    }

    /// All paths under a directory.
    fn under(&self, directory: &str) -> Vec<String> {
        let first = format!("{directory}/");
        let rest = self.0.range(first.clone()..);
        rest.map(|(path, _)| path).take_while(|path| path.starts_with(&first)).cloned().collect()
    }
}

/// The directory that holds a path.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
