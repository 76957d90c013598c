//! Rebuilds a directory as it may be after a power loss, at any place of a trace.
//!
//! A state follows from a cut (how many records of the trace happened), a model of the file
//! system, and a seed:
//!
//! | model | content of files | names |
//! |---|---|---|
//! | strict | as of the last fsync of the file | as of the last fsync of the directory |
//! | entries | likewise | any fsync makes all earlier names durable, as a journal does |
//! | prefix | unsynced writes in order up to any one, which is torn | in order up to any one |
//! | pages | any of the unsynced pages of 4 KiB, in the full length | likewise |
//! | zeros | as prefix, zeros up to the full length | likewise |
//! | kill | everything | everything |
//!
//! Writes are torn at 512 bytes or 4 KiB. Names that any fsync came after are never lost, but in
//! the strict model.

mod file;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use file::ReplayedFile;
use tree::{NameChange, NameTree, NodeNumber};

use crate::random::SeededRandom;
use crate::trace::{Trace, TraceRecord};

/// What a file system keeps of changes that are not durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Model {
    Strict,
    Entries,
    Prefix,
    Pages,
    Zeros,
    Kill,
}

impl Model {
    pub(crate) const ALL: [Model; 6] =
        [Model::Strict, Model::Entries, Model::Prefix, Model::Pages, Model::Zeros, Model::Kill];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Model::Strict => "strict",
            Model::Entries => "entries",
            Model::Prefix => "prefix",
            Model::Pages => "pages",
            Model::Zeros => "zeros",
            Model::Kill => "kill",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name)
    }
}

/// A directory while a trace is played.
pub(crate) struct Replay<'t> {
    trace: &'t Trace,
    base: &'t str,
    played: usize,
    nodes: Vec<FileContent>,
    by_inode: HashMap<u64, NodeNumber>,
    /// Names as processes see them.
    now: NameTree,
    /// Names that are durable when only an fsync of a directory makes its names so, and the rest.
    strict: NameTree,
    strict_pending: Vec<NameChange>,
    /// Names that are durable when any fsync makes all earlier ones so, and the rest.
    journal: NameTree,
    journal_pending: Vec<NameChange>,
    ledger: Vec<u8>,
}

enum FileContent {
    File(ReplayedFile),
    /// A directory, with its present path.
    Directory(String),
}

impl<'t> Replay<'t> {
    pub(crate) fn new(trace: &'t Trace) -> io::Result<Self> {
        Ok(Self {
            trace,
            base: trace.base()?,
            played: 0,
            nodes: Vec::new(),
            by_inode: HashMap::new(),
            now: NameTree::default(),
            strict: NameTree::default(),
            strict_pending: Vec::new(),
            journal: NameTree::default(),
            journal_pending: Vec::new(),
            ledger: Vec::new(),
        })
    }

    /// Plays on, up to the first `cut` records in all.
    pub(crate) fn play_to(&mut self, cut: usize) {
        let trace = self.trace;
        let cut = cut.min(trace.records.len());
        trace.records[self.played.min(cut)..cut].iter().for_each(|record| self.play(record));
        self.played = self.played.max(cut);
    }

    /// What the ledger says up to here.
    pub(crate) fn ledger(&self) -> &[u8] {
        &self.ledger
    }

    fn play(&mut self, record: &'t TraceRecord) {
        // Names change through `change` alone: it keeps each change for the trees on disk, which
        // get it at a sync.
        match record {
            TraceRecord::CreateFile { inode, path } => {
                self.create(*inode, path, FileContent::File(ReplayedFile::default()));
            }
            TraceRecord::CreateDirectory { inode, path } => {
                self.create(*inode, path, FileContent::Directory(path.clone()));
            }
            TraceRecord::Write { inode, offset, data } => {
                self.file(*inode, |file, _| file.write(*offset, data.clone()));
            }
            TraceRecord::Truncate { inode, len } => {
                self.file(*inode, |file, _| file.truncate(*len))
            }
            TraceRecord::Grow { inode, len } => self.file(*inode, |file, _| file.grow(*len)),
            TraceRecord::SyncFailed { inode } => self.file(*inode, |file, _| file.drop_pending()),
            TraceRecord::Rename { from, to } => self.rename(from, to),
            TraceRecord::Link { from, to } => {
                if let Some(node) = self.now.get(from) {
                    self.change(NameChange::Add { path: to.clone(), node });
                }
            }
            TraceRecord::Remove { path } => self.change(NameChange::Remove { path: path.clone() }),
            TraceRecord::Sync { inode } => self.sync(*inode),
            // The ledger loses nothing: it is what was asked and answered up to here.
            TraceRecord::Ledger(line) => self.ledger.extend_from_slice(self.trace.bytes(line)),
            TraceRecord::Begin => self.make_all_durable(),
        }
    }

    fn create(&mut self, inode: u64, path: &str, content: FileContent) {
        let node = self.nodes.len();
        self.nodes.push(content);
        self.by_inode.insert(inode, node);
        self.change(NameChange::Add { path: path.to_owned(), node });
    }

    fn file(&mut self, inode: u64, change: impl FnOnce(&mut ReplayedFile, &'t Trace)) {
        if let Some(node) = self.by_inode.get(&inode)
            && let FileContent::File(file) = &mut self.nodes[*node]
        {
            change(file, self.trace);
        }
    }

    fn change(&mut self, change: NameChange) {
        self.now.apply(&change);
        self.strict_pending.push(change.clone());
        self.journal_pending.push(change);
    }

    fn rename(&mut self, from: &str, to: &str) {
        let Some(node) = self.now.get(from) else { return };
        if matches!(self.nodes[node], FileContent::Directory(_)) {
            for content in &mut self.nodes {
                let FileContent::Directory(path) = content else { continue };
                if let Some(rest) = path.strip_prefix(from)
                    && (rest.is_empty() || rest.starts_with('/'))
                {
                    *path = format!("{to}{rest}");
                }
            }
            self.strict_pending.iter_mut().for_each(|change| change.follow(from, to));
        }
        self.change(NameChange::Rename { from: from.to_owned(), to: to.to_owned(), node });
    }

    fn sync(&mut self, inode: u64) {
        self.file(inode, |file, trace| file.sync(trace));
        if let Some(node) = self.by_inode.get(&inode)
            && let FileContent::Directory(path) = &self.nodes[*node]
        {
            let path = path.clone();
            for change in std::mem::take(&mut self.strict_pending) {
                if !change.is_in(&path) {
                    self.strict_pending.push(change);
                    continue;
                }
                if let NameChange::Rename { from, .. } = &change {
                    self.strict_pending.retain(|earlier| !earlier.is_of(from));
                }
                self.strict.apply(&change);
            }
        }
        let pending = std::mem::take(&mut self.journal_pending);
        pending.iter().for_each(|change| self.journal.apply(change));
    }

    fn make_all_durable(&mut self) {
        for content in &mut self.nodes {
            if let FileContent::File(file) = content {
                file.sync(self.trace);
            }
        }
        self.strict = self.now.clone();
        self.journal = self.now.clone();
        self.strict_pending.clear();
        self.journal_pending.clear();
    }

    /// Names after a power loss.
    fn names(&self, model: Model, random: &mut SeededRandom) -> NameTree {
        match model {
            Model::Kill => self.now.clone(),
            Model::Strict => self.strict.clone(),
            Model::Entries => self.journal.clone(),
            Model::Prefix | Model::Pages | Model::Zeros => {
                let mut tree = self.journal.clone();
                let kept = random.below(self.journal_pending.len() as u64 + 1) as usize;
                self.journal_pending[..kept].iter().for_each(|change| tree.apply(change));
                tree
            }
        }
    }

    /// Writes a state to a directory that is not there yet.
    pub(crate) fn build(&self, out: &Path, model: Model, seed: u64) -> io::Result<()> {
        let mut random = SeededRandom::new(seed);
        let tree = self.names(model, &mut random);
        fs::create_dir_all(out)?;
        let mut made: HashMap<NodeNumber, PathBuf> = HashMap::new();
        for (path, node) in tree.iter() {
            let Some(rest) = path.strip_prefix(self.base).map(|rest| rest.trim_start_matches('/'))
            else {
                continue;
            };
            let at = out.join(rest);
            // A name whose directory was lost is lost too.
            if rest.is_empty() || !at.parent().is_some_and(Path::is_dir) {
                continue;
            }
            match (&self.nodes[node], made.get(&node)) {
                (FileContent::Directory(_), _) => fs::create_dir(&at)?,
                (FileContent::File(_), Some(first)) => fs::hard_link(first, &at)?,
                (FileContent::File(file), None) => {
                    fs::write(&at, file.content(model, self.trace, &mut random))?;
                    made.insert(node, at);
                }
            }
        }
        Ok(())
    }
}
