//! The content of a file: what is durable, and what was written since its last fsync.

use std::ops::Range;

use super::Model;
use crate::random::SeededRandom;
use crate::trace::Trace;

const PAGE: usize = 4096;
const SECTOR: usize = 512;

#[derive(Default)]
pub(super) struct ReplayedFile {
    durable: Vec<u8>,
    pending: Vec<FileChange>,
    len: u64,
}

enum FileChange {
    Write { offset: u64, data: Range<usize> },
    Truncate(u64),
    Grow(u64),
}

impl ReplayedFile {
    pub(super) fn write(&mut self, offset: u64, data: Range<usize>) {
        self.len = self.len.max(offset + data.len() as u64);
        self.pending.push(FileChange::Write { offset, data });
    }

    pub(super) fn truncate(&mut self, len: u64) {
        self.len = len;
        self.pending.push(FileChange::Truncate(len));
    }

    pub(super) fn grow(&mut self, len: u64) {
        self.len = self.len.max(len);
        self.pending.push(FileChange::Grow(len));
    }

    pub(super) fn sync(&mut self, trace: &Trace) {
        for change in std::mem::take(&mut self.pending) {
            apply(&mut self.durable, &change, trace);
        }
    }

    /// After a failed fsync the kernel drops the pages that it could not write, and reports no
    /// error again: they are never written.
    pub(super) fn drop_pending(&mut self) {
        if !self.pending.is_empty() {
            self.pending = vec![FileChange::Truncate(self.len)];
        }
    }

    /// What the disk holds after a power loss.
    pub(super) fn content(
        &self,
        model: Model,
        trace: &Trace,
        random: &mut SeededRandom,
    ) -> Vec<u8> {
        if self.pending.is_empty() {
            return self.durable.clone();
        }
        match model {
            Model::Strict | Model::Entries => self.durable.clone(),
            Model::Kill => self.whole(trace),
            Model::Prefix => self.prefix(trace, random),
            Model::Zeros => {
                let mut content = self.prefix(trace, random);
                content.resize(content.len().max(self.len as usize), 0);
                content
            }
            Model::Pages => self.pages(trace, random),
        }
    }

    fn whole(&self, trace: &Trace) -> Vec<u8> {
        let mut content = self.durable.clone();
        self.pending.iter().for_each(|change| apply(&mut content, change, trace));
        content
    }

    /// The first of the pending changes; the next write is torn at a sector or a page.
    fn prefix(&self, trace: &Trace, random: &mut SeededRandom) -> Vec<u8> {
        let all = self.pending.len();
        let kept = if random.chance(70) { random.below(all as u64 + 1) as usize } else { all };
        let mut content = self.durable.clone();
        self.pending[..kept].iter().for_each(|change| apply(&mut content, change, trace));
        if let Some(FileChange::Write { offset, data }) = self.pending.get(kept) {
            let unit = *random.choose(&[SECTOR, PAGE]);
            let end = *offset as usize + random.below(data.len() as u64 + 1) as usize;
            let len = (end / unit * unit).saturating_sub(*offset as usize);
            let torn = FileChange::Write { offset: *offset, data: data.start..data.start + len };
            apply(&mut content, &torn, trace);
        }
        content
    }

    /// Any of the pages written, in the file's final length: pages reach the disk in any order.
    fn pages(&self, trace: &Trace, random: &mut SeededRandom) -> Vec<u8> {
        let whole = self.whole(trace);
        let mut content = self.durable.clone();
        content.resize(whole.len(), 0);
        let percent = *random.choose(&[10, 50, 90]);
        for page in (0..whole.len()).step_by(PAGE) {
            let page = page..(page + PAGE).min(whole.len());
            if content[page.clone()] != whole[page.clone()] && random.chance(percent) {
                content[page.clone()].copy_from_slice(&whole[page]);
            }
        }
        content
    }
}

fn apply(content: &mut Vec<u8>, change: &FileChange, trace: &Trace) {
    match change {
        FileChange::Write { data, .. } if data.is_empty() => {}
        FileChange::Write { offset, data } => {
            let (start, end) = (*offset as usize, *offset as usize + data.len());
            content.resize(content.len().max(end), 0);
            content[start..end].copy_from_slice(trace.bytes(data));
        }
        FileChange::Truncate(len) => content.resize(*len as usize, 0),
        FileChange::Grow(len) => content.resize(content.len().max(*len as usize), 0),
    }
}
