//! Deletes members that belong to no collection any more.
//!
//! A collection whose members are entries of their own ends with its head: by DEL, by an expiry, by
//! a SET over it, or by another listener. Its entries stay, and no one sees them, because a head
//! that comes later has another generation. The search walks over the owners of entries, a few of
//! them each second, and deletes what no head names, a generation at a time and without reading it.
//! It takes its turn alone for that, so no client reads what it deletes.

use tonnage::{CollectionBatch, CollectionSession, PairPosition, Result};

use crate::execute::fetch;
use crate::keyspace::Keyspace;
use crate::values::{EntryName, SpreadHead, ValueKind};

/// Owners that are looked at in one call.
const OWNERS: usize = 256;
/// So long the search rests once it has seen all owners.
const REST_MS: u64 = 60_000;

impl Keyspace {
    /// Continues the search for members that belong to no collection, and deletes them. Called each
    /// second. Answers how many collections left some.
    ///
    /// # Errors
    /// What the store says. The search continues after it.
    pub fn delete_some_leftovers(&self) -> Result<u64> {
        let mut search = self.leftovers.lock();
        if self.now_ms() < search.rests_until_ms {
            return Ok(0);
        }
        let Some(entries) = self.collections()? else { return Ok(0) };
        let (deleted, next) = self.delete_page(entries, search.position.take())?;
        if next.is_none() {
            search.rests_until_ms = self.now_ms() + REST_MS;
        }
        search.position = next;
        Ok(deleted)
    }

    /// Searches everywhere, now.
    ///
    /// # Errors
    /// What the store says.
    pub fn delete_leftovers(&self) -> Result<u64> {
        let Some(entries) = self.collections()? else { return Ok(0) };
        let (mut sum, mut position) = (0, None);
        loop {
            let (deleted, next) = self.delete_page(entries, position)?;
            sum += deleted;
            if next.is_none() {
                return Ok(sum);
            }
            position = next;
        }
    }

    fn delete_page(
        &self,
        entries: &CollectionSession,
        position: Option<PairPosition>,
    ) -> Result<(u64, Option<PairPosition>)> {
        let mut found = CollectionBatch::default();
        let next = entries.owners(position, OWNERS, &mut found)?;
        let mut deleted = 0;
        for row in 0..found.len() {
            deleted += self.delete_of_owner(entries, &found.owner(row)?)?;
        }
        Ok((deleted, next))
    }

    /// Looks at the generations of one owner, one after another.
    fn delete_of_owner(&self, entries: &CollectionSession, owner: &[u8]) -> Result<u64> {
        let (mut deleted, mut start, mut found) = (0, Vec::new(), CollectionBatch::default());
        loop {
            let mut scan = entries.scan(owner, (&start, None), false, 1)?;
            if !scan.next_batch(&mut found)? {
                return Ok(deleted);
            }
            drop(scan);
            let generation = EntryName::generation(found.name(0));
            // One entry tells the generation: the rest of it is jumped over.
            start = EntryName::behind_generation(generation).to_vec();
            // Most belong to a head: no client waits for this check.
            let head = self.head(owner)?;
            if head
                .is_some_and(|head| head.generation == generation && head.kind != ValueKind::List)
            {
                continue;
            }
            let _turn = self.turn.write();
            match self.head(owner)? {
                Some(head) if head.generation == generation => {
                    deleted += self.delete_cut_off(entries, owner, head)?;
                }
                _ => {
                    let prefix = generation.to_be_bytes();
                    entries.delete_under(owner, &prefix, self.durability())?;
                    deleted += 1;
                }
            }
        }
    }

    /// Deletes the elements before a list and after it.
    fn delete_cut_off(
        &self,
        entries: &CollectionSession,
        owner: &[u8],
        head: SpreadHead,
    ) -> Result<u64> {
        if head.kind != ValueKind::List {
            return Ok(0);
        }
        let name = |position| EntryName::of_element(head.generation, position);
        let end = name(head.first.saturating_add_unsigned(head.count));
        let (lowest, first) = (name(i64::MIN), name(head.first));
        let (mut deleted, mut found) = (0, CollectionBatch::default());
        for (from, to) in
            [(lowest.as_bytes(), first.as_bytes()), (end.as_bytes(), &end.behind_like()[..])]
        {
            // Where nothing is cut off nothing is deleted.
            if entries.scan(owner, (from, Some(to)), false, 1)?.next_batch(&mut found)? {
                entries.delete_between(owner, from, to, self.durability())?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    fn head(&self, owner: &[u8]) -> Result<Option<SpreadHead>> {
        let value = fetch(self, owner)?;
        Ok(value.and_then(|value| SpreadHead::read(&value.bytes).ok().flatten()))
    }
}
